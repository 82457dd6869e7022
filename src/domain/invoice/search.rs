//! Whether a text that somebody looks for finds an invoice.
//!
//! What does not live here: which invoices are looked at (the store). What always holds: letters of the ASCII alphabet
//! are found in either case, and a number of the metadata is found as it stands in it, digit by digit.

use super::Invoice;
use serde_json::Value;

/// Does this text stand in the invoice's id, orderId, description, customerEmail or a value of the metadata? Or is it a key
/// of the metadata and its value, as `key=value`?
///
/// # Errors
/// serde_json's, where the metadata is no JSON.
pub fn finds(text: &str, invoice: &Invoice) -> serde_json::Result<bool> {
    let wanted = Wanted {
        text,
        lower: text.to_ascii_lowercase(),
    };
    let fields = [
        Some(&invoice.id),
        invoice.order_id.as_ref(),
        invoice.description.as_ref(),
        invoice.customer_email.as_ref(),
    ];
    if fields
        .into_iter()
        .flatten()
        .any(|field| wanted.is_in(field))
    {
        return Ok(true);
    }
    let metadata = serde_json::from_str(invoice.metadata.get())?;
    Ok(wanted.is_of(None, &metadata))
}

/// What is looked for.
struct Wanted<'a> {
    text: &'a str,
    lower: String,
}

impl Wanted<'_> {
    fn is_in(&self, value: &str) -> bool {
        value.to_ascii_lowercase().contains(&self.lower)
    }

    /// Is it in this value, or is it this key with this value?
    fn is_of(&self, key: Option<&str>, value: &Value) -> bool {
        match value {
            Value::Null => false,
            Value::Bool(value) => self.fits(key, if *value { "true" } else { "false" }),
            // Its own digits: it is never computed with.
            Value::Number(value) => self.fits(key, &value.to_string()),
            Value::String(value) => self.fits(key, value),
            Value::Array(values) => values.iter().any(|value| self.is_of(None, value)),
            Value::Object(members) => members
                .iter()
                .any(|(key, value)| self.is_of(Some(key), value)),
        }
    }

    fn fits(&self, key: Option<&str>, value: &str) -> bool {
        // A key may have a `=` in it, too.
        let rest = key.and_then(|key| self.text.strip_prefix(key));
        let is_pair = rest.and_then(|rest| rest.strip_prefix('=')) == Some(value);
        is_pair || self.is_in(value)
    }
}

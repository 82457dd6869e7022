//! Text search over the fields of one invoice.
//!
//! Invariant: the search ignores the case of ASCII letters, except in `key=value`. A number in the metadata is
//! compared as text, exactly as written.

use super::Invoice;
use serde_json::Value;

/// Returns `true` if the text is in the id, orderId, description, customerEmail or a metadata value.
///
/// A text of the form `key=value` also matches a key of the metadata together with its exact value.
///
/// # Errors
/// The error of serde_json if the metadata is not JSON.
pub fn matches_text(text: &str, invoice: &Invoice) -> serde_json::Result<bool> {
    let wanted = SearchText { text, lower: text.to_ascii_lowercase() };
    let fields = [
        Some(&invoice.id),
        invoice.order_id.as_ref(),
        invoice.description.as_ref(),
        invoice.customer_email.as_ref(),
    ];
    if fields.into_iter().flatten().any(|field| wanted.is_in(field)) {
        return Ok(true);
    }
    let metadata = serde_json::from_str(invoice.metadata.get())?;
    Ok(wanted.matches_value(None, &metadata))
}

/// Returns `true` if the text is the whole orderId or the whole customerEmail.
pub fn has_whole_text(text: &str, invoice: &Invoice) -> bool {
    let is_email = |email: &String| email.eq_ignore_ascii_case(text);
    invoice.order_id.as_deref() == Some(text)
        || invoice.customer_email.as_ref().is_some_and(is_email)
}

struct SearchText<'a> {
    text: &'a str,
    lower: String,
}

impl SearchText<'_> {
    fn is_in(&self, value: &str) -> bool {
        value.to_ascii_lowercase().contains(&self.lower)
    }

    /// Returns `true` if the search text is in this value, or is this key, `=` and this value.
    fn matches_value(&self, key: Option<&str>, value: &Value) -> bool {
        match value {
            Value::Null => false,
            Value::Bool(value) => {
                self.matches_value_or_key_value(key, if *value { "true" } else { "false" })
            }
            // A number is compared as text, without conversion to a float.
            Value::Number(value) => self.matches_value_or_key_value(key, &value.to_string()),
            Value::String(value) => self.matches_value_or_key_value(key, value),
            Value::Array(values) => values.iter().any(|value| self.matches_value(None, value)),
            Value::Object(members) => {
                members.iter().any(|(key, value)| self.matches_value(Some(key), value))
            }
        }
    }

    fn matches_value_or_key_value(&self, key: Option<&str>, value: &str) -> bool {
        // The key may contain `=`, so the text is not split at `=`.
        let rest = key.and_then(|key| self.text.strip_prefix(key));
        let is_pair = rest.and_then(|rest| rest.strip_prefix('=')) == Some(value);
        is_pair || self.is_in(value)
    }
}

//! What a merchant sends to make an invoice, after it was checked.
//!
//! What lives here: every rule on the fields of `POST /v1/invoices`. What does not: rules that need the account or
//! the file. What always holds: every draft is within the documented limits.

use crate::domain::fields::Fields;
use crate::domain::money::{AmountError, Cents, Currency};
use crate::domain::refusal::Refusal;
use crate::domain::text_enum::text_enum;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

/// The fields that mean something.
const KNOWN: [&str; 11] = [
    "amount",
    "currency",
    "orderId",
    "description",
    "asset",
    "redirectUrl",
    "cancelUrl",
    "webhookUrl",
    "metadata",
    "ttlSeconds",
    "customerEmail",
];

text_enum! {
    /// What a simulated payment pays, of what is still due.
    pub enum PaymentCase {
        /// All of it.
        Exact = "exact",
        /// Half of it.
        Under = "under",
        /// One and a half times it.
        Over = "over",
    }
}

/// Objects and lists inside each other that metadata may have, itself counted: readers of JSON stop at some depth,
/// and events carry metadata deeper than a request does.
const METADATA_LEVELS_MAX: usize = 64;

/// A wanted invoice.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The price; nothing where it is a number larger than can be counted.
    pub amount: Option<Cents>,
    /// What the price is in.
    pub currency: Currency,
    /// The merchant's own reference.
    pub order_id: Option<String>,
    /// For people.
    pub description: Option<String>,
    /// The coin to preselect.
    pub asset: Option<String>,
    /// Where the customer goes after paying.
    pub redirect_url: Option<String>,
    /// Where the customer goes who gives up.
    pub cancel_url: Option<String>,
    /// An extra receiver of its events; its form is checked here, its address when it is called.
    pub webhook_url: Option<String>,
    /// The merchant's own JSON object.
    pub metadata: Box<RawValue>,
    /// Time to pay.
    pub ttl_seconds: Option<i64>,
    /// The customer's address.
    pub customer_email: Option<String>,
    /// What the merchant should know although the invoice is made.
    pub warnings: Vec<String>,
}

impl Draft {
    /// Checks a body.
    ///
    /// # Errors
    /// `invalid_request` that names the first field that is wrong.
    pub fn parse(body: &Map<String, Value>) -> Result<Draft, Refusal> {
        let fields = Fields::of(body);
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Ok(Draft {
            amount: amount(&fields)?,
            currency: fields
                .choice("currency")?
                .ok_or_else(|| Refusal::field("currency", "must be EUR or USD"))?,
            order_id: owned(fields.text("orderId", 1..=200)?),
            description: owned(fields.text("description", 0..=500)?),
            asset: owned(fields.text("asset", 1..=40)?),
            redirect_url: owned(fields.site_or_app("redirectUrl")?),
            cancel_url: owned(fields.site_or_app("cancelUrl")?),
            webhook_url: owned(fields.url("webhookUrl")?),
            metadata: metadata(&fields)?,
            ttl_seconds: fields.integer("ttlSeconds", 60..=86_400)?,
            customer_email: owned(fields.email("customerEmail", 200)?),
            warnings: fields
                .unknown(&KNOWN)
                .iter()
                .map(|name| format!("unknown field {name:?} was ignored"))
                .collect(),
        })
    }
}

/// The price, from a string or from a number's own digits; nothing where it is larger than can be counted.
pub(in crate::domain) fn amount(fields: &Fields<'_>) -> Result<Option<Cents>, Refusal> {
    let wrong = || {
        Refusal::field(
            "amount",
            "must be a positive decimal with at most two decimals, like \"19.99\"",
        )
    };
    let text = match fields.get("amount") {
        Some(Value::String(text)) => text.as_str(),
        Some(Value::Number(number)) => number.as_str(),
        Some(Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_)) | None => {
            return Err(wrong());
        }
    };
    match Cents::parse(text) {
        Ok(cents) => Ok(Some(cents)),
        Err(AmountError::TooLarge) => Ok(None),
        Err(AmountError::Malformed) => Err(wrong()),
    }
}

/// The metadata as JSON text; `{}` where there is none.
fn metadata(fields: &Fields<'_>) -> Result<Box<RawValue>, Refusal> {
    let empty = Map::new();
    let map = fields.object("metadata")?.unwrap_or(&empty);
    if !map
        .values()
        .all(|value| fits(value, METADATA_LEVELS_MAX.saturating_sub(1)))
    {
        let problem = format!("must not be nested deeper than {METADATA_LEVELS_MAX} levels");
        return Err(Refusal::field("metadata", problem));
    }
    to_raw_value(map).map_err(|error| Refusal::field("metadata", error))
}

/// Is the value nested no deeper than this?
fn fits(value: &Value, levels: usize) -> bool {
    let Some(inner) = levels.checked_sub(1) else {
        return !value.is_array() && !value.is_object();
    };
    match value {
        Value::Array(list) => list.iter().all(|value| fits(value, inner)),
        Value::Object(map) => map.values().all(|value| fits(value, inner)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

#[cfg(test)]
#[expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]
mod tests {
    use super::{Cents, Draft};
    use crate::domain::refusal::{Code, Refusal};
    use serde_json::{Map, Value};

    fn body(text: &str) -> Map<String, Value> {
        serde_json::from_str(text).unwrap()
    }

    #[track_caller]
    fn refused(text: &str) -> Refusal {
        match Draft::parse(&body(text)) {
            Ok(draft) => panic!("{text} was taken: {draft:?}"),
            Err(refusal) => refusal,
        }
    }

    #[test]
    fn the_amount_is_read_from_its_own_digits() {
        for (amount, cents) in [
            ("\"19.99\"", 1999),
            ("19.99", 1999),
            ("0.1", 10),
            ("20", 2000),
            ("9999999999.99", 999_999_999_999),
        ] {
            let draft = Draft::parse(&body(&format!(
                "{{\"amount\":{amount},\"currency\":\"EUR\"}}"
            )))
            .unwrap();
            assert_eq!(draft.amount, Some(Cents(cents)), "{amount}");
        }
        for amount in [
            "1e3", "\"1e3\"", "19.999", "-1", "0", "\"abc\"", "true", "null", "[]", "{}", "\"\"",
        ] {
            let refusal = refused(&format!("{{\"amount\":{amount},\"currency\":\"EUR\"}}"));
            assert_eq!(
                (refusal.code, refusal.param.as_deref()),
                (Code::InvalidRequest, Some("amount")),
                "{amount}"
            );
        }
        let huge = format!("{{\"amount\":1{},\"currency\":\"EUR\"}}", "0".repeat(30));
        assert_eq!(Draft::parse(&body(&huge)).unwrap().amount, None);
    }

    #[test]
    fn every_field_refuses_what_is_not_documented() {
        let cases: [(&str, &[&str]); 10] = [
            ("currency", &["\"GBP\"", "\"eur\"", "1", "null"]),
            ("orderId", &["\"\"", "1", "LONG201"]),
            ("description", &["[]", "LONG501"]),
            ("asset", &["\"\"", "LONG41", "7"]),
            (
                "redirectUrl",
                &[
                    "\"ftp://a\"",
                    "\"/thanks\"",
                    "\"https://\"",
                    "\"https://a b\"",
                    "\"javascript:alert(1)\"",
                ],
            ),
            ("cancelUrl", &["\"http:///x\"", "\"https://a\\nb\""]),
            ("webhookUrl", &["\"shop.example\"", "4"]),
            ("metadata", &["[]", "\"x\"", "1"]),
            ("ttlSeconds", &["59", "86401", "60.5", "\"60\"", "1e2"]),
            (
                "customerEmail",
                &["\"x\"", "\"@host\"", "\"a@\"", "\"a b@c\"", "LONG201"],
            ),
        ];
        for (field, values) in cases {
            for value in values {
                let value = value
                    .strip_prefix("LONG")
                    .map_or((*value).to_owned(), |length| {
                        format!("\"{}\"", "é".repeat(length.parse().unwrap()))
                    });
                let currency = if field == "currency" {
                    ""
                } else {
                    "\"currency\":\"EUR\","
                };
                let refusal = refused(&format!("{{\"amount\":1,{currency}\"{field}\":{value}}}"));
                assert_eq!(refusal.param.as_deref(), Some(field), "{value}");
                assert!(refusal.message.starts_with(field), "{}", refusal.message);
            }
        }
    }

    #[test]
    fn limits_count_characters_and_null_is_absent() {
        let order = "é".repeat(200);
        let text = format!(
            "{{\"amount\":1,\"currency\":\"USD\",\"orderId\":\"{order}\",\"asset\":null,\"ttlSeconds\":60.0,\"metadata\":{{\"b\":1.10,\"a\":[]}},\"colour\":1}}"
        );
        let draft = Draft::parse(&body(&text)).unwrap();
        assert_eq!(draft.order_id, Some(order));
        assert_eq!((draft.asset, draft.ttl_seconds), (None, Some(60)));
        assert_eq!(
            draft.metadata.get(),
            "{\"b\":1.10,\"a\":[]}",
            "kept as sent"
        );
        assert_eq!(draft.warnings, ["unknown field \"colour\" was ignored"]);
    }
}

//! Rules for the fields of `POST /v1/invoices`.
//!
//! Invariant: every accepted body is within the documented limits.

use crate::domain::fields::rule::{choice, integer};
use crate::domain::fields::text_rule::{email, site_or_app_url, text, url};
use crate::domain::fields::{Fields, Keywords, Rule, input, schema_from_keywords};
use crate::domain::money::{AmountError, Cents, Currency};
use crate::domain::refusal::Refusal;
use crate::domain::text_enum::text_enum;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

text_enum! {
    /// Amount of a simulated payment, relative to the remaining amount due.
    pub enum SimulatedAmount {
        /// Exactly the amount due.
        Exact = "exact",
        /// Half of the amount due.
        Under = "under",
        /// One and a half times the amount due.
        Over = "over",
    }
}

/// Largest number of nested levels in metadata. The metadata object itself is level 1.
///
/// JSON parsers limit the depth, and metadata is nested deeper in an event than in a request.
const METADATA_LEVELS_MAX: usize = 64;

input! {
    /// An invoice to create. Null in an optional field means absent; unknown fields are ignored and named in
    /// warnings.
    #[derive(Clone)]
    pub CreateInvoice, checked amount, currency, order_id, description, asset, redirect_url, cancel_url, webhook_url,
    metadata, ttl_seconds, customer_email; unknown named {
        /// The price, above zero, with at most two decimals.
        required amount: Option<Cents> = PriceRule, "20.00";
        /// Currency of the price.
        required currency: Currency = choice().required_or("must be EUR or USD"), "EUR";
        /// The merchant's own reference. A known orderId returns the existing invoice.
        optional order_id: String = text(1..=200), "order-1001";
        /// Description for the customer.
        optional description: String = text(0..=500), "Two tickets";
        /// Asset id from currencies. Selects the coin at once; if that fails, the invoice is created and warnings
        /// says why.
        optional asset: String = text(1..=40);
        /// URL for the customer after payment: a site, or an app by its own scheme, like myshop://paid; default:
        /// success URL of the checkout settings.
        optional redirect_url: String = site_or_app_url(), "https://shop.example.com/thanks";
        /// URL for the customer who cancels: a site, or an app by its own scheme; default: cancel URL of the checkout
        /// settings.
        optional cancel_url: String = site_or_app_url(), "https://shop.example.com/cart";
        /// Extra URL for this invoice's events, signed with the legacy account secret. https only, except http to
        /// loopback in the sandbox and to networks that the operator allowed.
        optional webhook_url: String = url();
        /// Free-form keys and values, returned with the invoice and in webhooks; at most 64 levels deep.
        filled metadata: Box<RawValue> = MetadataRule, { "cart": "c-77" };
        /// Time to pay, in seconds; default: time to pay of the checkout settings (20 minutes unless changed).
        optional ttl_seconds: i64 = integer(60..=86_400), 1200;
        /// The customer's e-mail address: one, by the rule of HTML's <input type=email>, with letters beyond ASCII
        /// allowed.
        optional customer_email: String = email(200), "ada@example.com";
    }
}

/// Returns a warning for each name in a body that is not a field of `CreateInvoice`.
pub fn unknown_field_warnings(body: &Map<String, Value>) -> Vec<String> {
    let unknown = CreateInvoice::unknown_fields(body).into_iter();
    let warnings = unknown.map(|name| format!("unknown field {name:?} was ignored"));
    warnings.collect()
}

/// Rule for a price. The value is `None` if the price overflows.
pub(in crate::domain) struct PriceRule;

impl Rule for PriceRule {
    type Value = Option<Cents>;

    fn read(&self, fields: Fields<'_>, _: &str) -> Result<Option<Option<Cents>>, Refusal> {
        read_amount(&fields).map(Some)
    }

    fn json_schema(&self) -> Keywords {
        schema_from_keywords([
            ("type", json!(["string", "number"])),
            ("pattern", json!("^([0-9]*[1-9][0-9]*(\\.[0-9]{1,2})?|0+\\.(0[1-9]|[1-9][0-9]?))$")),
            ("exclusiveMinimum", json!(0)),
        ])
    }
}

/// Rule for metadata. The value is JSON text, `{}` if the field is absent.
struct MetadataRule;

impl Rule for MetadataRule {
    type Value = Box<RawValue>;

    fn read(&self, fields: Fields<'_>, _: &str) -> Result<Option<Box<RawValue>>, Refusal> {
        read_metadata(&fields).map(Some)
    }

    fn json_schema(&self) -> Keywords {
        schema_from_keywords([("type", json!("object")), ("additionalProperties", json!(true))])
    }
}

/// Reads the price from a string, or from the digits of a number; `None` if the price overflows.
pub(in crate::domain) fn read_amount(fields: &Fields<'_>) -> Result<Option<Cents>, Refusal> {
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

/// Reads the metadata as JSON text; `{}` if the field is absent.
fn read_metadata(fields: &Fields<'_>) -> Result<Box<RawValue>, Refusal> {
    let empty = Map::new();
    let map = fields.object("metadata")?.unwrap_or(&empty);
    if !map.values().all(|value| is_within_levels(value, METADATA_LEVELS_MAX.saturating_sub(1))) {
        let problem = format!("must not be nested deeper than {METADATA_LEVELS_MAX} levels");
        return Err(Refusal::field("metadata", problem));
    }
    to_raw_value(map).map_err(|error| Refusal::field("metadata", error))
}

/// Returns `true` if the value has at most this many levels of nesting.
fn is_within_levels(value: &Value, levels: usize) -> bool {
    let Some(inner) = levels.checked_sub(1) else {
        return !value.is_array() && !value.is_object();
    };
    match value {
        Value::Array(list) => list.iter().all(|value| is_within_levels(value, inner)),
        Value::Object(map) => map.values().all(|value| is_within_levels(value, inner)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
mod tests {
    use super::{Cents, CreateInvoice, unknown_field_warnings};
    use crate::domain::refusal::{Refusal, RefusalCode};
    use serde_json::{Map, Value};

    fn parse_body(text: &str) -> Map<String, Value> {
        serde_json::from_str(text).unwrap()
    }

    #[track_caller]
    fn refusal_of_body(text: &str) -> Refusal {
        match CreateInvoice::read(&parse_body(text)) {
            Ok(_) => panic!("{text} was taken"),
            Err(refusal) => refusal,
        }
    }

    #[test]
    fn amount_is_read_from_its_digits() {
        for (amount, cents) in [
            ("\"19.99\"", 1999),
            ("19.99", 1999),
            ("0.1", 10),
            ("20", 2000),
            ("9999999999.99", 999_999_999_999),
        ] {
            let draft = CreateInvoice::read(&parse_body(&format!(
                "{{\"amount\":{amount},\"currency\":\"EUR\"}}"
            )))
            .unwrap();
            assert_eq!(draft.amount, Some(Cents(cents)), "{amount}");
        }
        for amount in
            ["1e3", "\"1e3\"", "19.999", "-1", "0", "\"abc\"", "true", "null", "[]", "{}", "\"\""]
        {
            let refusal = refusal_of_body(&format!("{{\"amount\":{amount},\"currency\":\"EUR\"}}"));
            assert_eq!(
                (refusal.code, refusal.param.as_deref()),
                (RefusalCode::InvalidRequest, Some("amount")),
                "{amount}"
            );
        }
        let huge = format!("{{\"amount\":1{},\"currency\":\"EUR\"}}", "0".repeat(30));
        assert_eq!(CreateInvoice::read(&parse_body(&huge)).unwrap().amount, None);
    }

    #[test]
    fn undocumented_values_are_refused() {
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
            ("customerEmail", &["\"x\"", "\"@host\"", "\"a@\"", "\"a b@c\"", "LONG201"]),
        ];
        for (field, values) in cases {
            for value in values {
                let value = value.strip_prefix("LONG").map_or((*value).to_owned(), |length| {
                    format!("\"{}\"", "é".repeat(length.parse().unwrap()))
                });
                let currency = if field == "currency" { "" } else { "\"currency\":\"EUR\"," };
                let refusal =
                    refusal_of_body(&format!("{{\"amount\":1,{currency}\"{field}\":{value}}}"));
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
        let draft = CreateInvoice::read(&parse_body(&text)).unwrap();
        assert_eq!(draft.order_id, Some(order));
        assert_eq!((draft.asset, draft.ttl_seconds), (None, Some(60)));
        assert_eq!(draft.metadata.get(), "{\"b\":1.10,\"a\":[]}", "kept as sent");
        assert_eq!(
            unknown_field_warnings(&parse_body(&text)),
            ["unknown field \"colour\" was ignored"]
        );
    }
}

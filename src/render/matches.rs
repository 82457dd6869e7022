//! JSON of an object that a search finds besides invoices.

use super::Rendered;
use crate::domain::fields::{schema, view};
use serde_json::value::to_raw_value;

view! {
    /// An object that a text names.
    pub(crate) MatchView<'a> as "Match" {
        /// Type of the object.
        kind: &'a str [schema!({ "type": "string", "enum": ["customer", "payout", "refund", "deposit", "unmatched_payment"] })] = "customer";
        /// Id of the object. For a customer, its reference.
        id: &'a str = "user-77";
        /// Status of the object; null for a customer.
        status: Option<&'a str> = null;
        /// Reference of the customer, for a customer or a deposit; otherwise null.
        customer: Option<&'a str> = "user-77";
    }
}

pub fn named_object(
    kind: &str,
    id: &str,
    status: Option<&str>,
    customer: Option<&str>,
) -> Rendered {
    to_raw_value(&MatchView { kind, id, status, customer })
}

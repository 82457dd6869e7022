//! JSON of payment links.

use super::{LinkBuilder, Rendered};
use crate::domain::fields::{Schema, schema, view};
use crate::domain::link::PaymentLink;
use crate::domain::money::{Cents, Currency};
use crate::domain::time::Time;
use serde_json::value::to_raw_value;

view! {
    /// A page that creates an invoice for each payer.
    pub(crate) PaymentLinkView<'a> as "PaymentLink" {
        object: &'static str [schema!({ "type": "string", "const": "payment_link" })] = "payment_link";
        id: &'a str [Schema::UUID] = "019d9f7b-6a00-7000-8000-000000000002";
        /// Name, which the payer reads.
        name: &'a str = "A coffee";
        /// Price; null if the payer chooses it.
        amount: Option<Cents> [Schema::Nullable(&Schema::STRING)] = "3.50";
        currency: Currency = "EUR";
        description: Option<&'a str> = "Thank you!";
        /// Whether its page can be opened.
        active: bool = true;
        /// False if it creates test invoices: a link of mode=test.
        livemode: bool = true;
        url: String [Schema::URL] = "https://pay.example.com/l/019d9f7b-6a00-7000-8000-000000000002";
        created_at: Time = "2026-11-21T09:30:00.000Z";
    }
}

/// Returns the JSON of a payment link.
pub fn payment_link(link: &PaymentLink, links: &LinkBuilder) -> Rendered {
    to_raw_value(&PaymentLinkView {
        object: "payment_link",
        id: &link.id,
        name: &link.name,
        amount: link.amount,
        currency: link.currency,
        description: link.description.as_deref(),
        active: link.active,
        livemode: link.mode.is_live(),
        url: links.payment_link_url(&link.id),
        created_at: link.created_at,
    })
}

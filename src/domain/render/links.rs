//! The JSON of payment links.

use super::{Links, Rendered};
use crate::domain::link::PaymentLink;
use crate::domain::money::{Cents, Currency};
use crate::domain::time::Time;
use serde::Serialize;
use serde_json::value::to_raw_value;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LinkView<'a> {
    object: &'static str,
    id: &'a str,
    name: &'a str,
    amount: Option<Cents>,
    currency: Currency,
    description: Option<&'a str>,
    active: bool,
    livemode: bool,
    url: String,
    created_at: Time,
}

/// A payment link.
pub fn payment_link(link: &PaymentLink, links: &Links) -> Rendered {
    to_raw_value(&LinkView {
        object: "payment_link",
        id: &link.id,
        name: &link.name,
        amount: link.amount,
        currency: link.currency,
        description: link.description.as_deref(),
        active: link.active,
        livemode: link.mode.is_live(),
        url: links.payment_link(&link.id),
        created_at: link.created_at,
    })
}

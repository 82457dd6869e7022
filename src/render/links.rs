//! JSON of payment links.

use super::{LinkBuilder, Rendered};
use crate::domain::fields::{Schema, schema, view};
use crate::domain::{Cents, Currency, LinkState, LinkUses, PaymentLink, Time};
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
        /// Whether its page makes invoices: open, off, expired, or used_up.
        state: LinkState = "open";
        /// Time from which it makes no invoice; null without one.
        expires_at: Option<Time> = "2026-12-24T18:00:00.000Z";
        /// Number of paid uses after which it makes no invoice; null without a limit.
        paid_uses_max: Option<i64> [Schema::Nullable(&Schema::COUNT)] = 100;
        /// Number of its invoices that are paid. It may be more than paidUsesMax, where several were open at once.
        paid_uses: i64 [Schema::COUNT] = 12;
        /// Number of its invoices with a payment that is not confirmed yet. They count as used while they are.
        unconfirmed_uses: i64 [Schema::COUNT] = 1;
        /// URL for the payer after payment; null for the success URL of the checkout settings.
        redirect_url: Option<&'a str> [Schema::Nullable(&Schema::URL)] = "https://shop.example.com/thanks";
        /// URL of its picture, whose content never changes; null without one.
        picture_url: Option<String> [Schema::Nullable(&Schema::URL)] = null;
    }
}

/// Returns the JSON of a payment link with its uses at this time.
pub fn payment_link(
    link: &PaymentLink,
    uses: LinkUses,
    now: Time,
    links: &LinkBuilder,
) -> Rendered {
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
        state: link.state(uses, now),
        expires_at: link.expires_at,
        paid_uses_max: link.paid_uses_max,
        paid_uses: uses.paid,
        unconfirmed_uses: uses.unconfirmed,
        redirect_url: link.redirect_url.as_deref(),
        picture_url: link
            .picture
            .as_ref()
            .map(|found| links.link_picture_url(&link.id, &found.hash)),
    })
}

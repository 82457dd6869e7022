//! Events as they are answered and delivered.

use super::account::AccountView;
use super::customer::DepositView;
use super::invoice::InvoiceView;
use super::transfers::{PayoutView, RefundView};
use crate::domain::event::EventType;
use crate::domain::fields::view::Sometimes;
use crate::domain::fields::{Schema, schema, view};
use crate::domain::money::Currency;
use crate::domain::time::Time;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// Id of an event.
pub(crate) const EVENT_ID: Schema = schema!({ "type": "string", "pattern": "^evt_[0-9a-f]{32}$" });

view! {
    /// Something that happened, in the same body that webhooks deliver.
    pub(crate) EventView<'a> as "Event" {
        /// Event id; the idempotency key of the event for receivers.
        id: &'a str [EVENT_ID] = "evt_01a1fd720c907ef7bc13a38180936ffa";
        /// Always event.
        object: &'static str [schema!({ "type": "string", "const": "event" })] = "event";
        /// What happened.
        r#type: EventType = "invoice.confirmed";
        /// False when the event belongs to test mode.
        livemode: bool = false;
        /// When it happened, in UTC.
        created: Time = "2026-11-21T09:31:12.400Z";
        data: EventDataView<'a>;
    }
}

view! {
    /// What it happened to.
    pub(crate) EventDataView<'a> {
        /// The object exactly as its GET answered it when the event was made.
        object: &'a RawValue [Schema::OneOf(&[
            &InvoiceView::COMPONENT,
            &DepositView::COMPONENT,
            &AccountView::COMPONENT,
            &PayoutView::COMPONENT,
            &RefundView::COMPONENT,
        ])];
    }
}

view! {
    /// The body that an endpoint of the format legacy is sent.
    pub(crate) LegacyEventView<'a> as "LegacyEvent" {
        /// Event id, as in the other format.
        id: &'a str [EVENT_ID] = "evt_01a1fd720c907ef7bc13a38180936ffa";
        /// What happened; an overpaid invoice is told as invoice.confirmed.
        event: EventType [Schema::STRING] = "invoice.confirmed";
        /// False when the event belongs to test mode.
        livemode: bool = false;
        /// When it happened, in UTC.
        created_at: &'a str [Schema::MOMENT] = "2026-11-21T09:31:12.400Z";
        /// The invoice, of a refund the one that is refunded; null of a payout or a deposit.
        invoice: Option<LegacyInvoiceView>;
        /// The refund, payout or deposit itself.
        object: Sometimes<Map<String, Value>> [Schema::OneOf(&[
            &DepositView::COMPONENT,
            &PayoutView::COMPONENT,
            &RefundView::COMPONENT,
        ])];
    }
}

view! {
    /// An invoice with four more fields.
    pub(crate) LegacyInvoiceView as "LegacyInvoice" {
        [flatten] invoice: Map<String, Value> [Schema::Component(&InvoiceView::COMPONENT)];
        /// The same as amount.
        price_amount: Value [Schema::STRING] = "20.00";
        /// The same as currency.
        price_currency: Value [Schema::Choice(Currency::TEXTS)] = "EUR";
        /// Was more paid than was due?
        overpaid: bool = false;
        /// Was less paid than was due?
        underpaid: bool = false;
    }
}

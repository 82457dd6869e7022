//! JSON of events, as returned and delivered.

use super::account::AccountView;
use super::customer::DepositView;
use super::invoice::InvoiceView;
use super::transfers::{PayoutView, RefundView};
use crate::domain::fields::view::OmittedIfNone;
use crate::domain::fields::{Schema, schema, view};
use crate::domain::{Currency, EventType, Time};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

pub(crate) const EVENT_ID: Schema = schema!({ "type": "string", "pattern": "^evt_[0-9a-f]{32}$" });

view! {
    /// An event, in the body that webhooks deliver.
    pub(crate) EventView<'a> as "Event" {
        /// Event id, which receivers use as idempotency key.
        id: &'a str [EVENT_ID] = "evt_01a1fd720c907ef7bc13a38180936ffa";
        /// Always event.
        object: &'static str [schema!({ "type": "string", "const": "event" })] = "event";
        /// Type of the event.
        r#type: EventType = "invoice.confirmed";
        /// False when the event belongs to test mode.
        livemode: bool = false;
        /// Time of the event, in UTC.
        created: Time = "2026-11-21T09:31:12.400Z";
        data: EventDataView<'a>;
    }
}

view! {
    /// Data of an event.
    pub(crate) EventDataView<'a> {
        /// The object, exactly as its GET returned it at the time of the event.
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
    /// The body for endpoints of the format legacy.
    pub(crate) LegacyEventView<'a> as "LegacyEvent" {
        /// Event id, as in the format event.
        id: &'a str [EVENT_ID] = "evt_01a1fd720c907ef7bc13a38180936ffa";
        /// Type of the event. An overpaid invoice has invoice.confirmed.
        event: EventType [Schema::STRING] = "invoice.confirmed";
        /// False when the event belongs to test mode.
        livemode: bool = false;
        /// Time of the event, in UTC.
        created_at: &'a str [Schema::MOMENT] = "2026-11-21T09:31:12.400Z";
        /// The invoice of the event; for a refund, the refunded invoice; null for payouts and deposits.
        invoice: Option<LegacyInvoiceView>;
        /// The refund, payout or deposit.
        object: OmittedIfNone<Map<String, Value>> [Schema::OneOf(&[
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
        /// Same as amount.
        price_amount: Value [Schema::STRING] = "20.00";
        /// Same as currency.
        price_currency: Value [Schema::Choice(Currency::TEXTS)] = "EUR";
        /// Whether the customer paid more than was due.
        overpaid: bool = false;
        /// Whether the customer paid less than was due.
        underpaid: bool = false;
    }
}

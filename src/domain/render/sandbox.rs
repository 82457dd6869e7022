//! The JSON of the sandbox's own controls: its state, its chains and payments, and what its inboxes received.
//!
//! What lives here: which fields they have, in their order. What does not: where these come from, and the deliveries
//! (`deliveries`). What always holds: nothing here is answered outside the sandbox.

use crate::domain::account::{AccountStatus, Endpoint};
use crate::domain::asset::{Chain, Mode};
use crate::domain::event::{EventType, Format};
use crate::domain::fields::{Schema, schema, view};
use crate::domain::money::Cents;
use crate::domain::payment::PaymentState;
use crate::domain::time::Time;
use serde::Serialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// The state of the sandbox.
#[derive(Serialize)]
pub(crate) struct State<'a> {
    pub(crate) time: Time,
    pub(crate) frozen: bool,
    pub(crate) account: Switches<'a>,
    pub(crate) faults: Faults,
    pub(crate) counts: Option<Counts>,
}

/// The switches of the sandbox's account.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Switches<'a> {
    pub(crate) status: AccountStatus,
    pub(crate) fee_bps: u32,
    pub(crate) customers_enabled: bool,
    pub(crate) settlement_enabled: bool,
    pub(crate) server_quota: i64,
    pub(crate) maintenance: bool,
    pub(crate) max_invoice_amount: Cents,
    pub(crate) payout_minimum: Cents,
    pub(crate) payout_daily_limit: Cents,
    pub(crate) payout_asset: &'static str,
    pub(crate) payout_address: Option<&'a str>,
    pub(crate) endpoints: Vec<EndpointSwitch<'a>>,
}

/// An endpoint of the sandbox's account, with its secret.
#[derive(Serialize)]
pub(crate) struct EndpointSwitch<'a> {
    id: &'a str,
    url: &'a str,
    secret: &'a str,
    format: Format,
    types: Option<&'a [EventType]>,
    mode: Option<Mode>,
}

impl<'a> EndpointSwitch<'a> {
    /// An endpoint as the sandbox shows it.
    pub(crate) fn of(endpoint: &'a Endpoint) -> EndpointSwitch<'a> {
        EndpointSwitch {
            id: &endpoint.id,
            url: &endpoint.url,
            secret: &endpoint.secret,
            format: endpoint.format,
            types: endpoint.types.as_deref(),
            mode: endpoint.mode,
        }
    }
}

/// What is simulated to be wrong.
#[derive(Clone, Debug, Serialize)]
pub struct Faults {
    /// Faults of calls, the oldest first.
    pub calls: Vec<CallFault>,
    /// `empty`, where no address is left.
    pub pool: Option<&'static str>,
    /// `stale`, where no rate is fresh enough.
    pub rates: Option<&'static str>,
}

/// What the next calls meet.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CallFault {
    /// Which operation, like `POST /v1/invoices`; nothing: every one outside `/sandbox`.
    pub route: Option<String>,
    /// The status that answers the call instead.
    pub status: Option<u16>,
    /// How long the call waits first, in milliseconds.
    pub delay_ms: u64,
    /// Is the call done, and then not answered?
    pub drop_answer: bool,
    /// How many more calls meet it.
    pub times: u64,
}

/// How many rows there are of what people ask about.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// Invoices of both modes.
    pub invoices: i64,
    /// Payments, dropped ones too.
    pub payments: i64,
    /// Payouts.
    pub payouts: i64,
    /// Refunds of both modes.
    pub refunds: i64,
    /// Events.
    pub events: i64,
    /// Deliveries.
    pub deliveries: i64,
    /// Deliveries still to be made.
    pub deliveries_pending: i64,
}

view! {
    /// How far a live chain has been looked at.
    pub SandboxChainView as "SandboxChain" {
        /// The chain.
        chain: Chain [Schema::CHAIN] = "bitcoin";
        /// Always live: chains of test mode do not lag.
        mode: Mode [schema!({ "type": "string", "enum": ["live"] })] = "live";
        /// Is it behind the clock?
        lagging: bool = true;
        /// Up to when; the clock where it does not lag.
        scanned_to: Time = "2026-11-21T12:00:00.000Z";
    }
}

view! {
    /// A payment on a simulated chain.
    pub SandboxPaymentSeenView<'a> as "SandboxPaymentSeen" {
        /// Payment id, for POST /sandbox/payments/{id}.
        id: &'a str [Schema::UUID] = "01a1fd71-e3f0-740f-bd59-25d40e11c67b";
        /// Transaction id on the chain.
        txid: &'a str = "040ffd5925d40e11c67b7238a7fc9957850b8b9a46e9729fab88c24d6a98aff2";
        /// Where the payment or deposit stands now; own where it is money of our own, unmatched where it is nobody's.
        state: &'static str [Schema::Choice(&SHOWN_STATES)] = "seen";
    }
}

/// State of money that is our own.
pub(crate) const OWN: &str = "own";
/// State of a payment that matched nothing.
pub(crate) const UNMATCHED: &str = "unmatched";

/// The states in which the sandbox shows a payment.
const SHOWN_STATES: [&str; 5] = [
    PaymentState::Seen.as_str(),
    PaymentState::Confirmed.as_str(),
    PaymentState::Dropped.as_str(),
    OWN,
    UNMATCHED,
];

/// The payments of one transaction on a simulated chain, in the order of its outputs.
#[derive(Serialize)]
pub(crate) struct TransactionSeen {
    pub(crate) data: Vec<Box<RawValue>>,
}

/// A message that an inbox received.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InboxMessage<'a> {
    /// Header names in lower case, and their values.
    pub(crate) headers: &'a BTreeMap<String, String>,
    pub(crate) body: &'a str,
    pub(crate) received_at: Time,
}

//! JSON of the sandbox's own controls: its state, its chains and payments, and the contents of its inboxes.
//!
//! Invariant: nothing here is sent outside the sandbox.

use crate::domain::asset::Chain;
use crate::domain::fields::{Schema, ViewField, schema, view};
use crate::domain::{
    AccountStatus, Cents, Depth, EventType, FileCounts, Mode, PaymentState, Time, WebhookEndpoint,
    WebhookFormat,
};
use serde::Serialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

view! {
    /// The state of the sandbox.
    pub SandboxStateView<'a> as "SandboxState" {
        /// The sandbox's clock now, in UTC.
        time: Time = "2026-11-21T09:31:15.000Z";
        /// Whether the clock stands still.
        frozen: bool = false;
        account: SwitchesView<'a> = {
            "status": "active", "feeBps": 100, "customersEnabled": true, "settlementEnabled": true, "serverQuota": 100,
            "maintenance": false, "maxInvoiceAmount": "50000.00", "payoutMinimum": "20.00", "payoutDailyLimit": "10000.00",
            "payoutAsset": "SOL", "payoutAddress": "2vjuBUCFWKTimhLv5z1kay4oGevNRL3wqbhs7JhXk5T7",
            "endpoints": [{
                "id": "01a1fd63-3620-76bf-bbc8-d96f3ea9d132", "url": "http://127.0.0.1:8080/sandbox/inbox/shop",
                "secret": "whsec_Y29mZmVyIHNhbmRib3ggZW5kcG9pbnQh", "format": "event", "types": null, "mode": null
            }]
        };
        faults: FaultsView = {
            "calls": [{ "route": "POST /v1/invoices", "status": 503, "delayMs": 0, "dropAnswer": false, "times": 2 }],
            "pool": null, "rates": null, "deliveries": null
        };
        /// Origins of the webhook receivers that timed out in the current or last move of the clock. Their further
        /// attempts in that move were cut after 100 ms of real time.
        hanging_receivers: Vec<String> = [];
        counts: Option<FileCounts> [FileCounts::SCHEMA] = {
            "invoices": 1, "payments": 1, "payouts": 0, "refunds": 0, "events": 3, "deliveries": 3, "deliveriesPending": 1
        };
    }
}

view! {
    /// The switches of the seeded account, as PATCH /sandbox/account sets them.
    pub SwitchesView<'a> {
        /// Whether the account may create invoices and be paid out.
        status: AccountStatus;
        /// Fee in basis points.
        fee_bps: u32 [schema!({ "type": "integer", "minimum": 0, "maximum": 10000 })];
        /// Whether customers may have static deposit addresses.
        customers_enabled: bool;
        /// Whether settlement is enabled; stored and shown only.
        settlement_enabled: bool;
        /// Highest number of servers at once; 0 forbids orders.
        server_quota: i64 [schema!({ "type": "integer", "minimum": 0, "maximum": 100000 })];
        /// Whether live invoices and payouts are answered 503 maintenance.
        maintenance: bool;
        /// Highest price of an invoice, in the invoice's currency.
        max_invoice_amount: Cents;
        /// Lowest amount of a payout, in the payout's currency.
        payout_minimum: Cents;
        /// Highest sum of payouts in 24 hours, for each currency.
        payout_daily_limit: Cents;
        /// Coin of the payouts.
        payout_asset: &'static str [Schema::ASSET];
        /// Payout address on the payout coin's chain; null if there is none.
        payout_address: Option<&'a str>;
        /// The account's webhook endpoints.
        endpoints: Vec<EndpointSwitchView<'a>>;
    }
}

view! {
    pub EndpointSwitchView<'a> {
        /// Endpoint id.
        id: &'a str [Schema::UUID];
        /// URL that receives the events.
        url: &'a str [Schema::URL];
        /// Secret that signs the deliveries.
        secret: &'a str;
        /// Format of the bodies.
        format: WebhookFormat;
        /// Event types to deliver; null for all.
        types: Option<&'a [EventType]>;
        /// Mode of the events to deliver; null for both.
        mode: Option<Mode>;
    }
}

impl<'a> EndpointSwitchView<'a> {
    pub(crate) fn new(endpoint: &'a WebhookEndpoint) -> EndpointSwitchView<'a> {
        EndpointSwitchView {
            id: &endpoint.id,
            url: &endpoint.url,
            secret: &endpoint.secret,
            format: endpoint.format,
            types: endpoint.types.as_deref(),
            mode: endpoint.mode,
        }
    }
}

view! {
    /// Simulated faults.
    pub FaultsView {
        calls: Vec<CallFaultView>;
        pool: Option<&'static str> [schema!({ "type": ["string", "null"], "enum": ["empty", null] })];
        rates: Option<&'static str> [schema!({ "type": ["string", "null"], "enum": ["stale", null] })];
        deliveries: Option<&'static str> [schema!({ "type": ["string", "null"], "enum": ["shuffled", null] })];
    }
}

view! {
    #[derive(Clone)]
    pub CallFaultView {
        /// Method and path; null for every call outside /sandbox.
        route: Option<String>;
        status: Option<u16> [schema!({ "type": ["integer", "null"] })];
        delay_ms: u64 [schema!({ "type": "integer" })];
        drop_answer: bool;
        /// Number of further calls.
        times: u64 [schema!({ "type": "integer" })];
    }
}

view! {
    /// Progress of a live chain.
    pub SandboxChainView as "SandboxChain" {
        /// The chain.
        chain: Chain [Schema::CHAIN] = "bitcoin";
        /// Always live: chains of test mode do not lag.
        mode: Mode [schema!({ "type": "string", "enum": ["live"] })] = "live";
        /// Whether the chain lags behind the clock.
        lagging: bool = true;
        /// Time up to which the chain has been read; the clock's time if it does not lag.
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
        /// Present state of the payment or deposit; own for our own money, unmatched for money without a recipient.
        state: &'static str [Schema::Choice(&SHOWN_STATES)] = "seen";
        /// Confirmations, 0 for a payment in no block; null once it is confirmed or gone.
        confirmations: Option<u32> = 0;
        /// Confirmations that it needs, or final for a final block; null if confirmations is null.
        confirmations_needed: Option<Depth> = 3;
    }
}

/// State of a payment between two addresses of the operator.
pub(crate) const OWN: &str = "own";
/// State of a payment that matched no invoice and no customer.
pub(crate) const UNMATCHED: &str = "unmatched";

const SHOWN_STATES: [&str; 5] = [
    PaymentState::Seen.as_str(),
    PaymentState::Confirmed.as_str(),
    PaymentState::Dropped.as_str(),
    OWN,
    UNMATCHED,
];

/// The payments of one transaction on a simulated chain, in the order of its outputs.
#[derive(Serialize)]
pub(crate) struct SandboxTransaction {
    pub(crate) data: Vec<Box<RawValue>>,
}

view! {
    pub(crate) InboxMessage<'a> {
        /// Headers of the request, with lower-case names.
        headers: &'a BTreeMap<String, String> = {
            "host": "127.0.0.1:8080",
            "content-type": "application/json",
            "content-length": "876",
            "x-service-signature": "t=1795253472,v1=8f76d4c64665cd5def17722e7475a28db78ee5773e7a6507aaac0e1a938fec08",
            "webhook-id": "evt_01a1fd720c907ef7bc13a38180936ffa",
            "webhook-timestamp": "1795253472",
            "webhook-signature": "v1,ymm79VlKdyw6ZmN4KC5kK4nxUOVMknajzqcx9LIUyQg="
        };
        /// Raw body, exactly as received, for verifying the signature.
        body: &'a str = "{\"id\":\"evt_01a1fd720c907ef7bc13a38180936ffa\",\"object\":\"event\",\"type\":\"invoice.confirmed\",\"livemode\":false,\"created\":\"2026-11-21T09:31:12.400Z\",\"data\":{\"object\":{\"id\":\"01a1fd70-f1c0-72d6-a3de-4fa0dcc29946\",\"object\":\"invoice\",\"orderId\":\"order-1001\",\"status\":\"confirmed\",\"paid\":true,\"livemode\":false,\"amount\":\"20.00\",\"currency\":\"EUR\",\"description\":\"Two tickets\",\"asset\":\"LTC\",\"assetSymbol\":\"LTC\",\"amountExpected\":\"0.25\",\"amountReceived\":\"0.25\",\"rate\":\"80\",\"depositAddress\":\"tltc1qe4q6d68k24snn697tukzvqh0s50n4jrs5pv5pl\",\"checkoutUrl\":\"http://127.0.0.1:8080/checkout/01a1fd70-f1c0-72d6-a3de-4fa0dcc29946?token=aQEeK3mEzrTEb6xFgsmSPlAdXEWmu6wyaiAUGP1j9DU\",\"customerEmail\":\"ada@example.com\",\"metadata\":{\"cart\":\"c-77\"},\"paymentLinkId\":null,\"refundedAmount\":null,\"createdAt\":\"2026-11-21T09:30:00.000Z\",\"expiresAt\":\"2026-11-21T09:50:00.000Z\",\"confirmedAt\":\"2026-11-21T09:31:12.400Z\"}}}";
        /// Time of the request, in UTC.
        received_at: Time = "2026-11-21T09:31:12.403Z";
    }
}

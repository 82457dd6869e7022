//! Request body that changes the sandbox's account.

use super::change::{MoneyLimitRule, SERVER_QUOTA_MAX, bps_up_to, set_if_some};
use super::{Account, AccountStatus};
use crate::domain::asset::{Asset, Mode};
use crate::domain::event::{EventType, WebhookFormat};
use crate::domain::fields::rule::{
    CoinRule, DescribedRule, FlagRule, ListRule, choice, choices, described, integer,
};
use crate::domain::fields::text_rule::{text, url};
use crate::domain::fields::{Fields, Keywords, Rule, Schema, input, schema, schema_from_keywords};
use crate::domain::money::{Bps, Cents};
use crate::domain::refusal::Refusal;
use serde_json::{Value, json};

input! {
    /// Switches of the seeded account. Absent and null fields stay as they are, but a null payoutAddress removes it.
    pub SandboxAccount, checked
        status, fee_bps, customers_enabled, settlement_enabled, server_quota, max_invoice_amount, payout_minimum,
        payout_daily_limit, payout_asset, maintenance, payout_address, endpoints;
    unknown refused {
        /// Whether the account may create invoices and be paid out.
        optional status: AccountStatus = choice().described_by_one_of();
        /// Fee in basis points.
        optional fee_bps: Bps = bps_up_to(10_000), 100;
        /// Whether customers may have static deposit addresses.
        optional customers_enabled: bool = FlagRule;
        /// Whether settlement is enabled; stored and shown only.
        optional settlement_enabled: bool = FlagRule;
        /// Highest number of servers at once; 0 forbids orders.
        optional server_quota: i64 = integer(0..=SERVER_QUOTA_MAX);
        /// Whether live invoices and payouts are answered 503 maintenance.
        optional maintenance: bool = FlagRule, false;
        /// Highest price of an invoice, in the invoice's currency, with at most two decimals.
        optional max_invoice_amount: Cents = LIMIT;
        /// Lowest amount of a payout, in the payout's currency, with at most two decimals.
        optional payout_minimum: Cents = LIMIT;
        /// Highest sum of payouts in 24 hours, for each currency, with at most two decimals.
        optional payout_daily_limit: Cents = LIMIT;
        /// Coin of the payouts.
        optional payout_asset: &'static Asset = described(CoinRule, Schema::OrNull(&Schema::ASSET));
        /// Payout address on the payout coin's chain. A change starts the 24-hour wait; null removes it.
        change payout_address: String = text(1..=128);
        /// Webhook endpoints that replace the present ones.
        optional endpoints: Result<Vec<Value>, Refusal> = EndpointsRule, [{
            "url": "http://127.0.0.1:8080/sandbox/inbox/shop", "secret": "whsec_Y29mZmVyIHNhbmRib3ggZW5kcG9pbnQh",
            "format": "event", "types": null, "mode": null
        }];
    }
}

input! {
    pub SandboxEndpoint, checked url, secret, mode, format, types; unknown refused {
        /// URL that receives the events; http only to loopback.
        required url: String = url();
        /// Secret that signs the deliveries; default: the sandbox's endpoint secret.
        optional secret: String = text(1..=200);
        /// Format of the bodies; default event.
        or(WebhookFormat::Event) format: WebhookFormat = choice().described_by_one_of();
        /// Event types to deliver; null for all.
        optional types: Vec<EventType> = choices("must be a list of event types");
        /// Mode of the events to deliver; null for both.
        optional mode: Mode = choice().described_by_one_of();
    }
}

const LIMIT: DescribedRule<MoneyLimitRule> = described(
    MoneyLimitRule { takes_zero: false },
    schema!({
        "type": ["string", "number"],
        "pattern": "^([0-9]*[1-9][0-9]*(\\.[0-9]{1,2})?|0+\\.(0[1-9]|[1-9][0-9]?))$",
        "exclusiveMinimum": 0
    }),
);

/// Rule for a list of webhook endpoints. Its value may be an error, so that the caller can report an error of the
/// payout address first.
struct EndpointsRule;

impl Rule for EndpointsRule {
    type Value = Result<Vec<Value>, Refusal>;

    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<Self::Value>, Refusal> {
        Ok(ListRule.read(fields, name).transpose())
    }

    fn json_schema(&self) -> Keywords {
        schema_from_keywords([
            ("type", json!("array")),
            ("items", json!(SandboxEndpoint::OBJECT.json_schema())),
        ])
    }
}

impl SandboxAccount {
    /// Applies the change to the account. Absent fields keep their values.
    pub fn apply(&self, to: &mut Account) {
        set_if_some(&mut to.status, self.status);
        set_if_some(&mut to.fee, self.fee_bps);
        set_if_some(&mut to.customers_enabled, self.customers_enabled);
        set_if_some(&mut to.settlement_enabled, self.settlement_enabled);
        set_if_some(&mut to.server_quota, self.server_quota);
        set_if_some(&mut to.invoice_max, self.max_invoice_amount);
        set_if_some(&mut to.payout_min, self.payout_minimum);
        set_if_some(&mut to.payout_daily_max, self.payout_daily_limit);
        set_if_some(&mut to.payout_asset, self.payout_asset);
    }
}

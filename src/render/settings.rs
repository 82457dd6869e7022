//! JSON of the settings of the whole service, of its coins, and of entries of its audit log.

use crate::domain::asset::Chain;
use crate::domain::fields::{Component, Schema, ViewField, schema, view};
use crate::domain::{Asset, ConfirmationTiers, FeeSource, Time};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

view! {
    /// Settings of the whole service.
    pub ServiceSettingsView as "ServiceSettings", object "settings" {
        /// Whether live invoices and payouts are paused.
        maintenance: bool = false;
        /// Confirmations that payments need, for each coin by its asset id.
        confirmations: BTreeMap<&'static str, ConfirmationTiers> = {
            "BTC": [{ "below": "250.00", "confirmations": 1 }, { "below": "2500.00", "confirmations": 2 }, { "confirmations": 6 }]
        };
        /// Network fee if the chain's node gives no estimate, for each coin by its asset id.
        network_fees: BTreeMap<&'static str, NetworkFeeView> = { "LTC": { "amount": "0.0001", "source": "default" } };
    }
}

view! {
    /// The network fee of a coin.
    pub NetworkFeeView as "NetworkFee" {
        /// Amount in whole coins.
        amount: String [Schema::COINS] = "0.0001";
        /// Origin: set by the operator, or built in.
        source: FeeSource [schema!({ "type": "string", "enum": ["setting", "default"] })] = "default";
    }
}

view! {
    /// A coin, and whether it is enabled.
    pub CoinView as "Coin", object "coin" {
        /// Asset id.
        asset: &'static str [Schema::ASSET] = "SOL";
        /// Ticker.
        symbol: &'static str = "SOL";
        /// Name.
        name: &'static str = "Solana";
        /// Chain.
        chain: Chain [Schema::CHAIN] = "solana";
        /// Whether the coin is on offer.
        enabled: bool = false;
        /// Time since which the coin is off, in UTC; null if it is on.
        off_since: Option<Time> = "2026-11-21T09:30:00.000Z";
    }
}

view! {
    /// An entry of the audit log.
    pub AuditLogEntryView<'a>, object "audit_log_entry" {
        /// Entry id.
        id: &'a str = "1";
        /// Time of the action, in UTC.
        at: Time = "2026-11-21T09:30:00.000Z";
        /// The user's email, or another actor.
        actor: &'a str = "operator@sandbox.test";
        /// The action, like key.revoke.
        action: &'a str = "coin.switch";
        /// Account of the action; null if it concerns none.
        account: Option<&'a str> [Schema::Nullable(&Schema::UUID)] = null;
        /// Id of the object of the action.
        object_id: Option<&'a str> = "SOL";
        /// Details, without secrets.
        detail: &'a RawValue [schema!({ "type": "object" })] = { "enabled": false };
    }
}

impl CoinView {
    /// Returns the view of a coin. `off_since` is the time since which the coin is not offered.
    pub fn new(asset: &'static Asset, off_since: Option<Time>) -> CoinView {
        CoinView {
            asset: asset.id,
            symbol: asset.symbol,
            name: asset.name,
            chain: asset.chain,
            enabled: off_since.is_none(),
            off_since,
        }
    }
}

const TIERS: Component = Component::Other {
    name: "ConfirmationTiers",
    schema: schema!({
        "type": "array",
        "description": "Confirmations that payments of a coin need, by value in ascending order. Each tier applies to values less than its below; the last one applies to the rest.",
        "minItems": 1,
        "maxItems": 10,
        "items": {
            "type": "object",
            "description": "A tier.",
            "additionalProperties": false,
            "required": ["confirmations"],
            "properties": {
                "below": {
                    "type": "string",
                    "pattern": "^[0-9]+(\\.[0-9]{1,2})?$",
                    "description": "Upper bound of the value, exclusive, in the invoice's currency or EUR for deposits; absent in the last tier only."
                },
                "confirmations": {
                    "type": ["integer", "string"],
                    "minimum": 1,
                    "maximum": 100000,
                    "pattern": "^final$",
                    "description": "Confirmations, at most as many as the chain is watched for; or final, on chains with final blocks."
                }
            }
        }
    }),
    example: r#"[{"below":"250.00","confirmations":1},{"below":"2500.00","confirmations":2},{"confirmations":6}]"#,
    parts: &[],
};

impl ViewField for ConfirmationTiers {
    const SCHEMA: Schema = Schema::Component(&TIERS);
}

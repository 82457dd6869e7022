//! Settings of the whole service, its coins and entries of its audit log, as they are answered.

use crate::domain::asset::{Asset, Chain};
use crate::domain::confirmations::Tiers;
use crate::domain::fields::{Component, Schema, Shown, schema, view};
use crate::domain::time::Time;
use crate::domain::transfer::approval::FeeSource;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

view! {
    /// The settings of the whole service.
    pub ServiceSettingsView as "ServiceSettings", object "settings" {
        /// Whether live invoices and payouts are paused.
        maintenance: bool = false;
        /// How many confirmations payments need, for each coin by its asset id.
        confirmations: BTreeMap<&'static str, Tiers> = {
            "BTC": [{ "below": "250.00", "confirmations": 1 }, { "below": "2500.00", "confirmations": 2 }, { "confirmations": 6 }]
        };
        /// What sending costs where the chain's node tells no estimate, for each coin by its asset id.
        network_fees: BTreeMap<&'static str, NetworkFeeView> = { "LTC": { "amount": "0.0001", "source": "default" } };
    }
}

view! {
    /// The network fee of a coin.
    pub NetworkFeeView as "NetworkFee" {
        /// In whole coins.
        amount: String [Schema::COINS] = "0.0001";
        /// Whether the operator has set it, or it is built in.
        source: FeeSource [schema!({ "type": "string", "enum": ["setting", "default"] })] = "default";
    }
}

view! {
    /// A coin, and whether it is switched on.
    pub CoinView as "Coin", object "coin" {
        /// Asset id.
        asset: &'static str [Schema::ASSET] = "SOL";
        /// Ticker.
        symbol: &'static str = "SOL";
        /// Name.
        name: &'static str = "Solana";
        /// Chain.
        chain: Chain [Schema::CHAIN] = "solana";
        /// Whether it is offered.
        enabled: bool = false;
        /// Since when it is off, in UTC; null where it is on.
        off_since: Option<Time> = "2026-11-21T09:30:00.000Z";
    }
}

view! {
    /// Something that somebody did.
    pub AuditLogEntryView<'a>, object "audit_log_entry" {
        /// Entry id.
        id: &'a str = "1";
        /// When, in UTC.
        at: Time = "2026-11-21T09:30:00.000Z";
        /// Who: the user's email, or what else acted.
        actor: &'a str = "operator@sandbox.test";
        /// What was done, like key.revoke.
        action: &'a str = "coin.switch";
        /// The account it concerns; null where it is none's.
        account: Option<&'a str> [Schema::Nullable(&Schema::UUID)] = null;
        /// What it was done to.
        object_id: Option<&'a str> = "SOL";
        /// What else is known of it; never a secret.
        detail: &'a RawValue [schema!({ "type": "object" })] = { "enabled": false };
    }
}

impl CoinView {
    /// Returns a coin, and since when it is not offered.
    pub fn of(asset: &'static Asset, off_since: Option<Time>) -> CoinView {
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

/// The tiers of a coin.
const TIERS: Component = Component::Other {
    name: "ConfirmationTiers",
    schema: schema!({
        "type": "array",
        "description": "How many confirmations the payments of a coin need, the least money first: the first tier takes what is worth less than its below, the next one what is worth less than its own, the last one the rest.",
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
                    "description": "For what is worth less than this, in the currency of the invoice, of a deposit in EUR; left out in the last tier only."
                },
                "confirmations": {
                    "type": ["integer", "string"],
                    "minimum": 1,
                    "maximum": 100000,
                    "pattern": "^final$",
                    "description": "How many confirmations are needed, at most as many as the chain is watched for; or final, on chains that say so themselves."
                }
            }
        }
    }),
    example: r#"[{"below":"250.00","confirmations":1},{"below":"2500.00","confirmations":2},{"confirmations":6}]"#,
    parts: &[],
};

impl Shown for Tiers {
    const SCHEMA: Schema = Schema::Component(&TIERS);
}

//! Accounts with their settings, as the operator interface answers them.

use super::Rendered;
use crate::domain::account::{Account, AccountStatus};
use crate::domain::asset::Chain;
use crate::domain::fields::{Schema, schema, view};
use crate::domain::money::Cents;
use crate::domain::time::Time;
use serde_json::value::to_raw_value;

view! {
    /// An account as the operator interface has it.
    pub(crate) AccountSettingsView<'a> as "AccountSettings", object "account_settings" {
        /// Account id.
        id: &'a str [Schema::UUID] = "0193ad6e-3c00-7a41-9e55-0c6d2f9b7a10";
        /// Name of the merchant.
        name: &'a str = "Sandbox Shop";
        /// Where the account stands.
        status: AccountStatus = "active";
        /// Fee in basis points.
        fee_bps: u32 [schema!({ "type": "integer", "minimum": 0, "maximum": 10000 })] = 100;
        /// The largest invoice.
        max_invoice_amount: Cents [Schema::PRICE] = "50000.00";
        /// The smallest payout.
        payout_minimum: Cents [Schema::PRICE] = "20.00";
        /// The most paid out in any 24 hours, in each currency.
        payout_daily_limit: Cents [Schema::PRICE] = "10000.00";
        /// Most that the signer is given in any 24 hours, in each currency; what is above it is approved to be sent by hand.
        /// Null for no limit.
        signer_limit: Option<Cents> [Schema::Nullable(&Schema::PRICE)] = "1000.00";
        /// How much less still counts as paid, in basis points of the price.
        under_bps: u32 [TOLERANCE] = 50;
        /// How much more is not overpaid, in basis points of the price.
        over_bps: u32 [TOLERANCE] = 50;
        /// By how much the account's rates are lower than what the sources tell, in basis points: the customer pays so much
        /// more of a coin.
        rate_spread_bps: u32 [TOLERANCE] = 0;
        /// Whether customers may have static deposit addresses.
        customers_enabled: bool = true;
        /// Whether settlement is enabled; stored and shown only.
        settlement_enabled: bool = true;
        /// How many servers the account may have at once; 0: it may not order any.
        server_quota: i64 [schema!({ "type": "integer", "minimum": 0, "maximum": 100000 })] = 100;
        /// Time to pay, where an invoice names none.
        ttl_seconds: i64 [schema!({ "type": "integer", "minimum": 60, "maximum": 86400 })] = 1200;
        /// Where customers go after paying, where an invoice names nothing.
        success_url: Option<&'a str> [CUSTOMER_URL] = null;
        /// Where customers go who give up, where an invoice names nothing.
        cancel_url: Option<&'a str> [CUSTOMER_URL] = null;
        /// How the checkout looks.
        branding: BrandingView<'a> = { "color": "#0a84ff", "logoUrl": null };
        /// Language of the checkout; auto is that of the customer's browser.
        checkout_lang: &'a str = "en";
        /// Origins whose pages may use the public keys; none: all.
        allowed_origins: &'a [String] = [];
        /// Coin payouts are sent in.
        payout_asset: &'static str [Schema::ASSET] = "SOL";
        /// Where payouts go, for each chain that has an address.
        payout_addresses: &'a [PayoutAddressView] = [{
            "chain": "solana", "address": "4uQeVj5tqViQh7yWWGStvkEG1Zmhx6uasJtWCJziofM",
            "changedAt": "2026-11-21T09:30:00.000Z", "usableAt": "2026-11-22T09:30:00.000Z"
        }];
        /// When the account was created, in UTC.
        created_at: Time = "2026-11-21T09:30:00.000Z";
    }
}

view! {
    /// How the checkout looks.
    pub(crate) BrandingView<'a> {
        /// A color.
        color: Option<&'a str> [schema!({ "type": ["string", "null"], "pattern": "^#[0-9a-f]{6}$" })];
        /// A picture.
        logo_url: Option<&'a str> [schema!({ "type": ["string", "null"], "pattern": "^[Hh][Tt][Tt][Pp][Ss]://" })];
    }
}

view! {
    /// Where payouts on a chain go.
    pub(crate) PayoutAddressView {
        /// The chain.
        chain: Chain [Schema::CHAIN];
        /// The address.
        address: String;
        /// When it was set, in UTC.
        changed_at: Time;
        /// From when on payouts are sent to it, in UTC.
        usable_at: Time;
    }
}

const TOLERANCE: Schema = schema!({ "type": "integer", "minimum": 0, "maximum": 2000 });
const CUSTOMER_URL: Schema = schema!({
    "type": ["string", "null"], "pattern": "^[A-Za-z][A-Za-z0-9+.-]*://"
});

/// Returns the JSON of an account with its settings.
///
/// # Errors
/// serde_json's, which no account causes.
pub(crate) fn account(account: &Account, payout_addresses: &[PayoutAddressView]) -> Rendered {
    to_raw_value(&AccountSettingsView {
        id: &account.id,
        name: &account.name,
        status: account.status,
        fee_bps: account.fee.0,
        max_invoice_amount: account.invoice_max,
        payout_minimum: account.payout_min,
        payout_daily_limit: account.payout_daily_max,
        signer_limit: account.signer_max,
        under_bps: account.under.0,
        over_bps: account.over.0,
        rate_spread_bps: account.spread.0,
        customers_enabled: account.customers_enabled,
        settlement_enabled: account.settlement_enabled,
        server_quota: account.server_quota,
        ttl_seconds: account.ttl_seconds,
        success_url: account.success_url.as_deref(),
        cancel_url: account.cancel_url.as_deref(),
        branding: BrandingView {
            color: account.branding.color.as_deref(),
            logo_url: account.branding.logo_url.as_deref(),
        },
        checkout_lang: &account.checkout_lang,
        allowed_origins: &account.allowed_origins,
        payout_asset: account.payout_asset.id,
        payout_addresses,
        created_at: account.created_at,
    })
}

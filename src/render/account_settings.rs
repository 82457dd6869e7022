//! JSON of accounts with their settings, for the operator interface.

use super::Rendered;
use crate::domain::asset::Chain;
use crate::domain::fields::{Schema, schema, view};
use crate::domain::{Account, AccountStatus, Cents, Time};
use serde_json::value::to_raw_value;

view! {
    /// An account in the operator interface.
    pub(crate) AccountSettingsView<'a> as "AccountSettings", object "account_settings" {
        /// Account id.
        id: &'a str [Schema::UUID] = "0193ad6e-3c00-7a41-9e55-0c6d2f9b7a10";
        /// Name of the merchant.
        name: &'a str = "Sandbox Shop";
        /// Status of the account.
        status: AccountStatus = "active";
        /// Fee in basis points.
        fee_bps: u32 [schema!({ "type": "integer", "minimum": 0, "maximum": 10000 })] = 100;
        /// Highest price of an invoice.
        max_invoice_amount: Cents [Schema::PRICE] = "50000.00";
        /// Lowest amount of a payout.
        payout_minimum: Cents [Schema::PRICE] = "20.00";
        /// Highest sum of payouts in any 24 hours, in each currency.
        payout_daily_limit: Cents [Schema::PRICE] = "10000.00";
        /// Highest sum for the signer in any 24 hours, in each currency; transfers above it are sent by hand. Null
        /// for no limit.
        signer_limit: Option<Cents> [Schema::Nullable(&Schema::PRICE)] = "1000.00";
        /// Underpayment that still counts as paid, in basis points of the price.
        under_bps: u32 [TOLERANCE] = 50;
        /// Overpayment that still counts as exact, in basis points of the price.
        over_bps: u32 [TOLERANCE] = 50;
        /// Discount of the account's rates from the sources' rates, in basis points: the customer pays that much more
        /// of a coin.
        rate_spread_bps: u32 [TOLERANCE] = 0;
        /// Whether customers may have static deposit addresses.
        customers_enabled: bool = true;
        /// Whether settlement is enabled; stored and shown only.
        settlement_enabled: bool = true;
        /// Highest number of servers at once; 0 forbids orders.
        server_quota: i64 [schema!({ "type": "integer", "minimum": 0, "maximum": 100000 })] = 100;
        /// Time to pay in seconds, for invoices without their own.
        ttl_seconds: i64 [schema!({ "type": "integer", "minimum": 60, "maximum": 86400 })] = 1200;
        /// URL for the customer after payment, for invoices without their own.
        success_url: Option<&'a str> [CUSTOMER_URL] = null;
        /// URL for the customer who cancels, for invoices without their own.
        cancel_url: Option<&'a str> [CUSTOMER_URL] = null;
        /// Appearance of the checkout.
        branding: BrandingView<'a> = { "color": "#0a84ff", "logoUrl": null };
        /// Language of the checkout; auto follows the customer's browser.
        checkout_lang: &'a str = "en";
        /// Origins whose pages may use the public keys; empty for all.
        allowed_origins: &'a [String] = [];
        /// Coins that the checkout lists first, in this order; empty for the usual order.
        favorite_coins: Vec<&'static str> [Schema::List(&Schema::ASSET)] = ["BTC", "USDC-BASE"];
        /// Lines below the name on receipts, for example an address.
        address_lines: &'a [String] = ["1 Example Street", "10115 Berlin"];
        /// Coin of the payouts.
        payout_asset: &'static str [Schema::ASSET] = "SOL";
        /// Payout addresses, at most one for each chain.
        payout_addresses: &'a [PayoutAddressView] = [{
            "chain": "solana", "address": "4uQeVj5tqViQh7yWWGStvkEG1Zmhx6uasJtWCJziofM",
            "changedAt": "2026-11-21T09:30:00.000Z", "usableAt": "2026-11-22T09:30:00.000Z"
        }];
        /// Creation time of the account, in UTC.
        created_at: Time = "2026-11-21T09:30:00.000Z";
    }
}

view! {
    /// Appearance of the checkout.
    pub(crate) BrandingView<'a> {
        /// Color, as # and six hexadecimal digits.
        color: Option<&'a str> [schema!({ "type": ["string", "null"], "pattern": "^#[0-9a-f]{6}$" })];
        /// URL of the logo; https.
        logo_url: Option<&'a str> [schema!({ "type": ["string", "null"], "pattern": "^[Hh][Tt][Tt][Pp][Ss]://" })];
    }
}

view! {
    /// Payout address on one chain.
    pub(crate) PayoutAddressView {
        /// The chain.
        chain: Chain [Schema::CHAIN];
        /// The address.
        address: String;
        /// Time of the last change, in UTC.
        changed_at: Time;
        /// Time from which payouts may use it, in UTC.
        usable_at: Time;
    }
}

const TOLERANCE: Schema = schema!({ "type": "integer", "minimum": 0, "maximum": 2000 });
const CUSTOMER_URL: Schema = schema!({
    "type": ["string", "null"], "pattern": "^[A-Za-z][A-Za-z0-9+.-]*://"
});

pub(crate) fn account_with_settings(
    account: &Account,
    payout_addresses: &[PayoutAddressView],
) -> Rendered {
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
        favorite_coins: account.favorite_coins.iter().map(|asset| asset.id).collect(),
        address_lines: &account.address_lines,
        payout_asset: account.payout_asset.id,
        payout_addresses,
        created_at: account.created_at,
    })
}

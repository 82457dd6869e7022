//! The JSON of each resource, made once: for its GET, its event and a replay.
//!
//! What lives here: field names, their order, and how each value is written. What does not: envelopes of lists
//! (`http`). What always holds: an object in an event is byte for byte what its GET answers.
//!
//! Rendering fails only where `serde_json` does, and no type here makes it fail.

pub(crate) mod account_settings;
pub(crate) mod activity;
pub(crate) mod approvals;
pub mod chains;
pub(crate) mod claims;
pub mod customer;
pub(crate) mod deliveries;
pub mod endpoints;
mod invoice;
mod invoice_detail;
pub mod keys;
mod links;
pub(crate) mod operator;
pub(crate) mod pools;
mod public;
pub(crate) mod rates;
pub mod sandbox;
pub mod summary;
pub mod tokens;
pub mod transfers;
pub mod unmatched;
pub(crate) mod wallets;

pub use invoice::{CreatedInvoiceView, InvoiceView, invoice};
pub use invoice_detail::{invoice_detail, timeline_entry};
pub(crate) use links::PaymentLinkView;
pub use links::payment_link;
pub use public::{checkout_session, checkout_state, public_config};
pub use transfers::transfer;
pub(crate) use transfers::{ToSend, transfer_for_operator, transfer_to_send};

use super::account::Account;
use super::asset::{Asset, Mode};
use super::ledger::{Balance, Entry};
use super::money::Cents;
use super::signature::{checkout_token, is_checkout_token};
use super::time::Time;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use sha2::{Digest as _, Sha256};

/// What a rendering needs to know of the service.
#[derive(Clone)]
pub struct Links {
    /// The service's public url, without a slash at its end.
    pub public_url: String,
    /// The file's secret behind checkout tokens.
    pub checkout_secret: Vec<u8>,
}

impl Links {
    /// Where an invoice's customer is sent.
    pub fn checkout(&self, invoice_id: &str) -> String {
        let token = self.token(invoice_id);
        format!("{}/checkout/{invoice_id}?token={token}", self.public_url)
    }

    /// What opens an invoice's checkout, and nothing else.
    pub fn token(&self, invoice_id: &str) -> String {
        checkout_token(&self.checkout_secret, invoice_id)
    }

    /// Is this what opens this invoice's checkout? Takes as long whether it is or not.
    pub fn is_token(&self, invoice_id: &str, token: &str) -> bool {
        is_checkout_token(&self.checkout_secret, invoice_id, token)
    }

    /// The script by which a shop's page opens the checkout.
    pub fn widget(&self) -> String {
        format!("{}/widget.js", self.public_url)
    }

    /// Where a payment link leads.
    pub fn payment_link(&self, id: &str) -> String {
        format!("{}/l/{id}", self.public_url)
    }
}

/// Bytes of a hash that tell one state of a resource from all others of it.
const VERSION_BYTES: usize = 8;

/// What is the same as long as the JSON is: 16 hex digits.
pub fn version(json: &RawValue) -> String {
    let hash = Sha256::digest(json.get());
    let first = hash.first_chunk::<VERSION_BYTES>();
    let first = first.map_or(0, |bytes| u64::from_be_bytes(*bytes));
    format!("{first:016x}")
}

/// A rendered resource.
pub type Rendered = serde_json::Result<Box<RawValue>>;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CurrencyView {
    id: &'static str,
    symbol: &'static str,
    name: &'static str,
    chain: super::asset::Chain,
    kind: super::asset::AssetKind,
    decimals: u32,
    min_amount: String,
}

/// A coin of the currencies list.
pub fn currency(asset: &Asset) -> Rendered {
    to_raw_value(&CurrencyView {
        id: asset.id,
        symbol: asset.symbol,
        name: asset.name,
        chain: asset.chain,
        kind: asset.kind,
        decimals: asset.decimals,
        min_amount: asset.text(asset.min_amount),
    })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MerchantView<'a> {
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<&'static str>,
    name: &'a str,
    status: super::account::AccountStatus,
    fee_bps: u32,
    fee_percent: String,
    settlement_enabled: bool,
    customers_enabled: bool,
    webhook_url: Option<&'a str>,
    payout_asset: &'static str,
    livemode: bool,
    balances: Vec<BalanceView>,
    created_at: Time,
}

/// The account as `GET /v1/merchant` answers it.
pub fn merchant(
    account: &Account,
    mode: Mode,
    webhook_url: Option<&str>,
    balances: &[Balance],
) -> Rendered {
    merchant_view(account, mode, webhook_url, balances, None)
}

/// The account as the object of an `account.*` event: the same, with `object` "account".
pub fn account(
    account: &Account,
    mode: Mode,
    webhook_url: Option<&str>,
    balances: &[Balance],
) -> Rendered {
    merchant_view(account, mode, webhook_url, balances, Some("account"))
}

fn merchant_view(
    account: &Account,
    mode: Mode,
    webhook_url: Option<&str>,
    balances: &[Balance],
    object: Option<&'static str>,
) -> Rendered {
    to_raw_value(&MerchantView {
        id: &account.id,
        object,
        name: &account.name,
        status: account.status,
        fee_bps: account.fee.0,
        fee_percent: account.fee.percent(),
        settlement_enabled: account.settlement_enabled,
        customers_enabled: account.customers_enabled,
        webhook_url,
        payout_asset: account.payout_asset.id,
        livemode: mode.is_live(),
        balances: balances.iter().map(BalanceView::from).collect(),
        created_at: account.created_at,
    })
}

#[derive(Serialize)]
struct BalanceView {
    currency: super::money::Currency,
    available: Cents,
    pending: super::money::Total,
    reserved: Cents,
    sales: Cents,
    fees: Cents,
    payouts: Cents,
    refunds: Cents,
}

impl From<&Balance> for BalanceView {
    fn from(of: &Balance) -> BalanceView {
        BalanceView {
            currency: of.currency,
            available: of.available,
            pending: of.pending,
            reserved: of.reserved,
            sales: of.sales,
            fees: of.fees,
            payouts: of.payouts,
            refunds: of.refunds,
        }
    }
}

/// A balance.
pub fn balance(balance: &Balance) -> Rendered {
    to_raw_value(&BalanceView::from(balance))
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EntryView<'a> {
    id: &'a str,
    currency: super::money::Currency,
    amount: Cents,
    kind: super::ledger::LedgerKind,
    ref_type: super::ledger::RefType,
    ref_id: Option<&'a str>,
    fee_bps: Option<u32>,
    memo: Option<&'a str>,
    livemode: bool,
    created_at: Time,
}

/// An entry of the ledger.
pub fn entry(entry: &Entry, mode: Mode) -> Rendered {
    to_raw_value(&EntryView {
        id: &entry.id,
        currency: entry.currency,
        amount: entry.amount,
        kind: entry.kind,
        ref_type: entry.ref_type,
        ref_id: entry.ref_id.as_deref(),
        fee_bps: entry.fee_bps.map(|bps| bps.0),
        memo: entry.memo.as_deref(),
        livemode: mode.is_live(),
        created_at: entry.created_at,
    })
}

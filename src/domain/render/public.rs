//! The JSON for a shop's page: the public configuration, and where a checkout is.
//!
//! What always holds: nothing here is only for the shop's server.

use super::{Links, Rendered};
use crate::domain::account::Account;
use crate::domain::asset::{Asset, Chain, Mode};
use crate::domain::invoice::Invoice;
use crate::domain::language::{AUTO, Language};
use crate::domain::money::Currency;
use crate::domain::status::InvoiceStatus;
use crate::domain::time::Time;
use serde::Serialize;
use serde_json::value::to_raw_value;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ConfigView<'a> {
    merchant: &'a str,
    livemode: bool,
    branding: BrandingView<'a>,
    currencies: &'static [Currency],
    checkout_lang: &'a str,
    coins: Vec<CoinView>,
    widget_url: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BrandingView<'a> {
    color: Option<&'a str>,
    logo_url: Option<&'a str>,
}

#[derive(Serialize)]
struct CoinView {
    id: &'static str,
    symbol: &'static str,
    name: &'static str,
    chain: Chain,
}

/// The public configuration of an account in one mode, with the coins on offer.
pub fn public_config(
    account: &Account,
    mode: Mode,
    coins: impl Iterator<Item = &'static Asset>,
    links: &Links,
) -> Rendered {
    let coin = |asset: &'static Asset| CoinView {
        id: asset.id,
        symbol: asset.symbol,
        name: asset.name,
        chain: asset.chain,
    };
    to_raw_value(&ConfigView {
        merchant: &account.name,
        livemode: mode.is_live(),
        branding: BrandingView {
            color: account.branding.color.as_deref(),
            logo_url: account.branding.logo_url.as_deref(),
        },
        currencies: Currency::ALL,
        checkout_lang: match account.checkout_lang.as_str() {
            // A page of a shop asks for one language.
            AUTO => Language::default().as_str(),
            lang => lang,
        },
        coins: coins.map(coin).collect(),
        widget_url: links.widget(),
    })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SessionView<'a> {
    invoice_id: &'a str,
    token: String,
    checkout_url: String,
    status: InvoiceStatus,
    expires_at: Time,
}

/// Where the checkout of an invoice is, and what opens it.
pub fn checkout_session(invoice: &Invoice, links: &Links) -> Rendered {
    to_raw_value(&SessionView {
        invoice_id: &invoice.id,
        token: links.token(&invoice.id),
        checkout_url: links.checkout(&invoice.id),
        status: invoice.status,
        expires_at: invoice.expires_at,
    })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CheckoutStateView<'a> {
    id: &'a str,
    status: InvoiceStatus,
    paid: bool,
    asset: Option<&'static str>,
    deposit_address: Option<&'a str>,
    amount_expected: Option<String>,
    amount_received: Option<String>,
    expires_at: Time,
}

/// What a checkout shows of an invoice, as far as it changes.
pub fn checkout_state(invoice: &Invoice) -> Rendered {
    let coin = invoice.coin.as_ref();
    let received = coin.zip(invoice.amount_received);
    to_raw_value(&CheckoutStateView {
        id: &invoice.id,
        status: invoice.status,
        paid: invoice.status.is_paid(),
        asset: coin.map(|coin| coin.asset.id),
        deposit_address: coin.map(|coin| coin.address.as_str()),
        amount_expected: coin.map(|coin| coin.asset.text(coin.amount_expected)),
        amount_received: received.map(|(coin, amount)| coin.asset.text(amount)),
        expires_at: invoice.expires_at,
    })
}

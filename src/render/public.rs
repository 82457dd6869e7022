//! JSON for a shop's page: the public configuration and the checkout session.
//!
//! Invariant: this JSON contains nothing that only the shop's server may know.

use super::{LinkBuilder, Rendered};
use crate::domain::asset::Chain;
use crate::domain::fields::{Schema, schema, view};
use crate::domain::language::AUTO;
use crate::domain::{Account, Asset, Currency, Invoice, InvoiceStatus, Language, Mode, Time};
use serde_json::value::to_raw_value;

view! {
    /// Configuration for the shop's page.
    pub(crate) PublicConfigView<'a> as "PublicConfig" {
        /// The account's name.
        merchant: &'a str = "Sandbox Shop";
        livemode: bool = false;
        branding: PublicBrandingView<'a> = { "color": null, "logoUrl": null };
        currencies: &'static [Currency] = ["EUR", "USD"];
        /// Language of the checkout, as in lang of HTML.
        checkout_lang: &'a str [schema!({ "type": "string", "minLength": 1 })] = "en";
        /// Coins on offer in the key's mode.
        coins: Vec<PublicCoinView> = [{ "id": "LTC", "symbol": "LTC", "name": "Litecoin", "chain": "litecoin" }];
        /// URL of the script that opens the checkout on the shop's page.
        widget_url: String [Schema::URL] = "https://pay.example.com/widget.js";
    }
}

view! {
    pub(crate) PublicBrandingView<'a> {
        color: Option<&'a str> [schema!({ "type": ["string", "null"], "pattern": "^#[0-9a-f]{6}$" })];
        logo_url: Option<&'a str> [
            schema!({ "type": ["string", "null"], "pattern": "^[Hh][Tt][Tt][Pp][Ss]://" })
        ];
    }
}

view! {
    pub(crate) PublicCoinView {
        id: &'static str [Schema::ASSET];
        symbol: &'static str;
        name: &'static str;
        chain: Chain [Schema::CHAIN];
    }
}

/// Returns the JSON of the public configuration of an account in one mode, with the coins on offer.
pub fn public_config(
    account: &Account,
    mode: Mode,
    coins: impl Iterator<Item = &'static Asset>,
    links: &LinkBuilder,
) -> Rendered {
    let coin = |asset: &'static Asset| PublicCoinView {
        id: asset.id,
        symbol: asset.symbol,
        name: asset.name,
        chain: asset.chain,
    };
    to_raw_value(&PublicConfigView {
        merchant: &account.name,
        livemode: mode.is_live(),
        branding: PublicBrandingView {
            color: account.branding.color.as_deref(),
            logo_url: account.branding.logo_url.as_deref(),
        },
        currencies: Currency::ALL,
        checkout_lang: match account.checkout_lang.as_str() {
            // The page of a shop needs a language, and `auto` is not a language.
            AUTO => Language::default().as_str(),
            lang => lang,
        },
        coins: coins.map(coin).collect(),
        widget_url: links.widget_url(),
    })
}

view! {
    pub(crate) CheckoutSessionView<'a> as "CheckoutSession" {
        invoice_id: &'a str [Schema::UUID] = "019d9f7b-6a00-7000-8000-000000000001";
        /// Token of the checkout, which allows reading the invoice and selecting a coin.
        token: String = "5b1c1f6c2a7f4f0e9d8c7b6a59483726";
        checkout_url: String [Schema::URL] = "https://pay.example.com/checkout/019d9f7b-6a00-7000-8000-000000000001?token=5b1c1f6c2a7f4f0e9d8c7b6a59483726";
        status: InvoiceStatus = "created";
        /// Deadline for payments.
        expires_at: Time = "2026-11-21T09:50:00.000Z";
    }
}

/// Returns the JSON of an invoice's checkout: its URL and its token.
pub fn checkout_session(invoice: &Invoice, links: &LinkBuilder) -> Rendered {
    to_raw_value(&CheckoutSessionView {
        invoice_id: &invoice.id,
        token: links.checkout_token(&invoice.id),
        checkout_url: links.checkout_url(&invoice.id),
        status: invoice.status,
        expires_at: invoice.expires_at,
    })
}

view! {
    /// The changing part of an invoice, for its checkout.
    pub(crate) CheckoutEventView<'a> as "CheckoutEvent" {
        /// Invoice id.
        id: &'a str [Schema::UUID] = "019d9f7b-6a00-7000-8000-000000000001";
        status: InvoiceStatus = "awaiting_payment";
        paid: bool = false;
        asset: Option<&'static str> = "LTC";
        deposit_address: Option<&'a str> = "tltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9";
        amount_expected: Option<String> = "0.25";
        amount_received: Option<String> = null;
        expires_at: Time = "2026-11-21T09:50:00.000Z";
    }
}

/// Returns the JSON of the fields of an invoice that change during its checkout.
pub fn checkout_state(invoice: &Invoice) -> Rendered {
    let coin = invoice.coin.as_ref();
    let received = coin.zip(invoice.amount_received);
    to_raw_value(&CheckoutEventView {
        id: &invoice.id,
        status: invoice.status,
        paid: invoice.status.is_paid(),
        asset: coin.map(|coin| coin.asset.id),
        deposit_address: coin.map(|coin| coin.address.as_str()),
        amount_expected: coin.map(|coin| coin.asset.format_units(coin.amount_expected)),
        amount_received: received.map(|(coin, amount)| coin.asset.format_units(amount)),
        expires_at: invoice.expires_at,
    })
}

//! JSON of an invoice, as returned and as part of events.

use super::{LinkBuilder, Rendered};
use crate::domain::fields::view::OmittedIfNone;
use crate::domain::fields::{Schema, schema, view};
use crate::domain::{Cents, Currency, Invoice, InvoiceStatus, Time};
use serde_json::value::{RawValue, to_raw_value};

view! {
    /// A price that a customer pays in a coin.
    pub InvoiceView<'a> as "Invoice" {
        /// Invoice id.
        id: &'a str [Schema::UUID] = "01a1fd70-f1c0-72d6-a3de-4fa0dcc29946";
        /// Always invoice.
        object: &'static str [schema!({ "type": "string", "const": "invoice" })] = "invoice";
        /// The merchant's own reference, unique per merchant.
        order_id: Option<&'a str> = "order-1001";
        /// Status of the invoice.
        status: InvoiceStatus = "confirmed";
        /// Whether the status is confirmed or overpaid: the field to act on.
        paid: bool = true;
        /// False if the invoice was created with a test key.
        livemode: bool = false;
        /// Price in the invoice's currency.
        amount: Cents = "20.00";
        /// Currency of the price.
        currency: Currency = "EUR";
        /// Description for the customer.
        description: Option<&'a str> = "Two tickets";
        /// Asset id of the selected coin; null until one is selected.
        asset: Option<&'static str> [Schema::OrNull(&Schema::ASSET)] = "LTC";
        /// Symbol of the selected coin; null until one is selected.
        asset_symbol: Option<&'static str> = "LTC";
        /// Amount to pay, in whole coins of the selected coin; null until one is selected.
        amount_expected: Option<String> [Schema::Nullable(&Schema::COINS)] = "0.25";
        /// Amount seen or confirmed, in whole coins of the selected coin; null without a payment.
        amount_received: Option<String> [Schema::Nullable(&Schema::COINS)] = "0.25";
        /// Fiat per whole coin, fixed when the coin is selected; null until then.
        rate: Option<String> [Schema::Nullable(&Schema::COINS)] = "80";
        /// Address to pay to, on the selected coin's chain; null until a coin is selected.
        deposit_address: Option<&'a str> = "tltc1qe4q6d68k24snn697tukzvqh0s50n4jrs5pv5pl";
        /// URL of the hosted checkout, for the customer.
        checkout_url: String [Schema::URL] = "http://127.0.0.1:8080/checkout/01a1fd70-f1c0-72d6-a3de-4fa0dcc29946?token=aQEeK3mEzrTEb6xFgsmSPlAdXEWmu6wyaiAUGP1j9DU";
        /// The customer's e-mail address.
        customer_email: Option<&'a str> = "ada@example.com";
        /// Free-form keys and values, kept as sent and returned in webhooks.
        metadata: &'a RawValue = { "cart": "c-77" };
        /// Id of the payment link that created the invoice.
        payment_link_id: Option<&'a str> [Schema::Nullable(&Schema::UUID)] = null;
        /// Sum of the refunds that are not failed, rejected or cancelled, in the invoice's currency; null without
        /// refunds.
        refunded_amount: Option<Cents> = null;
        /// Creation time of the invoice, in UTC.
        created_at: Time = "2026-11-21T09:30:00.000Z";
        /// Deadline for payments, in UTC.
        expires_at: Time = "2026-11-21T09:50:00.000Z";
        /// Start of the present paid state, in UTC; null while the invoice is not paid.
        confirmed_at: Option<Time> = "2026-11-21T09:31:12.400Z";
    }
}

view! {
    /// The new invoice: every field of Invoice, and warnings.
    pub CreatedInvoiceView<'a> as "CreatedInvoice" {
        /// Fields of the key.
        [flatten] base: InvoiceView<'a>;
        /// Problems with fields that did not prevent the creation; absent without problems.
        warnings: OmittedIfNone<&'a [String]> [WARNINGS];
    }
    example differs {
        "status": "created", "paid": false, "asset": null, "assetSymbol": null, "amountExpected": null,
        "amountReceived": null, "rate": null, "depositAddress": null, "confirmedAt": null
    }
}

const WARNINGS: Schema = schema!({
    "type": "array", "items": { "type": "string" }, "examples": [["Unknown field ignored: colour."]]
});

/// Returns the JSON of an invoice. Only the response to the creation of the invoice has warnings.
pub fn invoice(invoice: &Invoice, links: &LinkBuilder, warnings: &[String]) -> Rendered {
    let view = InvoiceView::new(invoice, links);
    if warnings.is_empty() {
        return to_raw_value(&view);
    }
    to_raw_value(&CreatedInvoiceView { base: view, warnings: OmittedIfNone(Some(warnings)) })
}

impl<'a> InvoiceView<'a> {
    pub(super) fn new(invoice: &'a Invoice, links: &LinkBuilder) -> InvoiceView<'a> {
        let coin = invoice.coin.as_ref();
        InvoiceView {
            id: &invoice.id,
            object: "invoice",
            order_id: invoice.order_id.as_deref(),
            status: invoice.status,
            paid: invoice.status.is_paid(),
            livemode: invoice.mode.is_live(),
            amount: invoice.amount,
            currency: invoice.currency,
            description: invoice.description.as_deref(),
            asset: coin.map(|coin| coin.asset.id),
            asset_symbol: coin.map(|coin| coin.asset.symbol),
            amount_expected: coin.map(|coin| coin.asset.format_units(coin.amount_expected)),
            amount_received: coin
                .zip(invoice.amount_received)
                .map(|(coin, amount)| coin.asset.format_units(amount)),
            rate: coin.map(|coin| coin.rate.to_string()),
            deposit_address: coin.map(|coin| coin.address.as_str()),
            checkout_url: links.checkout_url(&invoice.id),
            customer_email: invoice.customer_email.as_deref(),
            metadata: &invoice.metadata,
            payment_link_id: invoice.payment_link_id.as_deref(),
            refunded_amount: invoice.refunded,
            created_at: invoice.created_at,
            expires_at: invoice.expires_at,
            confirmed_at: invoice.confirmed_at,
        }
    }
}

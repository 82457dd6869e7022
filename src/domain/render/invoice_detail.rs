//! The JSON of what only the operator interface shows of an invoice: its details and its timeline.
//!
//! What always holds: field names and their order are the interface's.

use super::rates::PricedBy;
use super::{Links, Rendered};
use crate::domain::confirmations::OnChain;
use crate::domain::invoice::Invoice;
use crate::domain::money::Cents;
use crate::domain::payment::{Payment, PaymentState};
use crate::domain::quote::Quote;
use crate::domain::time::Time;
use crate::domain::timeline::{Entry, EntryKind, PaymentStep, Sums};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DetailView<'a> {
    invoice: Box<RawValue>,
    redirect_url: Option<&'a str>,
    cancel_url: Option<&'a str>,
    webhook_url: Option<&'a str>,
    cancelled_at: Option<Time>,
    under_tolerance_bps: u32,
    over_tolerance_bps: u32,
    sums: Sums,
    quotes: Vec<QuoteView<'a>>,
    payments: Vec<PaymentView<'a>>,
    test_network: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct QuoteView<'a> {
    asset: &'static str,
    rate: String,
    priced_by: PricedBy,
    amount_expected: String,
    address: &'a str,
    picked: bool,
    created_at: Time,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PaymentView<'a> {
    id: &'a str,
    state: PaymentState,
    asset: &'static str,
    chain: crate::domain::asset::Chain,
    txid: &'a str,
    position: u32,
    amount: String,
    rate: String,
    priced_by: PricedBy,
    value: Cents,
    on_time: bool,
    seen_at: Time,
    confirmed_at: Option<Time>,
    #[serde(flatten)]
    on_chain: &'a OnChain,
}

/// An invoice with all that is known of it, each payment with how it stands on its chain; and the test network on which its
/// coin is paid.
pub fn invoice_detail(
    (invoice, test_network): (&Invoice, Option<&str>),
    quotes: &[Quote],
    payments: &[(Payment, OnChain)],
    sums: Sums,
    links: &Links,
) -> Rendered {
    let picked = invoice.picked_quote;
    to_raw_value(&DetailView {
        invoice: super::invoice(invoice, links, &[])?,
        redirect_url: invoice.redirect_url.as_deref(),
        cancel_url: invoice.cancel_url.as_deref(),
        webhook_url: invoice.webhook_url.as_deref(),
        cancelled_at: invoice.cancelled_at,
        under_tolerance_bps: invoice.under.0,
        over_tolerance_bps: invoice.over.0,
        sums,
        quotes: quotes
            .iter()
            .map(|one| QuoteView {
                asset: one.asset.id,
                rate: one.quoted.rate.to_string(),
                priced_by: PricedBy::from(&one.quoted),
                amount_expected: one.asset.text(one.amount_expected),
                address: &one.address,
                picked: picked == Some(one.seq),
                created_at: one.created_at,
            })
            .collect(),
        payments: payments.iter().map(PaymentView::from).collect(),
        test_network,
    })
}

impl<'a> From<&'a (Payment, OnChain)> for PaymentView<'a> {
    fn from((of, on_chain): &'a (Payment, OnChain)) -> PaymentView<'a> {
        PaymentView {
            id: &of.id,
            state: of.state,
            asset: of.asset.id,
            chain: of.asset.chain,
            txid: &of.txid,
            position: of.position,
            amount: of.asset.text(of.amount),
            rate: of.quoted.rate.to_string(),
            priced_by: PricedBy::from(&of.quoted),
            value: of.value,
            on_time: of.on_time,
            seen_at: of.seen_at,
            confirmed_at: of.confirmed_at,
            on_chain,
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EntryView<'a> {
    at: Time,
    kind: EntryKind,
    text: &'a str,
    status: Option<crate::domain::status::InvoiceStatus>,
    sums: Option<Sums>,
    coin: Option<CoinView<'a>>,
    payment: Option<PaidView<'a>>,
    booking: Option<BookingView<'a>>,
    refund: Option<RefundView<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CoinView<'a> {
    asset: &'static str,
    rate: String,
    priced_by: PricedBy,
    amount_expected: String,
    address: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PaidView<'a> {
    id: &'a str,
    step: PaymentStep,
    asset: &'static str,
    amount: String,
    rate: String,
    priced_by: PricedBy,
    value: Cents,
    on_time: bool,
    txid: &'a str,
    #[serde(flatten)]
    on_chain: &'a OnChain,
}

#[derive(Serialize)]
struct BookingView<'a> {
    id: &'a str,
    kind: crate::domain::ledger::LedgerKind,
    amount: Cents,
}

#[derive(Serialize)]
struct RefundView<'a> {
    id: &'a str,
    status: crate::domain::transfer::TransferStatus,
}

/// An entry of a timeline.
pub fn timeline_entry(entry: &Entry) -> Rendered {
    to_raw_value(&EntryView {
        at: entry.at,
        kind: entry.kind,
        text: &entry.text,
        status: entry.status,
        sums: entry.sums,
        coin: entry.coin.as_ref().map(|coin| CoinView {
            asset: coin.asset.id,
            rate: coin.quoted.rate.to_string(),
            priced_by: PricedBy::from(&coin.quoted),
            amount_expected: coin.asset.text(coin.amount_expected),
            address: &coin.address,
        }),
        payment: entry.payment.as_ref().map(|paid| PaidView {
            id: &paid.id,
            step: paid.step,
            asset: paid.asset.id,
            amount: paid.asset.text(paid.amount),
            rate: paid.quoted.rate.to_string(),
            priced_by: PricedBy::from(&paid.quoted),
            value: paid.value,
            on_time: paid.on_time,
            txid: &paid.txid,
            on_chain: &paid.on_chain,
        }),
        booking: entry.booking.as_ref().map(|booking| BookingView {
            id: &booking.id,
            kind: booking.kind,
            amount: booking.amount,
        }),
        refund: entry.refund.as_ref().map(|(id, status)| RefundView {
            id,
            status: *status,
        }),
    })
}

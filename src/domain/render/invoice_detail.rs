//! Details and timeline of an invoice, which only the operator interface answers.

use super::rates::PricedByView;
use super::{InvoiceView, Links, Rendered};
use crate::domain::asset::Chain;
use crate::domain::confirmations::OnChain;
use crate::domain::fields::{Schema, schema, view};
use crate::domain::invoice::Invoice;
use crate::domain::ledger::LedgerKind;
use crate::domain::money::Cents;
use crate::domain::payment::{Payment, PaymentState};
use crate::domain::quote::Quote;
use crate::domain::status::InvoiceStatus;
use crate::domain::time::Time;
use crate::domain::timeline::{Entry, EntryKind, PaymentStep, Sums};
use crate::domain::transfer::TransferStatus;
use serde_json::value::to_raw_value;

view! {
    /// An invoice with all that is known of it.
    pub(crate) InvoiceDetailView<'a> as "InvoiceDetail" {
        invoice: InvoiceView<'a> = {"id": "01a1fd70-f1c0-72d6-a3de-4fa0dcc29946", "object": "invoice", "orderId": "order-1001", "status": "confirmed", "paid": true, "livemode": false, "amount": "20.00", "currency": "EUR", "description": "Two tickets", "asset": "LTC", "assetSymbol": "LTC", "amountExpected": "0.25", "amountReceived": "0.25", "rate": "80", "depositAddress": "tltc1qe4q6d68k24snn697tukzvqh0s50n4jrs5pv5pl", "checkoutUrl": "http://127.0.0.1:8080/checkout/01a1fd70-f1c0-72d6-a3de-4fa0dcc29946?token=aQEeK3mEzrTEb6xFgsmSPlAdXEWmu6wyaiAUGP1j9DU", "customerEmail": "ada@example.com", "metadata": {"cart": "c-77"}, "paymentLinkId": null, "refundedAmount": null, "createdAt": "2026-11-21T09:30:00.000Z", "expiresAt": "2026-11-21T09:50:00.000Z", "confirmedAt": "2026-11-21T09:31:12.400Z"};
        /// Where the customer goes after paying.
        redirect_url: Option<&'a str> = "https://shop.example/thanks";
        /// Where the customer goes instead of paying.
        cancel_url: Option<&'a str> = null;
        /// Extra URL receiving this invoice's events.
        webhook_url: Option<&'a str> = null;
        /// When it was cancelled, in UTC.
        cancelled_at: Option<Time> [Schema::OrNull(&Schema::MOMENT)] = null;
        /// How much less still counts as paid, in basis points of the price.
        under_tolerance_bps: u32 [TOLERANCE] = 50;
        /// How much more is not overpaid, in basis points of the price.
        over_tolerance_bps: u32 [TOLERANCE] = 50;
        sums: Sums = {"due": "20.00", "paidFrom": "19.90", "paidUpTo": "20.10", "confirmedOnTime": "20.00", "unconfirmedOnTime": "0.00", "confirmedLate": "0.00"};
        /// Every coin that was picked, oldest first.
        quotes: Vec<QuoteView<'a>> = [{"asset": "LTC", "rate": "80", "pricedBy": {"source": "fixed", "at": "2026-11-21T09:30:20.000Z", "spreadBps": 0, "figures": []}, "amountExpected": "0.25", "address": "tltc1qe4q6d68k24snn697tukzvqh0s50n4jrs5pv5pl", "picked": true, "createdAt": "2026-11-21T09:30:20.000Z"}];
        /// Every payment, oldest first.
        payments: Vec<PaymentView<'a>> = [{"id": "01a1fd71-0a11-7c40-9d3e-5a2b6c7d8e90", "state": "confirmed", "asset": "LTC", "chain": "litecoin", "txid": "5e3b5e3b5e3b5e3b5e3b5e3b5e3b5e3b5e3b5e3b5e3b5e3b5e3b5e3b5e3b5e3b", "position": 0, "amount": "0.25", "rate": "80", "pricedBy": {"source": "fixed", "at": "2026-11-21T09:30:20.000Z", "spreadBps": 0, "figures": []}, "value": "20.00", "onTime": true, "seenAt": "2026-11-21T09:30:48.000Z", "confirmedAt": "2026-11-21T09:31:12.400Z", "confirmations": null, "confirmationsNeeded": null, "explorerUrl": null}];
        /// The test network on which its coin is paid; null where that is worth something, and where the chain is
        /// simulated.
        test_network: Option<&'a str> = null;
    }
}

view! {
    /// A coin that was picked.
    pub(crate) QuoteView<'a> {
        /// The coin.
        asset: &'static str [Schema::ASSET];
        /// Fiat per whole coin.
        rate: String [Schema::COINS];
        priced_by: PricedByView;
        /// What the customer was asked to pay.
        amount_expected: String [Schema::COINS];
        /// Where to.
        address: &'a str;
        /// Whether it was picked last.
        picked: bool;
        /// When it was picked first, in UTC.
        created_at: Time;
    }
}

view! {
    /// A payment.
    pub(crate) PaymentView<'a> {
        /// Payment id.
        id: &'a str [Schema::UUID];
        /// Where it stands.
        state: PaymentState;
        /// The coin it came in.
        asset: &'static str [Schema::ASSET];
        /// Where it was seen.
        chain: Chain [Schema::CHAIN];
        /// The transaction.
        txid: &'a str;
        /// Output or log index in it.
        position: u32;
        /// What was sent, in whole coins.
        amount: String [Schema::COINS];
        /// The rate it was judged at.
        rate: String [Schema::COINS];
        priced_by: PricedByView;
        /// What it is worth, in the invoice's currency.
        value: Cents;
        /// Whether it was seen before the deadline.
        on_time: bool;
        /// When it was seen, in UTC.
        seen_at: Time;
        /// When it was confirmed, in UTC; null while it is not.
        confirmed_at: Option<Time> [Schema::OrNull(&Schema::MOMENT)];
        [flatten] on_chain: &'a OnChain;
    }
}

const TOLERANCE: Schema = schema!({ "type": "integer", "minimum": 0, "maximum": 2000 });

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
    to_raw_value(&InvoiceDetailView {
        invoice: InvoiceView::of(invoice, links),
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
                priced_by: PricedByView::from(&one.quoted),
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
            priced_by: PricedByView::from(&of.quoted),
            value: of.value,
            on_time: of.on_time,
            seen_at: of.seen_at,
            confirmed_at: of.confirmed_at,
            on_chain,
        }
    }
}

view! {
    /// One thing that happened to an invoice.
    pub(crate) TimelineEntryView<'a> as "TimelineEntry" {
        /// When, in UTC.
        at: Time = "2026-11-21T09:31:12.400Z";
        /// What the entry tells of.
        kind: EntryKind = "status";
        /// The same in words.
        text: &'a str = "confirmed: confirmed 20.00 of 20.00 EUR due, tolerance 0.10";
        /// The status from here on, where this is a change of it.
        status: Option<InvoiceStatus> = "confirmed";
        /// What the status follows from, at that moment.
        sums: Option<Sums> = {"due": "20.00", "paidFrom": "19.90", "paidUpTo": "20.10", "confirmedOnTime": "20.00", "unconfirmedOnTime": "0.00", "confirmedLate": "0.00"};
        /// The coin that was picked.
        coin: Option<CoinView<'a>> = null;
        /// The payment that something happened to.
        payment: Option<PaidView<'a>> = null;
        /// What was booked.
        booking: Option<BookingView<'a>> = null;
        /// Which refund went a step.
        refund: Option<RefundView<'a>> = null;
    }
}

view! {
    /// The coin that was picked.
    pub(crate) CoinView<'a> {
        /// The coin.
        asset: &'static str [Schema::ASSET];
        /// Fiat per whole coin.
        rate: String [Schema::COINS];
        priced_by: PricedByView;
        /// What the customer is asked to pay.
        amount_expected: String [Schema::COINS];
        /// Where to.
        address: &'a str;
    }
}

view! {
    /// The payment that something happened to.
    pub(crate) PaidView<'a> {
        /// Payment id.
        id: &'a str [Schema::UUID];
        /// What happened to it.
        step: PaymentStep;
        /// The coin it came in.
        asset: &'static str [Schema::ASSET];
        /// What was sent, in whole coins.
        amount: String [Schema::COINS];
        /// The rate it was judged at.
        rate: String [Schema::COINS];
        priced_by: PricedByView;
        /// What it is worth, in the invoice's currency.
        value: Cents;
        /// Whether it was seen before the deadline.
        on_time: bool;
        /// The transaction.
        txid: &'a str;
        [flatten] on_chain: &'a OnChain;
    }
}

view! {
    /// What was booked.
    pub(crate) BookingView<'a> {
        /// Ledger entry id.
        id: &'a str [Schema::UUID];
        /// What is booked.
        kind: LedgerKind;
        /// Signed amount.
        amount: Cents;
    }
}

view! {
    /// A refund.
    pub(crate) RefundView<'a> {
        /// Refund id.
        id: &'a str [Schema::UUID];
        /// Where it stands from here on.
        status: TransferStatus;
    }
}

/// An entry of a timeline.
pub fn timeline_entry(entry: &Entry) -> Rendered {
    to_raw_value(&TimelineEntryView {
        at: entry.at,
        kind: entry.kind,
        text: &entry.text,
        status: entry.status,
        sums: entry.sums,
        coin: entry.coin.as_ref().map(|coin| CoinView {
            asset: coin.asset.id,
            rate: coin.quoted.rate.to_string(),
            priced_by: PricedByView::from(&coin.quoted),
            amount_expected: coin.asset.text(coin.amount_expected),
            address: &coin.address,
        }),
        payment: entry.payment.as_ref().map(|paid| PaidView {
            id: &paid.id,
            step: paid.step,
            asset: paid.asset.id,
            amount: paid.asset.text(paid.amount),
            rate: paid.quoted.rate.to_string(),
            priced_by: PricedByView::from(&paid.quoted),
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

//! JSON of the details and the timeline of an invoice, for the operator interface only.

use super::rates::PricedByView;
use super::{InvoiceView, LinkBuilder, Rendered};
use crate::domain::asset::Chain;
use crate::domain::confirmations::OnChain;
use crate::domain::fields::{Schema, schema, view};
use crate::domain::status::refundable_excess;
use crate::domain::timeline::{PaymentStep, Sums, TimelineEntry, TimelineEntryKind};
use crate::domain::{
    Cents, Invoice, InvoiceStatus, LedgerKind, Payment, PaymentState, Quote, Time, Total,
    TransferStatus,
};
use serde_json::value::to_raw_value;

view! {
    /// An invoice with all details.
    pub(crate) InvoiceDetailView<'a> as "InvoiceDetail" {
        invoice: InvoiceView<'a> = {"id": "01a1fd70-f1c0-72d6-a3de-4fa0dcc29946", "object": "invoice", "orderId": "order-1001", "status": "confirmed", "paid": true, "livemode": false, "amount": "20.00", "currency": "EUR", "description": "Two tickets", "asset": "LTC", "assetSymbol": "LTC", "amountExpected": "0.25", "amountReceived": "0.25", "rate": "80", "depositAddress": "tltc1qe4q6d68k24snn697tukzvqh0s50n4jrs5pv5pl", "checkoutUrl": "http://127.0.0.1:8080/checkout/01a1fd70-f1c0-72d6-a3de-4fa0dcc29946?token=aQEeK3mEzrTEb6xFgsmSPlAdXEWmu6wyaiAUGP1j9DU", "customerEmail": "ada@example.com", "metadata": {"cart": "c-77"}, "paymentLinkId": null, "refundedAmount": null, "createdAt": "2026-11-21T09:30:00.000Z", "expiresAt": "2026-11-21T09:50:00.000Z", "confirmedAt": "2026-11-21T09:31:12.400Z"};
        /// URL for the customer after payment.
        redirect_url: Option<&'a str> = "https://shop.example/thanks";
        /// URL for the customer who cancels.
        cancel_url: Option<&'a str> = null;
        /// Extra URL for this invoice's events.
        webhook_url: Option<&'a str> = null;
        /// Time of the cancellation, in UTC.
        cancelled_at: Option<Time> [Schema::OrNull(&Schema::MOMENT)] = null;
        /// Underpayment that still counts as paid, in basis points of the price.
        under_tolerance_bps: u32 [TOLERANCE] = 50;
        /// Overpayment that still counts as exact, in basis points of the price.
        over_tolerance_bps: u32 [TOLERANCE] = 50;
        /// Part of the confirmed amount above the price that is not refunded yet. A refund without an amount refunds it. Null
        /// unless the invoice is overpaid.
        excess: Option<Total> [Schema::Nullable(&Schema::PRICE)] = null;
        sums: Sums = {"due": "20.00", "paidFrom": "19.90", "paidUpTo": "20.10", "confirmedOnTime": "20.00", "unconfirmedOnTime": "0.00", "confirmedLate": "0.00"};
        /// Every coin that was selected, oldest first.
        quotes: Vec<QuoteView<'a>> = [{"asset": "LTC", "rate": "80", "pricedBy": {"source": "fixed", "at": "2026-11-21T09:30:20.000Z", "spreadBps": 0, "figures": []}, "amountExpected": "0.25", "address": "tltc1qe4q6d68k24snn697tukzvqh0s50n4jrs5pv5pl", "picked": true, "createdAt": "2026-11-21T09:30:20.000Z"}];
        /// Every payment, oldest first.
        payments: Vec<PaymentView<'a>> = [{"id": "01a1fd71-0a11-7c40-9d3e-5a2b6c7d8e90", "state": "confirmed", "asset": "LTC", "chain": "litecoin", "txid": "5e3b5e3b5e3b5e3b5e3b5e3b5e3b5e3b5e3b5e3b5e3b5e3b5e3b5e3b5e3b5e3b", "position": 0, "amount": "0.25", "rate": "80", "pricedBy": {"source": "fixed", "at": "2026-11-21T09:30:20.000Z", "spreadBps": 0, "figures": []}, "value": "20.00", "onTime": true, "seenAt": "2026-11-21T09:30:48.000Z", "confirmedAt": "2026-11-21T09:31:12.400Z", "confirmations": null, "confirmationsNeeded": null, "explorerUrl": null}];
        /// Test network of the invoice's coin; null on main networks and simulated chains.
        test_network: Option<&'a str> = null;
    }
}

view! {
    /// A coin that was selected.
    pub(crate) QuoteView<'a> {
        /// The coin.
        asset: &'static str [Schema::ASSET];
        /// Fiat per whole coin.
        rate: String [Schema::COINS];
        priced_by: PricedByView;
        /// Amount to pay, in whole coins.
        amount_expected: String [Schema::COINS];
        /// Deposit address.
        address: &'a str;
        /// Whether it is the present selection.
        picked: bool;
        /// Time of the first selection, in UTC.
        created_at: Time;
    }
}

view! {
    /// A payment.
    pub(crate) PaymentView<'a> {
        /// Payment id.
        id: &'a str [Schema::UUID];
        /// State of the payment.
        state: PaymentState;
        /// Coin of the payment.
        asset: &'static str [Schema::ASSET];
        /// Chain of the payment.
        chain: Chain [Schema::CHAIN];
        /// Transaction id.
        txid: &'a str;
        /// Index of the output or log in the transaction.
        position: u32;
        /// Amount in whole coins.
        amount: String [Schema::COINS];
        /// Rate that applies to the payment.
        rate: String [Schema::COINS];
        priced_by: PricedByView;
        /// Value in the invoice's currency.
        value: Cents;
        /// Whether it was seen before the deadline.
        on_time: bool;
        /// Time at which it was seen, in UTC.
        seen_at: Time;
        /// Time of its confirmation, in UTC; null while it is not confirmed.
        confirmed_at: Option<Time> [Schema::OrNull(&Schema::MOMENT)];
        [flatten] on_chain: &'a OnChain;
    }
}

const TOLERANCE: Schema = schema!({ "type": "integer", "minimum": 0, "maximum": 2000 });

/// Returns the JSON of an invoice with all details: the confirmations of each payment, and the name of the coin's
/// network if it is a test network.
pub fn invoice_detail(
    invoice: &Invoice,
    test_network: Option<&str>,
    quotes: &[Quote],
    payments: &[(Payment, OnChain)],
    sums: Sums,
    links: &LinkBuilder,
) -> Rendered {
    let picked = invoice.picked_quote;
    to_raw_value(&InvoiceDetailView {
        invoice: InvoiceView::new(invoice, links),
        redirect_url: invoice.redirect_url.as_deref(),
        cancel_url: invoice.cancel_url.as_deref(),
        webhook_url: invoice.webhook_url.as_deref(),
        cancelled_at: invoice.cancelled_at,
        under_tolerance_bps: invoice.under.0,
        over_tolerance_bps: invoice.over.0,
        excess: refundable_excess(
            invoice.status,
            invoice.amount,
            sums.confirmed_on_time.plus(sums.confirmed_late),
            invoice.refunded.unwrap_or_default(),
        ),
        sums,
        quotes: quotes
            .iter()
            .map(|one| QuoteView {
                asset: one.asset.id,
                rate: one.quoted.rate.to_string(),
                priced_by: PricedByView::from(&one.quoted),
                amount_expected: one.asset.format_units(one.amount_expected),
                address: &one.address,
                picked: picked == Some(one.seq),
                created_at: one.created_at,
            })
            .collect(),
        payments: payments
            .iter()
            .map(|(payment, on_chain)| PaymentView::new(payment, on_chain))
            .collect(),
        test_network,
    })
}

impl<'a> PaymentView<'a> {
    fn new(of: &'a Payment, on_chain: &'a OnChain) -> PaymentView<'a> {
        PaymentView {
            id: &of.id,
            state: of.state,
            asset: of.asset.id,
            chain: of.asset.chain,
            txid: &of.txid,
            position: of.position,
            amount: of.asset.format_units(of.amount),
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
    /// An entry in the timeline of an invoice.
    pub(crate) TimelineEntryView<'a> as "TimelineEntry" {
        /// Time of the entry, in UTC.
        at: Time = "2026-11-21T09:31:12.400Z";
        /// Kind of the entry.
        kind: TimelineEntryKind = "status";
        /// Text of the entry.
        text: &'a str = "confirmed: confirmed 20.00 of 20.00 EUR due, tolerance 0.10";
        /// New status; null for entries that do not change it.
        status: Option<InvoiceStatus> = "confirmed";
        /// Sums that determine the status at that time.
        sums: Option<Sums> = {"due": "20.00", "paidFrom": "19.90", "paidUpTo": "20.10", "confirmedOnTime": "20.00", "unconfirmedOnTime": "0.00", "confirmedLate": "0.00"};
        /// The selected coin.
        coin: Option<CoinView<'a>> = null;
        /// The payment of the entry.
        payment: Option<PaidView<'a>> = null;
        /// The booking.
        booking: Option<BookingView<'a>> = null;
        /// The refund of the entry.
        refund: Option<RefundView<'a>> = null;
    }
}

view! {
    /// The selected coin.
    pub(crate) CoinView<'a> {
        /// The coin.
        asset: &'static str [Schema::ASSET];
        /// Fiat per whole coin.
        rate: String [Schema::COINS];
        priced_by: PricedByView;
        /// Amount to pay, in whole coins.
        amount_expected: String [Schema::COINS];
        /// Deposit address.
        address: &'a str;
    }
}

view! {
    /// The payment of the entry.
    pub(crate) PaidView<'a> {
        /// Payment id.
        id: &'a str [Schema::UUID];
        /// Step of the payment.
        step: PaymentStep;
        /// Coin of the payment.
        asset: &'static str [Schema::ASSET];
        /// Amount in whole coins.
        amount: String [Schema::COINS];
        /// Rate that applies to the payment.
        rate: String [Schema::COINS];
        priced_by: PricedByView;
        /// Value in the invoice's currency.
        value: Cents;
        /// Whether it was seen before the deadline.
        on_time: bool;
        /// Transaction id.
        txid: &'a str;
        [flatten] on_chain: &'a OnChain;
    }
}

view! {
    /// A booking in the ledger.
    pub(crate) BookingView<'a> {
        /// Ledger entry id.
        id: &'a str [Schema::UUID];
        /// Kind of the booking.
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
        /// New status of the refund.
        status: TransferStatus;
    }
}

/// Returns the JSON of an entry of a timeline.
pub fn timeline_entry(entry: &TimelineEntry) -> Rendered {
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
            amount_expected: coin.asset.format_units(coin.amount_expected),
            address: &coin.address,
        }),
        payment: entry.payment.as_ref().map(|paid| PaidView {
            id: &paid.id,
            step: paid.step,
            asset: paid.asset.id,
            amount: paid.asset.format_units(paid.amount),
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
        refund: entry.refund.as_ref().map(|(id, status)| RefundView { id, status: *status }),
    })
}

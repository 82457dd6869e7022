//! Tests of the fields that are computed, and the constructed invoice of other tests.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::{Invoice, InvoiceCoin};
use crate::domain::asset::{ASSETS, Asset, Mode};
use crate::domain::chain::Chain;
use crate::domain::money::coin::Units;
use crate::domain::money::{Bps, Cents, Currency};
use crate::domain::payment::{Payment, PaymentState};
use crate::domain::quote::Quote;
use crate::domain::rate::RateQuote;
use crate::domain::scanned::LaggingChains;
use crate::domain::status::InvoiceStatus;
use crate::domain::time::Time;
use serde_json::value::RawValue;

/// Returns an invoice of 100.00 EUR, due at 1000 ms, with a tolerance of 0.5 % below and above.
pub(in crate::domain) fn invoice() -> Invoice {
    Invoice {
        seq: 1,
        id: "i".to_owned(),
        account: 1,
        mode: Mode::Test,
        order_id: None,
        status: InvoiceStatus::Created,
        amount: Cents(10_000),
        currency: Currency::Eur,
        description: None,
        coin: None,
        amount_received: None,
        picked_quote: Some(1),
        redirect_url: None,
        cancel_url: None,
        webhook_url: None,
        metadata: RawValue::from_string("{}".to_owned()).unwrap_or_default(),
        customer_email: None,
        payment_link_id: None,
        refunded: None,
        under: Bps(50),
        over: Bps(50),
        created_at: Time(0),
        expires_at: Time(1000),
        confirmed_at: None,
        cancelled_at: None,
        waits_for: String::new(),
    }
}

fn litecoin() -> &'static Asset {
    Asset::find("LTC").unwrap_or(&ASSETS[0])
}

/// Returns a seen payment of 1 LTC to the quote with `seq` 1, with this value in cents.
pub(in crate::domain) fn payment(seq: i64, value: i64, on_time: bool) -> Option<Payment> {
    Some(Payment {
        seq,
        id: format!("p{seq}"),
        invoice: 1,
        quote: 1,
        observation: 1,
        mode: Mode::Test,
        asset: litecoin(),
        txid: format!("t{seq}"),
        position: 0,
        amount: Units(100_000_000),
        quoted: rate_of_80()?,
        value: Cents(value),
        on_time,
        state: PaymentState::Seen,
        was_confirmed: false,
        seen_at: Time(0),
        confirmed_at: None,
    })
}

/// Returns a fixed rate of 80 EUR for one coin.
pub(in crate::domain) fn rate_of_80() -> Option<RateQuote> {
    Some(RateQuote::fixed("80".parse().ok()?, Time(1)))
}

/// Returns a quote of 1.25 LTC, with `seq` 1.
pub(in crate::domain) fn quote() -> Option<Quote> {
    Some(Quote {
        given: false,
        seq: 1,
        asset: litecoin(),
        quoted: rate_of_80()?,
        amount_expected: Units(125_000_000),
        address: "tltc1".to_owned(),
        created_at: Time(1),
    })
}

/// Returns the invoice, recomputed at this time while no chain lags.
fn recomputed(mut invoice: Invoice, payments: &[Payment], quotes: &[Quote], now: i64) -> Invoice {
    invoice.recompute(payments, quotes, &LaggingChains::default(), Time(now)).unwrap();
    invoice
}

#[test]
fn amount_received_is_the_sum_of_the_payments_in_the_coin_of_the_invoice() {
    let quote = quote().unwrap();
    let [seen, mut confirmed, mut dropped, mut other] =
        [1, 2, 3, 4].map(|seq| payment(seq, 5_000, true).unwrap());
    let unpaid = recomputed(invoice(), &[], std::slice::from_ref(&quote), 10);
    assert_eq!((unpaid.status, unpaid.amount_received), (InvoiceStatus::AwaitingPayment, None));
    assert_eq!(unpaid.coin, Some(InvoiceCoin::from(&quote)));
    confirmed.state = PaymentState::Confirmed;
    dropped.state = PaymentState::Dropped;
    let lost =
        recomputed(invoice(), std::slice::from_ref(&dropped), std::slice::from_ref(&quote), 10);
    assert_eq!(lost.amount_received, None);
    other.asset = Asset::find("BTC").unwrap();
    let paid = [seen, confirmed, dropped, other];
    let paid = recomputed(invoice(), &paid, &[quote], 10);
    assert_eq!(paid.status, InvoiceStatus::Detected);
    assert_eq!(paid.amount_received, Some(Units(200_000_000)));
}

#[test]
fn amount_received_that_overflows_is_refused() {
    let mut paid = [1, 2].map(|seq| payment(seq, 5_000, true).unwrap());
    for payment in &mut paid {
        payment.amount = Units(u128::MAX);
    }
    let scanned = LaggingChains::default();
    let done = invoice().recompute(&paid, &[quote().unwrap()], &scanned, Time(10));
    assert!(done.is_err());
}

#[test]
fn invoice_without_a_quote_has_no_coin() {
    let unquoted = recomputed(invoice(), &[], &[], 10);
    assert_eq!((unquoted.picked_quote, unquoted.coin), (None, None));
    assert_eq!(unquoted.status, InvoiceStatus::Created);
}

/// A person assigns a payment to an invoice: its quote is at an address that is not the invoice's.
#[test]
fn quote_of_an_assigned_payment_is_current_only_while_its_payment_counts() {
    let own = quote().unwrap();
    let given = Quote { given: true, seq: 2, address: "tltc2".to_owned(), ..own.clone() };
    let quotes = [own, given];
    let mut paid = payment(1, 10_000, true).unwrap();
    paid.quote = 2;
    for (state, picked, status, address, picked_after) in [
        (PaymentState::Seen, None, InvoiceStatus::Detected, Some("tltc2"), Some(2)),
        (PaymentState::Confirmed, Some(1), InvoiceStatus::Confirmed, Some("tltc2"), Some(1)),
        (PaymentState::Dropped, Some(1), InvoiceStatus::AwaitingPayment, Some("tltc1"), Some(1)),
        (PaymentState::Dropped, Some(2), InvoiceStatus::Created, None, None),
    ] {
        paid.state = state;
        let before = Invoice { picked_quote: picked, ..invoice() };
        let after = recomputed(before, std::slice::from_ref(&paid), &quotes, 10);
        let coin = after.coin.as_ref().map(|coin| coin.address.as_str());
        assert_eq!((after.status, coin), (status, address), "{state} {picked:?}");
        assert_eq!(after.picked_quote, picked_after, "{state} {picked:?}");
    }
}

#[test]
fn closed_invoice_stays_closed_if_the_clock_is_set_back() {
    let none = LaggingChains::default();
    for (status, now, judged_at) in [
        (InvoiceStatus::Expired, 10, 1_000),
        (InvoiceStatus::Failed, 10, 1_000),
        (InvoiceStatus::Expired, 1_010, 1_010),
        (InvoiceStatus::AwaitingPayment, 10, 10),
    ] {
        let invoice = Invoice { status, ..invoice() };
        assert_eq!(invoice.status_time(&none, Time(now)), Time(judged_at), "{status} {now}");
    }
    let expired = Invoice { status: InvoiceStatus::Expired, ..invoice() };
    assert_eq!(recomputed(expired, &[], &[quote().unwrap()], 10).status, InvoiceStatus::Expired);
}

#[test]
fn live_invoice_does_not_expire_while_its_chain_lags() {
    let scanned = LaggingChains::new(vec![(Chain::Litecoin, Time(900))]);
    let quotes = [quote().unwrap()];
    for (mode, waits_for, status) in [
        (Mode::Live, "litecoin", InvoiceStatus::AwaitingPayment),
        (Mode::Test, "", InvoiceStatus::Expired),
    ] {
        let mut invoice = Invoice { mode, ..invoice() };
        invoice.recompute(&[], &quotes, &scanned, Time(1_100)).unwrap();
        assert_eq!((invoice.waits_for.as_str(), invoice.status), (waits_for, status), "{mode}");
    }
}

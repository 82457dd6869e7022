//! Tests of timelines of constructed invoices.

use super::{
    InvoiceChange, InvoiceHistory, InvoiceStep, TimelineEntry, TimelineEntryKind, timeline,
};
use crate::domain::invoice::tests::{invoice, payment, quote, rate_of_80};
use crate::domain::ledger::{LedgerEntry, LedgerKind, RefType};
use crate::domain::money::{Cents, Currency};
use crate::domain::payment::{Payment, PaymentState};
use crate::domain::quote::Quote;
use crate::domain::rate::{RateQuote, RateSource};
use crate::domain::status::InvoiceStatus;
use crate::domain::time::{HOUR_MS, Time};

fn ledger_entry(payment: i64, kind: LedgerKind, amount: i64, at: i64) -> (i64, LedgerEntry) {
    let entry = LedgerEntry {
        seq: at,
        id: format!("l{at}"),
        currency: Currency::Eur,
        amount: Cents(amount),
        kind,
        ref_type: RefType::Invoice,
        ref_id: None,
        fee_bps: None,
        memo: None,
        created_at: Time(at),
    };
    (payment, entry)
}

/// Returns the texts of a timeline up to `now`.
fn timeline_texts(
    payments: &[Option<Payment>],
    steps: &[(i64, InvoiceChange)],
    booked: &[(i64, LedgerEntry)],
    now: i64,
) -> Vec<String> {
    texts_with_quote(quote(), payments, steps, booked, now)
}

/// Returns the texts of a timeline whose invoice has this quote.
fn texts_with_quote(
    quote: Option<Quote>,
    payments: &[Option<Payment>],
    steps: &[(i64, InvoiceChange)],
    booked: &[(i64, LedgerEntry)],
    now: i64,
) -> Vec<String> {
    let payments: Vec<Payment> = payments.iter().flatten().cloned().collect();
    let steps: Vec<InvoiceStep> =
        steps.iter().map(|(at, what)| InvoiceStep { at: Time(*at), change: *what }).collect();
    let quotes: Vec<Quote> = quote.into_iter().collect();
    let history = InvoiceHistory {
        invoice: &invoice(),
        quotes: &quotes,
        payments: &payments,
        on_chain: &[],
        steps: &steps,
        booked,
        refunds: &[],
    };
    let entries = timeline(&history, Time(now));
    assert!(entries.iter().all(|entry| entry.at.0 <= now));
    entries.into_iter().map(|entry: TimelineEntry| entry.text).collect()
}

use InvoiceChange::{Payment as Pay, Picked, Status};
use PaymentState::{Confirmed, Dropped, Seen};

#[test]
fn accepted_short_payment_shows_sum_and_tolerance() {
    let steps = [
        (1, Picked(1)),
        (1, Status(InvoiceStatus::AwaitingPayment)),
        (2, Pay(1, Seen)),
        (2, Status(InvoiceStatus::Detected)),
        (3, Pay(1, Confirmed)),
        (3, Status(InvoiceStatus::Confirmed)),
    ];
    let booked =
        [ledger_entry(1, LedgerKind::Sale, 9950, 3), ledger_entry(1, LedgerKind::Fee, -100, 3)];
    assert_eq!(
        timeline_texts(&[payment(1, 9950, true)], &steps, &booked, 10),
        [
            "created: 100.00 EUR due until 1970-01-01T00:00:01.000Z",
            "LTC picked: 1.25 at 80 EUR each, to tltc1",
            "awaiting_payment: nothing was paid of the 100.00 EUR due until 1970-01-01T00:00:01.000Z",
            "payment of 1 LTC seen: worth 99.50 EUR at 80, in time",
            "detected: confirmed 0.00 of 100.00 EUR due, and 99.50 seen in time but not confirmed",
            "payment of 1 LTC confirmed: worth 99.50 EUR at 80, in time",
            "booked 99.50 EUR as sale",
            "booked -1.00 EUR as fee",
            "confirmed: confirmed 99.50 of 100.00 EUR due, tolerance 0.50",
        ]
    );
}

#[test]
fn orphaned_payment_is_reversed_and_booked_again() {
    let steps = [
        (2, Pay(1, Seen)),
        (3, Pay(1, Confirmed)),
        (4, Pay(1, Seen)),
        (5, Pay(1, Dropped)),
        (5, Status(InvoiceStatus::Failed)),
        (6, Pay(1, Confirmed)),
    ];
    let booked = [
        ledger_entry(1, LedgerKind::Sale, 9950, 3),
        ledger_entry(1, LedgerKind::Adjustment, -9950, 4),
        ledger_entry(1, LedgerKind::Adjustment, 9950, 6),
    ];
    let told = timeline_texts(&[payment(1, 9950, true)], &steps, &booked, 10);
    assert_eq!(
        told.get(2..),
        Some(
            [
                "payment of 1 LTC confirmed: worth 99.50 EUR at 80, in time",
                "booked 99.50 EUR as sale",
                "payment of 1 LTC orphaned, as a reorg removed its block: worth 99.50 EUR at 80, in time",
                "booked -99.50 EUR as adjustment",
                "payment of 1 LTC dropped, as its transaction disappeared from its chain: worth 99.50 EUR at 80, in time",
                "failed: a confirmed payment disappeared from its chain",
                "payment of 1 LTC confirmed: worth 99.50 EUR at 80, in time",
                "booked 99.50 EUR as adjustment",
            ]
            .map(str::to_owned)
            .as_slice()
        )
    );
}

#[test]
fn late_payment_follows_the_deadline_entry() {
    let steps = [
        (1000, Status(InvoiceStatus::Expired)),
        (1000, Pay(1, Seen)),
        (2000, Pay(1, Confirmed)),
        (2000, Status(InvoiceStatus::PaidLate)),
    ];
    let told = timeline_texts(&[payment(1, 10_000, false)], &steps, &[], 2000);
    assert_eq!(
        told.get(1..),
        Some(
            [
                "the payment deadline has passed; later payments are late",
                "expired: no payment of the 100.00 EUR due was seen until 1970-01-01T00:00:01.000Z",
                "payment of 1 LTC seen: worth 100.00 EUR at 80, late",
                "payment of 1 LTC confirmed: worth 100.00 EUR at 80, late",
                "paid_late: confirmed 0.00 in time and 100.00 late of 100.00 EUR due: in full, tolerance 0.50, but late",
            ]
            .map(str::to_owned)
            .as_slice()
        )
    );
}

/// Returns a rate from public sources with this time.
fn public_rate(at: i64) -> Option<RateQuote> {
    Some(RateQuote { source: RateSource::Median, at: Time(at), ..rate_of_80()? })
}

#[test]
fn rate_is_called_old_only_if_it_was_old_when_used() {
    const OLD: &str = ", the newest known, of 1970-01-01T00:00:01.000Z";
    let hours = |hours: i64| 1_000 + hours * HOUR_MS;
    let steps = [
        (hours(1), Picked(1)),
        (hours(1), Pay(1, Seen)),
        (hours(2), Pay(1, Confirmed)),
        (hours(3), Pay(1, Seen)),
        (hours(4), Pay(1, Dropped)),
    ];
    // Columns: time of the quote, whether the payment is on time, time of the payment's rate. The last two columns
    // tell whether the selected rate and the payment's rate are old.
    for (made_at, on_time, of, picks_old, is_old) in [
        (hours(0), true, hours(0), false, false),
        (hours(0), false, hours(1), false, false),
        (hours(0), false, hours(0), false, true),
        // A quote for an assigned payment may have an old rate from the start. Here the quote is one hour younger
        // than its rate.
        (hours(1), true, hours(0), true, true),
    ] {
        let quote = quote().zip(public_rate(hours(0))).map(|(quote, quoted)| Quote {
            quoted,
            created_at: Time(made_at),
            ..quote
        });
        let payment = payment(1, 9950, on_time).zip(public_rate(of));
        let payment = payment.map(|(payment, quoted)| Payment { quoted, ..payment });
        let told = texts_with_quote(quote, &[payment], &steps, &[], hours(5));
        let is_said: Vec<bool> = told
            .iter()
            .filter(|text| text.contains(" by the median of the sources"))
            .map(|text| text.contains(OLD))
            .collect();
        let expected = [picks_old, is_old, is_old, is_old, is_old];
        assert_eq!(is_said, expected, "{made_at} {on_time} {of}: {told:#?}");
    }
}

#[test]
fn overpaid_and_underpaid_entries_show_the_tolerance() {
    for (value, status, text) in [
        (
            10_051,
            InvoiceStatus::Overpaid,
            "overpaid: confirmed 100.51 of 100.00 EUR due, more than 100.50 is too much",
        ),
        (
            9949,
            InvoiceStatus::Underpaid,
            "underpaid: confirmed 99.49 of 100.00 EUR due, less than 99.50 is too little",
        ),
    ] {
        let steps = [(3, Pay(1, Confirmed)), (3, Status(status))];
        let told = timeline_texts(&[payment(1, value, true)], &steps, &[], 10);
        assert_eq!(told.last().map(String::as_str), Some(text));
    }
}

#[test]
fn coin_picked_kind_keeps_its_api_name() {
    assert_eq!(TimelineEntryKind::CoinPicked.as_str(), "coin_picked");
}

//! Special cases of the status function.

use super::super::{InvoiceStatus, InvoiceTerms, PaymentState, Time};
use super::{Case, DUE, EXPIRES, PaymentInput, code_status};
use crate::domain::asset::{ASSETS, Asset, Mode};
use crate::domain::money::coin::Units;
use crate::domain::money::{Bps, Cents, Overflow};
use crate::domain::payment::Payment;
use crate::domain::quote::{Quote, current_quote};
use crate::domain::rate::RateQuote;

const SEEN: PaymentInput = (PaymentState::Seen, true, false, DUE);
const CONFIRMED: PaymentInput = (PaymentState::Confirmed, true, true, DUE);
/// A payment that was seen in time, never confirmed, and dropped.
const DROPPED: PaymentInput = (PaymentState::Dropped, true, false, DUE);
/// A payment that was confirmed once and then dropped.
const LOST: PaymentInput = (PaymentState::Dropped, true, true, DUE);

/// Returns the payment with this value, in cents.
fn worth(paid: PaymentInput, value: i64) -> PaymentInput {
    (paid.0, paid.1, paid.2, value)
}

/// Returns the payment as seen after the deadline.
fn late(paid: PaymentInput) -> PaymentInput {
    (paid.0, false, paid.2, paid.3)
}

/// Returns an open invoice of 100.00 with the default tolerances, a selected coin, and these payments.
fn open(payments: &[PaymentInput]) -> Case {
    Case {
        due: DUE,
        under: 50,
        over: 50,
        expires: EXPIRES,
        cancelled: None,
        quoted: true,
        now: EXPIRES - 1,
        payments: payments.to_vec(),
    }
}

/// Returns the invoice of [`open`] after its deadline.
fn past(payments: &[PaymentInput]) -> Case {
    Case {
        now: EXPIRES,
        ..open(payments)
    }
}

/// Returns the invoice of [`open`], cancelled a second before its deadline.
fn cancelled(payments: &[PaymentInput]) -> Case {
    Case {
        cancelled: Some(EXPIRES - 1_000),
        ..open(payments)
    }
}

/// Returns the terms of an invoice of 100.00 with the default tolerances.
fn terms(cancelled_at: Option<i64>) -> InvoiceTerms {
    InvoiceTerms {
        due: Cents(DUE),
        under: Bps(50),
        over: Bps(50),
        expires_at: Time(EXPIRES),
        cancelled_at: cancelled_at.map(Time),
        quoted: true,
    }
}

#[track_caller]
fn assert_status(case: &Case, status: InvoiceStatus) {
    assert_eq!(code_status(case), status, "{case:?}");
}

#[test]
fn deadline_itself_counts_as_late() {
    assert_status(&open(&[]), InvoiceStatus::AwaitingPayment);
    assert_status(&past(&[]), InvoiceStatus::Expired);
    let unquoted = |case: Case| Case {
        quoted: false,
        ..case
    };
    assert_status(&unquoted(open(&[])), InvoiceStatus::Created);
    assert_status(&unquoted(past(&[])), InvoiceStatus::Expired);
}

/// The invoice stays cancelled until the late payment is confirmed.
#[test]
fn payment_in_the_millisecond_of_cancellation_is_late() {
    let cancelled_at = EXPIRES - 1_000;
    let on_time = Time(cancelled_at) < terms(Some(cancelled_at)).deadline();
    assert!(!on_time);
    assert_status(&cancelled(&[late(SEEN)]), InvoiceStatus::Cancelled);
    assert_status(&cancelled(&[late(CONFIRMED)]), InvoiceStatus::PaidLate);
}

#[test]
fn deadline_is_the_earlier_of_expiry_and_cancellation() {
    assert_eq!(terms(None).deadline(), Time(EXPIRES));
    for (cancelled, deadline) in [
        (EXPIRES - 1, EXPIRES - 1),
        (EXPIRES, EXPIRES),
        (EXPIRES + 1, EXPIRES),
    ] {
        assert_eq!(terms(Some(cancelled)).deadline(), Time(deadline));
    }
}

#[test]
fn orphaned_payment_can_be_confirmed_again() {
    assert_status(&open(&[CONFIRMED]), InvoiceStatus::Confirmed);
    let orphaned = (PaymentState::Seen, true, true, DUE);
    assert_status(&open(&[orphaned]), InvoiceStatus::Detected);
    assert_status(&past(&[orphaned]), InvoiceStatus::Detected);
    assert_status(&past(&[CONFIRMED]), InvoiceStatus::Confirmed);
}

#[test]
fn slightly_below_the_price_is_within_the_tolerance() {
    assert_status(&open(&[worth(CONFIRMED, 9_950)]), InvoiceStatus::Confirmed);
    assert_status(&open(&[worth(CONFIRMED, 9_949)]), InvoiceStatus::Underpaid);
    assert_status(&open(&[worth(CONFIRMED, 10_050)]), InvoiceStatus::Confirmed);
    assert_status(&open(&[worth(CONFIRMED, 10_051)]), InvoiceStatus::Overpaid);
    let two = [worth(CONFIRMED, 4_950), worth(CONFIRMED, 5_000)];
    assert_status(&open(&two), InvoiceStatus::Confirmed);
}

#[test]
fn payment_of_zero_value_counts_as_a_payment() {
    assert_status(&open(&[worth(SEEN, 0)]), InvoiceStatus::Detected);
    assert_status(&past(&[worth(SEEN, 0)]), InvoiceStatus::Detected);
    assert_status(&open(&[worth(CONFIRMED, 0)]), InvoiceStatus::Underpaid);
    assert_status(
        &past(&[worth(late(CONFIRMED), 0)]),
        InvoiceStatus::Underpaid,
    );
    assert_status(&past(&[worth(DROPPED, 0)]), InvoiceStatus::Failed);
}

#[test]
fn late_payment_counts_only_once_confirmed() {
    assert_status(&past(&[late(SEEN)]), InvoiceStatus::Expired);
    assert_status(&past(&[late(CONFIRMED)]), InvoiceStatus::PaidLate);
    assert_status(&past(&[late(DROPPED)]), InvoiceStatus::Expired);
    assert_status(&past(&[late(LOST)]), InvoiceStatus::Failed);
}

#[test]
fn late_payment_can_complete_the_price() {
    let half = worth(CONFIRMED, DUE / 2);
    assert_status(&past(&[half]), InvoiceStatus::Underpaid);
    assert_status(
        &past(&[half, late(worth(SEEN, DUE / 2))]),
        InvoiceStatus::Underpaid,
    );
    assert_status(&past(&[half, late(half)]), InvoiceStatus::PaidLate);
    assert_status(&past(&[half, late(CONFIRMED)]), InvoiceStatus::PaidLate);
    assert_status(
        &past(&[half, late(worth(half, 4_949))]),
        InvoiceStatus::Underpaid,
    );
}

#[test]
fn late_payment_after_a_full_one_is_overpaid() {
    assert_status(
        &past(&[CONFIRMED, late(CONFIRMED)]),
        InvoiceStatus::Overpaid,
    );
    assert_status(&past(&[CONFIRMED, late(SEEN)]), InvoiceStatus::Confirmed);
    assert_status(
        &past(&[CONFIRMED, late(worth(CONFIRMED, 50))]),
        InvoiceStatus::Confirmed,
    );
    assert_status(
        &past(&[CONFIRMED, late(worth(CONFIRMED, 51))]),
        InvoiceStatus::Overpaid,
    );
}

#[test]
fn fully_paid_stays_confirmed_while_another_payment_is_seen() {
    assert_status(&open(&[CONFIRMED, SEEN]), InvoiceStatus::Confirmed);
    assert_status(&open(&[CONFIRMED, CONFIRMED]), InvoiceStatus::Overpaid);
    assert_status(
        &open(&[worth(CONFIRMED, DUE / 2), SEEN]),
        InvoiceStatus::Detected,
    );
}

#[test]
fn dropped_confirmed_payment_yields_to_a_seen_one() {
    assert_status(&open(&[LOST]), InvoiceStatus::Failed);
    assert_status(&open(&[LOST, SEEN]), InvoiceStatus::Detected);
    assert_status(&open(&[LOST, late(SEEN)]), InvoiceStatus::Failed);
    assert_status(&open(&[LOST, CONFIRMED]), InvoiceStatus::Confirmed);
    assert_status(&open(&[LOST, DROPPED]), InvoiceStatus::Failed);
    assert_status(&open(&[DROPPED]), InvoiceStatus::AwaitingPayment);
    assert_status(&past(&[DROPPED]), InvoiceStatus::Failed);
}

#[test]
fn cancelled_invoice_can_still_be_paid_late() {
    assert_status(&cancelled(&[]), InvoiceStatus::Cancelled);
    assert_status(&cancelled(&[late(SEEN)]), InvoiceStatus::Cancelled);
    assert_status(&cancelled(&[late(CONFIRMED)]), InvoiceStatus::PaidLate);
    assert_status(
        &cancelled(&[late(worth(CONFIRMED, 1))]),
        InvoiceStatus::Underpaid,
    );
    assert_status(&cancelled(&[late(LOST)]), InvoiceStatus::Cancelled);
    // A payment that is dropped before the cancellation and seen again later was on time, and stays on time.
    assert_status(&cancelled(&[DROPPED]), InvoiceStatus::Cancelled);
    assert_status(&cancelled(&[SEEN]), InvoiceStatus::Detected);
    assert_status(&cancelled(&[CONFIRMED]), InvoiceStatus::Confirmed);
}

#[test]
fn sum_past_64_bits_does_not_wrap() {
    let huge = worth(CONFIRMED, i64::MAX);
    assert_status(&open(&[huge, CONFIRMED]), InvoiceStatus::Overpaid);
    assert_status(&open(&[huge, huge]), InvoiceStatus::Overpaid);
    assert_status(&past(&[huge, late(huge)]), InvoiceStatus::Overpaid);
    assert_status(&open(&[huge]), InvoiceStatus::Overpaid);
    assert_status(
        &open(&[huge, worth(SEEN, i64::MAX)]),
        InvoiceStatus::Overpaid,
    );
    let dear = Case {
        due: i64::MAX,
        over: 2_000,
        ..open(&[huge])
    };
    assert_status(&dear, InvoiceStatus::Confirmed);
}

/// Returns a payment to the address of a quote.
fn payment(seq: i64, quote: &Quote, state: PaymentState) -> Payment {
    Payment {
        seq,
        id: seq.to_string(),
        invoice: 1,
        quote: quote.seq,
        observation: 1,
        mode: Mode::Test,
        asset: quote.asset,
        txid: seq.to_string(),
        position: 0,
        amount: Units(1),
        quoted: quote.quoted.clone(),
        value: Cents(DUE),
        on_time: true,
        state,
        was_confirmed: state == PaymentState::Confirmed,
        seen_at: Time(seq),
        confirmed_at: None,
    }
}

/// Selecting another coin later does not change the coin of the first payment that counts.
#[test]
fn payment_on_an_older_quote_determines_the_coin() -> Result<(), Overflow> {
    let quoted = RateQuote::fixed("1".parse()?, Time(0));
    let quote = |seq, asset: &'static Asset| Quote {
        given: false,
        seq,
        asset,
        quoted: quoted.clone(),
        amount_expected: Units(1),
        address: asset.id.to_owned(),
        created_at: Time(0),
    };
    let [bitcoin, litecoin, ..] = &ASSETS;
    let [first, second] = [quote(1, bitcoin), quote(2, litecoin)];
    let gone = payment(1, &second, PaymentState::Dropped);
    let older = payment(2, &first, PaymentState::Seen);
    let newer = payment(3, &second, PaymentState::Confirmed);
    let quotes = [first, second];
    let coin = |payments: &[Payment], picked| {
        current_quote(&quotes, payments, picked).map(|quote| quote.asset.id)
    };
    assert_eq!(coin(&[], None), None);
    assert_eq!(coin(&[], Some(2)), Some("LTC"));
    assert_eq!(coin(std::slice::from_ref(&gone), Some(1)), Some("BTC"));
    assert_eq!(coin(&[gone, older, newer], Some(2)), Some("BTC"));
    Ok(())
}

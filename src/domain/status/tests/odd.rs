//! Special cases of the status function.

use super::super::{InvoiceStatus, InvoiceTerms, PaymentState, Time};
use super::{DUE, EXPIRES, PaymentInput, StatusCase, actual_status};
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
fn with_value(paid: PaymentInput, value: i64) -> PaymentInput {
    (paid.0, paid.1, paid.2, value)
}

/// Returns the same payment, but seen after the deadline.
fn as_late_payment(paid: PaymentInput) -> PaymentInput {
    (paid.0, false, paid.2, paid.3)
}

/// Returns an open invoice of 100.00 with the default tolerances, a selected coin, and these payments.
fn open_case(payments: &[PaymentInput]) -> StatusCase {
    StatusCase {
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

/// Returns the invoice of [`open_case`] after its deadline.
fn expired_case(payments: &[PaymentInput]) -> StatusCase {
    StatusCase { now: EXPIRES, ..open_case(payments) }
}

/// Returns the invoice of [`open_case`], cancelled a second before its deadline.
fn cancelled_case(payments: &[PaymentInput]) -> StatusCase {
    StatusCase { cancelled: Some(EXPIRES - 1_000), ..open_case(payments) }
}

/// Returns the terms of an invoice of 100.00 with the default tolerances.
fn terms_of_100(cancelled_at: Option<i64>) -> InvoiceTerms {
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
fn assert_status(case: &StatusCase, status: InvoiceStatus) {
    assert_eq!(actual_status(case), status, "{case:?}");
}

#[test]
fn payment_at_the_deadline_is_late() {
    assert_status(&open_case(&[]), InvoiceStatus::AwaitingPayment);
    assert_status(&expired_case(&[]), InvoiceStatus::Expired);
    let unquoted = |case: StatusCase| StatusCase { quoted: false, ..case };
    assert_status(&unquoted(open_case(&[])), InvoiceStatus::Created);
    assert_status(&unquoted(expired_case(&[])), InvoiceStatus::Expired);
}

/// The invoice stays cancelled until the late payment is confirmed.
#[test]
fn payment_in_the_millisecond_of_cancellation_is_late() {
    let cancelled_at = EXPIRES - 1_000;
    let on_time = Time(cancelled_at) < terms_of_100(Some(cancelled_at)).deadline();
    assert!(!on_time);
    assert_status(&cancelled_case(&[as_late_payment(SEEN)]), InvoiceStatus::Cancelled);
    assert_status(&cancelled_case(&[as_late_payment(CONFIRMED)]), InvoiceStatus::PaidLate);
}

#[test]
fn deadline_is_the_earlier_of_expiry_and_cancellation() {
    assert_eq!(terms_of_100(None).deadline(), Time(EXPIRES));
    for (cancelled, deadline) in
        [(EXPIRES - 1, EXPIRES - 1), (EXPIRES, EXPIRES), (EXPIRES + 1, EXPIRES)]
    {
        assert_eq!(terms_of_100(Some(cancelled)).deadline(), Time(deadline));
    }
}

#[test]
fn orphaned_payment_can_be_confirmed_again() {
    assert_status(&open_case(&[CONFIRMED]), InvoiceStatus::Confirmed);
    let orphaned = (PaymentState::Seen, true, true, DUE);
    assert_status(&open_case(&[orphaned]), InvoiceStatus::Detected);
    assert_status(&expired_case(&[orphaned]), InvoiceStatus::Detected);
    assert_status(&expired_case(&[CONFIRMED]), InvoiceStatus::Confirmed);
}

#[test]
fn amount_slightly_below_the_price_is_accepted() {
    assert_status(&open_case(&[with_value(CONFIRMED, 9_950)]), InvoiceStatus::Confirmed);
    assert_status(&open_case(&[with_value(CONFIRMED, 9_949)]), InvoiceStatus::Underpaid);
    assert_status(&open_case(&[with_value(CONFIRMED, 10_050)]), InvoiceStatus::Confirmed);
    assert_status(&open_case(&[with_value(CONFIRMED, 10_051)]), InvoiceStatus::Overpaid);
    let two = [with_value(CONFIRMED, 4_950), with_value(CONFIRMED, 5_000)];
    assert_status(&open_case(&two), InvoiceStatus::Confirmed);
}

#[test]
fn payment_of_zero_value_counts_as_a_payment() {
    assert_status(&open_case(&[with_value(SEEN, 0)]), InvoiceStatus::Detected);
    assert_status(&expired_case(&[with_value(SEEN, 0)]), InvoiceStatus::Detected);
    assert_status(&open_case(&[with_value(CONFIRMED, 0)]), InvoiceStatus::Underpaid);
    assert_status(
        &expired_case(&[with_value(as_late_payment(CONFIRMED), 0)]),
        InvoiceStatus::Underpaid,
    );
    assert_status(&expired_case(&[with_value(DROPPED, 0)]), InvoiceStatus::Failed);
}

#[test]
fn late_payment_counts_only_once_confirmed() {
    assert_status(&expired_case(&[as_late_payment(SEEN)]), InvoiceStatus::Expired);
    assert_status(&expired_case(&[as_late_payment(CONFIRMED)]), InvoiceStatus::PaidLate);
    assert_status(&expired_case(&[as_late_payment(DROPPED)]), InvoiceStatus::Expired);
    assert_status(&expired_case(&[as_late_payment(LOST)]), InvoiceStatus::Failed);
}

#[test]
fn late_payment_can_complete_the_price() {
    let half = with_value(CONFIRMED, DUE / 2);
    assert_status(&expired_case(&[half]), InvoiceStatus::Underpaid);
    assert_status(
        &expired_case(&[half, as_late_payment(with_value(SEEN, DUE / 2))]),
        InvoiceStatus::Underpaid,
    );
    assert_status(&expired_case(&[half, as_late_payment(half)]), InvoiceStatus::PaidLate);
    assert_status(&expired_case(&[half, as_late_payment(CONFIRMED)]), InvoiceStatus::PaidLate);
    assert_status(
        &expired_case(&[half, as_late_payment(with_value(half, 4_949))]),
        InvoiceStatus::Underpaid,
    );
}

#[test]
fn invoice_paid_again_after_its_deadline_is_overpaid() {
    assert_status(&expired_case(&[CONFIRMED, as_late_payment(CONFIRMED)]), InvoiceStatus::Overpaid);
    assert_status(&expired_case(&[CONFIRMED, as_late_payment(SEEN)]), InvoiceStatus::Confirmed);
    assert_status(
        &expired_case(&[CONFIRMED, as_late_payment(with_value(CONFIRMED, 50))]),
        InvoiceStatus::Confirmed,
    );
    assert_status(
        &expired_case(&[CONFIRMED, as_late_payment(with_value(CONFIRMED, 51))]),
        InvoiceStatus::Overpaid,
    );
}

#[test]
fn paid_invoice_stays_confirmed_while_another_payment_is_seen() {
    assert_status(&open_case(&[CONFIRMED, SEEN]), InvoiceStatus::Confirmed);
    assert_status(&open_case(&[CONFIRMED, CONFIRMED]), InvoiceStatus::Overpaid);
    assert_status(&open_case(&[with_value(CONFIRMED, DUE / 2), SEEN]), InvoiceStatus::Detected);
}

#[test]
fn invoice_is_detected_despite_a_dropped_payment() {
    assert_status(&open_case(&[LOST]), InvoiceStatus::Failed);
    assert_status(&open_case(&[LOST, SEEN]), InvoiceStatus::Detected);
    assert_status(&open_case(&[LOST, as_late_payment(SEEN)]), InvoiceStatus::Failed);
    assert_status(&open_case(&[LOST, CONFIRMED]), InvoiceStatus::Confirmed);
    assert_status(&open_case(&[LOST, DROPPED]), InvoiceStatus::Failed);
    assert_status(&open_case(&[DROPPED]), InvoiceStatus::AwaitingPayment);
    assert_status(&expired_case(&[DROPPED]), InvoiceStatus::Failed);
}

#[test]
fn cancelled_invoice_can_still_be_paid_late() {
    assert_status(&cancelled_case(&[]), InvoiceStatus::Cancelled);
    assert_status(&cancelled_case(&[as_late_payment(SEEN)]), InvoiceStatus::Cancelled);
    assert_status(&cancelled_case(&[as_late_payment(CONFIRMED)]), InvoiceStatus::PaidLate);
    assert_status(
        &cancelled_case(&[as_late_payment(with_value(CONFIRMED, 1))]),
        InvoiceStatus::Underpaid,
    );
    assert_status(&cancelled_case(&[as_late_payment(LOST)]), InvoiceStatus::Cancelled);
    // These payments were seen before the cancellation, so they are on time. Only the dropped payment leaves the
    // invoice cancelled.
    assert_status(&cancelled_case(&[DROPPED]), InvoiceStatus::Cancelled);
    assert_status(&cancelled_case(&[SEEN]), InvoiceStatus::Detected);
    assert_status(&cancelled_case(&[CONFIRMED]), InvoiceStatus::Confirmed);
}

#[test]
fn sum_past_64_bits_does_not_wrap() {
    let huge = with_value(CONFIRMED, i64::MAX);
    assert_status(&open_case(&[huge, CONFIRMED]), InvoiceStatus::Overpaid);
    assert_status(&open_case(&[huge, huge]), InvoiceStatus::Overpaid);
    assert_status(&expired_case(&[huge, as_late_payment(huge)]), InvoiceStatus::Overpaid);
    assert_status(&open_case(&[huge]), InvoiceStatus::Overpaid);
    assert_status(&open_case(&[huge, with_value(SEEN, i64::MAX)]), InvoiceStatus::Overpaid);
    let dear = StatusCase { due: i64::MAX, over: 2_000, ..open_case(&[huge]) };
    assert_status(&dear, InvoiceStatus::Confirmed);
}

/// Returns a payment to the address of a quote.
fn payment_to_quote(seq: i64, quote: &Quote, state: PaymentState) -> Payment {
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
    let gone = payment_to_quote(1, &second, PaymentState::Dropped);
    let older = payment_to_quote(2, &first, PaymentState::Seen);
    let newer = payment_to_quote(3, &second, PaymentState::Confirmed);
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

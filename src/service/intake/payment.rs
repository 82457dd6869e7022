//! Payments of an invoice: stores them, changes their state and books them.
//!
//! Invariant: sale and fee are booked once. Later changes are booked as adjustments and never rewrite an entry.

use crate::domain::{
    Asset, Cents, Invoice, Observation, ObservationOwner, Payment, PaymentState, Quote, Rate,
    RefType, Refusal, Time, Units, UnmatchedReason, id, ledger,
};
use crate::service::rates::NoRate;
use crate::service::settle::{SettleCause, settle_and_render, settle_invoice};
use crate::service::{Error, Json, Step};
use crate::store::booking::{Booking, BookingSource};
use crate::store::ledger::{insert_booking, unreversed_entries};
use crate::store::{accounts, payments, quotes};

/// Stores an observation as a payment. Determines the value of the payment, and whether the payment is on time.
/// Returns the reason if the observation cannot count as a payment.
///
/// A payment that replaces another payment of the same quote, with no larger amount, keeps the earlier time:
/// raising the network fee must not make a payment late. A late payment is valued at the newest rate, or at the
/// rate of its quote if no newest rate is known.
pub(in crate::service) fn record_payment(
    step: &Step<'_>,
    invoice: &Invoice,
    quote: &Quote,
    observation: i64,
    seen: &Observation,
    replaced: Option<&ObservationOwner>,
) -> Result<Result<Payment, UnmatchedReason>, Error> {
    let Step { service, tx, now } = *step;
    let seen_at = match replaced {
        Some(ObservationOwner::Payment(old))
            if old.1.quote == quote.seq && seen.amount <= old.1.amount =>
        {
            old.1.seen_at.min(seen.seen_at)
        }
        Some(_) | None => seen.seen_at,
    };
    let on_time = seen_at < invoice.terms().deadline();
    let quoted = if on_time {
        quote.quoted.clone()
    } else {
        match service.newest_rate(tx, invoice.mode, quote.asset, invoice.currency, now)? {
            Ok(quoted) => quoted.lowered_by(accounts::by_seq(tx, invoice.account)?.spread)?,
            Err(NoRate) => quote.quoted.clone(),
        }
    };
    if !quoted.rate.is_worth_a_cent(seen.amount, quote.asset.decimals) {
        return Ok(Err(UnmatchedReason::Dust));
    }
    let mut payment = Payment {
        seq: 0,
        id: id::new(now).to_string(),
        invoice: invoice.seq,
        quote: quote.seq,
        observation,
        mode: invoice.mode,
        asset: quote.asset,
        value: fiat_value(quoted.rate, seen.amount, quote.asset)?,
        quoted,
        amount: seen.amount,
        txid: seen.txid.clone(),
        position: seen.position,
        on_time,
        state: PaymentState::Seen,
        was_confirmed: false,
        seen_at,
        confirmed_at: None,
    };
    payment.seq = payments::insert(tx, &payment, now)?;
    Ok(Ok(payment))
}

/// Sets an earlier time of a payment that was never confirmed, and decides again whether the payment is on time.
///
/// A payment that was on time stays on time. A late payment that is now on time is valued at the rate of its
/// quote.
pub(in crate::service) fn move_payment_to_earlier_time(
    step: &Step<'_>,
    invoice: Invoice,
    mut payment: Payment,
    seen_at: Time,
) -> Result<ObservationOwner, Error> {
    let Step { tx, .. } = *step;
    if seen_at >= payment.seen_at || payment.was_confirmed {
        return Ok(ObservationOwner::Payment(Box::new((invoice, payment))));
    }
    payment.seen_at = seen_at;
    if !payment.on_time && seen_at < invoice.terms().deadline() {
        let quotes = quotes::of_invoice(tx, invoice.seq)?;
        let quote = quotes.iter().find(|quote| quote.seq == payment.quote);
        let missing = || Error::Failed(format!("quote {} is missing", payment.quote));
        let quoted = quote.ok_or_else(missing)?.quoted.clone();
        // If the payment has no bookable value at the rate of the quote, the payment stays late.
        if let Ok(value) = fiat_value(quoted.rate, payment.amount, payment.asset) {
            (payment.on_time, payment.quoted, payment.value) = (true, quoted, value);
        }
    }
    payments::save_terms(tx, &payment)?;
    let invoice = settle_invoice(step, invoice, SettleCause::Other)?;
    Ok(ObservationOwner::Payment(Box::new((invoice, payment))))
}

/// Stores a payment in the state `Seen` and settles its invoice. Returns the reason if the observation cannot be
/// a payment.
pub(in crate::service) fn record_seen_payment(
    step: &Step<'_>,
    invoice: Invoice,
    quote: &Quote,
    observation: i64,
    seen: &Observation,
    replaced: Option<&ObservationOwner>,
) -> Result<Result<ObservationOwner, UnmatchedReason>, Error> {
    Ok(match record_payment(step, &invoice, quote, observation, seen, replaced)? {
        Err(reason) => Err(reason),
        Ok(payment) => {
            let invoice = settle_invoice(step, invoice, SettleCause::Other)?;
            Ok(ObservationOwner::Payment(Box::new((invoice, payment))))
        }
    })
}

/// Books a change of a payment's state and settles the invoice. The observation must have the new state already. Returns
/// the JSON of the invoice if an event was recorded.
pub(in crate::service) fn book_payment(
    step: &Step<'_>,
    invoice: Invoice,
    mut payment: Payment,
    next: PaymentState,
) -> Result<(Invoice, Payment, Option<Json>), Error> {
    let Step { tx, now, .. } = *step;
    payments::record_state_change(tx, &payment, next, now)?;
    let booking = Booking {
        account: invoice.account,
        mode: invoice.mode,
        currency: invoice.currency,
        ref_type: RefType::Invoice,
        ref_id: &invoice.id,
        source: BookingSource::Payment(payment.seq),
    };
    let change = PaymentChange {
        value: payment.value,
        was_confirmed: payment.was_confirmed,
        before: payment.state,
        next,
    };
    book_change(step, &booking, change)?;
    let confirms = next == PaymentState::Confirmed;
    let cause = if confirms { SettleCause::Confirmed } else { SettleCause::Other };
    let (invoice, told) = settle_and_render(step, invoice, cause)?;
    payment.state = next;
    payment.was_confirmed |= confirms;
    payment.confirmed_at = confirms.then_some(now);
    Ok((invoice, payment, told))
}

/// Returns the value of an amount at a rate.
///
/// # Errors
/// `invalid_request` if the value is more than can be booked.
pub(in crate::service) fn fiat_value(
    rate: Rate,
    amount: Units,
    asset: &Asset,
) -> Result<Cents, Refusal> {
    let value = rate.value(amount, asset.decimals);
    value.ok().filter(|value| *value <= Cents::AMOUNT_MAX).ok_or_else(|| {
        let most = Cents::AMOUNT_MAX;
        Refusal::field("amount", format!("must be worth at most {most} in fiat"))
    })
}

#[derive(Clone, Copy, Debug)]
pub(in crate::service) struct PaymentChange {
    /// Value in the currency of the booking.
    pub(super) value: Cents,
    /// `true` if the payment or deposit was ever confirmed before.
    pub(super) was_confirmed: bool,
    pub(super) before: PaymentState,
    pub(super) next: PaymentState,
}

/// Books a change: sale and fee on the first confirmation, then an adjustment whenever the confirmation is reverted
/// or restored.
pub(in crate::service) fn book_change(
    step: &Step<'_>,
    booking: &Booking<'_>,
    change: PaymentChange,
) -> Result<(), Error> {
    let Step { tx, now, .. } = *step;
    let confirms = change.next == PaymentState::Confirmed;
    let [restored, undone] = adjustment_memos(booking.source);
    let postings = if confirms && !change.was_confirmed {
        let fee = accounts::by_seq(tx, booking.account)?.fee;
        ledger::confirmation_postings(change.value, fee)?
    } else if confirms {
        ledger::reversal_postings(&unreversed_entries(tx, booking.source)?, restored)?
    } else if change.before == PaymentState::Confirmed {
        ledger::reversal_postings(&unreversed_entries(tx, booking.source)?, undone)?
    } else {
        Vec::new()
    };
    for posting in &postings {
        insert_booking(tx, &id::new(now).to_string(), booking, posting, now)?;
    }
    Ok(())
}

/// Returns the ledger memos for a payment that is confirmed again, and for a payment that is no longer confirmed.
const fn adjustment_memos(source: BookingSource) -> [&'static str; 2] {
    match source {
        BookingSource::Deposit(_) => ["deposit confirmed again", "deposit no longer confirmed"],
        BookingSource::Payment(_) | BookingSource::Transfer(_) | BookingSource::Operator => {
            ["payment confirmed again", "payment no longer confirmed"]
        }
    }
}

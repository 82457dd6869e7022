//! Payments to an invoice: recorded, moved, booked.
//!
//! What always holds: a payment books its sale and fee once; what happens to it later is adjusted, never rewritten.

use super::Owned;
use crate::domain::asset::Asset;
use crate::domain::id;
use crate::domain::invoice::Invoice;
use crate::domain::ledger::RefType;
use crate::domain::money::Cents;
use crate::domain::money::coin::{Rate, Units};
use crate::domain::observation::Observation;
use crate::domain::payment::{Payment, PaymentState};
use crate::domain::quote::Quote;
use crate::domain::refusal::Refusal;
use crate::domain::time::Time;
use crate::domain::unmatched::UnmatchedReason;
use crate::service::posting::{Step, book_step};
use crate::service::rates::NoRate;
use crate::service::settle::Cause;
use crate::service::{Error, Json, Service};
use crate::store::ledger::{Booking, BookingSource};
use crate::store::{Tx, accounts, payments, quotes};

impl Service {
    /// Records a payment as seen, judging once whether it is on time and what it is worth; or the reason why it is none.
    ///
    /// What replaces a payment of the same quote and is not worth more was seen when that was, if not before: raising the
    /// network fee must not make a payment late. What is late is worth the newest rate, and where none was ever known its quote's.
    pub(super) fn record_payment(
        &self,
        tx: &Tx<'_>,
        now: Time,
        invoice: &Invoice,
        quote: &Quote,
        (observation, seen): (i64, &Observation),
        replaced: Option<&Owned>,
    ) -> Result<Result<Payment, UnmatchedReason>, Error> {
        let seen_at = match replaced {
            Some(Owned::Payment(old))
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
            match self.newest_rate(tx, invoice.mode, quote.asset, invoice.currency, now)? {
                Ok(quoted) => quoted.lowered_by(accounts::by_seq(tx, invoice.account)?.spread)?,
                Err(NoRate) => quote.quoted.clone(),
            }
        };
        if !quoted
            .rate
            .is_worth_a_cent(seen.amount, quote.asset.decimals)
        {
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
            value: worth(quoted.rate, seen.amount, quote.asset)?,
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

    /// A payment turns out to have been made before it was seen first: until it has once been confirmed, it counts from that
    /// moment, and is judged again by it. What was in time stays so; what was late is worth its quote's rate where it is in
    /// time now.
    pub(super) fn seen_earlier(
        &self,
        tx: &Tx<'_>,
        now: Time,
        (invoice, mut payment): (Invoice, Payment),
        seen_at: Time,
    ) -> Result<Owned, Error> {
        if seen_at >= payment.seen_at || payment.was_confirmed {
            return Ok(Owned::Payment(Box::new((invoice, payment))));
        }
        payment.seen_at = seen_at;
        if !payment.on_time && seen_at < invoice.terms().deadline() {
            let quotes = quotes::of_invoice(tx, invoice.seq)?;
            let quote = quotes.iter().find(|quote| quote.seq == payment.quote);
            let missing = || Error::Failed(format!("quote {} is missing", payment.quote));
            let quoted = quote.ok_or_else(missing)?.quoted.clone();
            // Nobody is the worse for it: where the quote's rate cannot price it, it stays as late as it was taken for.
            if let Ok(value) = worth(quoted.rate, payment.amount, payment.asset) {
                (payment.on_time, payment.quoted, payment.value) = (true, quoted, value);
            }
        }
        payments::judge_again(tx, &payment)?;
        let invoice = self.settle(tx, now, invoice, Cause::Other)?;
        Ok(Owned::Payment(Box::new((invoice, payment))))
    }

    /// Records a payment as seen and settles its invoice; or the reason why it is none.
    pub(super) fn see_payment(
        &self,
        tx: &Tx<'_>,
        now: Time,
        invoice: Invoice,
        quote: &Quote,
        seen: (i64, &Observation),
        replaced: Option<&Owned>,
    ) -> Result<Result<Owned, UnmatchedReason>, Error> {
        Ok(
            match self.record_payment(tx, now, &invoice, quote, seen, replaced)? {
                Err(reason) => Err(reason),
                Ok(payment) => {
                    let invoice = self.settle(tx, now, invoice, Cause::Other)?;
                    Ok(Owned::Payment(Box::new((invoice, payment))))
                }
            },
        )
    }

    /// Moves a payment to its next state, books what follows, and settles its invoice, whose JSON this answers where an event
    /// told it.
    pub(in crate::service) fn advance_payment(
        &self,
        tx: &Tx<'_>,
        now: Time,
        (invoice, payment): (Invoice, Payment),
        next: PaymentState,
    ) -> Result<(Invoice, Payment, Option<Json>), Error> {
        payments::update(tx, &payment, next, now)?;
        self.book_payment(tx, now, (invoice, payment), next)
    }

    /// [`Service::advance_payment`] of one that has come to its next state already.
    pub(super) fn book_payment(
        &self,
        tx: &Tx<'_>,
        now: Time,
        (invoice, mut payment): (Invoice, Payment),
        next: PaymentState,
    ) -> Result<(Invoice, Payment, Option<Json>), Error> {
        let booking = Booking {
            account: invoice.account,
            mode: invoice.mode,
            currency: invoice.currency,
            ref_type: RefType::Invoice,
            ref_id: &invoice.id,
            source: BookingSource::Payment(payment.seq),
        };
        let step = Step {
            value: payment.value,
            was_confirmed: payment.was_confirmed,
            before: payment.state,
            next,
        };
        book_step(tx, now, &booking, step)?;
        let confirms = next == PaymentState::Confirmed;
        let cause = if confirms {
            Cause::Confirmed
        } else {
            Cause::Other
        };
        let (invoice, told) = self.settle_and_tell(tx, now, invoice, cause)?;
        payment.state = next;
        payment.was_confirmed |= confirms;
        payment.confirmed_at = confirms.then_some(now);
        Ok((invoice, payment, told))
    }
}

/// What an amount is worth at a rate.
///
/// # Errors
/// `invalid_request` where it is worth more than can be booked.
pub(super) fn worth(rate: Rate, amount: Units, asset: &Asset) -> Result<Cents, Refusal> {
    let value = rate.value(amount, asset.decimals);
    value
        .ok()
        .filter(|value| *value <= Cents::AMOUNT_MAX)
        .ok_or_else(|| {
            let most = Cents::AMOUNT_MAX;
            Refusal::field("amount", format!("must be worth at most {most} in fiat"))
        })
}

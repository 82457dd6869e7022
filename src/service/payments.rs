//! Payments: seen, confirmed, dropped, orphaned, and booked.
//!
//! What does not live here: looking at chains. What always holds: a payment books its sale and fee once in its
//! life; what happens to it later is adjusted, never rewritten.

use super::books::{Step, book_step};
use super::invoices::owned;
use super::settle::Cause;
use super::{Caller, Error, Json, Service};
use crate::domain::asset::Asset;
use crate::domain::invoice::Invoice;
use crate::domain::invoice::draft::PaymentCase;
use crate::domain::ledger::RefType;
use crate::domain::money::coin::{Rate, Units};
use crate::domain::money::{Cents, Overflow, Total};
use crate::domain::payment::{Payment, PaymentState, simulated_txid};
use crate::domain::quote::{Quote, amount_due, unavailable};
use crate::domain::refusal::{Code, Refusal};
use crate::domain::time::Time;
use crate::domain::{id, render};
use crate::store::ledger::{Booking, Source};
use crate::store::{Tx, payments, quotes};
use std::sync::Arc;

/// How many payments of one invoice are simulated at most: each one is judged together with all that came before it, and
/// everybody's writes wait meanwhile.
const SIMULATED_MAX: usize = 100;

/// A payment on a chain.
pub(super) struct Sighting {
    /// What was sent, in base units.
    pub(super) amount: Units,
    /// The transaction.
    pub(super) txid: String,
    /// Output or log index in it.
    pub(super) position: u32,
    /// The earlier of mempool sighting and block time.
    pub(super) seen_at: Time,
}

impl Service {
    /// Pays a test invoice: one payment through the same pipeline as a real one, seen and then confirmed.
    ///
    /// # Errors
    /// `not_found`, `not_test_invoice`, `coin_unavailable`.
    pub async fn simulate(
        self: &Arc<Self>,
        now: Time,
        caller: &Caller,
        id: &str,
        case: PaymentCase,
        asset: Option<String>,
    ) -> Result<Json, Error> {
        let (caller, id) = (caller.clone(), id.to_owned());
        self.write(move |service, tx| {
            let mut invoice = owned(tx, &caller, &id)?;
            if invoice.mode.is_live() {
                return Err(Refusal::new(
                    Code::NotTestInvoice,
                    "only a test invoice can be simulated",
                )
                .into());
            }
            let before = payments::of_invoice(tx, invoice.seq)?;
            if before.len() >= SIMULATED_MAX {
                let message = format!(
                    "a test invoice takes at most {SIMULATED_MAX} simulated payments; make another one"
                );
                return Err(Refusal::new(Code::InvalidRequest, message).into());
            }
            let quote = service.quote_to_pay(tx, now, &mut invoice, asset.as_deref())?;
            let due = still_due(&invoice, &before)?;
            let fiat = match case {
                PaymentCase::Exact => due,
                PaymentCase::Under => due.half(),
                PaymentCase::Over => due.one_and_a_half()?,
            };
            let amount = quote.rate.units_for(fiat, quote.asset.decimals)?;
            let txid = simulated_txid(quote.asset.chain, &id::new(now).to_string());
            let sighting = Sighting {
                amount,
                txid,
                position: 0,
                seen_at: now,
            };
            let (invoice, payment) = service.see(tx, now, invoice, &quote, sighting)?;
            let invoice = service.advance(tx, now, invoice, &payment, PaymentState::Confirmed)?;
            Ok(render::invoice(&invoice, &service.links, &[])?)
        })
        .await
    }

    /// The quote that a simulated payment goes to: the invoice's coin, else `asset`, else the first that takes the price.
    pub(super) fn quote_to_pay(
        &self,
        tx: &Tx<'_>,
        now: Time,
        invoice: &mut Invoice,
        asset: Option<&str>,
    ) -> Result<Quote, Error> {
        // Paying is not picking: the coin picked last stays so, should what was paid vanish.
        let own = invoice.coin.as_ref().map(|coin| coin.asset);
        let standing = quotes::of_invoice(tx, invoice.seq)?
            .into_iter()
            .find(|quote| Some(quote.asset) == own);
        if let Some(quote) = standing {
            return Ok(quote);
        }
        if let Some(asset) = asset {
            return self.quote(tx, now, invoice, asset);
        }
        let takes = |asset: &&Asset| {
            asset
                .test_rate(invoice.currency)
                .is_ok_and(|rate| amount_due(asset, rate, invoice.amount).is_ok())
        };
        let on_offer = self.offered(tx, invoice.mode)?;
        let first = on_offer
            .into_iter()
            .find(takes)
            .ok_or_else(|| unavailable("no coin takes so small an amount"))?;
        self.quote(tx, now, invoice, first.id)
    }

    /// Records a payment as seen, judging once whether it is on time and what it is worth.
    pub(super) fn see(
        &self,
        tx: &Tx<'_>,
        now: Time,
        invoice: Invoice,
        quote: &Quote,
        sighting: Sighting,
    ) -> Result<(Invoice, Payment), Error> {
        let on_time = sighting.seen_at < invoice.terms().deadline();
        let rate = if on_time {
            quote.rate
        } else {
            quote.asset.test_rate(invoice.currency)?
        };
        let mut payment = Payment {
            seq: 0,
            id: id::new(now).to_string(),
            invoice: invoice.seq,
            quote: quote.seq,
            mode: invoice.mode,
            asset: quote.asset,
            value: worth(rate, &sighting, quote.asset)?,
            rate,
            amount: sighting.amount,
            txid: sighting.txid,
            position: sighting.position,
            on_time,
            state: PaymentState::Seen,
            was_confirmed: false,
            seen_at: sighting.seen_at,
            confirmed_at: None,
        };
        payment.seq = payments::insert(tx, &payment, now)?;
        let invoice = self.settle(tx, now, invoice, Cause::Other)?;
        Ok((invoice, payment))
    }

    /// Moves a payment to its next state, books what follows, and settles its invoice.
    ///
    /// # Errors
    /// `invalid_transition` where the machine has no such step.
    pub(super) fn advance(
        &self,
        tx: &Tx<'_>,
        now: Time,
        invoice: Invoice,
        payment: &Payment,
        next: PaymentState,
    ) -> Result<Invoice, Error> {
        if !payment.state.may_become(next) {
            let message = format!("a payment that is {} does not become {next}", payment.state);
            return Err(Refusal::of(Code::InvalidTransition, "state", message).into());
        }
        payments::update(tx, payment.seq, payment.state, next, now)?;
        let booking = Booking {
            account: invoice.account,
            mode: invoice.mode,
            currency: invoice.currency,
            ref_type: RefType::Invoice,
            ref_id: &invoice.id,
            source: Source::Payment(payment.seq),
        };
        let step = Step {
            value: payment.value,
            was_confirmed: payment.was_confirmed,
            before: payment.state,
            next,
        };
        book_step(tx, now, &booking, step)?;
        let cause = if next == PaymentState::Confirmed {
            Cause::Confirmed
        } else {
            Cause::Other
        };
        self.settle(tx, now, invoice, cause)
    }
}

/// What a sighting is worth.
///
/// # Errors
/// `invalid_request` where it is more than [`Cents::AMOUNT_MAX`].
pub(super) fn worth(rate: Rate, sighting: &Sighting, asset: &Asset) -> Result<Cents, Refusal> {
    let value = rate.value(sighting.amount, asset.decimals);
    value
        .ok()
        .filter(|value| *value <= Cents::AMOUNT_MAX)
        .ok_or_else(|| {
            let most = Cents::AMOUNT_MAX;
            Refusal::field("amount", format!("must be worth at most {most} in fiat"))
        })
}

/// What is still to be paid; the whole price where nothing is due any more.
pub(super) fn still_due(invoice: &Invoice, payments: &[Payment]) -> Result<Cents, Overflow> {
    let paid = payments
        .iter()
        .filter(|payment| payment.is_standing())
        .map(|payment| payment.value);
    match Total::from(invoice.amount).minus(paid.sum::<Total>()) {
        rest if rest > Total::ZERO => rest.cents(),
        _ => Ok(invoice.amount),
    }
}

//! The one way in for money: what is seen on a chain, and the steps it takes there.
//!
//! What lives here: whom an observation belongs to, and its steps. What does not: looking at chains, and what a
//! payment does to its invoice (`settle`). What always holds: each observation is stored once and has exactly one
//! owner; one that cannot be booked is kept as a payment that matched nothing.

pub mod assign;
mod deposit;
mod matching;
mod owned;
mod payment;
#[cfg(test)]
mod tests;
mod undo;

use super::settle::Cause;
use super::{Error, Service};
use crate::domain::id;
use crate::domain::invoice::Invoice;
use crate::domain::money::coin::Units;
use crate::domain::observation::{Observation, Observed, Place};
use crate::domain::payment::PaymentState;
use crate::domain::refusal::{Code, Refusal};
use crate::domain::time::Time;
use crate::domain::unmatched::UnmatchedReason;
use crate::store::unmatched_payments::NewUnmatched;
use crate::store::{
    Reader, Tx, invoices, observations, own_transfers, payments, transfers, unmatched_payments,
};
use matching::{AddressOf, Match, matched};
use owned::owned;
pub(super) use owned::{Outcome, Owned};
use std::borrow::Cow;

/// What becomes of an observation on its chain.
#[derive(Clone, Copy)]
pub(super) enum Step<'a> {
    /// It is there and not final: it has come back, or its block was reorganised away.
    Seen,
    /// It is final.
    Confirmed,
    /// It is gone.
    Dropped,
    /// Another transaction, in which this was seen, took its place.
    ReplacedBy(&'a Observation),
}

impl Service {
    /// Takes in what was seen on a chain: a payment, a deposit, money of our own, a payment that matched nothing, or what was
    /// known of that place already; nothing where nothing was sent.
    ///
    /// `at_hand` is an invoice that the caller has changed and not saved: it is saved with what comes of this.
    pub(super) fn observe(
        &self,
        tx: &Tx<'_>,
        now: Time,
        seen: &Observation,
        at_hand: Option<Invoice>,
    ) -> Result<Option<Outcome>, Error> {
        let seen = &not_after(now, seen);
        let outcome = match self.known_again(tx, now, seen)? {
            Some(owned) => Some(Outcome::known(owned)),
            None if seen.amount == Units::ZERO => None,
            None => return self.take_in(tx, now, seen, at_hand, None).map(Some),
        };
        if let Some(invoice) = at_hand {
            self.settle(tx, now, invoice, Cause::Other)?;
        }
        Ok(outcome)
    }

    /// What is known of the place of what was seen, if that is the same; from now on in the block that it was seen in, where
    /// it was in one, and the first one fixes what a deposit is worth. Where it was made before it was seen first, that
    /// counts from now on.
    fn known_again(
        &self,
        tx: &Tx<'_>,
        now: Time,
        seen: &Observation,
    ) -> Result<Option<Owned>, Error> {
        let Some(observed) = observations::at(tx, &seen.place())? else {
            return Ok(None);
        };
        let pays = |of: &Observation| (of.asset, of.address.clone(), of.amount);
        if pays(&observed.seen) != pays(seen) && self.gives_way(tx, now, &observed)? {
            return Ok(None);
        }
        if seen.seen_at < observed.seen.seen_at {
            observations::seen_earlier(tx, observed.seq, seen.seen_at)?;
        }
        if let Some(block) = seen.block.as_ref()
            && observed.seen.block.as_ref() != Some(block)
        {
            observations::put_in_block(tx, observed.seq, block)?;
        }
        Ok(Some(match owned(tx, observed.seq)? {
            Owned::Payment(both) => self.seen_earlier(tx, now, *both, seen.seen_at)?,
            Owned::Deposit(deposit) if seen.block.is_some() => {
                Owned::Deposit(Box::new(self.fix_deposit(tx, now, *deposit)?))
            }
            sent @ Owned::Sent(_) => {
                self.saw_transaction(tx, now, seen)?;
                sent
            }
            other @ (Owned::Deposit(_) | Owned::Own(_) | Owned::Unmatched(_)) => other,
        }))
    }

    /// Something else is at a place than what is known of it: a transaction that was carried out again, in another block, did
    /// not come to the same. What was there is gone from its chain, and gives its place to what is there now. False where
    /// that cannot be booked: then it stays.
    fn gives_way(&self, tx: &Tx<'_>, now: Time, observed: &Observed) -> Result<bool, Error> {
        if observed.state != PaymentState::Dropped {
            let gone = self.stepped(tx, now, owned(tx, observed.seq)?, Step::Dropped)?;
            if gone.refusal.is_some() {
                return Ok(false);
            }
        }
        observations::give_way(tx, observed.seq)?;
        Ok(true)
    }

    /// Moves what was seen at a place; what stands there then, or in its place. What cannot be booked, as a balance would
    /// pass what can be counted, stays as it was, is noted as such, and stops nothing else: [`Outcome::refusal`].
    ///
    /// # Errors
    /// `not_found` where nothing was seen there, `invalid_transition` where the machine has no such step.
    pub(super) fn advance(
        &self,
        tx: &Tx<'_>,
        now: Time,
        place: &Place,
        step: Step<'_>,
    ) -> Result<Outcome, Error> {
        let owned = known(tx, place)?.ok_or_else(|| Refusal::not_found("payment"))?;
        self.stepped(tx, now, owned, step)
    }

    /// One step, in a savepoint of its own.
    fn stepped(&self, tx: &Tx<'_>, now: Time, of: Owned, step: Step<'_>) -> Result<Outcome, Error> {
        let observation = of.observation();
        let moved = tx.attempt(|| {
            match step {
                Step::Seen => self.advance_owned(tx, now, of, PaymentState::Seen),
                Step::Confirmed => self.advance_owned(tx, now, of, PaymentState::Confirmed),
                Step::Dropped => self.advance_owned(tx, now, of, PaymentState::Dropped),
                Step::ReplacedBy(seen) => return self.replace(tx, now, of, seen),
            }
            .map(Outcome::known)
        })?;
        match moved {
            Err(Error::Refused(refusal)) if refusal.code == Code::InvalidRequest => {
                if observations::cannot_be_booked(tx, observation, now)? {
                    log::error!("observation {observation} cannot be booked: {refusal}");
                }
                Ok(Outcome {
                    owned: owned(tx, observation)?,
                    is_new: false,
                    refusal: Some(refusal),
                })
            }
            moved => moved,
        }
    }

    /// [`Service::advance`] for whoever holds it already as it stands in the file.
    ///
    /// # Errors
    /// `invalid_transition` where the machine has no such step.
    pub(super) fn advance_owned(
        &self,
        tx: &Tx<'_>,
        now: Time,
        owned: Owned,
        next: PaymentState,
    ) -> Result<Owned, Error> {
        let state = owned.state();
        if !state.may_become(next) {
            let message = format!("a payment that is {state} cannot become {next}");
            return Err(Refusal::about(Code::InvalidTransition, "state", message).into());
        }
        match owned {
            Owned::Payment(both) => {
                let (invoice, payment, _) = self.advance_payment(tx, now, *both, next)?;
                Ok(Owned::Payment(Box::new((invoice, payment))))
            }
            Owned::Deposit(deposit) => self.advance_deposit(tx, now, *deposit, next),
            Owned::Own(mut transfer) => {
                observations::update(tx, transfer.observation, state, next, now)?;
                transfer.state = next;
                Ok(Owned::Own(transfer))
            }
            Owned::Unmatched(mut unmatched) => {
                observations::update(tx, unmatched.observation, state, next, now)?;
                unmatched.state = next;
                Ok(Owned::Unmatched(unmatched))
            }
            Owned::Sent(mut output) => {
                observations::update(tx, output.observation, state, next, now)?;
                output.state = next;
                if let Some(seq) = output.transfer {
                    self.judge_transfer(tx, now, &transfers::by_seq(tx, seq)?)?;
                }
                Ok(Owned::Sent(output))
            }
        }
    }

    /// Drops what another transaction took the place of, and takes that one in.
    fn replace(
        &self,
        tx: &Tx<'_>,
        now: Time,
        old: Owned,
        seen: &Observation,
    ) -> Result<Outcome, Error> {
        let state = old.state();
        if state != PaymentState::Seen {
            let message = format!("a payment that is {state} cannot be replaced");
            return Err(Refusal::about(Code::InvalidTransition, "state", message).into());
        }
        let seen = &not_after(now, seen);
        // Not settled in between: nobody is told of a gap that there never was.
        match &old {
            Owned::Payment(both) => payments::update(tx, &both.1, PaymentState::Dropped, now)?,
            Owned::Deposit(_) | Owned::Own(_) | Owned::Unmatched(_) | Owned::Sent(_) => {
                let dropped = PaymentState::Dropped;
                observations::update(tx, old.observation(), state, dropped, now)?;
            }
        }
        let outcome = match self.known_again(tx, now, seen)? {
            // What had been dropped itself takes its place back.
            Some(known) if known.state() == PaymentState::Dropped => {
                Outcome::known(self.advance_owned(tx, now, known, PaymentState::Seen)?)
            }
            Some(known) => Outcome::known(known),
            None if seen.amount == Units::ZERO => Outcome::known(owned(tx, old.observation())?),
            None => self.take_in(tx, now, seen, None, Some(&old))?,
        };
        if let Owned::Payment(both) = old {
            let (invoice, _) = *both;
            let is_settled = outcome.is_new
                && matches!(&outcome.owned, Owned::Payment(new) if new.0.seq == invoice.seq);
            if !is_settled {
                let invoice = invoices::by_seq(tx, invoice.seq)?;
                self.settle(tx, now, invoice, Cause::Other)?;
            }
        }
        Ok(outcome)
    }

    /// Writes what is new: what it came to in a savepoint of its own, so that what cannot be booked is kept all the same.
    fn take_in(
        &self,
        tx: &Tx<'_>,
        now: Time,
        seen: &Observation,
        at_hand: Option<Invoice>,
        replaced: Option<&Owned>,
    ) -> Result<Outcome, Error> {
        let observation = observations::insert(tx, seen)?;
        let (matched, address_of) = matched(tx, now, seen, at_hand.clone())?;
        let booked = tx.attempt(|| match matched {
            Match::Invoice(invoice, quote) => {
                self.see_payment(tx, now, *invoice, &quote, (observation, seen), replaced)
            }
            Match::Customer(customer) => {
                let seen = (observation, seen);
                let deposit = self.see_deposit(tx, now, &customer, seen, replaced)?;
                Ok(deposit.map(|deposit| Owned::Deposit(Box::new(deposit))))
            }
            Match::Own => {
                own_transfers::insert(tx, &id::new(now).to_string(), observation)?;
                Ok(Ok(owned(tx, observation)?))
            }
            Match::Sent(exact) => {
                self.take_output(tx, now, (observation, seen), exact.as_deref())?;
                Ok(Ok(owned(tx, observation)?))
            }
            Match::Nobody(reason) => Ok(Err(reason)),
        })?;
        let keep = |reason| keep(tx, now, observation, reason, address_of);
        let (owned, refusal) = match booked {
            Ok(Ok(owned)) => (owned, None),
            Ok(Err(reason)) => (keep(reason)?, None),
            Err(Error::Refused(refusal)) if refusal.code == Code::InvalidRequest => {
                (keep(UnmatchedReason::TooLarge)?, Some(refusal))
            }
            Err(failed) => return Err(failed),
        };
        if let Some(invoice) = at_hand.filter(|_| !matches!(owned, Owned::Payment(_))) {
            self.settle(tx, now, invoice, Cause::Other)?;
        }
        Ok(Outcome {
            owned,
            is_new: true,
            refusal,
        })
    }
}

/// What was seen, at no later moment than now, whatever a block says of its time.
fn not_after(now: Time, seen: &Observation) -> Cow<'_, Observation> {
    if seen.seen_at <= now {
        return Cow::Borrowed(seen);
    }
    let mut seen = seen.clone();
    seen.seen_at = now;
    Cow::Owned(seen)
}

/// Keeps what cannot be booked, for a person to look at.
fn keep(
    tx: &Tx<'_>,
    now: Time,
    observation: i64,
    reason: UnmatchedReason,
    (account, invoice): AddressOf,
) -> Result<Owned, Error> {
    let id = id::new(now).to_string();
    let new = NewUnmatched {
        id: &id,
        observation,
        reason,
        account,
        invoice,
    };
    unmatched_payments::insert(tx, &new)?;
    owned(tx, observation)
}

/// What is known of a place.
fn known(db: &Reader<'_>, place: &Place) -> Result<Option<Owned>, Error> {
    let observed = observations::at(db, place)?;
    observed.map(|observed| owned(db, observed.seq)).transpose()
}

//! Stores observations on chains, finds their owners, and changes their states.
//!
//! Invariant: each observation is stored once and has exactly one owner. An observation that cannot be booked is
//! stored as unmatched.

mod recipient;
#[cfg(test)]
mod tests;

use super::intake::deposit::{book_deposit, freeze_value_in_block, insert_seen_deposit};
use super::intake::payment::{book_payment, move_payment_to_earlier_time, record_seen_payment};
use super::settle::{SettleCause, settle_invoice};
use super::transfers::destination::{
    insert_destination_output, record_output_of_transaction, touch_destination,
};
use super::{Error, Step};
use crate::domain::{
    IntakeOutcome, Invoice, Observation, ObservationChange, ObservationKey, ObservationOwner,
    PaymentState, Refusal, RefusalCode, StoredObservation, Time, Units, UnmatchedReason, id,
};
use crate::store::unmatched_payments::{self, NewUnmatchedPayment};
use crate::store::{invoices, observation_owners, observations, own_transfers, payments};
use recipient::{Recipient, find_recipient};
use std::borrow::Cow;

/// Stores an observation and its owner: a payment, a deposit, a transfer between the operator's addresses, or an
/// unmatched payment.
///
/// Returns the owner, even if the observation is already stored. Returns `None` if the amount is zero.
///
/// `at_hand` is an invoice that the caller has changed but not saved. This function saves the invoice with the
/// result.
pub(super) fn record_observation(
    step: &Step<'_>,
    seen: &Observation,
    at_hand: Option<Invoice>,
) -> Result<Option<IntakeOutcome>, Error> {
    let seen = &cap_seen_time(step.now, seen);
    let outcome = match update_stored_observation(step, seen)? {
        Some(owned) => Some(IntakeOutcome::already_stored(owned)),
        None if seen.amount == Units::ZERO => None,
        None => {
            return insert_observation(step, seen, at_hand, None).map(Some);
        }
    };
    if let Some(invoice) = at_hand {
        settle_invoice(step, invoice, SettleCause::Other)?;
    }
    Ok(outcome)
}

/// Updates the stored observation with the key of `seen`, and returns its owner.
///
/// Returns `None` if no such observation is stored. Also returns `None` if the asset, address or amount changed,
/// so that the stored observation was dropped.
///
/// Stores the new block, and the new time if it is earlier than the stored time. The first block fixes the value
/// of a deposit.
fn update_stored_observation(
    step: &Step<'_>,
    seen: &Observation,
) -> Result<Option<ObservationOwner>, Error> {
    let Step { tx, .. } = *step;
    let Some(observed) = observations::by_key(tx, &seen.key())? else {
        return Ok(None);
    };
    let pays = |of: &Observation| (of.asset, of.address.clone(), of.amount);
    if pays(&observed.seen) != pays(seen) && drop_stored_observation(step, &observed)? {
        return Ok(None);
    }
    if seen.seen_at < observed.seen.seen_at {
        observations::set_earlier_seen_at(tx, observed.seq, seen.seen_at)?;
    }
    if let Some(block) = seen.block.as_ref()
        && observed.seen.block.as_ref() != Some(block)
    {
        observations::put_in_block(tx, observed.seq, block)?;
    }
    Ok(Some(match observation_owners::of_observation(tx, observed.seq)? {
        ObservationOwner::Payment(both) => {
            let (invoice, payment) = *both;
            move_payment_to_earlier_time(step, invoice, payment, seen.seen_at)?
        }
        ObservationOwner::Deposit(deposit) if seen.block.is_some() => {
            ObservationOwner::Deposit(Box::new(freeze_value_in_block(step, *deposit)?))
        }
        ObservationOwner::Destination(output) => {
            record_output_of_transaction(step, seen)?;
            touch_destination(step, output.destination)?;
            ObservationOwner::Destination(output)
        }
        other @ (ObservationOwner::Deposit(_)
        | ObservationOwner::Own(_)
        | ObservationOwner::Unmatched(_)) => other,
    }))
}

/// Drops a stored observation to free its key: the transaction ran again in another block with another result.
///
/// Returns `false` if the drop cannot be booked. The old observation then stays.
fn drop_stored_observation(step: &Step<'_>, observed: &StoredObservation) -> Result<bool, Error> {
    let Step { tx, .. } = *step;
    if observed.state != PaymentState::Dropped {
        let gone = change_observation(step, &observed.seen.key(), ObservationChange::Dropped)?;
        if gone.refusal.is_some() {
            return Ok(false);
        }
    }
    observations::move_to_free_position(tx, observed.seq)?;
    Ok(true)
}

/// Changes the stored observation with this key, and returns its new owner.
///
/// If a change cannot be booked because a balance would overflow, the observation stays unchanged: see
/// [`IntakeOutcome::refusal`].
///
/// # Errors
///
/// `not_found` if there is no such observation. `invalid_transition` if its state does not allow the change.
pub(super) fn change_observation(
    step: &Step<'_>,
    place: &ObservationKey,
    change: ObservationChange<'_>,
) -> Result<IntakeOutcome, Error> {
    let Step { tx, now, .. } = *step;
    let observed = observations::by_key(tx, place)?.ok_or_else(|| Refusal::not_found("payment"))?;
    let observation = observed.seq;
    let of = observation_owners::of_observation(tx, observation)?;
    let moved = tx.attempt(|| {
        match change {
            ObservationChange::Seen => change_owned_observation(step, of, PaymentState::Seen),
            ObservationChange::Confirmed => {
                change_owned_observation(step, of, PaymentState::Confirmed)
            }
            ObservationChange::Dropped => change_owned_observation(step, of, PaymentState::Dropped),
            ObservationChange::ReplacedBy(seen) => {
                return replace_observation(step, of, seen);
            }
        }
        .map(IntakeOutcome::already_stored)
    })?;
    match moved {
        Err(Error::Refused(refusal)) if refusal.code == RefusalCode::InvalidRequest => {
            if observations::mark_unbookable(tx, observation, now)? {
                log::error!("observation not booked: observation={observation} error={refusal}");
            }
            Ok(IntakeOutcome {
                owned: observation_owners::of_observation(tx, observation)?,
                is_new: false,
                refusal: Some(refusal),
            })
        }
        moved => moved,
    }
}

/// Same as [`change_observation`], for a caller that has already loaded the owner.
///
/// # Errors
///
/// `invalid_transition` if the state does not allow the change.
pub(super) fn change_owned_observation(
    step: &Step<'_>,
    owned: ObservationOwner,
    next: PaymentState,
) -> Result<ObservationOwner, Error> {
    let Step { tx, now, .. } = *step;
    let state = owned.state();
    state.check_change(next)?;
    observations::update(tx, owned.observation_seq(), state, next, now)?;
    Ok(match owned {
        ObservationOwner::Payment(both) => {
            let (invoice, payment) = *both;
            let (invoice, payment, _) = book_payment(step, invoice, payment, next)?;
            ObservationOwner::Payment(Box::new((invoice, payment)))
        }
        ObservationOwner::Deposit(deposit) => {
            let confirmed_at = (next == PaymentState::Confirmed).then_some(now);
            book_deposit(step, *deposit, next, confirmed_at)?
        }
        ObservationOwner::Own(mut transfer) => {
            transfer.state = next;
            ObservationOwner::Own(transfer)
        }
        ObservationOwner::Unmatched(mut unmatched) => {
            unmatched.state = next;
            ObservationOwner::Unmatched(unmatched)
        }
        ObservationOwner::Destination(mut output) => {
            touch_destination(step, output.destination)?;
            output.state = next;
            ObservationOwner::Destination(output)
        }
    })
}

/// Drops an observation, and stores the observation that replaced it.
fn replace_observation(
    step: &Step<'_>,
    old: ObservationOwner,
    seen: &Observation,
) -> Result<IntakeOutcome, Error> {
    let Step { tx, now, .. } = *step;
    let state = old.state();
    if state != PaymentState::Seen {
        let message = format!("a payment that is {state} cannot be replaced");
        return Err(Refusal::for_param(RefusalCode::InvalidTransition, "state", message).into());
    }
    let seen = &cap_seen_time(now, seen);
    // The invoice is settled only after the old observation is dropped and the new one is stored. A settlement in
    // between would report an amount as missing.
    observations::update(tx, old.observation_seq(), state, PaymentState::Dropped, now)?;
    if let ObservationOwner::Payment(both) = &old {
        payments::record_state_change(tx, &both.1, PaymentState::Dropped, now)?;
    }
    let outcome = match update_stored_observation(step, seen)? {
        // The transaction reappeared, so the state of its dropped observation becomes `Seen` again.
        Some(known) if known.state() == PaymentState::Dropped => IntakeOutcome::already_stored(
            change_owned_observation(step, known, PaymentState::Seen)?,
        ),
        Some(known) => IntakeOutcome::already_stored(known),
        None if seen.amount == Units::ZERO => IntakeOutcome::already_stored(
            observation_owners::of_observation(tx, old.observation_seq())?,
        ),
        None => insert_observation(step, seen, None, Some(&old))?,
    };
    if let ObservationOwner::Payment(both) = old {
        let (invoice, _) = *both;
        let is_settled = outcome.is_new
            && matches!(&outcome.owned, ObservationOwner::Payment(new) if new.0.seq == invoice.seq);
        if !is_settled {
            let invoice = invoices::by_seq(tx, invoice.seq)?;
            settle_invoice(step, invoice, SettleCause::Other)?;
        }
    }
    Ok(outcome)
}

/// Stores a new observation. The owner is written in a savepoint, so an observation that cannot be booked is
/// still stored.
fn insert_observation(
    step: &Step<'_>,
    seen: &Observation,
    at_hand: Option<Invoice>,
    replaced: Option<&ObservationOwner>,
) -> Result<IntakeOutcome, Error> {
    let Step { service, tx, now } = *step;
    let observation = observations::insert(tx, seen)?;
    let is_real = !service.is_simulated(seen.mode);
    let (matched, (account, invoice)) = find_recipient(tx, now, seen, is_real, at_hand.clone())?;
    let booked = tx.attempt(|| match matched {
        Recipient::Invoice(invoice, quote) => {
            record_seen_payment(step, *invoice, &quote, observation, seen, replaced)
        }
        Recipient::Customer(customer) => {
            let deposit = insert_seen_deposit(step, &customer, observation, seen, replaced)?;
            Ok(deposit.map(|deposit| ObservationOwner::Deposit(Box::new(deposit))))
        }
        Recipient::Own => {
            own_transfers::insert(tx, &id::new(now).to_string(), observation)?;
            Ok(Ok(observation_owners::of_observation(tx, observation)?))
        }
        Recipient::Destination(destination) => {
            insert_destination_output(step, observation, seen, destination)?;
            Ok(Ok(observation_owners::of_observation(tx, observation)?))
        }
        Recipient::Nobody(reason) => Ok(Err(reason)),
    })?;
    let keep = |reason| insert_unmatched_payment(step, observation, reason, account, invoice);
    let (owned, refusal) = match booked {
        Ok(Ok(owned)) => (owned, None),
        Ok(Err(reason)) => (keep(reason)?, None),
        Err(Error::Refused(refusal)) if refusal.code == RefusalCode::InvalidRequest => {
            (keep(UnmatchedReason::TooLarge)?, Some(refusal))
        }
        Err(failed) => return Err(failed),
    };
    if let Some(invoice) = at_hand.filter(|_| !matches!(owned, ObservationOwner::Payment(_))) {
        settle_invoice(step, invoice, SettleCause::Other)?;
    }
    Ok(IntakeOutcome { owned, is_new: true, refusal })
}

/// Returns the observation with a time that is not after `now`, even if its block has a later time.
fn cap_seen_time(now: Time, seen: &Observation) -> Cow<'_, Observation> {
    if seen.seen_at <= now {
        return Cow::Borrowed(seen);
    }
    let mut seen = seen.clone();
    seen.seen_at = now;
    Cow::Owned(seen)
}

/// Stores an observation as unmatched, for review by an operator.
fn insert_unmatched_payment(
    step: &Step<'_>,
    observation: i64,
    reason: UnmatchedReason,
    account: Option<i64>,
    invoice: Option<i64>,
) -> Result<ObservationOwner, Error> {
    let Step { tx, now, .. } = *step;
    let id = id::new(now).to_string();
    let new = NewUnmatchedPayment { id: &id, observation, reason, account, invoice };
    unmatched_payments::insert(tx, &new)?;
    Ok(observation_owners::of_observation(tx, observation)?)
}

//! Stores the outputs that reach the destinations of payouts and refunds.
//!
//! Invariant: an output at a watched destination belongs to the destination, whoever's address it became since.

use crate::domain::{
    Observation, ObservationKey, ObservationOwner, PaymentState, Refusal, Time, Transfer,
};
use crate::service::transfers::destination::touch_destination;
use crate::service::{Error, Step};
use crate::store::destinations::{self, Destination};
use crate::store::{Reader, StoreError, observation_owners, observations, sent_transactions};

/// Returns the destination to which an observation on a real chain belongs.
pub(in crate::service) fn watched_destination(
    db: &Reader<'_>,
    now: Time,
    seen: &Observation,
) -> Result<Option<Destination>, StoreError> {
    destinations::watched(db, seen.mode, seen.asset.chain, &seen.address, now)
}

/// Stores a new observation as an output of a destination.
pub(in crate::service) fn insert_destination_output(
    step: &Step<'_>,
    observation: i64,
    seen: &Observation,
    destination: i64,
) -> Result<(), Error> {
    destinations::insert_output(step.tx, observation, destination)?;
    record_output_of_transaction(step, seen)?;
    touch_destination(step, destination)
}

/// Records what an observation shows of a transaction that nodes are asked about.
pub(in crate::service) fn record_output_of_transaction(
    step: &Step<'_>,
    seen: &Observation,
) -> Result<(), Error> {
    let Step { tx, now, .. } = *step;
    let known = sent_transactions::by_txid(tx, seen.mode, seen.asset.chain, &seen.txid)?;
    let Some(mut known) = known else {
        return Ok(());
    };
    let height = seen.block.as_ref().map(|block| block.height);
    known.record_output(height, false, seen.seen_at, now, &seen.spends);
    Ok(sent_transactions::update(tx, &known)?)
}

/// Changes the state of the simulated output with this key.
pub(super) fn change_simulated_output(
    step: &Step<'_>,
    place: &ObservationKey,
    next: PaymentState,
) -> Result<(), Error> {
    let known = observations::by_key(step.tx, place)?;
    let known = known.ok_or_else(|| Refusal::not_found("payment"))?;
    match observation_owners::of_observation(step.tx, known.seq)? {
        ObservationOwner::Destination(output) => {
            known.state.check_change(next)?;
            observations::update(step.tx, known.seq, known.state, next, step.now)?;
            touch_destination(step, output.destination)
        }
        ObservationOwner::Payment(_)
        | ObservationOwner::Deposit(_)
        | ObservationOwner::Own(_)
        | ObservationOwner::Unmatched(_) => {
            Err(Error::Failed(format!("observation {} is no output of a transfer", known.seq)))
        }
    }
}

/// Records an output of a simulated transaction to the destination of a transfer. No other observation on a
/// simulated chain belongs to a destination.
pub(super) fn record_simulated_output(
    step: &Step<'_>,
    of: &Transfer,
    seen: &Observation,
) -> Result<(), Error> {
    let Step { tx, .. } = *step;
    if let Some(known) = observations::by_key(tx, &seen.key())? {
        if known.state != PaymentState::Dropped {
            change_simulated_output(step, &seen.key(), PaymentState::Dropped)?;
        }
        observations::move_to_free_position(tx, known.seq)?;
    }
    let observation = observations::insert(tx, seen)?;
    insert_destination_output(step, observation, seen, of.destination)
}

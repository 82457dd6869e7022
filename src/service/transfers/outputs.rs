//! Stores the outputs that reach the destinations of payouts and refunds.
//!
//! Invariant: an output at a watched destination belongs to the destination, whoever's address it became since.

use crate::domain::observation::Observation;
use crate::domain::payment::PaymentState;
use crate::domain::time::Time;
use crate::domain::transfer::Transfer;
use crate::service::intake::ObservationChange;
use crate::service::{Error, Service};
use crate::store::destinations::{self, Destination};
use crate::store::{Reader, StoreError, Tx, observations, sent_transactions};

/// Returns the destination to which an observation on a real chain belongs.
pub(in crate::service) fn watched_destination(
    db: &Reader<'_>,
    now: Time,
    seen: &Observation,
) -> Result<Option<Destination>, StoreError> {
    destinations::watched(db, seen.mode, seen.asset.chain, &seen.address, now)
}

impl Service {
    /// Stores a new observation as an output of a destination.
    pub(in crate::service) fn insert_destination_output(
        &self,
        tx: &Tx<'_>,
        now: Time,
        (observation, seen): (i64, &Observation),
        destination: i64,
    ) -> Result<(), Error> {
        destinations::insert_output(tx, observation, destination)?;
        self.record_output_of_transaction(tx, now, seen)?;
        self.touch_destination(tx, now, destination)
    }

    /// Records what an observation shows of a transaction that nodes are asked about.
    pub(in crate::service) fn record_output_of_transaction(
        &self,
        tx: &Tx<'_>,
        now: Time,
        seen: &Observation,
    ) -> Result<(), Error> {
        let known = sent_transactions::by_txid(tx, seen.mode, seen.asset.chain, &seen.txid)?;
        let Some(mut known) = known else {
            return Ok(());
        };
        let place = (seen.block.as_ref().map(|block| block.height), false);
        known.record_output(place, (seen.seen_at, now), &seen.spends);
        Ok(sent_transactions::update(tx, &known)?)
    }

    /// Records an output of a simulated transaction to the destination of a transfer. No other observation on a
    /// simulated chain belongs to a destination.
    pub(super) fn record_simulated_output(
        &self,
        tx: &Tx<'_>,
        now: Time,
        of: &Transfer,
        seen: &Observation,
    ) -> Result<(), Error> {
        if let Some(known) = observations::by_key(tx, &seen.key())? {
            if known.state != PaymentState::Dropped {
                let dropped = ObservationChange::Dropped;
                self.change_observation(tx, now, &seen.key(), dropped)?.into_booked_owner()?;
            }
            observations::move_to_free_position(tx, known.seq)?;
        }
        let observation = observations::insert(tx, seen)?;
        self.insert_destination_output(tx, now, (observation, seen), of.destination)
    }
}

//! Stores the outputs that reach a destination, and settles it: loads the facts about it, assesses them, and saves what
//! changed.
//!
//! Every event on a payout or refund ends here: a block, a reorg, a replacement, an act of a person, an answer of the
//! signer, a restore. The rules are in `domain::transfer::destination`.
//!
//! Invariant: an output at a watched destination belongs to the destination, whoever's address it became since. No other
//! code decides which outputs count for a transfer, what is proposed, or which reviews are open.

use super::StepActor;
use super::loading::{LoadedDestination, load_destination, load_destination_of};
use super::save::save_outcome;
use crate::domain::transfer::destination::assess_destination;
use crate::domain::{
    Observation, SettledBy, Settlement, Time, Transfer, TransferStatus, TransferStep,
};
use crate::service::transfers::book_step;
use crate::service::{Error, Service, Step};
use crate::store::destinations::{self, Destination};
use crate::store::{Reader, StoreError, Touched, sent_transactions, transfers};
use std::sync::Arc;

impl Service {
    /// Computes again what transfers got whose destinations a restore has made stale. A server calls this function at
    /// start, before it follows a chain or runs any command.
    pub async fn settle_stale_destinations(self: &Arc<Self>, now: Time) -> Result<(), Error> {
        self.write(now, move |step| {
            let Step { tx, .. } = *step;
            for stale in destinations::list_stale(tx)? {
                destinations::clear_stale(tx, stale.seq)?;
                settle_destination(step, stale.seq)?;
            }
            Ok(())
        })
        .await
    }
}

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

/// Settles a destination, or defers this to the end of the current work.
pub(in crate::service) fn touch_destination(
    step: &Step<'_>,
    destination: i64,
) -> Result<(), Error> {
    if step.tx.defer(Touched::Destination(destination)) {
        return Ok(());
    }
    settle_destination(step, destination)
}

/// Assesses a destination, saves what changed, and settles the transfers that are covered.
pub(in crate::service) fn settle_destination(
    step: &Step<'_>,
    destination: i64,
) -> Result<(), Error> {
    let Step { tx, now, .. } = *step;
    let missing = || Error::Failed(format!("destination {destination} is missing"));
    let destination = destinations::by_seq(tx, destination)?.ok_or_else(missing)?;
    let load = || load_destination(tx, now, destination.clone());
    settle_until_stable(step, load)
}

/// Settles the destination of a transfer after an act, and returns the transfer as it is then.
pub(in crate::service) fn settle_destination_of(
    step: &Step<'_>,
    of: &Transfer,
) -> Result<Transfer, Error> {
    let Step { tx, now, .. } = *step;
    let load = || load_destination_of(tx, now, &transfers::by_seq(tx, of.seq)?);
    settle_until_stable(step, load)?;
    Ok(transfers::by_seq(tx, of.seq)?)
}

fn settle_until_stable(
    step: &Step<'_>,
    load: impl Fn() -> Result<LoadedDestination, Error>,
) -> Result<(), Error> {
    loop {
        let loaded = load()?;
        let outcome = assess_destination(&loaded.facts);
        save_outcome(step, &loaded, &outcome)?;
        let both = loaded.facts.transfers.iter().zip(&outcome.transfers);
        let covered = both.filter(|(_, outcome)| outcome.is_settled).map(|(one, _)| one.seq());
        let Some(covered) = covered.min() else {
            return Ok(());
        };
        let transfer = transfers::by_seq(step.tx, covered)?;
        if transfer.status != TransferStatus::Processing {
            return Err(Error::Failed(format!("transfer {covered} is settled twice")));
        }
        let settlement = Settlement { txid: None, by: SettledBy::Chain, reason: None };
        book_step(step, StepActor::Chain, &transfer, TransferStep::Pay(settlement))?;
    }
}

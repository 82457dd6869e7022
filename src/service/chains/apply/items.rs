//! Applies the observations of a chain step one by one, up to the limit of a batch.
//!
//! Invariant: a refused item is logged and does not stop the other items. Each batch takes at least one item, so
//! every step ends.

use crate::domain::asset::Chain;
use crate::domain::observation::REPLACED_FROM;
use crate::domain::{
    ChainStep, ChainStepOutcome, ForwardStep, Mode, Observation, ObservationChange, ObservationKey,
    ObservationOwner, PaymentState, StoredObservation, TransferKind,
};
use crate::service::chains::claims::{is_our_address, with_claimed_position};
use crate::service::chains::unowned_payments::stop_wallet_if_unassigned;
use crate::service::observations::{change_observation, record_observation};
use crate::service::transfers::watched_destination;
use crate::service::{Error, Step};
use crate::store::chain_cursors::ChainCursor;
use crate::store::{Reader, observations, observations_on_chain, rescans, transfers};

/// Limit of one batch, which keeps other writers from waiting long.
pub struct BatchLimit {
    /// Largest number of observations in a batch.
    most: usize,
    /// Function that returns `true` while the batch has time left. The first call starts the timer.
    has_time: Box<dyn FnMut() -> bool + Send>,
    taken: usize,
}

impl BatchLimit {
    /// Returns a limit of `most` observations and of the time that `has_time` allows.
    pub fn new(most: usize, has_time: impl FnMut() -> bool + Send + 'static) -> BatchLimit {
        BatchLimit { most, has_time: Box::new(has_time), taken: 0 }
    }

    /// Starts a batch, or starts it again after a rollback.
    pub(super) fn begin_batch(&mut self) {
        self.taken = 0;
        // The first call starts the timer.
        let _ = (self.has_time)();
    }

    /// Returns `true` if the batch may take one more item. The first item is always allowed.
    pub(super) fn take_item(&mut self) -> bool {
        let takes = self.taken == 0 || (self.taken < self.most && (self.has_time)());
        self.taken = self.taken.saturating_add(usize::from(takes));
        takes
    }
}

/// Applies as many items as the limit allows, starting with item `first` at `output`. Returns the item and output at
/// which the next batch starts, or `None` after the last item.
pub(super) fn apply_observation_batch(
    step: &Step<'_>,
    chain_step: &ChainStep,
    first: usize,
    mut output: u32,
    bound: &mut BatchLimit,
) -> Result<Option<(usize, u32)>, Error> {
    bound.begin_batch();
    for item in first..chain_step.item_count() {
        let next = apply_step_item(step, chain_step, item, output, bound)?;
        if let Some(output) = next {
            return Ok(Some((item, output)));
        }
        output = 0;
    }
    Ok(None)
}

/// Applies one item. Returns the output to continue with if the limit is reached.
fn apply_step_item(
    step: &Step<'_>,
    chain_step: &ChainStep,
    item: usize,
    output: u32,
    bound: &mut BatchLimit,
) -> Result<Option<u32>, Error> {
    let chain = chain_step.chain;
    let forward = match &chain_step.outcome {
        ChainStepOutcome::Forward(forward) => forward,
        ChainStepOutcome::Rescanned(rescanned) => {
            let found = rescanned.found.get(item);
            return found.map_or(Ok(None), |seen| apply_observation(step, seen, None, bound));
        }
        ChainStepOutcome::Started { .. }
        | ChainStepOutcome::RolledBackTo(_)
        | ChainStepOutcome::Stopped(_)
        | ChainStepOutcome::ClaimChecked(_)
        | ChainStepOutcome::BalancesChecked(_)
        | ChainStepOutcome::HeightFound { .. } => return Ok(None),
    };
    if let Some(txid) = forward.present.get(item) {
        let (state, change) = (PaymentState::Dropped, ObservationChange::Seen);
        let next = change_transaction_outputs(step, chain, txid, state, change, output, bound)?;
        if next.is_none() {
            observations_on_chain::mark_reappeared(step.tx, chain, txid)?;
        }
        return Ok(next);
    }
    let item = item.saturating_sub(forward.present.len());
    if let Some(seen) = forward.found.get(item) {
        return apply_observation(step, seen, Some(forward), bound);
    }
    let item = item.saturating_sub(forward.found.len());
    let Some(gone) = forward.gone.get(item) else {
        return Ok(None);
    };
    let (state, change) = (PaymentState::Seen, ObservationChange::Dropped);
    change_transaction_outputs(step, chain, &gone.txid, state, change, output, bound)
}

/// Applies one observation. Restores a dropped observation first. A new observation may replace another one.
fn apply_observation(
    step: &Step<'_>,
    seen: &Observation,
    forward: Option<&ForwardStep>,
    bound: &mut BatchLimit,
) -> Result<Option<u32>, Error> {
    let Step { service, tx, now } = *step;
    if !bound.take_item() {
        return Ok(Some(0));
    }
    if !is_our_address(tx, seen.asset.chain, &seen.address)?
        && observations::by_key(tx, &seen.key())?.is_none()
        && watched_destination(tx, now, seen)?.is_none()
        && !stop_wallet_if_unassigned(step, seen)?
    {
        return Ok(None);
    }
    let seen = &with_claimed_position(tx, seen)?;
    let place = seen.key();
    match observations::by_key(tx, &place)? {
        Some(known) => restore_dropped_observation(step, &known, seen)?,
        None => {
            if let Some(old) = find_replaced_observation(tx, seen, forward)? {
                match change_observation(step, &old, ObservationChange::ReplacedBy(seen)) {
                    Ok(outcome) if outcome.refusal.is_none() => {
                        service.log_when_committed(
                            observation_noun(tx, &outcome.owned)?,
                            "seen",
                            seen,
                        );
                        return Ok(None);
                    }
                    // The replacement was refused, so the new observation is stored without replacing another
                    // one.
                    Ok(_) | Err(Error::Refused(_)) => {}
                    Err(failed) => return Err(failed),
                }
            }
        }
    }
    let observed = tx.attempt(|| record_observation(step, seen, None))?;
    if let Ok(Some(outcome)) = &observed
        && outcome.is_new
    {
        service.log_when_committed(observation_noun(tx, &outcome.owned)?, "seen", seen);
    }
    log_refusal(observed.map(drop))?;
    Ok(None)
}

/// Restores a stored observation that was dropped, if the node has the same output again.
pub(super) fn restore_dropped_observation(
    step: &Step<'_>,
    known: &StoredObservation,
    seen: &Observation,
) -> Result<(), Error> {
    let is_same = known.seen.asset == seen.asset
        && known.seen.address == seen.address
        && known.seen.amount == seen.amount;
    if is_same && known.state == PaymentState::Dropped {
        change_observation_by_key(step, &seen.key(), ObservationChange::Seen)?;
    }
    Ok(())
}

/// Changes those observations of a transaction that have this state. `from` is the first output to change.
fn change_transaction_outputs(
    step: &Step<'_>,
    chain: Chain,
    txid: &str,
    state: PaymentState,
    change: ObservationChange<'_>,
    from: u32,
    bound: &mut BatchLimit,
) -> Result<Option<u32>, Error> {
    for place in unmined_observation_keys(step.tx, chain, txid, state)? {
        if place.position < from {
            continue;
        }
        if !bound.take_item() {
            return Ok(Some(place.position));
        }
        change_observation_by_key(step, &place, change)?;
    }
    Ok(None)
}

/// Changes the observation with a key. A refused change is logged and does not stop the other changes.
pub(super) fn change_observation_by_key(
    step: &Step<'_>,
    place: &ObservationKey,
    change: ObservationChange<'_>,
) -> Result<(), Error> {
    let Step { service, tx, .. } = *step;
    let moved = change_observation(step, place, change);
    if let (Ok(outcome), Some(known)) = (&moved, observations::by_key(tx, place)?)
        && outcome.refusal.is_none()
    {
        let noun = observation_noun(tx, &outcome.owned)?;
        service.log_when_committed(noun, known.state.as_str(), &known.seen);
    }
    log_refusal(moved.map(drop))
}

/// Returns the noun for an observation in log lines, for example `payment`.
fn observation_noun(db: &Reader<'_>, owned: &ObservationOwner) -> Result<&'static str, Error> {
    Ok(match owned {
        ObservationOwner::Payment(_)
        | ObservationOwner::Deposit(_)
        | ObservationOwner::Own(_)
        | ObservationOwner::Unmatched(_) => "payment",
        ObservationOwner::Destination(output) => {
            let kind = match output.transfer {
                Some(seq) => Some(transfers::by_seq(db, seq)?.kind),
                // Which transfer it counts for is decided at the end of the batch.
                None => transfers::kind_at_destination(db, output.destination)?,
            };
            kind.map_or("transfer", TransferKind::as_str)
        }
    })
}

/// Logs a refusal and returns `Ok`. Returns any other error unchanged.
fn log_refusal(outcome: Result<(), Error>) -> Result<(), Error> {
    match outcome {
        Err(Error::Refused(refusal)) => {
            log::error!("chain step refused: error={refusal}");
            Ok(())
        }
        other => other,
    }
}

/// Returns the keys of a transaction's observations that are in this state and in no block.
fn unmined_observation_keys(
    db: &Reader<'_>,
    chain: Chain,
    txid: &str,
    state: PaymentState,
) -> Result<Vec<ObservationKey>, Error> {
    let of_transaction = observations::of_transaction(db, Mode::Live, chain, txid)?;
    let found = of_transaction.into_iter().filter(|observed| {
        observed.state == state
            && observed.seen.block.is_none()
            && observed.seen.position < REPLACED_FROM
    });
    Ok(found.map(|observed| observed.seen.key()).collect())
}

/// Returns the key of the observation that `seen` replaces. Both have the same coin and address. The transaction of
/// `seen` made the older transaction invalid.
fn find_replaced_observation(
    db: &Reader<'_>,
    seen: &Observation,
    forward: Option<&ForwardStep>,
) -> Result<Option<ObservationKey>, Error> {
    let gone = forward.into_iter().flat_map(|forward| &forward.gone);
    for gone in gone.filter(|gone| gone.by == seen.txid) {
        let first = observations_on_chain::first_mempool_output;
        if let Some(position) = first(db, &gone.txid, seen.asset, &seen.address)? {
            return Ok(Some(live_observation_key(seen.asset.chain, gone.txid.clone(), position)));
        }
    }
    Ok(None)
}

pub(super) fn live_observation_key(chain: Chain, txid: String, position: u32) -> ObservationKey {
    ObservationKey { mode: Mode::Live, chain, txid, position }
}

pub(super) fn starts_at_cursor(
    db: &Reader<'_>,
    chain_step: &ChainStep,
    cursor: Option<&ChainCursor>,
) -> Result<bool, Error> {
    let stands_at = cursor.map(|cursor| &cursor.reached.block);
    let is_stopped = cursor.is_some_and(|cursor| cursor.stopped.is_some());
    if stands_at != chain_step.from.as_ref() {
        return Ok(false);
    }
    match &chain_step.outcome {
        ChainStepOutcome::Rescanned(rescanned) => {
            let rescan = rescans::active_for_chain(db, chain_step.chain)?;
            let is_next = rescan.is_some_and(|rescan| rescan.next_height == rescanned.from);
            Ok(is_next && is_stopped == rescanned.restarts)
        }
        // A stopped chain goes on if the node has the block of the cursor again.
        ChainStepOutcome::RolledBackTo(fork) => Ok(!is_stopped || stands_at == Some(fork)),
        ChainStepOutcome::Started { .. }
        | ChainStepOutcome::Stopped(_)
        | ChainStepOutcome::Forward(_)
        | ChainStepOutcome::ClaimChecked(_)
        | ChainStepOutcome::BalancesChecked(_)
        | ChainStepOutcome::HeightFound { .. } => Ok(!is_stopped),
    }
}

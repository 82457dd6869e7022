//! Applies a chain step: gives each observation to `observations`, then moves the cursor.
//!
//! Invariant: the same step can be applied again until the cursor has moved. No observation is confirmed by a block
//! above the cursor.

mod items;

use super::balances;
use crate::domain::asset::Chain;
use crate::domain::confirmations::is_deep_enough;
use crate::domain::observation::OUTPUTS_MAX;
use crate::domain::{
    Block, ChainPosition, ChainStep, ChainStepOutcome, Depth, ForwardStep, ObservationChange,
    PaymentState, RescanStep, Time,
};
use crate::service::chains::apply::items::{apply_observation_batch, change_observation_by_key};
use crate::service::chains::claims::end_claim;
use crate::service::chains::read_back::record_read_back_height;
use crate::service::confirmations::NeededConfirmations;
use crate::service::observations::record_observation;
use crate::service::settle::{SettleCause, settle_invoice};
use crate::service::transfers::destination::settle_destination;
use crate::service::transfers::watch::{
    freeze_final_transfers, record_conflicting_spend, record_node_report,
    remove_transaction_from_block, unconfirm_transfers_above,
};
use crate::service::{Error, Service, Step};
use crate::store::chain_cursors::{self, ChainCursor};
use crate::store::{
    Touched, chain_blocks, chains, invoices, observations, observations_on_chain, rescans,
    set_aside,
};
pub use items::BatchLimit;
use items::{live_observation_key, restore_dropped_observation, starts_at_cursor};
use std::collections::HashSet;
use std::sync::Arc;

/// Position in a step at which the next batch starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchStart {
    /// Index of the next item, and the output of its transaction at which to start. After the last item, the cursor
    /// moves.
    Items(usize, u32),
    /// Confirms observations that have enough confirmations, starting after this `seq`.
    Confirm(i64),
    /// The step is complete.
    Done,
}

impl BatchStart {
    /// Start of the first batch of a step: the first item and its first output.
    pub const FIRST: BatchStart = BatchStart::Items(0, 0);
}

impl Service {
    /// Applies one batch of a step in one transaction, and returns the start of the next batch.
    ///
    /// Skips a step that no longer continues from the cursor, because another change was made after the step was
    /// computed.
    pub fn apply_chain_step(
        self: &Arc<Self>,
        now: Time,
        chain_step: &Arc<ChainStep>,
        part: BatchStart,
        mut bound: BatchLimit,
    ) -> Result<BatchStart, Error> {
        let chain_step = Arc::clone(chain_step);
        self.write_and_wait(now, move |step| {
            let Step { service, tx, .. } = *step;
            // Drops log lines of an earlier attempt that was rolled back.
            service.take_log_lines(chain_step.chain);
            let (cursor, bound) = (chain_cursors::of_chain(tx, chain_step.chain)?, &mut bound);
            match part {
                BatchStart::Items(item, output) => {
                    apply_item_batch(step, &chain_step, cursor, item, output, bound)
                }
                BatchStart::Confirm(after) => match cursor {
                    Some(cursor) => {
                        settle_after(step, || confirm_batch(step, &cursor, after, bound))
                    }
                    None => Ok(BatchStart::Done),
                },
                BatchStart::Done => Ok(BatchStart::Done),
            }
        })
    }
}

/// Applies a batch of the items of a step, starting at an output of an item. Moves the cursor after the last item.
fn apply_item_batch(
    step: &Step<'_>,
    chain_step: &ChainStep,
    cursor: Option<ChainCursor>,
    item: usize,
    output: u32,
    bound: &mut BatchLimit,
) -> Result<BatchStart, Error> {
    if !starts_at_cursor(step.tx, chain_step, cursor.as_ref())? {
        return Ok(BatchStart::Done);
    }
    let next = settle_after(step, || {
        if let (0, 0, ChainStepOutcome::Forward(_), Some(cursor)) =
            (item, output, &chain_step.outcome, &cursor)
        {
            unconfirm_blocks_above(step, chain_step.chain, cursor.reached.block.height)?;
        }
        apply_observation_batch(step, chain_step, item, output, bound)
    })?;
    if let Some((item, output)) = next {
        return Ok(BatchStart::Items(item, output));
    }
    move_cursor(step, chain_step, cursor)?;
    Ok(BatchStart::Confirm(0))
}

/// Runs `work`, which may touch the same invoice or destination several times. Then settles each of them once,
/// because settling reads everything about it.
///
/// `work` must save its changes to invoices, otherwise they are lost.
///
/// If settling is refused, everything is rolled back and `work` runs again. Each touch then settles immediately, so
/// only what cannot be booked fails.
fn settle_after<T>(
    step: &Step<'_>,
    mut work: impl FnMut() -> Result<T, Error>,
) -> Result<T, Error> {
    let Step { tx, .. } = *step;
    let together = tx.attempt(|| {
        let (done, touched) = tx.defer_settling(&mut work)?;
        for one in touched {
            match one {
                Touched::Invoice { invoice, always_notifies } => {
                    let cause = match always_notifies {
                        true => SettleCause::Confirmed,
                        false => SettleCause::Other,
                    };
                    settle_invoice(step, invoices::by_seq(tx, invoice)?, cause)?;
                }
                Touched::Destination(seq) => settle_destination(step, seq)?,
            }
        }
        Ok(done)
    })?;
    match together {
        Err(Error::Refused(_)) => work(),
        settled => settled,
    }
}

/// Reverts the confirmation of all observations in blocks above a height.
fn unconfirm_blocks_above(step: &Step<'_>, chain: Chain, height: u32) -> Result<(), Error> {
    let Step { tx, now, .. } = *step;
    let above = observations_on_chain::confirmed_above(tx, chain, height)?;
    change_observations(step, chain, above, ObservationChange::Seen)?;
    unconfirm_transfers_above(step, chain, height)?;
    // An observation whose confirmation could not be reverted is also removed from its block. Each later step
    // tries to revert the confirmation again.
    Ok(observations_on_chain::remove_from_blocks_above(tx, chain, height, now)?)
}

/// Applies a change to observations of a chain. Each observation is given by its transaction and position.
fn change_observations(
    step: &Step<'_>,
    chain: Chain,
    observations: Vec<(String, u32)>,
    change: ObservationChange<'_>,
) -> Result<(), Error> {
    observations.into_iter().try_for_each(|(txid, position)| {
        change_observation_by_key(step, &live_observation_key(chain, txid, position), change)
    })
}

/// Reverts the confirmation of observations that are no longer in their blocks.
fn unconfirm_observations(
    step: &Step<'_>,
    chain: Chain,
    missing: &[(String, u32)],
) -> Result<(), Error> {
    let Step { tx, now, .. } = *step;
    for (txid, position) in missing {
        let place = live_observation_key(chain, txid.clone(), *position);
        let known = observations::by_key(tx, &place)?;
        if known.is_some_and(|known| known.state == PaymentState::Confirmed) {
            change_observation_by_key(step, &place, ObservationChange::Seen)?;
        }
        observations_on_chain::remove_from_block(tx, &place, now)?;
        remove_transaction_from_block(step, chain, txid)?;
    }
    Ok(())
}

/// Ends a step: moves the cursor, and writes the values that depend on the cursor.
fn move_cursor(
    step: &Step<'_>,
    chain_step: &ChainStep,
    before: Option<ChainCursor>,
) -> Result<(), Error> {
    let Step { tx, now, .. } = *step;
    let chain = chain_step.chain;
    let mut cursor = ChainCursor {
        chain,
        network: chain_step.network.clone(),
        reached: chain_step.head.clone(),
        complete: chain_step.head.block.clone(),
        head_height: chain_step.head.block.height,
        head_time: chain_step.head.time,
        stepped_at: now,
        stopped: None,
    };
    if let Some(before) = before {
        (cursor.reached, cursor.complete) = (before.reached, before.complete);
        cursor.stopped = before.stopped;
    }
    match &chain_step.outcome {
        ChainStepOutcome::Started { to, complete, scanned_to } => {
            (cursor.reached, cursor.complete) = (to.clone(), complete.clone());
            chain_cursors::put(tx, &cursor)?;
            chains::mark_scanned_to(tx, chain, *scanned_to)?;
        }
        ChainStepOutcome::RolledBackTo(fork) => {
            settle_after(step, || unconfirm_blocks_above(step, chain, fork.height))?;
            chain_blocks::remove_above(tx, chain, fork.height)?;
            move_cursor_back(&mut cursor, fork);
            cursor.stopped = None;
            chain_cursors::put(tx, &cursor)?;
        }
        ChainStepOutcome::Stopped(why) => {
            cursor.stopped = Some(why.clone());
            chain_cursors::put(tx, &cursor)?;
        }
        ChainStepOutcome::Forward(forward) => apply_forward_step(step, cursor, forward)?,
        ChainStepOutcome::Rescanned(rescanned) => apply_rescan_step(step, cursor, rescanned)?,
        ChainStepOutcome::ClaimChecked(claimed) => {
            end_claim(step, claimed)?;
            chain_cursors::put(tx, &cursor)?;
        }
        ChainStepOutcome::BalancesChecked(looked) => {
            balances::store_balance_check(step, looked)?;
            chain_cursors::put(tx, &cursor)?;
        }
        ChainStepOutcome::HeightFound { at, height, lacks_before } => {
            chain_cursors::put(tx, &cursor)?;
            let unread = lacks_before.unwrap_or(*at);
            record_read_back_height(step, chain, unread, *height)?;
        }
    }
    for block in &chain_step.keep {
        chain_blocks::put(tx, chain, block)?;
    }
    Ok(())
}

fn apply_forward_step(
    step: &Step<'_>,
    mut cursor: ChainCursor,
    forward: &ForwardStep,
) -> Result<(), Error> {
    let Step { tx, now, .. } = *step;
    let chain = cursor.chain;
    settle_after(step, || {
        unconfirm_observations(step, chain, &forward.missing)?;
        for txid in &forward.vanished {
            observations_on_chain::mark_vanished(tx, chain, txid, now)?;
        }
        if let Some(before) = forward.dropped_before {
            let gone = observations_on_chain::vanished_before(tx, chain, before, OUTPUTS_MAX)?;
            change_observations(step, chain, gone, ObservationChange::Dropped)?;
        }
        let unbooked = observations_on_chain::confirmed_without_block(tx, chain, OUTPUTS_MAX)?;
        change_observations(step, chain, unbooked, ObservationChange::Seen)?;
        for read in &forward.sent {
            for seen in record_node_report(step, chain, read)? {
                if let Some(known) = observations::by_key(tx, &seen.key())? {
                    restore_dropped_observation(step, &known, seen)?;
                }
                record_observation(step, seen, None)?;
            }
        }
        for conflict in &forward.conflicts {
            record_conflicting_spend(step, chain, conflict)?;
        }
        freeze_final_transfers(step, chain)
    })?;
    cursor.reached = forward.to.clone();
    if let Some(complete) = &forward.complete {
        cursor.complete = complete.clone();
    }
    let lowest = match chain.row().horizon {
        Depth::Blocks(blocks) => cursor.reached.block.height.saturating_sub(blocks),
        Depth::Final => cursor.complete.height,
    };
    chain_blocks::prune_below(tx, chain, lowest)?;
    chain_cursors::put(tx, &cursor)?;
    set_aside::replace_all(tx, chain, &forward.set_aside, now)?;
    if let Some(to) = forward.scanned_to {
        chains::mark_scanned_to(tx, chain, to)?;
    }
    Ok(())
}

fn apply_rescan_step(
    step: &Step<'_>,
    mut cursor: ChainCursor,
    rescanned: &RescanStep,
) -> Result<(), Error> {
    let Step { tx, now, .. } = *step;
    let chain = cursor.chain;
    let Some(rescan) = rescans::active_for_chain(tx, chain)? else {
        return Ok(());
    };
    let Some(to) = &rescanned.to else {
        return Ok(rescans::save_progress(tx, rescan.seq, rescan.from_height, None)?);
    };
    settle_after(step, || {
        unconfirm_observations(step, chain, &rescanned.missing)?;
        for conflict in &rescanned.conflicts {
            record_conflicting_spend(step, chain, conflict)?;
        }
        Ok(())
    })?;
    set_aside::add_all(tx, chain, &rescanned.set_aside, now)?;
    let ChainPosition { block, .. } = to;
    let next = block.height.saturating_add(1).max(rescan.next_height);
    rescans::save_progress(tx, rescan.seq, next, Some(&block.hash))?;
    if block.height == cursor.complete.height {
        // The hash of this block may differ from the stored one. A rescan lets an operator correct the stored
        // hash.
        cursor.complete = block.clone();
    }
    if rescanned.is_last {
        rescans::end_rescan(tx, chain, now)?;
        if rescanned.restarts {
            settle_after(step, || unconfirm_blocks_above(step, chain, block.height))?;
            chain_blocks::remove_above(tx, chain, block.height)?;
            (cursor.reached, cursor.complete) = (to.clone(), block.clone());
            cursor.stopped = None;
        }
    }
    Ok(chain_cursors::put(tx, &cursor)?)
}

/// Confirms observations with enough confirmations, starting after the given observation, up to the limit of the
/// batch.
fn confirm_batch(
    step: &Step<'_>,
    cursor: &ChainCursor,
    mut after: i64,
    bound: &mut BatchLimit,
) -> Result<BatchStart, Error> {
    let Step { tx, .. } = *step;
    let chain = cursor.chain;
    if cursor.stopped.is_some() {
        return Ok(BatchStart::Done);
    }
    let height = cursor.reached.block.height;
    let complete = (!chain.has_outputs()).then_some(cursor.complete.height);
    // A payment whose transaction could not be read a second time waits until it can.
    let aside = match chain.has_outputs() {
        true => Vec::new(),
        false => set_aside::of_chain(tx, chain)?,
    };
    let aside: HashSet<&str> = aside.iter().map(|one| one.id.as_str()).collect();
    let mut needs = NeededConfirmations::default();
    bound.begin_batch();
    loop {
        let some = observations_on_chain::unconfirmed_up_to(tx, chain, height, after, OUTPUTS_MAX)?;
        let is_last = some.len() < OUTPUTS_MAX;
        for waiting in some {
            let needed = needs.needed_confirmations(tx, waiting.asset, waiting.payer)?;
            let is_read = !aside.contains(waiting.txid.as_str());
            if is_read && is_deep_enough(needed, waiting.height, height, complete) {
                if !bound.take_item() {
                    return Ok(BatchStart::Confirm(after));
                }
                let place = live_observation_key(chain, waiting.txid, waiting.position);
                change_observation_by_key(step, &place, ObservationChange::Confirmed)?;
            }
            after = waiting.seq;
        }
        if is_last {
            return Ok(BatchStart::Done);
        }
    }
}

fn move_cursor_back(cursor: &mut ChainCursor, fork: &Block) {
    cursor.reached.block = fork.clone();
    if cursor.complete.height > fork.height {
        cursor.complete = fork.clone();
    }
}

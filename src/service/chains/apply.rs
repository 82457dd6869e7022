//! Applies a chain step: passes its observations to `intake`, then moves the cursor.
//!
//! Invariant: the same step can be applied again until the cursor has moved. No observation is confirmed by a block
//! above the cursor.

mod items;

use super::balances;
use super::depth::NeededConfirmations;
use crate::domain::asset::Chain;
use crate::domain::chain::Depth;
use crate::domain::confirmations::is_deep_enough;
use crate::domain::following::{
    ChainPosition, ChainStep, ChainStepOutcome, ForwardStep, RescanStep,
};
use crate::domain::observation::{Block, OUTPUTS_MAX};
use crate::domain::payment::PaymentState;
use crate::domain::time::Time;
use crate::service::intake::ObservationChange;
use crate::service::{Error, Service};
use crate::store::chain_cursors::{self, ChainCursor};
use crate::store::{Tx, chain_blocks, chains, observations, observations_on_chain, rescans};
pub use items::BatchLimit;
use items::{live_observation_key, starts_at_cursor};
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
        step: &Arc<ChainStep>,
        part: BatchStart,
        mut bound: BatchLimit,
    ) -> Result<BatchStart, Error> {
        let step = Arc::clone(step);
        self.write_and_wait(move |service, tx| {
            // Drops log lines of an earlier attempt that was rolled back.
            service.take_log_lines(step.chain);
            let (cursor, bound) = (chain_cursors::of_chain(tx, step.chain)?, &mut bound);
            match part {
                BatchStart::Items(item, output) => {
                    service.apply_item_batch(tx, now, &step, cursor, ((item, output), bound))
                }
                BatchStart::Confirm(after) => match cursor {
                    Some(cursor) => service.settle_after(tx, now, || {
                        service.confirm_batch(tx, now, &cursor, after, bound)
                    }),
                    None => Ok(BatchStart::Done),
                },
                BatchStart::Done => Ok(BatchStart::Done),
            }
        })
    }

    /// Applies a batch of the items of a step, starting at an index. Moves the cursor after the last item.
    fn apply_item_batch(
        &self,
        tx: &Tx<'_>,
        now: Time,
        step: &ChainStep,
        cursor: Option<ChainCursor>,
        (from, bound): ((usize, u32), &mut BatchLimit),
    ) -> Result<BatchStart, Error> {
        if !starts_at_cursor(tx, step, cursor.as_ref())? {
            return Ok(BatchStart::Done);
        }
        let next = self.settle_after(tx, now, || {
            if let ((0, 0), ChainStepOutcome::Forward(_), Some(cursor)) =
                (from, &step.outcome, &cursor)
            {
                self.unconfirm_blocks_above(tx, now, step.chain, cursor.reached.block.height)?;
            }
            self.apply_observation_batch(tx, now, step, from, bound)
        })?;
        if let Some((item, output)) = next {
            return Ok(BatchStart::Items(item, output));
        }
        self.move_cursor(tx, now, step, cursor)?;
        Ok(BatchStart::Confirm(0))
    }

    /// Reverts the confirmation of all observations in blocks above a height.
    fn unconfirm_blocks_above(
        &self,
        tx: &Tx<'_>,
        now: Time,
        chain: Chain,
        height: u32,
    ) -> Result<(), Error> {
        let above = observations_on_chain::confirmed_above(tx, chain, height)?;
        self.change_observations(tx, now, chain, above, ObservationChange::Seen)?;
        self.unconfirm_transfers_above(tx, now, chain, height)?;
        // An observation whose confirmation could not be reverted is also removed from its block. Each later step
        // tries to revert the confirmation again.
        Ok(observations_on_chain::remove_from_blocks_above(tx, chain, height, now)?)
    }

    /// Applies a change to observations of a chain. Each observation is given by its transaction and position.
    fn change_observations(
        &self,
        tx: &Tx<'_>,
        now: Time,
        chain: Chain,
        observations: Vec<(String, u32)>,
        change: ObservationChange<'_>,
    ) -> Result<(), Error> {
        observations.into_iter().try_for_each(|(txid, position)| {
            self.change_observation_by_key(
                tx,
                now,
                &live_observation_key(chain, txid, position),
                change,
            )
        })
    }

    /// Reverts the confirmation of observations that are no longer in their blocks.
    fn unconfirm_observations(
        &self,
        tx: &Tx<'_>,
        now: Time,
        chain: Chain,
        missing: &[(String, u32)],
    ) -> Result<(), Error> {
        for (txid, position) in missing {
            let place = live_observation_key(chain, txid.clone(), *position);
            let known = observations::by_key(tx, &place)?;
            if known.is_some_and(|known| known.state == PaymentState::Confirmed) {
                self.change_observation_by_key(tx, now, &place, ObservationChange::Seen)?;
            }
            observations_on_chain::remove_from_block(tx, &place, now)?;
            self.remove_transaction_from_block(tx, now, chain, txid)?;
        }
        Ok(())
    }

    /// Ends a step: moves the cursor, and writes the values that depend on the cursor.
    fn move_cursor(
        &self,
        tx: &Tx<'_>,
        now: Time,
        step: &ChainStep,
        before: Option<ChainCursor>,
    ) -> Result<(), Error> {
        let chain = step.chain;
        let mut cursor = ChainCursor {
            chain,
            network: step.network.clone(),
            reached: step.head.clone(),
            complete: step.head.block.clone(),
            head_height: step.head.block.height,
            head_time: step.head.time,
            stepped_at: now,
            stopped: None,
        };
        if let Some(before) = before {
            (cursor.reached, cursor.complete) = (before.reached, before.complete);
            cursor.stopped = before.stopped;
        }
        match &step.outcome {
            ChainStepOutcome::Started { to, complete, scanned_to } => {
                (cursor.reached, cursor.complete) = (to.clone(), complete.clone());
                chain_cursors::put(tx, &cursor)?;
                chains::mark_scanned_to(tx, chain, *scanned_to)?;
            }
            ChainStepOutcome::RolledBackTo(fork) => {
                self.settle_after(tx, now, || {
                    self.unconfirm_blocks_above(tx, now, chain, fork.height)
                })?;
                chain_blocks::remove_above(tx, chain, fork.height)?;
                move_cursor_back(&mut cursor, fork);
                chain_cursors::put(tx, &cursor)?;
            }
            ChainStepOutcome::Stopped(why) => {
                cursor.stopped = Some(why.clone());
                chain_cursors::put(tx, &cursor)?;
            }
            ChainStepOutcome::Forward(forward) => {
                self.apply_forward_step(tx, now, cursor, forward)?
            }
            ChainStepOutcome::Rescanned(rescanned) => {
                self.apply_rescan_step(tx, now, cursor, rescanned)?
            }
            ChainStepOutcome::ClaimChecked(claimed) => {
                self.end_claim(tx, now, claimed)?;
                chain_cursors::put(tx, &cursor)?;
            }
            ChainStepOutcome::BalancesChecked(looked) => {
                balances::store_balance_check(tx, now, looked)?;
                chain_cursors::put(tx, &cursor)?;
            }
            ChainStepOutcome::HeightFound { at, height, lacks_before } => {
                chain_cursors::put(tx, &cursor)?;
                let unread = lacks_before.unwrap_or(*at);
                self.record_read_back_height(tx, now, chain, (unread, *height))?;
            }
        }
        for block in &step.keep {
            chain_blocks::put(tx, chain, block)?;
        }
        Ok(())
    }

    fn apply_forward_step(
        &self,
        tx: &Tx<'_>,
        now: Time,
        mut cursor: ChainCursor,
        forward: &ForwardStep,
    ) -> Result<(), Error> {
        let chain = cursor.chain;
        self.settle_after(tx, now, || {
            self.unconfirm_observations(tx, now, chain, &forward.missing)?;
            for txid in &forward.vanished {
                observations_on_chain::mark_vanished(tx, chain, txid, now)?;
            }
            if let Some(before) = forward.dropped_before {
                let gone = observations_on_chain::vanished_before(tx, chain, before, OUTPUTS_MAX)?;
                self.change_observations(tx, now, chain, gone, ObservationChange::Dropped)?;
            }
            let unbooked = observations_on_chain::confirmed_without_block(tx, chain, OUTPUTS_MAX)?;
            self.change_observations(tx, now, chain, unbooked, ObservationChange::Seen)?;
            for read in &forward.sent {
                self.record_node_report(tx, now, chain, read)?;
            }
            for conflict in &forward.conflicts {
                self.record_conflicting_spend(tx, now, chain, conflict)?;
            }
            self.freeze_final_transfers(tx, now, chain)
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
        if let Some(to) = forward.scanned_to {
            chains::mark_scanned_to(tx, chain, to)?;
        }
        Ok(())
    }

    fn apply_rescan_step(
        &self,
        tx: &Tx<'_>,
        now: Time,
        mut cursor: ChainCursor,
        rescanned: &RescanStep,
    ) -> Result<(), Error> {
        let chain = cursor.chain;
        let Some(rescan) = rescans::active_for_chain(tx, chain)? else {
            return Ok(());
        };
        let Some(to) = &rescanned.to else {
            return Ok(rescans::save_progress(tx, rescan.seq, rescan.from_height, None)?);
        };
        self.settle_after(tx, now, || {
            self.unconfirm_observations(tx, now, chain, &rescanned.missing)?;
            for conflict in &rescanned.conflicts {
                self.record_conflicting_spend(tx, now, chain, conflict)?;
            }
            Ok(())
        })?;
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
                self.settle_after(tx, now, || {
                    self.unconfirm_blocks_above(tx, now, chain, block.height)
                })?;
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
        &self,
        tx: &Tx<'_>,
        now: Time,
        cursor: &ChainCursor,
        mut after: i64,
        bound: &mut BatchLimit,
    ) -> Result<BatchStart, Error> {
        let chain = cursor.chain;
        if cursor.stopped.is_some() {
            return Ok(BatchStart::Done);
        }
        let height = cursor.reached.block.height;
        let complete = (!chain.has_outputs()).then_some(cursor.complete.height);
        let mut needs = NeededConfirmations::default();
        bound.begin_batch();
        loop {
            let some =
                observations_on_chain::unconfirmed_up_to(tx, chain, height, after, OUTPUTS_MAX)?;
            let is_last = some.len() < OUTPUTS_MAX;
            for waiting in some {
                let needed = needs.needed_confirmations(tx, waiting.asset, waiting.payer)?;
                if is_deep_enough(needed, waiting.height, height, complete) {
                    if !bound.take_item() {
                        return Ok(BatchStart::Confirm(after));
                    }
                    let place = live_observation_key(chain, waiting.txid, waiting.position);
                    self.change_observation_by_key(tx, now, &place, ObservationChange::Confirmed)?;
                }
                after = waiting.seq;
            }
            if is_last {
                return Ok(BatchStart::Done);
            }
        }
    }
}

/// Moves the cursor of a chain back to a block.
fn move_cursor_back(cursor: &mut ChainCursor, fork: &Block) {
    cursor.reached.block = fork.clone();
    if cursor.complete.height > fork.height {
        cursor.complete = fork.clone();
    }
}

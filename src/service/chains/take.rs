//! Taking a step along a chain: what was seen goes in by `intake`, and the cursor moves with the last of it.
//!
//! What does not live here: working the step out, and the things that were seen one by one (`items`). What always holds: until the cursor has moved, the same step can be taken
//! again and finds everything known; whatever is in a block above the cursor counts as in none.

mod bound;
mod items;

use super::balances;
use super::depth::Needs;
use super::places::{begins_there, place_of};
use crate::domain::asset::Chain;
use crate::domain::chain::Depth;
use crate::domain::confirmations::is_deep_enough;
use crate::domain::following::{ChainStep, Forward, Moves, Reached, Rescanned};
use crate::domain::observation::{Block, OUTPUTS_MAX};
use crate::domain::payment::PaymentState;
use crate::domain::time::Time;
use crate::service::intake::Step;
use crate::service::{Error, Service, transfers};
use crate::store::chain_cursors::{self, Cursor};
use crate::store::{
    Tx, chain_blocks, chains, observations, observations_on_chain, read_backs, rescans,
};
pub use bound::Bound;
use std::sync::Arc;

/// Which transaction of a step is next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Writes what was seen, from this one on and of its transaction from this output on; the last of them moves the cursor.
    Items(usize, u32),
    /// Confirms what is deep enough now, of what was taken in behind this observation.
    Confirm(i64),
    /// None.
    Done,
}

impl Part {
    /// The first of every step.
    pub const FIRST: Part = Part::Items(0, 0);
}

impl Service {
    /// Takes a part of a step, in one transaction; which part is next. A step that does not begin where the chain stands is
    /// not taken: it was worked out before something else happened.
    pub fn take_chain_step(
        self: &Arc<Self>,
        now: Time,
        step: &Arc<ChainStep>,
        part: Part,
        mut bound: Bound,
    ) -> Result<Part, Error> {
        let step = Arc::clone(step);
        self.write_and_wait(move |service, tx| {
            // Rows of a part that is read again.
            service.take_lines(step.chain);
            let (cursor, bound) = (chain_cursors::of_chain(tx, step.chain)?, &mut bound);
            match part {
                Part::Items(item, output) => {
                    service.take_items(tx, now, &step, cursor, ((item, output), bound))
                }
                Part::Confirm(after) => match cursor {
                    Some(cursor) => service
                        .settled_once(tx, now, || service.confirm(tx, now, &cursor, after, bound)),
                    None => Ok(Part::Done),
                },
                Part::Done => Ok(Part::Done),
            }
        })
    }

    /// What was seen, from one on; behind the last of it the cursor moves.
    fn take_items(
        &self,
        tx: &Tx<'_>,
        now: Time,
        step: &ChainStep,
        cursor: Option<Cursor>,
        (from, bound): ((usize, u32), &mut Bound),
    ) -> Result<Part, Error> {
        if !begins_there(tx, step, cursor.as_ref())? {
            return Ok(Part::Done);
        }
        let next = self.settled_once(tx, now, || {
            if let ((0, 0), Moves::Forward(_), Some(cursor)) = (from, &step.moves, &cursor) {
                self.take_back_above(tx, now, step.chain, cursor.reached.block.height)?;
            }
            self.take_some(tx, now, step, from, bound)
        })?;
        if let Some((item, output)) = next {
            return Ok(Part::Items(item, output));
        }
        self.move_cursor(tx, now, step, cursor)?;
        Ok(Part::Confirm(0))
    }

    /// Nothing is in a block above this height any more.
    fn take_back_above(
        &self,
        tx: &Tx<'_>,
        now: Time,
        chain: Chain,
        height: u32,
    ) -> Result<(), Error> {
        for (txid, position, _) in observations_on_chain::confirmed_above(tx, chain, height)? {
            self.step_of(tx, now, &place_of(chain, txid, position), Step::Seen)?;
        }
        self.give_up_sent(tx, chain, height)?;
        // What could not be taken back is in no block all the same, and is tried again at each step.
        Ok(observations_on_chain::take_out_above(
            tx, chain, height, now,
        )?)
    }

    /// What was seen in blocks that are there, and is not in them.
    fn take_back(
        &self,
        tx: &Tx<'_>,
        now: Time,
        chain: Chain,
        missing: &[(String, u32)],
    ) -> Result<(), Error> {
        for (txid, position) in missing {
            let place = place_of(chain, txid.clone(), *position);
            let known = observations::at(tx, &place)?;
            if known.is_some_and(|known| known.state == PaymentState::Confirmed) {
                self.step_of(tx, now, &place, Step::Seen)?;
            }
            observations_on_chain::take_out(tx, &place, now)?;
            transfers::take_out(tx, chain, txid)?;
        }
        Ok(())
    }

    /// The end of a step: the cursor moves, and what follows from that is done.
    fn move_cursor(
        &self,
        tx: &Tx<'_>,
        now: Time,
        step: &ChainStep,
        before: Option<Cursor>,
    ) -> Result<(), Error> {
        let chain = step.chain;
        let mut cursor = Cursor {
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
        match &step.moves {
            Moves::Started {
                to,
                complete,
                scanned_to,
            } => {
                (cursor.reached, cursor.complete) = (to.clone(), complete.clone());
                chain_cursors::put(tx, &cursor)?;
                chains::reach(tx, chain, *scanned_to)?;
                read_backs::begin(tx, chain, to.block.height)?;
            }
            Moves::BackTo(fork) => {
                self.settled_once(tx, now, || {
                    self.take_back_above(tx, now, chain, fork.height)
                })?;
                chain_blocks::give_up(tx, chain, fork.height)?;
                go_to(&mut cursor, fork);
                chain_cursors::put(tx, &cursor)?;
            }
            Moves::Stopped(why) => {
                cursor.stopped = Some(why.clone());
                chain_cursors::put(tx, &cursor)?;
            }
            Moves::Forward(forward) => self.go_forward(tx, now, cursor, forward)?,
            Moves::Rescanned(rescanned) => self.rescanned(tx, now, cursor, rescanned)?,
            Moves::Claimed(claimed) => {
                self.end_claim(tx, now, claimed)?;
                chain_cursors::put(tx, &cursor)?;
            }
            Moves::Looked(looked) => {
                balances::looked(tx, now, looked)?;
                chain_cursors::put(tx, &cursor)?;
            }
            Moves::Dated {
                at,
                height,
                lacks_before,
            } => {
                chain_cursors::put(tx, &cursor)?;
                let unread = lacks_before.unwrap_or(*at);
                self.dated(tx, now, chain, (unread, *height))?;
            }
        }
        for block in &step.keep {
            chain_blocks::keep(tx, chain, block)?;
        }
        Ok(())
    }

    fn go_forward(
        &self,
        tx: &Tx<'_>,
        now: Time,
        mut cursor: Cursor,
        forward: &Forward,
    ) -> Result<(), Error> {
        let chain = cursor.chain;
        self.settled_once(tx, now, || {
            self.take_back(tx, now, chain, &forward.missing)?;
            for txid in &forward.vanished {
                observations_on_chain::vanish(tx, chain, txid, now)?;
            }
            if let Some(before) = forward.dropped_before {
                let gone = observations_on_chain::given_up(tx, chain, before, OUTPUTS_MAX)?;
                for (txid, position, _) in gone {
                    self.step_of(tx, now, &place_of(chain, txid, position), Step::Dropped)?;
                }
            }
            for (txid, position, _) in observations_on_chain::unbooked(tx, chain, OUTPUTS_MAX)? {
                self.step_of(tx, now, &place_of(chain, txid, position), Step::Seen)?;
            }
            Ok(())
        })?;
        for read in &forward.sent {
            self.hear_of_sent(tx, now, chain, read)?;
        }
        for conflict in &forward.conflicts {
            self.hear_of_conflict(tx, now, chain, conflict)?;
        }
        cursor.reached = forward.to.clone();
        if let Some(complete) = &forward.complete {
            cursor.complete = complete.clone();
        }
        let lowest = match chain.row().horizon {
            Depth::Blocks(blocks) => cursor.reached.block.height.saturating_sub(blocks),
            Depth::Final => cursor.complete.height,
        };
        chain_blocks::prune(tx, chain, lowest)?;
        chain_cursors::put(tx, &cursor)?;
        if let Some(to) = forward.scanned_to {
            chains::reach(tx, chain, to)?;
        }
        Ok(())
    }

    fn rescanned(
        &self,
        tx: &Tx<'_>,
        now: Time,
        mut cursor: Cursor,
        rescanned: &Rescanned,
    ) -> Result<(), Error> {
        let chain = cursor.chain;
        let Some(rescan) = rescans::of_chain(tx, chain)? else {
            return Ok(());
        };
        let Some(to) = &rescanned.to else {
            return Ok(rescans::advance(tx, rescan.seq, rescan.from_height, None)?);
        };
        self.settled_once(tx, now, || {
            self.take_back(tx, now, chain, &rescanned.missing)
        })?;
        for conflict in &rescanned.conflicts {
            self.hear_of_conflict(tx, now, chain, conflict)?;
        }
        let Reached { block, .. } = to;
        let next = block.height.saturating_add(1).max(rescan.next_height);
        rescans::advance(tx, rescan.seq, next, Some(&block.hash))?;
        if block.height == cursor.complete.height {
            // It may have been another: that is why a person has it read again.
            cursor.complete = block.clone();
        }
        if rescanned.is_last {
            rescans::end(tx, chain, now)?;
            if rescanned.restarts {
                self.settled_once(tx, now, || {
                    self.take_back_above(tx, now, chain, block.height)
                })?;
                chain_blocks::give_up(tx, chain, block.height)?;
                (cursor.reached, cursor.complete) = (to.clone(), block.clone());
                cursor.stopped = None;
            }
        }
        Ok(chain_cursors::put(tx, &cursor)?)
    }

    /// Confirms what is deep enough, behind an observation; at most so much as one transaction takes.
    fn confirm(
        &self,
        tx: &Tx<'_>,
        now: Time,
        cursor: &Cursor,
        mut after: i64,
        bound: &mut Bound,
    ) -> Result<Part, Error> {
        let chain = cursor.chain;
        if cursor.stopped.is_some() {
            return Ok(Part::Done);
        }
        let height = cursor.reached.block.height;
        let complete = (!chain.has_outputs()).then_some(cursor.complete.height);
        let mut needs = Needs::default();
        bound.begin();
        loop {
            let some = observations_on_chain::waiting(tx, chain, height, after, OUTPUTS_MAX)?;
            let is_last = some.len() < OUTPUTS_MAX;
            for waiting in some {
                let needed = needs.of(tx, waiting.asset, waiting.payer)?;
                if is_deep_enough(needed, waiting.height, height, complete) {
                    if !bound.takes_one() {
                        return Ok(Part::Confirm(after));
                    }
                    let place = place_of(chain, waiting.txid, waiting.position);
                    self.step_of(tx, now, &place, Step::Confirmed)?;
                }
                after = waiting.seq;
            }
            if is_last {
                return Ok(Part::Done);
            }
        }
    }
}

/// Puts a chain's cursor back to a block.
fn go_to(cursor: &mut Cursor, fork: &Block) {
    cursor.reached.block = fork.clone();
    if cursor.complete.height > fork.height {
        cursor.complete = fork.clone();
    }
}

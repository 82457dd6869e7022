//! Computes one step along a chain from the stored state and the answers of a node: new blocks, reorgs, rescans.
//!
//! Invariant: a step reads a limited number of blocks, and accepts a block only if it follows the block before it.

mod again;
mod claims;
mod conflicts;
mod dated;
mod fork;
mod late;
mod network;
mod pool;
mod sent;
#[cfg(test)]
mod tests;
mod watched;

pub use network::unknown_network_message;
pub use watched::{AddressPools, StepTargets, WatchedAddresses};

use super::{BlockRead, Head, Node, NodeError, ReceivedOutput, WatchTargets};
use crate::domain::chain::Chain;
use crate::domain::following::VANISHED_MS_MAX;
use crate::domain::time::MINUTE_MS;
use crate::domain::{
    Block, ChainPosition, ChainState, ChainStep, ChainStepOutcome, Depth, ForwardStep, Mode,
    Observation, Time,
};
use fork::CursorOutcome;
use network::check_network;
use pool::sort_parents_first;

/// Depth below the head down to which the first step stores hashes, in blocks. Used only if the chain has finality
/// and the node does not report a final block yet.
const FIRST_KEPT_DEPTH: u32 = 256;
/// Largest age of the newest block of an account chain, in milliseconds. If the block is older, payments after the
/// time of the block count as unknown.
const HEAD_AGE_MS_MAX: i64 = 2 * MINUTE_MS;

/// Options of one step.
#[derive(Clone, Copy, Debug)]
pub struct StepOptions {
    /// Time at which the step begins.
    pub now: Time,
    /// Largest number of blocks to read.
    pub blocks_max: u32,
    /// `true` if the node may be on a test network.
    pub test_networks: bool,
    /// `true` if the step may do a part of a rescan. Such a step does not read the mempool.
    pub rescans: bool,
}

/// Outcome of [`compute_step`].
#[derive(Clone, Debug)]
pub enum FollowOutcome {
    /// A step to apply.
    Step(Box<ChainStep>),
    /// The node lacks a block that was read earlier. The caller waits, or asks another node.
    Lagging(NodeLag),
    /// The chain is not followed until the operator orders a rescan, or the node has the cursor's block again. The text
    /// is the reason.
    Stopped(String),
}

/// A block that was read earlier and that the node does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeLag {
    /// The newest block of the node.
    pub head: ChainPosition,
    /// Height of the block that the node does not have.
    pub lacks: u32,
}

impl NodeLag {
    /// Returns `true` if the newest block of the node is at or above the missing height. Then the node has lost the
    /// block, and does not merely lag.
    pub fn has_lost_block(&self) -> bool {
        self.lacks <= self.head.block.height
    }
}

/// Builds one step from the answers of a node and the stored state.
struct StepBuilder<'a> {
    node: &'a mut dyn Node,
    known: &'a ChainState,
    watched: &'a dyn WatchTargets,
    manner: StepOptions,
}

/// Computes one step. Calls `hear` with the newest block of the node, as soon as the node has reported this block.
///
/// # Errors
///
/// [`NodeError`] if no step can be computed.
pub fn compute_step(
    node: &mut dyn Node,
    known: &ChainState,
    watched: &dyn WatchTargets,
    manner: StepOptions,
    hear: &mut dyn FnMut(&ChainPosition),
) -> Result<FollowOutcome, NodeError> {
    node.begin_step(known);
    let network = node.network()?;
    check_network(known, &network, manner.test_networks)?;
    let head = node.head()?;
    hear(&head_position(&head));
    let mut step = StepBuilder { node, known, watched, manner };
    let (keep, outcome) = match &known.cursor {
        None => step.first_step(&head)?,
        Some(cursor) if known.stopped.is_some() && known.rescan.is_some() => {
            step.read_rescan(cursor, &head)?
        }
        Some(cursor) => match step.follow_cursor(&cursor.block, &head)? {
            CursorOutcome::End(outcome) => return Ok(outcome),
            CursorOutcome::Step(outcome) => (Vec::new(), outcome),
            CursorOutcome::Rescan => step.read_rescan(cursor, &head)?,
            CursorOutcome::Same => match (step.answer_pending_request(), &known.rescan) {
                (Some(outcome), _) => (Vec::new(), outcome),
                (None, Some(_)) if manner.rescans => step.read_rescan(cursor, &head)?,
                (None, Some(_) | None) => step.step_forward(cursor, &head)?,
            },
        },
    };
    Ok(FollowOutcome::Step(Box::new(ChainStep {
        chain: known.chain,
        network,
        head: head_position(&head),
        from: known.cursor.as_ref().map(|cursor| cursor.block.clone()),
        keep,
        outcome,
    })))
}

impl StepBuilder<'_> {
    fn chain(&self) -> Chain {
        self.known.chain
    }

    /// Returns `true` if the node gives whole blocks, so that what is not in a block that was read is not in it.
    fn reads_whole_blocks(&self) -> bool {
        self.chain().has_outputs() && !self.node.is_queried_by_address()
    }

    /// Computes the first step, which begins to follow the chain at its newest block. Stores hashes of earlier blocks
    /// at growing distances, to detect a later reorg.
    fn first_step(&mut self, head: &Head) -> Result<(Vec<Block>, ChainStepOutcome), NodeError> {
        // Without a final block, it would be a guess from which block on payments have to become final.
        if let Some(problem) = self.node.final_problem() {
            return Err(problem.to_error());
        }
        let deepest = match (self.chain().row().horizon, head.finalized) {
            (Depth::Blocks(blocks), _) => head.block.height.saturating_sub(blocks),
            (Depth::Final, Some(finalized)) => finalized.min(head.block.height),
            (Depth::Final, None) => head.block.height.saturating_sub(FIRST_KEPT_DEPTH),
        };
        let mut keep = vec![head.block.clone()];
        // A chain with gaps may have no block at the parent height.
        let has_gaps = self.chain().row().has_gaps;
        let mut distance = if has_gaps { u32::MAX } else { 1 };
        let mut height = head.block.height;
        while height > deepest {
            height = height.saturating_sub(distance).max(deepest);
            distance = distance.saturating_mul(2);
            let hash = self.node.block_hash_at(height)?.ok_or(NodeError::Behind)?;
            keep.push(Block { height, hash });
        }
        let complete = match keep.last() {
            Some(deepest) if !self.chain().has_outputs() => deepest.clone(),
            Some(_) | None => head.block.clone(),
        };
        let outcome = ChainStepOutcome::Started {
            to: head_position(head),
            complete,
            scanned_to: self.scanned_to_time(head),
        };
        Ok((keep, outcome))
    }

    /// Reads new blocks, then the mempool. Then reads the newly final blocks a second time.
    fn step_forward(
        &mut self,
        cursor: &ChainPosition,
        head: &Head,
    ) -> Result<(Vec<Block>, ChainStepOutcome), NodeError> {
        let most = cursor.block.height.saturating_add(self.manner.blocks_max);
        let to = head.block.height.min(most);
        let mut blocks = self.read_blocks(&cursor.block, to, self.watched)?;
        let to = blocks.last().map_or_else(|| cursor.clone(), block_position);
        let is_at_head = to.block.height >= head.block.height;
        if is_at_head && to.block != head.block {
            return Err(NodeError::Behind);
        }
        let mut keep = self.blocks_to_keep(&blocks);
        blocks.splice(0..0, self.read_late_payments(&to.block, &mut keep)?);
        let mut forward = ForwardStep {
            to,
            complete: None,
            disputed: None,
            final_lag: None,
            found: self.observations_in(&blocks),
            present: Vec::new(),
            vanished: Vec::new(),
            gone: Vec::new(),
            dropped_before: None,
            missing: Vec::new(),
            scanned_to: None,
            sent: Vec::new(),
            conflicts: Vec::new(),
            set_aside: Vec::new(),
        };
        if self.chain().has_outputs() {
            forward.complete = Some(forward.to.block.clone());
            self.read_unconfirmed_payments(head, &blocks, is_at_head, &mut forward)?;
        } else {
            forward.scanned_to = Some(if is_at_head {
                self.scanned_to_time(head)
            } else {
                forward.to.time.min(self.manner.now)
            });
            keep.extend(self.reread_final_blocks(head, &keep, &mut forward)?);
        }
        forward.missing.extend(self.refuted_payments(&forward.found));
        if is_at_head && head.is_complete {
            forward.sent = self.look_up_sent_transactions(head, &keep, &forward.to.block);
        }
        forward.set_aside = self.node.set_aside();
        Ok((keep, ChainStepOutcome::Forward(Box::new(forward))))
    }

    /// Returns the blocks above block `behind` up to height `to`, or fewer if the node returns fewer. Empty if `to`
    /// is not above `behind`.
    ///
    /// The first block is the child of `behind`, except on a chain with gaps. Account chains may omit blocks.
    fn read_blocks(
        &mut self,
        behind: &Block,
        to: u32,
        watched: &dyn WatchTargets,
    ) -> Result<Vec<BlockRead>, NodeError> {
        let from = behind.height.saturating_add(1);
        if from > to {
            return Ok(Vec::new());
        }
        let blocks = self.node.blocks(from, to, watched)?;
        let mut before = behind;
        for read in &blocks {
            let (height, after) = (read.block.height, before.height);
            let is_next = height == after.saturating_add(1);
            let is_left_out = before != behind && !self.chain().has_outputs();
            let may_be_later = is_left_out || self.chain().row().has_gaps;
            if height > to || height <= after || !(is_next || may_be_later) {
                let what = format!("it gave block {height} after block {after}");
                return Err(NodeError::Lied(what));
            }
            if read.parent_height == after && read.parent != before.hash {
                // A reorg happened between two requests, or another node answered.
                return Err(NodeError::Behind);
            }
            before = &read.block;
        }
        match blocks.last() {
            Some(_) => Ok(blocks),
            None => Err(NodeError::Behind),
        }
    }

    /// Returns the blocks whose hashes must be stored. On UTXO chains, these are all blocks. On account chains, only
    /// blocks with payments and the last block.
    fn blocks_to_keep(&self, blocks: &[BlockRead]) -> Vec<Block> {
        let of_all = self.chain().has_outputs();
        let last = blocks.last().map(|read| &read.block);
        let kept = blocks
            .iter()
            .filter(|read| of_all || !read.received.is_empty() || Some(&read.block) == last);
        kept.map(|read| read.block.clone()).collect()
    }

    /// Returns the observations of payments in these blocks, in order. Within a block, a transaction comes before the
    /// transactions that spend its outputs.
    fn observations_in(&self, blocks: &[BlockRead]) -> Vec<Observation> {
        let mut found = Vec::new();
        for read in blocks {
            for received in sort_parents_first(&read.received) {
                let sighted = received.first_seen.map_or(read.time, |at| at.min(read.time));
                found.push(self.to_observation(received, sighted, Some(read.block.clone())));
            }
        }
        found
    }

    fn to_observation(
        &self,
        of: &ReceivedOutput,
        seen_at: Time,
        block: Option<Block>,
    ) -> Observation {
        Observation {
            mode: Mode::Live,
            asset: of.asset,
            txid: of.txid.clone(),
            position: of.position,
            address: of.address.clone(),
            amount: of.amount,
            seen_at: seen_at.min(self.manner.now),
            block,
            spends: of.spends.clone(),
        }
    }

    /// Returns the time up to which all payments are known, once the newest block has been read.
    fn scanned_to_time(&self, head: &Head) -> Time {
        let is_young = self.manner.now.since_ms(head.time) <= HEAD_AGE_MS_MAX;
        if head.is_complete && (self.chain().has_outputs() || is_young) {
            self.manner.now
        } else {
            head.time.min(self.manner.now)
        }
    }

    /// Returns the time limit for vanished transactions. A transaction that vanished before this time counts as
    /// dropped.
    fn vanished_time_limit(&self) -> Time {
        self.manner.now.plus_ms(VANISHED_MS_MAX.saturating_neg())
    }
}

fn head_position(head: &Head) -> ChainPosition {
    ChainPosition { block: head.block.clone(), time: head.time }
}

fn block_position(read: &BlockRead) -> ChainPosition {
    ChainPosition { block: read.block.clone(), time: read.time }
}

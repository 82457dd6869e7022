//! Reads blocks a second time: final blocks of account chains, and the blocks of a rescan.
//!
//! Invariant: a missing payment is removed only if the node reports that its transaction is in no block.

use super::conflicts::spenders_in;
use super::watched::SecondReadTargets;
use super::{ForwardStep, Head, NodeError, StepBuilder, block_position};
use crate::chain::{BlockRead, WatchTargets};
use crate::domain::chain::Chain;
use crate::domain::observation::{CLAIMS_FROM, CONTRACTS_FROM, NO_BLOCK};
use crate::domain::time::HOUR_MS;
use crate::domain::{
    Block, ChainPosition, ChainStepOutcome, Observation, OpenObservation, Rescan, RescanStep,
    address,
};
use std::collections::HashSet;

/// Time after which a payment that no block has any more counts as dropped, if the node is queried by address. In this
/// time, each url of the chain is used.
const FORGOTTEN_MS_MAX: i64 = HOUR_MS;

impl StepBuilder<'_> {
    /// Reads the newly final blocks a second time, and returns the blocks whose hashes must be stored.
    ///
    /// Several nodes with different branches may answer at one URL. Final blocks are accepted only if they are on the
    /// branch that was read and extend the earlier final blocks. Otherwise no final block is accepted, but new blocks
    /// are still read. So they are if the node does not give its final blocks, or if it cannot tell where a payment is
    /// that they lack.
    pub(super) fn reread_final_blocks(
        &mut self,
        head: &Head,
        read: &[Block],
        forward: &mut ForwardStep,
    ) -> Result<Vec<Block>, NodeError> {
        let known = self.known;
        if let Some(problem) = self.node.final_problem() {
            forward.disputed = Some(unread_final_message(&problem.to_string()));
            return Ok(Vec::new());
        }
        let (Some(complete), Some(finalized)) = (&known.complete, head.finalized) else {
            return Ok(Vec::new());
        };
        let most = complete.height.saturating_add(self.manner.blocks_max);
        let to = finalized.min(most).min(forward.to.block.height);
        let blocks = match self.read_blocks(complete, to, &SecondReadTargets(self.watched)) {
            Err(NodeError::Behind) => {
                let other = self.node.block_hash_at(complete.height)?;
                match other.filter(|other| *other != complete.hash) {
                    Some(other) => {
                        let why = self.dispute_message(complete, &other, "was final before");
                        forward.disputed = Some(why);
                    }
                    None if self.node.is_queried_by_address() => return Err(NodeError::Behind),
                    None => {
                        forward.final_lag = Some(self.failed_final_read(&NodeError::Behind));
                    }
                }
                return Ok(Vec::new());
            }
            // A node that is queried by address may have taken a part of the answers into account.
            Err(error) if !self.node.is_queried_by_address() => {
                forward.disputed = Some(self.failed_final_read(&error));
                return Ok(Vec::new());
            }
            blocks => blocks?,
        };
        let Some(reached) = blocks.last().map(block_position) else {
            return Ok(Vec::new());
        };
        if let Some((ours, other)) = self.find_contradiction(&blocks, read)? {
            forward.disputed = Some(self.dispute_message(&ours, &other, "was read"));
            return Ok(Vec::new());
        }
        let found = self.observations_in(&blocks);
        let from = complete.height.saturating_add(1);
        forward.missing = match self.missing_payments(&known.open, from, &blocks, &found) {
            Ok(missing) => missing,
            Err(error) => {
                let why = self.failed_final_read(&error);
                match error {
                    NodeError::Behind => forward.final_lag = Some(why),
                    _ => forward.disputed = Some(why),
                }
                return Ok(Vec::new());
            }
        };
        // The observations in final blocks come last, so they override the observations made at the head.
        forward.found.extend(found);
        // A node that is queried by address is asked again for its missing payments, and other nodes may have them.
        forward.dropped_before = Some(match self.node.is_queried_by_address() {
            true => reached.time.min(self.manner.now.plus_ms(FORGOTTEN_MS_MAX.saturating_neg())),
            false => reached.time,
        });
        forward.complete = Some(reached.block);
        Ok(self.blocks_to_keep(&blocks))
    }

    /// Finds the lowest height at which a block of `blocks` has another hash than the block read at the head. Returns
    /// the block read at the head, and the other hash.
    fn find_contradiction(
        &mut self,
        blocks: &[BlockRead],
        read: &[Block],
    ) -> Result<Option<(Block, String)>, NodeError> {
        let known = self.known;
        let at = |height: u32| known.kept.iter().chain(read).find(|ours| ours.height == height);
        for BlockRead { block, .. } in blocks {
            if let Some(ours) = at(block.height).filter(|ours| ours.hash != block.hash) {
                return Ok(Some((ours.clone(), block.hash.clone())));
            }
        }
        let Some(BlockRead { block, .. }) = blocks.last() else {
            return Ok(None);
        };
        if at(block.height).is_some() {
            return Ok(None);
        }
        // The hash was not stored when the block was read, so the node is asked for the hash.
        let hash = self.node.block_hash_at(block.height)?.ok_or(NodeError::Behind)?;
        let ours = Block { height: block.height, hash };
        Ok((ours.hash != block.hash).then(|| (ours, block.hash.clone())))
    }

    /// Returns the message for final blocks that the node did not give.
    fn failed_final_read(&self, error: &NodeError) -> String {
        let problem = self.node.final_problem();
        unread_final_message(&problem.map_or_else(|| error.to_string(), ToString::to_string))
    }

    /// Returns the message for a final block that is not on the branch that was read.
    fn dispute_message(&self, ours: &Block, other: &str, when: &str) -> String {
        let (chain, Block { height, hash }) = (self.chain(), ours);
        let told = match other == NO_BLOCK {
            true => format!("no longer has block {height}"),
            false => format!("tells of block {height} as {other}"),
        };
        format!(
            "its node {told}, and {hash} {when}: what is final is not read again until the node \
             agrees with that. Where several nodes answer at its url, name one of them; where what was read is wrong, \
             `coffer rescan {chain} --from {height}`"
        )
    }

    pub(super) fn read_rescan(
        &mut self,
        cursor: &ChainPosition,
        head: &Head,
    ) -> Result<(Vec<Block>, ChainStepOutcome), NodeError> {
        let known = self.known;
        let Some(rescan) = &known.rescan else {
            return Err(NodeError::Behind);
        };
        let restarts = known.stopped.is_some();
        let top = match (restarts, self.chain().has_outputs()) {
            (false, _) => cursor.block.height,
            (true, true) => head.block.height,
            (true, false) => match self.node.final_problem() {
                Some(problem) => return Err(problem.to_error()),
                None => head.finalized.unwrap_or(head.block.height),
            },
        };
        let Some(behind) = self.block_before_next_range(rescan)? else {
            return Ok((Vec::new(), restart_rescan(rescan, restarts)));
        };
        let most = behind.height.saturating_add(self.manner.blocks_max);
        // If a range contains the last final block, the range ends at this block, so that the result includes its
        // hash.
        let complete = known.complete.as_ref().map(|block| block.height);
        let complete = complete.filter(|height| *height > behind.height);
        let most = most.min(complete.unwrap_or(top));
        let watched = SecondReadTargets(self.watched);
        let from = behind.height.saturating_add(1);
        let blocks = self.read_blocks(&behind, top.min(most), &watched)?;
        let to = match blocks.last() {
            Some(read) => block_position(read),
            // All blocks of the rescan have been read.
            None => ChainPosition { block: behind, time: head.time },
        };
        let found = self.observations_in(&blocks);
        let missing = self.missing_payments(&rescan.known, from, &blocks, &found)?;
        let mut keep = self.blocks_to_keep(&blocks);
        if !restarts {
            // A reorg can no longer remove blocks below the oldest stored one.
            let oldest = known.kept.last().map_or(u32::MAX, |block| block.height);
            keep.retain(|block| block.height >= oldest);
        }
        let rescanned = RescanStep {
            from: rescan.next,
            is_last: to.block.height >= top,
            to: Some(to),
            restarts,
            found,
            missing,
            conflicts: self.find_conflicts(&[&spenders_in(&blocks)]),
            set_aside: self.node.set_aside(),
        };
        Ok((keep, ChainStepOutcome::Rescanned(Box::new(rescanned))))
    }

    /// Returns the node's block below the next range of the rescan. `None` if the hash of this block differs from the
    /// hash read earlier.
    fn block_before_next_range(&mut self, rescan: &Rescan) -> Result<Option<Block>, NodeError> {
        // A rescan from height 0 begins after block 0, which contains no payment.
        let height = rescan.next.saturating_sub(1);
        let hash = self.node.block_hash_at(height)?.ok_or(NodeError::Behind)?;
        let is_same = rescan.last_hash.as_ref().is_none_or(|last| *last == hash);
        Ok(is_same.then_some(Block { height, hash }))
    }

    /// Returns `true` if the node never reports this position. Such a position belongs to a claimed payment, or to a
    /// contract transfer on a node without traces.
    fn is_never_reported(&self, position: u32) -> bool {
        position >= CLAIMS_FROM
            || position >= CONTRACTS_FROM && self.node.has_traces() == Some(false)
    }

    /// Returns the known payments that were not found in the second read of the blocks from height `from` to the last of
    /// `blocks`, which may omit blocks without payments.
    fn missing_payments(
        &mut self,
        known: &[OpenObservation],
        from: u32,
        blocks: &[BlockRead],
        found: &[Observation],
    ) -> Result<Vec<(String, u32)>, NodeError> {
        let last = blocks.last().map_or(0, |read| read.block.height);
        let there: HashSet<(&str, u32)> =
            found.iter().map(|seen| (seen.txid.as_str(), seen.position)).collect();
        let is_whole = self.reads_whole_blocks();
        // A transaction that cannot be read is neither found nor missing, unless it is in the mempool only.
        let aside = if is_whole { Vec::new() } else { self.node.set_aside() };
        let is_aside = |txid: &str| aside.iter().any(|one| one.id == txid);
        let mut missing = Vec::new();
        for open in known {
            let Some(block) = &open.block else { continue };
            let is_read = (from..=last).contains(&block.height) && !is_aside(&open.txid);
            if !is_read || there.contains(&(open.txid.as_str(), open.position)) {
                continue;
            }
            // The destination of a transfer that ended long ago is not looked for.
            if !is_watched(self.watched, self.chain(), &open.address) {
                continue;
            }
            // Blocks of UTXO chains are read as a whole. On account chains, a list of transfers may lack entries
            // without an error.
            if !is_whole && self.node.block_of_transaction(&open.txid)?.is_some() {
                // Nodes that are queried by address report only the addresses of the current poll.
                if self.is_never_reported(open.position) || self.node.is_queried_by_address() {
                    continue;
                }
                let (txid, height) = (&open.txid, block.height);
                let what = format!("it does not tell of {txid} in block {height}, and has it");
                return Err(NodeError::Lied(what));
            }
            missing.push((open.txid.clone(), open.position));
        }
        Ok(missing)
    }
}

/// Returns the message for a node that gives new blocks and no final ones. `told` is the end of a sentence that begins
/// with "its node".
fn unread_final_message(told: &str) -> String {
    format!(
        "its node {told}: no final block is read. Payments are seen, and those that wait for a final block are not \
         confirmed. Repair that node, or name a second url of another node with --node: the chain goes on by itself"
    )
}

/// Returns `true` if a read of blocks looks for this address, or if the node is queried by address.
fn is_watched(watched: &dyn WatchTargets, chain: Chain, address: &str) -> bool {
    if let Some(script) = address::output_script(chain, address) {
        watched.has_script(&script)
    } else if let Some(account) = address::account_bytes(chain, address) {
        watched.has_account(&account)
    } else {
        true
    }
}

/// Returns the step that restarts a rescan, after a reorg removed blocks that the rescan had read.
fn restart_rescan(rescan: &Rescan, restarts: bool) -> ChainStepOutcome {
    ChainStepOutcome::Rescanned(Box::new(RescanStep {
        from: rescan.next,
        to: None,
        is_last: false,
        restarts,
        found: Vec::new(),
        missing: Vec::new(),
        conflicts: Vec::new(),
        set_aside: Vec::new(),
    }))
}

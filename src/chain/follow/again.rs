//! What is read a second time: what has become final where a chain has accounts, and what a person wants read again.
//!
//! What always holds: what a node tells of no more is given up only where it says that the transaction is in no block.

use super::conflicts::mined;
use super::watched::Thorough;
use super::{ForwardStep, Head, NodeError, Step, last};
use crate::chain::BlockRead;
use crate::domain::following::{
    ChainPosition, ChainStepOutcome, OpenObservation, Rescan, RescanStep,
};
use crate::domain::observation::{Block, CLAIMS_FROM, CONTRACTS_FROM, Observation};
use std::collections::HashSet;

impl Step<'_> {
    /// Reads again what has become final. Blocks whose hashes are to be kept, besides those that were read at the head.
    ///
    /// Several nodes may answer at one url, and not be of one mind. So what is final is taken only where it is on the branch
    /// that was read, and where it follows what was final before; else nothing is, and the chain is followed on at its head.
    pub(super) fn final_again(
        &mut self,
        head: &Head,
        read: &[Block],
        forward: &mut ForwardStep,
    ) -> Result<Vec<Block>, NodeError> {
        let known = self.known;
        let (Some(complete), Some(finalized)) = (&known.complete, head.finalized) else {
            return Ok(Vec::new());
        };
        let most = complete.height.saturating_add(self.manner.blocks_max);
        let to = finalized.min(most).min(forward.to.block.height);
        let blocks = match self.blocks(complete, to, &Thorough(self.watched)) {
            Err(NodeError::Behind) => {
                let other = self.node.hash_at(complete.height)?;
                let other = other.filter(|other| *other != complete.hash);
                let other = other.ok_or(NodeError::Behind)?;
                forward.disputed = Some(self.disputed(complete, &other, "was final before"));
                return Ok(Vec::new());
            }
            blocks => blocks?,
        };
        let Some(reached) = blocks.last().map(last) else {
            return Ok(Vec::new());
        };
        if let Some((ours, other)) = self.leaves(&blocks, read)? {
            forward.disputed = Some(self.disputed(&ours, &other, "was read"));
            return Ok(Vec::new());
        }
        let found = self.in_blocks(&blocks);
        forward.missing = self.missing(&known.open, &blocks, &found)?;
        // What is final counts: it comes after what the head showed.
        forward.found.extend(found);
        forward.dropped_before = Some(reached.time);
        forward.complete = Some(reached.block);
        Ok(self.kept_of(&blocks))
    }

    /// Do these blocks leave the branch that was read at the head? The first block of it that they leave out, and what they
    /// have in its place.
    fn leaves(
        &mut self,
        blocks: &[BlockRead],
        read: &[Block],
    ) -> Result<Option<(Block, String)>, NodeError> {
        let known = self.known;
        let at = |height: u32| {
            known
                .kept
                .iter()
                .chain(read)
                .find(|ours| ours.height == height)
        };
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
        // Its hash was not kept when it was read: the node that has the head says what it is.
        let hash = self.node.hash_at(block.height)?.ok_or(NodeError::Behind)?;
        let ours = Block {
            height: block.height,
            hash,
        };
        Ok((ours.hash != block.hash).then(|| (ours, block.hash.clone())))
    }

    /// What is said where what is final is of another branch.
    fn disputed(&self, ours: &Block, other: &str, when: &str) -> String {
        let (chain, Block { height, hash }) = (self.chain(), ours);
        format!(
            "its node tells of block {height} as {other}, and {hash} {when}: what is final is not read again until the node \
             agrees with that. Where several nodes answer at its url, name one of them; where what was read is wrong, \
             `coffer rescan {chain} --from {height}`"
        )
    }

    /// The next part of a rescan.
    pub(super) fn read_again(
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
            (true, false) => head.finalized.unwrap_or(head.block.height),
        };
        let Some(behind) = self.before(rescan)? else {
            return Ok((Vec::new(), begun_anew(rescan, restarts)));
        };
        let most = behind.height.saturating_add(self.manner.blocks_max);
        // A part ends where the chain is complete, so that it is known what block is there.
        let complete = known.complete.as_ref().map(|block| block.height);
        let complete = complete.filter(|height| *height > behind.height);
        let most = most.min(complete.unwrap_or(top));
        let watched = Thorough(self.watched);
        let blocks = self.blocks(&behind, top.min(most), &watched)?;
        let to = match blocks.last() {
            Some(read) => last(read),
            // There is nothing to read from there on.
            None => ChainPosition {
                block: behind,
                time: head.time,
            },
        };
        let found = self.in_blocks(&blocks);
        let missing = self.missing(&rescan.known, &blocks, &found)?;
        let mut keep = self.kept_of(&blocks);
        if !restarts {
            // Deeper ones cannot be given up any more.
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
            conflicts: self.conflicts(&[&mined(&blocks)]),
        };
        Ok((keep, ChainStepOutcome::Rescanned(Box::new(rescanned))))
    }

    /// The block before the next one of a rescan, as the node has it; none where that is not the one that was read.
    fn before(&mut self, rescan: &Rescan) -> Result<Option<Block>, NodeError> {
        // The first block of a chain pays nobody.
        let height = rescan.next.saturating_sub(1);
        let hash = self.node.hash_at(height)?.ok_or(NodeError::Behind)?;
        let is_same = rescan.last_hash.as_ref().is_none_or(|last| *last == hash);
        Ok(is_same.then_some(Block { height, hash }))
    }

    /// Is what is at this position not told by the node, be it there or not: what contracts send, where it has no traces, and
    /// what a person has claimed.
    fn is_untold(&self, position: u32) -> bool {
        position >= CLAIMS_FROM
            || position >= CONTRACTS_FROM && self.node.has_traces() == Some(false)
    }

    /// What is known to be in these blocks, and is not.
    fn missing(
        &mut self,
        known: &[OpenObservation],
        blocks: &[BlockRead],
        found: &[Observation],
    ) -> Result<Vec<(String, u32)>, NodeError> {
        let first = blocks.first().map_or(u32::MAX, |read| read.block.height);
        let last = blocks.last().map_or(0, |read| read.block.height);
        let there: HashSet<(&str, u32)> = found
            .iter()
            .map(|seen| (seen.txid.as_str(), seen.position))
            .collect();
        let mut missing = Vec::new();
        for open in known {
            let Some(block) = &open.block else { continue };
            let is_read = (first..=last).contains(&block.height);
            if !is_read || there.contains(&(open.txid.as_str(), open.position)) {
                continue;
            }
            // Blocks of outputs are whole; lists that nodes make of accounts may be short without a word.
            let is_whole = self.chain().has_outputs() && !self.node.asks_by_name();
            if !is_whole && self.node.block_of(&open.txid)?.is_some() {
                // By name nothing is told of an address that is not asked about now.
                if self.is_untold(open.position) || self.node.asks_by_name() {
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

/// The blocks have become others: the rescan begins anew.
fn begun_anew(rescan: &Rescan, restarts: bool) -> ChainStepOutcome {
    ChainStepOutcome::Rescanned(Box::new(RescanStep {
        from: rescan.next,
        to: None,
        is_last: false,
        restarts,
        found: Vec::new(),
        missing: Vec::new(),
        conflicts: Vec::new(),
    }))
}

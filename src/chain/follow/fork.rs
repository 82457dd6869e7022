//! Compares stored blocks with the blocks of the node, to detect a reorg.
//!
//! Invariant: on account chains, a block that was read as final is not given up because one node says so.

use super::{FollowOutcome, NodeLag, StepBuilder, head_position};
use crate::chain::{Head, NodeError};
use crate::domain::observation::NO_BLOCK;
use crate::domain::{Block, ChainStepOutcome, Observation};

/// Result of comparing the cursor's block with the node's block at the same height.
enum CursorCheck {
    Same,
    /// The node has no block at this height.
    Lagging(u32),
    Reorganised,
}

/// What a step does after its cursor was compared with the node.
pub(super) enum CursorOutcome {
    /// The cursor's block is on the node's chain.
    Same,
    Step(ChainStepOutcome),
    /// The step reads the next range of the rescan, which corrects a wrong final block.
    Rescan,
    /// No step is possible.
    End(FollowOutcome),
}

impl StepBuilder<'_> {
    /// Compares the cursor's block with the node's block at the same height, and finds the last common block after a
    /// reorg.
    pub(super) fn follow_cursor(
        &mut self,
        cursor: &Block,
        head: &Head,
    ) -> Result<CursorOutcome, NodeError> {
        let lagging = |lacks| {
            let head = head_position(head);
            Ok(CursorOutcome::End(FollowOutcome::Lagging(NodeLag { head, lacks })))
        };
        let check = self.check_cursor(cursor, head)?;
        if let Some(why) = &self.known.stopped {
            // The node may have come back to the branch that was read.
            return Ok(match check {
                CursorCheck::Same => {
                    CursorOutcome::Step(ChainStepOutcome::RolledBackTo(cursor.clone()))
                }
                CursorCheck::Lagging(_) | CursorCheck::Reorganised => {
                    CursorOutcome::End(FollowOutcome::Stopped(why.clone()))
                }
            });
        }
        match check {
            CursorCheck::Same => return Ok(CursorOutcome::Same),
            CursorCheck::Lagging(lacks) => return lagging(lacks),
            CursorCheck::Reorganised => {}
        }
        let (held, hash) = match self.find_fork()? {
            Ok(fork) => return Ok(CursorOutcome::Step(ChainStepOutcome::RolledBackTo(fork))),
            Err(oldest) => oldest,
        };
        if head.block.height < cursor.height {
            // A node that stays on an abandoned branch is treated like a node that lags.
            return lagging(cursor.height);
        }
        if self.chain().has_outputs() {
            let (chain, height) = (self.chain(), held.height);
            return Ok(CursorOutcome::Step(ChainStepOutcome::Stopped(format!(
                "{chain} was reorganised deeper than it is watched: its block {height} is not the one that was read"
            ))));
        }
        match &self.known.rescan {
            // An operator has ordered to read these blocks again.
            Some(rescan) if rescan.next <= held.height => Ok(CursorOutcome::Rescan),
            Some(_) | None => Err(self.lost_final_block(&held, hash.as_deref())),
        }
    }

    /// Compares the cursor's block with the node's block at the same height. Only a different hash at a stored height
    /// is a reorg.
    fn check_cursor(&mut self, cursor: &Block, head: &Head) -> Result<CursorCheck, NodeError> {
        let held = if head.block.height >= cursor.height {
            Some(cursor)
        } else {
            let kept = &self.known.kept;
            kept.iter().find(|block| block.height <= head.block.height)
        };
        let Some(held) = held else {
            return Ok(CursorCheck::Lagging(cursor.height));
        };
        Ok(match self.node.block_hash_at(held.height)? {
            None => CursorCheck::Lagging(held.height),
            Some(hash) if hash != held.hash => CursorCheck::Reorganised,
            Some(_) if held == cursor => CursorCheck::Same,
            Some(_) => CursorCheck::Lagging(cursor.height),
        })
    }

    /// Returns the newest stored block that the node still has. The inner error is the oldest stored block, with the
    /// node's hash at its height.
    fn find_fork(&mut self) -> Result<Result<Block, (Block, Option<String>)>, NodeError> {
        let known = self.known;
        let complete = known.complete.as_ref().filter(|_| !self.chain().has_outputs());
        let mut lowest = None;
        for held in &known.kept {
            if complete.is_some_and(|complete| held.height < complete.height) {
                break;
            }
            let hash = self.node.block_hash_at(held.height)?;
            if hash.as_ref() == Some(&held.hash) {
                return Ok(Ok(held.clone()));
            }
            lowest = Some((held.clone(), hash));
        }
        match lowest {
            Some((held, hash)) if hash.is_some() || complete.is_some() => Ok(Err((held, hash))),
            Some(_) | None => Err(NodeError::Behind),
        }
    }

    /// Returns the error of a node that does not have a block that was read as final.
    fn lost_final_block(&self, held: &Block, hash: Option<&str>) -> NodeError {
        let (chain, height) = (self.chain(), held.height);
        let what = match hash.filter(|hash| *hash != NO_BLOCK) {
            Some(_) => format!("it has another block at {height}, which was final"),
            None => format!("it no longer has block {height}, which was final"),
        };
        NodeError::Lied(format!(
            "{what}. Restart or repair that node, or name the url of another one with --node: the chain goes on by itself. \
             Where what was read is wrong, `coffer rescan {chain} --from {height}`"
        ))
    }

    /// Returns the stored payments of transactions that were set aside, were read in this step, and do not contain
    /// these payments. Empty if blocks are read as a whole: what is set aside is then in the mempool only.
    pub(super) fn refuted_payments(&self, found: &[Observation]) -> Vec<(String, u32)> {
        let known = self.known;
        if known.set_aside.is_empty() || self.reads_whole_blocks() {
            return Vec::new();
        }
        let still = self.node.set_aside();
        let is_read = |txid: &str| {
            known.set_aside.iter().any(|one| one.id == txid)
                && !still.iter().any(|one| one.id == txid)
        };
        let is_found = |txid: &str, position: u32| {
            found.iter().any(|one| one.txid == txid && one.position == position)
        };
        let open = known.open.iter().filter(|open| open.block.is_some());
        let open = open.map(|open| (open.txid.clone(), open.position));
        open.filter(|(txid, position)| is_read(txid) && !is_found(txid, *position)).collect()
    }
}

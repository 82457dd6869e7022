//! Accepts payments that a node reports late, in blocks that were read before.

use super::StepBuilder;
use crate::chain::{BlockRead, NodeError};
use crate::domain::Block;

impl StepBuilder<'_> {
    /// Returns blocks with payments that the node reports late, because each block was read before the payment's
    /// address was polled. Adds the blocks whose hashes must be stored to `keep`.
    pub(super) fn read_late_payments(
        &mut self,
        to: &Block,
        keep: &mut Vec<Block>,
    ) -> Result<Vec<BlockRead>, NodeError> {
        let late = self.node.late_payments(to, self.watched)?;
        let kept = self.known.kept.last().map_or(0, |block| block.height);
        // On account chains, the hash of a late block is stored only if the block is above the last final block.
        let complete = self.known.complete.as_ref();
        let complete = complete.filter(|_| !self.chain().has_outputs());
        let oldest = complete.map_or(kept, |block| block.height.saturating_add(1));
        for read in &late {
            let (block, mut kept) = (&read.block, self.known.kept.iter().chain(keep.iter()));
            let is_other = |kept: &Block| kept.height == block.height && kept.hash != block.hash;
            if block.height > to.height || kept.any(is_other) {
                return Err(NodeError::Behind);
            }
            if block.height >= oldest && !keep.contains(block) {
                keep.push(block.clone());
            }
        }
        Ok(late)
    }
}

//! What is told late of blocks that were read before.

use super::Step;
use crate::chain::{BlockRead, NodeError};
use crate::domain::observation::Block;

impl Step<'_> {
    /// Returns money in blocks that were read before, at addresses that were not asked about then. Their hashes are kept as
    /// far back as others are.
    pub(super) fn late(
        &mut self,
        to: &Block,
        keep: &mut Vec<Block>,
    ) -> Result<Vec<BlockRead>, NodeError> {
        let late = self.node.late(to, self.watched)?;
        let kept = self.known.kept.last().map_or(0, |block| block.height);
        // Where blocks are final, those that were read for good are not kept.
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

//! Two simulated nodes behind one url. The nodes disagree.

use super::MemoryNode;
use crate::chain::{BlockRead, Head, LookupResult, MempoolRead, Node, NodeError, WatchTargets};
use crate::domain::Block;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Two nodes behind one url. The second node answers requests for ranges that begin below a height. The first node
/// answers all other requests.
pub(crate) struct SplitNode {
    pub(crate) one: MemoryNode,
    pub(crate) other: MemoryNode,
    /// Block ranges that start below this height come from the second node; 0 if the nodes agree.
    pub(crate) below: Arc<AtomicU32>,
}

impl Node for SplitNode {
    fn network(&mut self) -> Result<String, NodeError> {
        self.one.network()
    }

    fn head(&mut self) -> Result<Head, NodeError> {
        self.one.head()
    }

    fn block_hash_at(&mut self, height: u32) -> Result<Option<String>, NodeError> {
        self.one.block_hash_at(height)
    }

    fn blocks(
        &mut self,
        from: u32,
        to: u32,
        watched: &dyn WatchTargets,
    ) -> Result<Vec<BlockRead>, NodeError> {
        if from < self.below.load(Ordering::SeqCst) {
            self.other.blocks(from, to, watched)
        } else {
            self.one.blocks(from, to, watched)
        }
    }

    fn mempool(
        &mut self,
        unconfirmed: &[String],
        watched: &dyn WatchTargets,
    ) -> Result<MempoolRead, NodeError> {
        self.one.mempool(unconfirmed, watched)
    }

    fn block_of_transaction(&mut self, txid: &str) -> Result<Option<Block>, NodeError> {
        self.one.block_of_transaction(txid)
    }

    fn look_up_transaction(
        &mut self,
        txid: &str,
        native_to: &[String],
        watched: &dyn WatchTargets,
    ) -> Result<LookupResult, NodeError> {
        self.one.look_up_transaction(txid, native_to, watched)
    }

    fn block_if_nonce_used(
        &mut self,
        txid: &str,
        sender: &str,
        nonce: u64,
        height: u32,
    ) -> Result<Option<Block>, NodeError> {
        self.one.block_if_nonce_used(txid, sender, nonce, height)
    }
}

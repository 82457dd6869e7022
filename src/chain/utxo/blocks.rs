//! The blocks of a node's active chain, each checked against what was asked for.
//!
//! What does not live here: whether one is the child of the one before it, which whoever reads a range knows. What always
//! holds: a block has the hash and the height that it was asked by, is on the active chain, and lacks no transaction that
//! the node says it has.

use super::mempool::GROUP;
use super::read::{BlockAnswer, BlockSeed, Looking, TxRead, TxSeed};
use super::values::Hash;
use super::{INVALID_PARAMETER, MISC_ERROR, NOT_FOUND, TYPE_ERROR, Utxo, unexpected};
use crate::chain::NodeError;
use crate::chain::rpc::{Failure, MethodError};
use serde_json::json;
use std::collections::HashSet;

impl Utxo {
    /// The hashes of the blocks of a range, as far as there are such blocks.
    pub(super) fn hashes(&mut self, from: u32, to: u32) -> Result<Vec<Hash>, NodeError> {
        let calls: Vec<_> = (from..=to)
            .map(|height| ("getblockhash", [height]))
            .collect();
        let mut hashes = Vec::with_capacity(calls.len());
        for answer in self.rpc.batch::<Hash>(&calls)? {
            match answer {
                Ok(hash) => hashes.push(hash),
                Err(error) if error.code == INVALID_PARAMETER => break,
                Err(error) => return Err(unexpected("getblockhash", Failure::Method(error))),
            }
        }
        Ok(hashes)
    }

    /// A block, whole where the node shows it so; none where it has none of this hash on its active chain.
    pub(super) fn block(
        &mut self,
        height: u32,
        hash: &Hash,
        looking: Looking<'_>,
    ) -> Result<Option<BlockAnswer>, NodeError> {
        let mut answer = None;
        if self.shows_transactions {
            match self
                .rpc
                .call_seed("getblock", &json!([hash.0, 2]), BlockSeed(looking))
            {
                Err(Failure::Method(error)) if wants_boolean(&error) => {
                    self.shows_transactions = false;
                }
                other => answer = Some(other),
            }
        }
        let answer = match answer {
            Some(answer) => answer,
            None => self
                .rpc
                .call_seed("getblock", &json!([hash.0, true]), BlockSeed(looking)),
        };
        let mut block = match answer {
            Ok(block) => block,
            Err(Failure::Method(error)) if error.code == NOT_FOUND => return Ok(None),
            Err(Failure::Method(error))
                if error.code == MISC_ERROR && error.message.contains("pruned") =>
            {
                return Err(NodeError::Wrong(format!(
                    "it has pruned the block at height {height}"
                )));
            }
            Err(failure) => return Err(unexpected("getblock", failure)),
        };
        if block.hash != hash.0 || block.height != height {
            return Err(self.lied(format!("the block at height {height} is another one")));
        }
        if block.parent.is_none() != (height == 0) {
            return Err(self.lied(format!("the block at height {height} has a wrong parent")));
        }
        if block
            .declared
            .is_some_and(|declared| declared != block.counted)
            || block.counted == 0
        {
            return Err(self.lied(format!("the block at height {height} lacks transactions")));
        }
        if block.confirmations < 1 {
            return Ok(None);
        }
        // The very first transaction of a chain pays nobody, and nodes do not show it.
        if height > 0 && !block.ids.is_empty() {
            let ids = std::mem::take(&mut block.ids);
            block
                .shown
                .extend(self.transactions(height, &ids, looking)?);
        }
        let mut seen = HashSet::new();
        if !block.shown.iter().all(|read| seen.insert(&read.txid)) {
            return Err(self.lied(format!(
                "the block at height {height} has a transaction twice"
            )));
        }
        Ok(Some(block))
    }

    /// What of these transactions of a block concerns us.
    fn transactions(
        &mut self,
        height: u32,
        ids: &[String],
        looking: Looking<'_>,
    ) -> Result<Vec<TxRead>, NodeError> {
        let mut found = Vec::new();
        // In groups: a node that names more than it has is found out early.
        for group in ids.chunks(GROUP) {
            let calls: Vec<_> = group
                .iter()
                .map(|txid| ("getrawtransaction", (txid, 1)))
                .collect();
            let answers = self.rpc.batch_seed(&calls, TxSeed(looking))?;
            for (txid, answer) in group.iter().zip(answers) {
                match answer {
                    Ok(read) if read.txid != *txid => {
                        return Err(self.lied(format!("transaction {txid} is another one")));
                    }
                    Ok(read) if read.received.is_empty() && read.spent.is_empty() => {}
                    Ok(read) => found.push(read),
                    // Without an index it finds only what has unspent outputs: payments would be overlooked.
                    Err(error) if error.code == NOT_FOUND => {
                        return Err(NodeError::Wrong(format!(
                            "it does not find transaction {txid} of the block at height {height}: \
                             start it with txindex=1"
                        )));
                    }
                    Err(error) => {
                        return Err(unexpected("getrawtransaction", Failure::Method(error)));
                    }
                }
            }
        }
        Ok(found)
    }
}

/// Does it know only whether a block is to be shown, and not how far?
fn wants_boolean(error: &MethodError) -> bool {
    matches!(error.code, MISC_ERROR | TYPE_ERROR) && error.message.contains("bool")
}

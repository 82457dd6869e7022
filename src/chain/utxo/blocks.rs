//! Fetches blocks of the active chain.
//!
//! Invariant: a block has the requested hash and height, is on the active chain, and contains as many transactions as
//! the node declares.

use super::read::{BlockDeserializer, OutputScanner, ScannedBlock, ScannedTx, TxSeed};
use super::values::HashText;
use super::{INVALID_PARAMETER, MISC_ERROR, NOT_FOUND, TYPE_ERROR, Utxo, unexpected_error};
use crate::chain::NodeError;
use crate::chain::rpc::{CallFailure, MethodError};
use serde_json::json;
use std::collections::HashSet;

/// Number of transactions of a block fetched at once.
const GROUP: usize = 1_000;

impl Utxo {
    /// Returns the block hashes of a range of heights, up to the tip.
    pub(super) fn fetch_hashes(&mut self, from: u32, to: u32) -> Result<Vec<HashText>, NodeError> {
        let calls: Vec<_> = (from..=to).map(|height| ("getblockhash", [height])).collect();
        let mut hashes = Vec::with_capacity(calls.len());
        for (height, answer) in (from..=to).zip(self.rpc.batch::<HashText>(&calls)?) {
            match answer {
                Ok(hash) => hashes.push(hash),
                Err(error) if error.code == INVALID_PARAMETER => break,
                Err(error) => {
                    let call = format!("getblockhash {height}");
                    return Err(unexpected_error(&call, CallFailure::Method(error)));
                }
            }
        }
        Ok(hashes)
    }

    /// Returns a block; `None` if the active chain has no block with this hash. If the node does not return
    /// transactions, fetches them by id.
    pub(super) fn fetch_block(
        &mut self,
        height: u32,
        hash: &HashText,
        scanner: OutputScanner<'_>,
    ) -> Result<Option<ScannedBlock>, NodeError> {
        let mut answer = None;
        if self.has_full_blocks {
            match self.rpc.call_with_seed(
                "getblock",
                &json!([hash.0, 2]),
                BlockDeserializer(scanner),
            ) {
                Err(CallFailure::Method(error)) if accepts_only_boolean_verbosity(&error) => {
                    self.has_full_blocks = false;
                }
                other => answer = Some(other),
            }
        }
        let answer = match answer {
            Some(answer) => answer,
            None => self.rpc.call_with_seed(
                "getblock",
                &json!([hash.0, true]),
                BlockDeserializer(scanner),
            ),
        };
        let mut block = match answer {
            Ok(block) => block,
            Err(CallFailure::Method(error)) if error.code == NOT_FOUND => return Ok(None),
            Err(CallFailure::Method(error))
                if error.code == MISC_ERROR && error.message.contains("pruned") =>
            {
                return Err(NodeError::Wrong(format!(
                    "it has pruned the block at height {height}"
                )));
            }
            Err(failure) => {
                return Err(unexpected_error(&format!("getblock {} at {height}", hash.0), failure));
            }
        };
        if block.hash != hash.0 || block.height != height {
            return Err(self.invalid_answer(format!("the block at height {height} is another one")));
        }
        if block.parent.is_none() != (height == 0) {
            return Err(
                self.invalid_answer(format!("the block at height {height} has a wrong parent"))
            );
        }
        if block.declared.is_some_and(|declared| declared != block.counted) || block.counted == 0 {
            return Err(
                self.invalid_answer(format!("the block at height {height} lacks transactions"))
            );
        }
        if block.confirmations < 1 {
            return Ok(None);
        }
        // The transaction of the genesis block is not spendable, and nodes do not return it.
        if height > 0 && !block.ids.is_empty() {
            let ids = std::mem::take(&mut block.ids);
            block.shown.extend(self.scan_transactions(height, &ids, scanner)?);
        }
        let mut seen = HashSet::new();
        if !block.shown.iter().all(|read| seen.insert(&read.txid)) {
            return Err(self
                .invalid_answer(format!("the block at height {height} has a transaction twice")));
        }
        Ok(Some(block))
    }

    fn scan_transactions(
        &mut self,
        height: u32,
        ids: &[String],
        scanner: OutputScanner<'_>,
    ) -> Result<Vec<ScannedTx>, NodeError> {
        let mut found = Vec::new();
        // The transactions are fetched in groups. The first missing transaction ends the loop, even if a node lists
        // far more transactions than it has.
        for group in ids.chunks(GROUP) {
            let calls: Vec<_> = group.iter().map(|txid| ("getrawtransaction", (txid, 1))).collect();
            let answers = self.rpc.batch_with_seed(&calls, TxSeed(scanner))?;
            for (txid, answer) in group.iter().zip(answers) {
                match answer {
                    Ok(read) if read.txid != *txid => {
                        return Err(
                            self.invalid_answer(format!("transaction {txid} is another one"))
                        );
                    }
                    Ok(read) if read.received.is_empty() && read.spent.is_empty() => {}
                    Ok(read) => found.push(read),
                    // A node without an index finds only transactions with unspent outputs, so the block cannot be
                    // read completely.
                    Err(error) if error.code == NOT_FOUND => {
                        return Err(NodeError::Wrong(format!(
                            "it does not find transaction {txid} of the block at height {height}: \
                             start it with txindex=1"
                        )));
                    }
                    Err(error) => {
                        let call = format!("getrawtransaction {txid}");
                        return Err(unexpected_error(&call, CallFailure::Method(error)));
                    }
                }
            }
        }
        Ok(found)
    }
}

fn accepts_only_boolean_verbosity(error: &MethodError) -> bool {
    matches!(error.code, MISC_ERROR | TYPE_ERROR) && error.message.contains("bool")
}

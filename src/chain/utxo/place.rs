//! Finds the block of a transaction.
//!
//! Invariant: a block counts only while the active chain has this block at its height.

use super::values::HashText;
use super::{NOT_FOUND, Utxo, unexpected_error};
use crate::chain::NodeError;
use crate::chain::rpc::CallFailure;
use crate::domain::Block;
use serde::Deserialize;
use serde_json::json;

/// Number of outputs that are looked up in the set of unspent outputs, for one transaction.
const OUTPUTS_TRIED: u32 = 20;

#[derive(Deserialize)]
pub(super) struct VerboseHeader {
    pub hash: HashText,
    pub height: u32,
    pub time: u64,
    pub confirmations: i64,
}

#[derive(Deserialize)]
struct TxLocation {
    txid: HashText,
    blockhash: Option<HashText>,
}

#[derive(Deserialize)]
struct UnspentOutput {
    bestblock: HashText,
    confirmations: u32,
}

impl Utxo {
    /// Returns the header with this hash; `None` if the block is not on the active chain.
    pub(super) fn fetch_header(
        &mut self,
        hash: &HashText,
    ) -> Result<Option<VerboseHeader>, NodeError> {
        let header: VerboseHeader = match self.rpc.call("getblockheader", &json!([hash.0, true])) {
            Ok(header) => header,
            Err(CallFailure::Method(error)) if error.code == NOT_FOUND => return Ok(None),
            Err(failure) => {
                return Err(unexpected_error(&format!("getblockheader {}", hash.0), failure));
            }
        };
        if header.hash != *hash {
            return Err(self.invalid_answer("the header of a block is another one's".to_owned()));
        }
        Ok(Some(header).filter(|header| header.confirmations >= 1))
    }

    /// Returns the header of a block; `None` if the active chain has another block at its height.
    pub(super) fn active_header(
        &mut self,
        hash: &HashText,
    ) -> Result<Option<VerboseHeader>, NodeError> {
        let Some(header) = self.fetch_header(hash)? else {
            return Ok(None);
        };
        let there = self.fetch_hashes(header.height, header.height)?;
        Ok(Some(header).filter(|_| there.first() == Some(hash)))
    }

    /// Returns the block of a transaction with unspent outputs. Needs no transaction index.
    pub(super) fn block_by_unspent_outputs(
        &mut self,
        txid: &str,
    ) -> Result<Option<Block>, NodeError> {
        let calls: Vec<_> =
            (0..OUTPUTS_TRIED).map(|position| ("gettxout", (txid, position, false))).collect();
        let answers = self.rpc.batch::<Option<UnspentOutput>>(&calls)?;
        let Some(unspent) = answers.into_iter().flatten().flatten().next() else {
            return Ok(None);
        };
        let Some(best) = self.active_header(&unspent.bestblock)? else {
            return Err(NodeError::Behind);
        };
        let above = unspent.confirmations.checked_sub(1);
        let height = above.and_then(|above| best.height.checked_sub(above));
        let height = height
            .ok_or_else(|| self.invalid_answer("an output is below the first block".to_owned()))?;
        let hash = self.fetch_hashes(height, height)?.into_iter().next();
        Ok(hash.map(|HashText(hash)| Block { height, hash }))
    }

    /// Returns the block of a transaction on the active chain. Checks the block, because a transaction index also
    /// contains transactions of blocks that a reorg removed.
    pub(super) fn find_block_of_transaction(
        &mut self,
        txid: &str,
    ) -> Result<Option<Block>, NodeError> {
        let found: TxLocation = match self.rpc.call("getrawtransaction", &json!([txid, 1])) {
            Ok(found) => found,
            Err(CallFailure::Method(error)) if error.code == NOT_FOUND => {
                return self.block_by_unspent_outputs(txid);
            }
            Err(failure) => {
                return Err(unexpected_error(&format!("getrawtransaction {txid}"), failure));
            }
        };
        if found.txid.0 != txid {
            return Err(self.invalid_answer(format!("transaction {txid} is another one")));
        }
        let Some(hash) = found.blockhash else {
            return Ok(None);
        };
        let header = self.active_header(&hash)?;
        Ok(header.map(|header| Block { height: header.height, hash: hash.0 }))
    }
}

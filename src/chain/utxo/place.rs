//! Where a transaction is: in which block of the active chain.
//!
//! What does not live here: what it pays. What always holds: a block counts only while the active chain has it at its
//! height.

use super::values::Hash;
use super::{NOT_FOUND, Utxo, unexpected};
use crate::chain::NodeError;
use crate::chain::rpc::Failure;
use crate::domain::observation::Block;
use serde::Deserialize;
use serde_json::json;

/// The outputs of a transaction that are looked for among those that are unspent.
const OUTPUTS_TRIED: u32 = 20;

#[derive(Deserialize)]
pub(super) struct Header {
    pub hash: Hash,
    pub height: u32,
    pub time: u64,
    pub confirmations: i64,
}

#[derive(Deserialize)]
struct Found {
    txid: Hash,
    blockhash: Option<Hash>,
}

#[derive(Deserialize)]
struct Unspent {
    bestblock: Hash,
    confirmations: u32,
}

impl Utxo {
    /// The header of the block with this hash, unless the node says that it is on no active chain.
    pub(super) fn header(&mut self, hash: &Hash) -> Result<Option<Header>, NodeError> {
        let header: Header = match self.rpc.call("getblockheader", &json!([hash.0, true])) {
            Ok(header) => header,
            Err(Failure::Method(error)) if error.code == NOT_FOUND => return Ok(None),
            Err(failure) => return Err(unexpected("getblockheader", failure)),
        };
        if header.hash != *hash {
            return Err(self.lied("the header of a block is another one's".to_owned()));
        }
        Ok(Some(header).filter(|header| header.confirmations >= 1))
    }

    /// A block by its hash, where it is on the active chain.
    pub(super) fn on_active_chain(&mut self, hash: &Hash) -> Result<Option<Header>, NodeError> {
        let Some(header) = self.header(hash)? else {
            return Ok(None);
        };
        let there = self.hashes(header.height, header.height)?;
        Ok(Some(header).filter(|_| there.first() == Some(hash)))
    }

    /// The block of a transaction that has unspent outputs: a node without an index knows that much.
    pub(super) fn block_of_unspent(&mut self, txid: &str) -> Result<Option<Block>, NodeError> {
        let calls: Vec<_> = (0..OUTPUTS_TRIED)
            .map(|position| ("gettxout", (txid, position, false)))
            .collect();
        let answers = self.rpc.batch::<Option<Unspent>>(&calls)?;
        let Some(unspent) = answers.into_iter().flatten().flatten().next() else {
            return Ok(None);
        };
        let Some(best) = self.on_active_chain(&unspent.bestblock)? else {
            return Err(NodeError::Behind);
        };
        let above = unspent.confirmations.checked_sub(1);
        let height = above.and_then(|above| best.height.checked_sub(above));
        let height =
            height.ok_or_else(|| self.lied("an output is below the first block".to_owned()))?;
        let hash = self.hashes(height, height)?.into_iter().next();
        Ok(hash.map(|Hash(hash)| Block { height, hash }))
    }

    /// The block of a transaction on the active chain. Found is not valid: an index still knows what was reorganised away.
    pub(super) fn place_of(&mut self, txid: &str) -> Result<Option<Block>, NodeError> {
        let found: Found = match self.rpc.call("getrawtransaction", &json!([txid, 1])) {
            Ok(found) => found,
            Err(Failure::Method(error)) if error.code == NOT_FOUND => {
                return self.block_of_unspent(txid);
            }
            Err(failure) => return Err(unexpected("getrawtransaction", failure)),
        };
        if found.txid.0 != txid {
            return Err(self.lied(format!("transaction {txid} is another one")));
        }
        let Some(hash) = found.blockhash else {
            return Ok(None);
        };
        let header = self.on_active_chain(&hash)?;
        Ok(header.map(|header| Block {
            height: header.height,
            hash: hash.0,
        }))
    }
}

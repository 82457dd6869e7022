//! Looks up one transaction by its id, and the time of one block.
//!
//! Invariant: a transaction is found by the mempool or by a block of the active chain. An index also knows those of blocks
//! that were reorganised away, which count as absent.

use super::mempool::Entry;
use super::read::{Looking, TxRead, TxSeed};
use super::values::{Hash, HashBytes, moment};
use super::{NOT_FOUND, Utxo, unexpected};
use crate::chain::rpc::{Failure, MethodError};
use crate::chain::{FoundTransaction, Lookup, NodeError, Watched};
use crate::domain::observation::Block;
use crate::domain::time::Time;
use serde_json::{Value, json};

/// Part of the error of a node with an index. Without one, or while it is being built, the text names the mempool alone
/// (`src/rpc/rawtransaction.cpp` of Bitcoin Core, since 0.10).
const IN_NEITHER: &str = "or blockchain transaction";

impl Utxo {
    /// [`Node::transaction`](crate::chain::Node::transaction).
    pub(super) fn look_up(
        &mut self,
        txid: &str,
        watched: &dyn Watched,
    ) -> Result<Lookup, NodeError> {
        let looking = Looking {
            asset: self.asset,
            network: self.identified()?,
            watched,
        };
        if HashBytes::parse(txid).is_none() {
            return Ok(Lookup::Absent);
        }
        match self.raw_transaction(txid, &json!([txid, 1]), looking)? {
            Ok(read) => match read.block.clone() {
                Some(hash) => self.found_in_block(read, &hash),
                None => self.found_in_mempool(read),
            },
            Err(error) if error.code != NOT_FOUND => {
                Err(unexpected("getrawtransaction", Failure::Method(error)))
            }
            Err(error) if error.message.contains(IN_NEITHER) => Ok(Lookup::Absent),
            Err(_) => self.found_unspent(txid, looking),
        }
    }

    /// Reads a transaction. The inner error is the method's own.
    fn raw_transaction(
        &mut self,
        txid: &str,
        params: &Value,
        looking: Looking<'_>,
    ) -> Result<Result<TxRead, MethodError>, NodeError> {
        let seed = TxSeed(looking);
        match self.rpc.call_seed("getrawtransaction", params, seed) {
            Ok(read) if read.txid != txid => {
                Err(self.lied(format!("transaction {txid} is another one")))
            }
            Ok(read) => Ok(Ok(read)),
            Err(Failure::Method(error)) => Ok(Err(error)),
            Err(Failure::Node(error)) => Err(error),
        }
    }

    fn found_in_mempool(&mut self, mut read: TxRead) -> Result<Lookup, NodeError> {
        let entry: Entry = match self.rpc.call("getmempoolentry", &json!([read.txid])) {
            Ok(entry) => entry,
            // A block took it meanwhile, or another transaction its place.
            Err(Failure::Method(error)) if error.code == NOT_FOUND => {
                return Err(NodeError::Behind);
            }
            Err(failure) => return Err(unexpected("getmempoolentry", failure)),
        };
        let first_seen = moment(entry.time);
        for one in &mut read.received {
            one.first_seen = first_seen;
        }
        Ok(found(read, None, first_seen))
    }

    fn found_in_block(&mut self, read: TxRead, hash: &Hash) -> Result<Lookup, NodeError> {
        let Some(header) = self.on_active_chain(hash)? else {
            return Ok(Lookup::Absent);
        };
        let time = self.time_of(header.time)?;
        let block = Block {
            height: header.height,
            hash: header.hash.0,
        };
        Ok(found(read, Some((block, time)), None))
    }

    /// Finds a transaction without an index, by the block of its unspent outputs.
    fn found_unspent(&mut self, txid: &str, looking: Looking<'_>) -> Result<Lookup, NodeError> {
        let Some(block) = self.block_of_unspent(txid)? else {
            return Ok(Lookup::NoIndex);
        };
        let params = json!([txid, 1, block.hash]);
        match self.raw_transaction(txid, &params, looking)? {
            Ok(read) => self.found_in_block(read, &Hash(block.hash)),
            // It has pruned the block, or takes no block here as dogecoin's nodes do not.
            Err(_) => Ok(Lookup::NoIndex),
        }
    }

    /// [`Node::time_at`](crate::chain::Node::time_at).
    pub(super) fn read_time_at(&mut self, height: u32) -> Result<Option<Time>, NodeError> {
        self.identified()?;
        if height < self.pruned_below {
            return Ok(None);
        }
        let Some(hash) = self.hashes(height, height)?.into_iter().next() else {
            return Ok(None);
        };
        match self.header(&hash)? {
            Some(header) if header.height != height => {
                Err(self.lied(format!("the block at height {height} has another height")))
            }
            Some(header) => self.time_of(header.time).map(Some),
            None => Ok(None),
        }
    }

    fn time_of(&mut self, seconds: u64) -> Result<Time, NodeError> {
        moment(seconds).ok_or_else(|| self.lied("a block has no time that there is".to_owned()))
    }
}

fn found(read: TxRead, block: Option<(Block, Time)>, first_seen: Option<Time>) -> Lookup {
    Lookup::Found(Box::new(FoundTransaction {
        block,
        first_seen,
        is_done: true,
        spends: read.spends,
        nonce: None,
        received: read.received,
        is_traced: true,
    }))
}

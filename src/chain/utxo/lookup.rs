//! Looks up one transaction by its id, and the time of one block.
//!
//! Invariant: a transaction is found only in the mempool or in a block of the active chain. A transaction counts as
//! absent if a reorg removed its block.

use super::mempool::MempoolEntry;
use super::read::{OutputScanner, ScannedTx, TxSeed};
use super::values::{HashBytes, HashText, unix_time};
use super::{NOT_FOUND, Utxo, unexpected_error};
use crate::chain::rpc::{CallFailure, MethodError};
use crate::chain::{FoundTransaction, LookupResult, NodeError, WatchTargets};
use crate::domain::{Block, Time};
use serde_json::{Value, json};

/// Part of the error message of a node with a complete index. The message of a node without an index mentions only
/// the mempool (`src/rpc/rawtransaction.cpp` of Bitcoin Core, since 0.10).
const IN_NEITHER: &str = "or blockchain transaction";

impl Utxo {
    /// Implements [`Node::look_up_transaction`](crate::chain::Node::look_up_transaction).
    pub(super) fn look_up(
        &mut self,
        txid: &str,
        watched: &dyn WatchTargets,
    ) -> Result<LookupResult, NodeError> {
        let scanner = self.output_scanner(watched)?;
        if HashBytes::parse(txid).is_none() {
            return Ok(LookupResult::Absent);
        }
        match self.fetch_transaction(txid, &json!([txid, 1]), scanner)? {
            Ok(read) => match read.block.clone() {
                Some(hash) => self.lookup_in_block(read, &hash),
                None => self.lookup_in_mempool(read),
            },
            Err(error) if error.code != NOT_FOUND => {
                Err(unexpected_error("getrawtransaction", CallFailure::Method(error)))
            }
            Err(error) if error.message.contains(IN_NEITHER) => Ok(LookupResult::Absent),
            Err(_) => self.look_up_by_unspent_outputs(txid, scanner),
        }
    }

    /// Fetches and scans a transaction. The inner error is an error that the method returned.
    fn fetch_transaction(
        &mut self,
        txid: &str,
        params: &Value,
        scanner: OutputScanner<'_>,
    ) -> Result<Result<ScannedTx, MethodError>, NodeError> {
        let seed = TxSeed(scanner);
        match self.rpc.call_with_seed("getrawtransaction", params, seed) {
            Ok(read) if read.txid != txid => {
                Err(self.invalid_answer(format!("transaction {txid} is another one")))
            }
            Ok(read) => Ok(Ok(read)),
            Err(CallFailure::Method(error)) => Ok(Err(error)),
            Err(CallFailure::Node(error)) => Err(error),
        }
    }

    fn lookup_in_mempool(&mut self, mut read: ScannedTx) -> Result<LookupResult, NodeError> {
        let entry: MempoolEntry = match self.rpc.call("getmempoolentry", &json!([read.txid])) {
            Ok(entry) => entry,
            // Between two calls, a block included the transaction, or another transaction replaced it.
            Err(CallFailure::Method(error)) if error.code == NOT_FOUND => {
                return Err(NodeError::Behind);
            }
            Err(failure) => return Err(unexpected_error("getmempoolentry", failure)),
        };
        // A transaction of litecoin without inputs of the main chain is in no block. Only the HogEx transaction of its block
        // shows what it pays (LIP 3).
        if read.spends.is_empty() {
            return Ok(LookupResult::Absent);
        }
        let first_seen = unix_time(entry.time);
        for one in &mut read.received {
            one.first_seen = first_seen;
        }
        Ok(to_lookup(read, None, first_seen))
    }

    fn lookup_in_block(
        &mut self,
        read: ScannedTx,
        hash: &HashText,
    ) -> Result<LookupResult, NodeError> {
        let Some(header) = self.active_header(hash)? else {
            return Ok(LookupResult::Absent);
        };
        let time = self.parse_block_time(header.time)?;
        let block = Block { height: header.height, hash: header.hash.0 };
        Ok(to_lookup(read, Some((block, time)), None))
    }

    /// Looks up a transaction on a node without a transaction index, in the block that contains its unspent outputs.
    fn look_up_by_unspent_outputs(
        &mut self,
        txid: &str,
        scanner: OutputScanner<'_>,
    ) -> Result<LookupResult, NodeError> {
        let Some(block) = self.block_by_unspent_outputs(txid)? else {
            return Ok(LookupResult::NoIndex);
        };
        let params = json!([txid, 1, block.hash]);
        match self.fetch_transaction(txid, &params, scanner)? {
            Ok(read) => self.lookup_in_block(read, &HashText(block.hash)),
            // The block is pruned, or the method accepts no block hash, as on dogecoin nodes.
            Err(_) => Ok(LookupResult::NoIndex),
        }
    }

    /// Implements [`Node::block_time_at`](crate::chain::Node::block_time_at).
    pub(super) fn read_time_at(&mut self, height: u32) -> Result<Option<Time>, NodeError> {
        self.verify_network()?;
        if height < self.pruned_below {
            return Ok(None);
        }
        let Some(hash) = self.fetch_hashes(height, height)?.into_iter().next() else {
            return Ok(None);
        };
        match self.fetch_header(&hash)? {
            Some(header) if header.height != height => {
                Err(self.invalid_answer(format!("the block at height {height} has another height")))
            }
            Some(header) => self.parse_block_time(header.time).map(Some),
            None => Ok(None),
        }
    }

    fn parse_block_time(&mut self, seconds: u64) -> Result<Time, NodeError> {
        unix_time(seconds)
            .ok_or_else(|| self.invalid_answer("a block has no time that there is".to_owned()))
    }
}

fn to_lookup(
    read: ScannedTx,
    block: Option<(Block, Time)>,
    first_seen: Option<Time>,
) -> LookupResult {
    LookupResult::Found(Box::new(FoundTransaction {
        block,
        first_seen,
        is_done: true,
        spends: read.spends,
        nonce: None,
        received: read.received,
        is_traced: true,
    }))
}

//! Scans the mempool of a node. Fetches each transaction only once.
//!
//! Invariant: each step returns a payment until the caller lists it as unconfirmed, so a failed step loses no
//! payment.

use super::read::{OutputScanner, ScannedTx, TxSeed};
use super::values::{HashBytes, unix_time};
use super::{NOT_FOUND, unexpected_error};
use crate::chain::rpc::{CallFailure, Rpc};
use crate::chain::{MempoolRead, NodeError};
use serde::Deserialize;
use serde_json::json;
use std::collections::{HashMap, HashSet};

/// Number of transactions fetched in one batch. The transactions of a batch are marked as scanned once the batch is
/// complete.
pub(super) const GROUP: usize = 1_000;
/// Largest number of batches in one step. A larger mempool is read in several steps.
const GROUPS_MAX: usize = 50;

/// Scanned transactions of the mempool.
#[derive(Default)]
pub(super) struct Mempool {
    /// Ids of all scanned transactions that are still in the mempool.
    scanned: HashSet<HashBytes>,
    /// Scanned transactions with payments or watched spends.
    paying: HashMap<HashBytes, ScannedTx>,
}

/// Entry of a transaction in the mempool.
#[derive(Deserialize)]
pub(super) struct MempoolEntry {
    /// Unix time of arrival, in seconds.
    pub time: u64,
}

impl Mempool {
    /// Scans new transactions, and returns all payments in the mempool.
    pub(super) fn read(
        &mut self,
        rpc: &mut Rpc,
        unconfirmed: &[String],
        scanner: OutputScanner<'_>,
    ) -> Result<MempoolRead, NodeError> {
        let there: HashSet<HashBytes> = rpc
            .call("getrawmempool", &json!([]))
            .map_err(|failure| unexpected_error("getrawmempool", failure))?;
        self.scanned.retain(|txid| there.contains(txid));
        self.paying.retain(|txid, _| there.contains(txid));
        let new: Vec<HashBytes> = there.difference(&self.scanned).copied().collect();
        let before = self.scanned.len();
        for group in new.chunks(GROUP).take(GROUPS_MAX) {
            self.fetch_and_scan(rpc, group, scanner)?;
        }
        let is_partial = new.chunks(GROUP).nth(GROUPS_MAX).is_some();
        if is_partial && self.scanned.len() == before {
            let all = there.len();
            let text = format!("of the {all} transactions in its mempool none can be had");
            return Err(NodeError::Limited(text));
        }
        let is_there =
            |txid: &&String| HashBytes::parse(txid).is_some_and(|txid| there.contains(&txid));
        let asked: HashSet<&str> = unconfirmed.iter().map(String::as_str).collect();
        let mut read = MempoolRead {
            vanished: unconfirmed.iter().filter(|txid| !is_there(txid)).cloned().collect(),
            is_partial,
            ..MempoolRead::default()
        };
        for one in self.paying.values() {
            if !asked.contains(one.txid.as_str()) {
                read.received.extend(one.received.iter().cloned());
            }
            read.spent.extend(one.spent.iter().cloned());
        }
        Ok(read)
    }

    /// Fetches and scans these transactions.
    fn fetch_and_scan(
        &mut self,
        rpc: &mut Rpc,
        new: &[HashBytes],
        scanner: OutputScanner<'_>,
    ) -> Result<(), NodeError> {
        let texts: Vec<String> = new.iter().map(HashBytes::hex_text).collect();
        let calls: Vec<_> = texts.iter().map(|txid| ("getrawtransaction", (txid, 1))).collect();
        let answers = rpc.batch_with_seed(&calls, TxSeed(scanner))?;
        let (mut looked_at, mut found) = (Vec::new(), Vec::new());
        for ((txid, text), answer) in new.iter().zip(&texts).zip(answers) {
            match answer {
                Ok(read) if read.txid != *text => {
                    rpc.distrust_node();
                    return Err(NodeError::Lied(format!("transaction {text} is another one")));
                }
                Ok(read) if read.received.is_empty() && read.spent.is_empty() => {
                    looked_at.push(*txid);
                }
                Ok(read) => found.push((*txid, read)),
                // The transaction has left the mempool.
                Err(error) if error.code == NOT_FOUND => {}
                Err(error) => {
                    return Err(unexpected_error("getrawtransaction", CallFailure::Method(error)));
                }
            }
        }
        let calls: Vec<_> =
            found.iter().map(|(_, read)| ("getmempoolentry", [&read.txid])).collect();
        let entries = rpc.batch::<MempoolEntry>(&calls)?;
        for ((txid, mut read), entry) in found.into_iter().zip(entries) {
            match entry {
                Ok(entry) => {
                    let first_seen = unix_time(entry.time);
                    for one in &mut read.received {
                        one.first_seen = first_seen;
                    }
                    self.paying.insert(txid, read);
                    looked_at.push(txid);
                }
                // A block may have included the transaction, which has left the mempool.
                Err(error) if error.code == NOT_FOUND => {}
                Err(error) => {
                    return Err(unexpected_error("getmempoolentry", CallFailure::Method(error)));
                }
            }
        }
        self.scanned.extend(looked_at);
        Ok(())
    }
}

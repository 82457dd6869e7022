//! The mempool of a node: only what is new in it is fetched, and what concerns us is told until the caller knows it.
//!
//! What does not live here: what becomes of a payment that left it. What always holds: what was found in it and did not
//! reach the file, because the step failed after, is told again.

use super::read::{Looking, TxRead, TxSeed};
use super::values::{HashBytes, moment};
use super::{NOT_FOUND, unexpected};
use crate::chain::rpc::{Failure, Rpc};
use crate::chain::{MempoolRead, NodeError};
use serde::Deserialize;
use serde_json::json;
use std::collections::{HashMap, HashSet};

/// Transactions are fetched in groups of so many; of the mempool each is noted when it is read.
pub(super) const GROUP: usize = 1_000;
/// The most groups in one step: a mempool that is larger is read in several.
const GROUPS_MAX: usize = 50;

/// What is known of a node's mempool.
#[derive(Default)]
pub(super) struct Mempool {
    /// All that were looked at and are still there.
    known: HashSet<HashBytes>,
    /// Those of them that concern us.
    ours: HashMap<HashBytes, TxRead>,
}

/// A transaction's entry in the mempool.
#[derive(Deserialize)]
pub(super) struct Entry {
    /// Time of its arrival, in seconds since 1970.
    pub time: u64,
}

impl Mempool {
    /// Looks at what is new.
    pub(super) fn read(
        &mut self,
        rpc: &mut Rpc,
        unconfirmed: &[String],
        looking: Looking<'_>,
    ) -> Result<MempoolRead, NodeError> {
        let there: HashSet<HashBytes> = rpc
            .call("getrawmempool", &json!([]))
            .map_err(|failure| unexpected("getrawmempool", failure))?;
        self.known.retain(|txid| there.contains(txid));
        self.ours.retain(|txid, _| there.contains(txid));
        let new: Vec<HashBytes> = there.difference(&self.known).copied().collect();
        let before = self.known.len();
        for group in new.chunks(GROUP).take(GROUPS_MAX) {
            self.fetch(rpc, group, looking)?;
        }
        let is_partial = new.chunks(GROUP).nth(GROUPS_MAX).is_some();
        if is_partial && self.known.len() == before {
            let all = there.len();
            let text = format!("of the {all} transactions in its mempool none can be had");
            return Err(NodeError::Limited(text));
        }
        let is_there =
            |txid: &&String| HashBytes::parse(txid).is_some_and(|txid| there.contains(&txid));
        let asked: HashSet<&str> = unconfirmed.iter().map(String::as_str).collect();
        let mut read = MempoolRead {
            vanished: unconfirmed
                .iter()
                .filter(|txid| !is_there(txid))
                .cloned()
                .collect(),
            is_partial,
            ..MempoolRead::default()
        };
        for one in self.ours.values() {
            if !asked.contains(one.txid.as_str()) {
                read.received.extend(one.received.iter().cloned());
            }
            read.spent.extend(one.spent.iter().cloned());
        }
        Ok(read)
    }

    /// Reads these transactions, and notes them.
    fn fetch(
        &mut self,
        rpc: &mut Rpc,
        new: &[HashBytes],
        looking: Looking<'_>,
    ) -> Result<(), NodeError> {
        let texts: Vec<String> = new.iter().map(HashBytes::text).collect();
        let calls: Vec<_> = texts
            .iter()
            .map(|txid| ("getrawtransaction", (txid, 1)))
            .collect();
        let answers = rpc.batch_seed(&calls, TxSeed(looking))?;
        let (mut looked_at, mut found) = (Vec::new(), Vec::new());
        for ((txid, text), answer) in new.iter().zip(&texts).zip(answers) {
            match answer {
                Ok(read) if read.txid != *text => {
                    rpc.distrust();
                    return Err(NodeError::Lied(format!(
                        "transaction {text} is another one"
                    )));
                }
                Ok(read) if read.received.is_empty() && read.spent.is_empty() => {
                    looked_at.push(*txid);
                }
                Ok(read) => found.push((*txid, read)),
                // It has gone meanwhile.
                Err(error) if error.code == NOT_FOUND => {}
                Err(error) => return Err(unexpected("getrawtransaction", Failure::Method(error))),
            }
        }
        let calls: Vec<_> = found
            .iter()
            .map(|(_, read)| ("getmempoolentry", [&read.txid]))
            .collect();
        let entries = rpc.batch::<Entry>(&calls)?;
        for ((txid, mut read), entry) in found.into_iter().zip(entries) {
            match entry {
                Ok(entry) => {
                    let first_seen = moment(entry.time);
                    for one in &mut read.received {
                        one.first_seen = first_seen;
                    }
                    self.ours.insert(txid, read);
                    looked_at.push(txid);
                }
                // Found is not valid: it is not in the mempool any more.
                Err(error) if error.code == NOT_FOUND => {}
                Err(error) => return Err(unexpected("getmempoolentry", Failure::Method(error))),
            }
        }
        self.known.extend(looked_at);
        Ok(())
    }
}

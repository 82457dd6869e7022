//! Scans the mempool of a node. Fetches each transaction only once.
//!
//! Invariant: each step returns a payment until the caller lists it as unconfirmed, so a failed step loses no
//! payment. A transaction that the node does not give hides no other one.

mod source;

use super::aside::AsideTransactions;
use super::read::ScannedTx;
use super::unexpected_error;
use super::values::HashBytes;
use crate::chain::{MempoolRead, NodeError};
use crate::domain::{ChainState, SetAside};
use serde::Deserialize;
use serde_json::json;
pub(super) use source::MempoolSource;
use source::{Arrival, Refusal, TxAnswer};
use std::collections::{HashMap, HashSet};
use std::slice;

/// Number of transactions fetched in one batch.
const GROUP: usize = 100;
/// Largest number of batches in one step. A larger mempool is read in several steps.
const GROUPS_MAX: usize = 500;
/// Number of scanned transactions of which one must be given, as a proof that the node gives transactions.
const PROOFS: usize = 3;
/// Largest number of transactions that are set aside if the node has given none of its mempool. One stranger's
/// transaction may be alone there, but a node that refuses more of them refuses all.
const LONE_REFUSALS_MAX: usize = 10;

#[derive(Default)]
pub(super) struct Mempool {
    /// Ids of all scanned transactions that are still in the mempool.
    scanned: HashSet<HashBytes>,
    /// Scanned transactions with payments or watched spends.
    paying: HashMap<HashBytes, ScannedTx>,
    /// Transactions that the node does not give.
    aside: AsideTransactions,
}

#[derive(Deserialize)]
pub(super) struct MempoolEntry {
    /// Unix time of arrival, in seconds.
    pub time: u64,
}

impl Mempool {
    pub(super) fn begin_step(&mut self, known: &ChainState) {
        self.aside.begin_step(known, &self.scanned);
    }

    /// Returns the transactions that the node does not give.
    pub(super) fn list_set_aside(&self) -> Vec<SetAside> {
        self.aside.to_list()
    }

    /// Scans new transactions, and returns all payments in the mempool.
    pub(super) fn read(
        &mut self,
        source: &mut MempoolSource<'_>,
        unconfirmed: &[String],
    ) -> Result<MempoolRead, NodeError> {
        let there: HashSet<HashBytes> = source
            .rpc
            .call("getrawmempool", &json!([]))
            .map_err(|failure| unexpected_error("getrawmempool", failure))?;
        self.scanned.retain(|txid| there.contains(txid));
        self.paying.retain(|txid, _| there.contains(txid));
        self.aside.retain_in(&there);
        let new = there.difference(&self.scanned).filter(|txid| !self.aside.contains(txid));
        let new: Vec<HashBytes> = new.copied().collect();
        let before = self.judged_count();
        for group in new.chunks(GROUP).take(GROUPS_MAX) {
            self.scan_group(source, group)?;
        }
        self.ask_again(source)?;
        let is_too_large = new.chunks(GROUP).nth(GROUPS_MAX).is_some();
        if is_too_large && self.judged_count() == before {
            let all = there.len();
            let text = format!("of the {all} transactions in its mempool none can be had");
            return Err(NodeError::Limited(text));
        }
        let is_partial = is_too_large || source.failures_left == 0;
        Ok(self.payments(&there, unconfirmed, is_partial))
    }

    fn judged_count(&self) -> usize {
        self.scanned.len().saturating_add(self.aside.len())
    }

    fn payments(
        &self,
        there: &HashSet<HashBytes>,
        unconfirmed: &[String],
        is_partial: bool,
    ) -> MempoolRead {
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
        read
    }

    /// Fetches and scans these transactions. If the request fails although the node gives transactions, fetches each
    /// of them by itself, because the answer about one of them may have spoiled it.
    fn scan_group(
        &mut self,
        source: &mut MempoolSource<'_>,
        group: &[HashBytes],
    ) -> Result<(), NodeError> {
        if source.failures_left == 0 {
            return Ok(());
        }
        let failure = match source.fetch_transactions(group) {
            Ok(answers) => return self.take_answers(source, group, answers),
            Err(error @ NodeError::Wrong(_)) => return Err(error),
            Err(error) => error,
        };
        if let [_] = group {
            source.failures_left = source.failures_left.saturating_sub(1);
            let refused = TxAnswer::Refused(Refusal::from(failure));
            return self.take_answers(source, group, vec![refused]);
        }
        if !self.gives_transactions(source, 0) {
            return Err(failure);
        }
        group.iter().try_for_each(|txid| self.scan_group(source, slice::from_ref(txid)))
    }

    /// Takes the answers about these transactions. Sets those aside that the node refuses, if it gives others.
    ///
    /// # Errors
    ///
    /// The failure of the node if it gives no transaction at all.
    fn take_answers(
        &mut self,
        source: &mut MempoolSource<'_>,
        group: &[HashBytes],
        answers: Vec<TxAnswer>,
    ) -> Result<(), NodeError> {
        let (mut is_any_read, mut refused, mut paying) = (false, Vec::new(), Vec::new());
        for (txid, answer) in group.iter().zip(answers) {
            match answer {
                TxAnswer::Read(read) => {
                    is_any_read = true;
                    match read.received.is_empty() && read.spent.is_empty() {
                        true => drop(self.scanned.insert(*txid)),
                        false => paying.push((*txid, *read)),
                    }
                }
                TxAnswer::Gone => {}
                TxAnswer::Refused(refusal) => refused.push((*txid, refusal)),
            }
        }
        let gives = is_any_read || refused.is_empty();
        if !gives && !self.gives_transactions(source, refused.len()) {
            let first = refused.into_iter().next();
            return first.map_or(Ok(()), |(_, refusal)| Err(refusal.error));
        }
        for (txid, refusal) in refused {
            self.aside.add(txid, refusal.reason);
        }
        self.add_paying(source, paying)
    }

    /// Returns `true` if the node gives transactions: one that it gave before and that is still in the mempool, or the
    /// first one of its newest block. `refused` is the number of transactions that it has just refused.
    fn gives_transactions(&self, source: &mut MempoolSource<'_>, refused: usize) -> bool {
        for txid in self.scanned.iter().take(PROOFS) {
            let answer = source.fetch_transactions(slice::from_ref(txid));
            match answer.map(|answers| answers.into_iter().next()) {
                Ok(Some(TxAnswer::Read(_))) => return true,
                Ok(Some(TxAnswer::Gone)) => {}
                Ok(Some(TxAnswer::Refused(_)) | None) | Err(_) => return false,
            }
        }
        refused <= LONE_REFUSALS_MAX && source.gives_mined_transaction()
    }

    /// Adds transactions with payments or watched spends, each with the time at which it entered the mempool.
    fn add_paying(
        &mut self,
        source: &mut MempoolSource<'_>,
        paying: Vec<(HashBytes, ScannedTx)>,
    ) -> Result<(), NodeError> {
        let txids: Vec<&str> = paying.iter().map(|(_, read)| read.txid.as_str()).collect();
        let arrivals = self.fetch_arrivals(source, &txids)?;
        for ((txid, mut read), arrival) in paying.into_iter().zip(arrivals) {
            let first_seen = match arrival {
                Arrival::At(time) => time,
                // A block may have included the transaction.
                Arrival::Gone => continue,
                // The payment counts as seen now.
                Arrival::Untold(reason) => {
                    let (chain, txid) = (source.scanner.asset.chain, &read.txid);
                    log::warn!("no time of arrival: chain={chain} txid={txid} reason={reason}");
                    None
                }
            };
            for one in &mut read.received {
                one.first_seen = first_seen;
            }
            self.paying.insert(txid, read);
            self.scanned.insert(txid);
        }
        Ok(())
    }

    /// Fetches times of arrival. If the request fails although the node gives transactions, fetches each by itself.
    fn fetch_arrivals(
        &self,
        source: &mut MempoolSource<'_>,
        txids: &[&str],
    ) -> Result<Vec<Arrival>, NodeError> {
        let failure = match source.fetch_arrivals(txids) {
            Ok(arrivals) => return Ok(arrivals),
            Err(error @ NodeError::Wrong(_)) => return Err(error),
            Err(error) => error,
        };
        if !self.gives_transactions(source, 0) {
            return Err(failure);
        }
        if let [_] = txids {
            return Ok(vec![Arrival::Untold(failure.to_string())]);
        }
        let mut arrivals = Vec::with_capacity(txids.len());
        for txid in txids {
            arrivals.extend(self.fetch_arrivals(source, slice::from_ref(txid))?);
        }
        Ok(arrivals)
    }

    /// Asks again for transactions that are set aside, each by itself.
    fn ask_again(&mut self, source: &mut MempoolSource<'_>) -> Result<(), NodeError> {
        for txid in self.aside.due() {
            let one = slice::from_ref(&txid);
            let answers = match source.fetch_transactions(one) {
                Ok(answers) => answers,
                Err(error) => {
                    self.aside.add(txid, error.to_string());
                    // If the node itself fails, each further request would take as long.
                    break;
                }
            };
            if let Some(TxAnswer::Refused(refusal)) = answers.first() {
                self.aside.add(txid, refusal.reason.clone());
                continue;
            }
            self.aside.remove(&txid);
            self.take_answers(source, one, answers)?;
        }
        Ok(())
    }
}

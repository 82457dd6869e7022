//! Transactions of the mempool that the node lists and does not give. They stop nothing, and are asked for again.
//!
//! Invariant: a transaction leaves the list once it is read, or is no longer in the mempool. A payment in it is seen in
//! its block at the latest, because blocks are read as a whole.

use super::values::HashBytes;
use crate::chain::backoff::StepBackoff;
use crate::domain::{ChainState, SetAside, SetAsideKind};
use std::collections::{HashMap, HashSet};

/// Largest number of transactions of the list that one step asks for. A stranger can make thousands of them.
const ASKS_MAX: usize = 24;
/// Base-2 logarithm of the longest backoff of a transaction, in steps.
const BACKOFF_LOG2_MAX: u32 = 6;

#[derive(Default)]
struct AsideTransaction {
    /// Why it cannot be read: the end of a sentence that begins with "its node".
    reason: String,
    backoff: StepBackoff,
    /// `true` if this step belongs to the backoff.
    is_waiting: bool,
}

#[derive(Default)]
pub(super) struct AsideTransactions(HashMap<HashBytes, AsideTransaction>);

impl AsideTransactions {
    /// Begins a step. Adds the stored transactions, except those that were read meanwhile. They are asked for at once
    /// after a restart.
    pub(super) fn begin_step(&mut self, known: &ChainState, read: &HashSet<HashBytes>) {
        for one in self.0.values_mut() {
            one.is_waiting = one.backoff.take_step();
        }
        let stored = known.set_aside.iter().filter(|one| one.kind == SetAsideKind::Transaction);
        for one in stored {
            if let Some(txid) = HashBytes::parse(&one.id).filter(|txid| !read.contains(txid)) {
                let reason = one.reason.clone();
                let new = AsideTransaction { reason, ..AsideTransaction::default() };
                self.0.entry(txid).or_insert(new);
            }
        }
    }

    pub(super) fn retain_in(&mut self, mempool: &HashSet<HashBytes>) {
        self.0.retain(|txid, _| mempool.contains(txid));
    }

    pub(super) fn contains(&self, txid: &HashBytes) -> bool {
        self.0.contains_key(txid)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Sets a transaction aside, and begins a backoff that doubles with each failure.
    pub(super) fn add(&mut self, txid: HashBytes, reason: String) {
        let one = self.0.entry(txid).or_default();
        one.reason = reason;
        one.backoff.record_failure(BACKOFF_LOG2_MAX);
        one.is_waiting = true;
    }

    pub(super) fn remove(&mut self, txid: &HashBytes) {
        self.0.remove(txid);
    }

    /// Returns the transactions that the node may be asked for in this step, those that failed least often first.
    pub(super) fn due(&self) -> Vec<HashBytes> {
        let due = self.0.iter().filter(|(_, one)| !one.is_waiting);
        let mut due: Vec<_> = due.map(|(txid, one)| (one.backoff.failures(), txid.0)).collect();
        due.sort_unstable();
        due.into_iter().take(ASKS_MAX).map(|(_, txid)| HashBytes(txid)).collect()
    }

    pub(super) fn to_list(&self) -> Vec<SetAside> {
        let parts = self.0.iter().map(|(txid, one)| SetAside {
            kind: SetAsideKind::Transaction,
            id: txid.hex_text(),
            height: None,
            reason: one.reason.clone(),
        });
        let mut parts: Vec<SetAside> = parts.collect();
        parts.sort_unstable_by(|one, other| one.id.cmp(&other.id));
        parts
    }
}

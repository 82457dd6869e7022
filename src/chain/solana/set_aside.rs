//! Transactions that the node lists and does not give, and stored ones that it no longer has. They stop nothing, and the
//! node is asked for them again.
//!
//! Invariant: a listed transaction leaves the list only after it was read, or after a rescan of its slot no longer lists
//! it. A stored one leaves it once its payment is in a block again.

use super::histories::SlotSignature;
use crate::chain::backoff::StepBackoff;
use crate::domain::{ChainState, PaymentState, SetAside, SetAsideKind};
use std::cmp::Reverse;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Largest number of transactions of the list that one step asks for. A stranger can make thousands of them.
const ASKS_MAX: usize = 24;
/// Base-2 logarithm of the longest backoff of a transaction, in steps.
const BACKOFF_LOG2_MAX: u32 = 6;
/// Reason of a stored transaction that is in no block.
pub(super) const FORGOTTEN: &str = "no longer has it";

#[derive(Debug)]
struct AsideTransaction {
    /// Slot of the transaction, as the history of an account lists it.
    slot: u32,
    /// Why it cannot be read: the end of a sentence that begins with "its node".
    reason: String,
    backoff: StepBackoff,
    /// `true` if this step belongs to the backoff.
    is_waiting: bool,
    /// State of the payment, if the database has it in no block. Its slot is then 0.
    forgotten: Option<PaymentState>,
}

impl AsideTransaction {
    fn new(slot: u32, reason: String) -> AsideTransaction {
        let backoff = StepBackoff::default();
        AsideTransaction { slot, reason, backoff, is_waiting: false, forgotten: None }
    }

    /// Returns `true` if the operator has to know of the transaction. A dropped payment is asked for in silence.
    fn is_reported(&self) -> bool {
        self.forgotten.is_none_or(|state| state == PaymentState::Seen)
    }
}

#[derive(Debug, Default)]
pub(super) struct AsideList {
    transactions: BTreeMap<String, AsideTransaction>,
    /// Watched addresses that changed although their histories are empty.
    addresses: BTreeSet<String>,
    /// Number of transactions of the list that this step may still ask for.
    asks_left: usize,
}

impl AsideList {
    /// Begins a step. Adds the stored transactions, which are asked for at once after a restart.
    pub(super) fn begin_step(&mut self, known: &ChainState) {
        self.asks_left = ASKS_MAX;
        for one in self.transactions.values_mut() {
            one.is_waiting = one.backoff.take_step();
        }
        self.update_forgotten_transactions(known);
        for stored in &known.set_aside {
            match stored.kind {
                SetAsideKind::Address => {
                    self.addresses.insert(stored.id.clone());
                }
                SetAsideKind::Transaction => {
                    // Without a slot, it was a stored transaction that the node no longer had.
                    let Some(slot) = stored.height else { continue };
                    let known = self.transactions.entry(stored.id.clone());
                    known.or_insert_with(|| AsideTransaction::new(slot, stored.reason.clone()));
                }
            }
        }
    }

    /// Adds the stored transactions that are in no block, and removes those that are in a block again.
    fn update_forgotten_transactions(&mut self, known: &ChainState) {
        let lost = known.open.iter().filter(|one| one.block.is_none());
        let lost: HashMap<&str, PaymentState> =
            lost.map(|one| (one.txid.as_str(), one.state)).collect();
        self.transactions.retain(|signature, one| {
            one.forgotten.is_none() || lost.contains_key(signature.as_str())
        });
        for (signature, state) in lost {
            let entry = self.transactions.entry(signature.to_owned());
            let is_new = matches!(entry, Entry::Vacant(_));
            let one = entry.or_insert_with(|| AsideTransaction::new(0, FORGOTTEN.to_owned()));
            if is_new || one.forgotten.is_some() {
                one.forgotten = Some(state);
            }
        }
    }

    /// Returns the stored transactions that are in no block.
    pub(super) fn forgotten_transactions(&self) -> impl Iterator<Item = &str> {
        let forgotten = self.transactions.iter().filter(|(_, one)| one.forgotten.is_some());
        forgotten.map(|(signature, _)| signature.as_str())
    }

    /// Returns `true` if the database has the transaction in no block.
    pub(super) fn is_forgotten(&self, signature: &str) -> bool {
        self.transactions.get(signature).is_some_and(|one| one.forgotten.is_some())
    }

    pub(super) fn has_transaction(&self, signature: &str) -> bool {
        self.transactions.contains_key(signature)
    }

    /// Returns `true` if the node must not be asked for this transaction in this step.
    pub(super) fn is_waiting(&self, signature: &str) -> bool {
        // A history that lists a forgotten transaction ends its backoff.
        let one = self.transactions.get(signature).filter(|one| one.forgotten.is_none());
        one.is_some_and(|one| one.is_waiting || self.asks_left == 0)
    }

    pub(super) fn count_ask(&mut self, signature: &str) {
        if self.has_transaction(signature) {
            self.asks_left = self.asks_left.saturating_sub(1);
        }
    }

    /// Sets a transaction aside, and begins a backoff that doubles with each failure.
    pub(super) fn add_transaction(&mut self, slot: u32, signature: &str, reason: String) {
        let known = self.transactions.entry(signature.to_owned());
        let one = known.or_insert_with(|| AsideTransaction::new(slot, String::new()));
        (one.slot, one.reason) = (slot, reason);
        one.forgotten = one.forgotten.filter(|_| slot == 0);
        one.backoff.record_failure(BACKOFF_LOG2_MAX);
        one.is_waiting = true;
    }

    /// Removes a transaction that was read. A forgotten one stays until the database has it in a block, and is no longer
    /// reported.
    pub(super) fn remove_transaction(&mut self, signature: &str) {
        match self.transactions.get_mut(signature) {
            Some(one) if one.forgotten.is_some() => {
                one.forgotten = Some(PaymentState::Dropped);
                one.backoff.record_failure(BACKOFF_LOG2_MAX);
                one.is_waiting = true;
            }
            Some(_) | None => drop(self.transactions.remove(signature)),
        }
    }

    /// Returns the transactions in these slots that the node may be asked for in this step. Those that failed least
    /// often come first, and of these the newest.
    pub(super) fn due_between(&self, from: u32, to: u32) -> Vec<SlotSignature> {
        let due = self.transactions.iter().filter(|(_, one)| !one.is_waiting);
        let mut due: Vec<_> = due.filter(|(_, one)| (from..=to).contains(&one.slot)).collect();
        due.sort_by_key(|(_, one)| (one.backoff.failures(), Reverse(one.slot)));
        let due = due.into_iter().take(self.asks_left);
        due.map(|(signature, one)| (one.slot, signature.clone())).collect()
    }

    pub(super) fn has_address(&self, address: &str) -> bool {
        self.addresses.contains(address)
    }

    /// Sets an address aside, or takes it back.
    pub(super) fn mark_address(&mut self, address: &str, is_aside: bool) {
        if is_aside {
            self.addresses.insert(address.to_owned());
        } else {
            self.addresses.remove(address);
        }
    }

    pub(super) fn to_list(&self) -> Vec<SetAside> {
        let addresses = self.addresses.iter().map(|address| SetAside {
            kind: SetAsideKind::Address,
            id: address.clone(),
            height: None,
            reason: "says that it changed, and lists no transaction of it".to_owned(),
        });
        let reported = self.transactions.iter().filter(|(_, one)| one.is_reported());
        let transactions = reported.map(|(signature, one)| SetAside {
            kind: SetAsideKind::Transaction,
            id: signature.clone(),
            height: one.forgotten.is_none().then_some(one.slot),
            reason: one.reason.clone(),
        });
        addresses.chain(transactions).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{ASKS_MAX, AsideList};
    use crate::domain::asset::Chain;
    use crate::domain::{Block, ChainState, OpenObservation, PaymentState};
    use std::collections::BTreeSet;

    /// A stored payment that is in no block.
    fn lost_payment(txid: String, state: PaymentState) -> OpenObservation {
        let address = "owner".to_owned();
        OpenObservation {
            txid,
            position: 0,
            address,
            state,
            block: None,
            has_vanished: true,
            spends: Vec::new(),
        }
    }

    #[test]
    fn forgotten_payments_are_asked_for_in_turn_until_they_are_in_a_block() {
        let (mut list, mut known) = (AsideList::default(), ChainState::initial(Chain::Solana));
        let states = [PaymentState::Seen, PaymentState::Dropped].into_iter().cycle();
        let lost = (0..100).zip(states).map(|(at, state)| lost_payment(format!("{at}"), state));
        known.open = lost.collect();
        let mut asked = BTreeSet::new();
        for _ in 0..9 {
            list.begin_step(&known);
            let due = list.due_between(0, 1_000);
            assert!(due.len() <= ASKS_MAX);
            for (slot, signature) in due {
                list.count_ask(&signature);
                list.add_transaction(slot, &signature, "no longer has it".to_owned());
                asked.insert(signature);
            }
        }
        assert_eq!(asked.len(), 100);
        // Dropped ones are asked for, and not reported.
        assert_eq!(list.to_list().len(), 50);
        known.set_aside = list.to_list();
        let mut restarted = AsideList::default();
        restarted.begin_step(&known);
        assert_eq!(restarted.to_list(), known.set_aside);
        // One was read. It is reported again only if the database still has it in no block.
        list.remove_transaction("0");
        assert_eq!(list.to_list().len(), 49);
        list.begin_step(&known);
        assert_eq!(list.to_list().len(), 50);
        for open in &mut known.open {
            open.block = Some(Block { height: 7, hash: "b".to_owned() });
        }
        known.set_aside.clear();
        list.begin_step(&known);
        assert!(list.to_list().is_empty() && list.due_between(0, 1_000).is_empty());
    }

    #[test]
    fn transaction_is_asked_for_after_a_backoff_that_doubles() {
        let (mut list, known) = (AsideList::default(), ChainState::initial(Chain::Solana));
        list.begin_step(&known);
        let mut skipped = Vec::new();
        for _ in 0..9 {
            list.add_transaction(5, "a", "refuses it".to_owned());
            let mut steps = 0;
            loop {
                list.begin_step(&known);
                if list.due_between(0, 5).len() == 1 {
                    break;
                }
                assert!(list.is_waiting("a"));
                steps += 1;
            }
            skipped.push(steps);
        }
        assert_eq!(skipped, [1, 2, 4, 8, 16, 32, 64, 64, 64]);
        assert!(list.due_between(6, 9).is_empty());
    }

    #[test]
    fn step_asks_for_few_transactions_and_for_each_in_turn() {
        let (mut list, known) = (AsideList::default(), ChainState::initial(Chain::Solana));
        for at in 0..100_u32 {
            list.add_transaction(at, &format!("{at}"), String::new());
        }
        let mut asked = BTreeSet::new();
        for _ in 0..7 {
            list.begin_step(&known);
            let due = list.due_between(0, 1_000);
            assert!(due.len() <= ASKS_MAX);
            for (slot, signature) in due {
                list.count_ask(&signature);
                list.add_transaction(slot, &signature, String::new());
                asked.insert(slot);
            }
        }
        assert_eq!(asked.len(), 100);
    }

    #[test]
    fn stored_transaction_is_asked_for_again_after_a_restart() {
        let mut list = AsideList::default();
        list.add_transaction(7, "a", "refuses it".to_owned());
        let mut known = ChainState::initial(Chain::Solana);
        known.set_aside = list.to_list();
        let mut restarted = AsideList::default();
        restarted.begin_step(&known);
        assert_eq!(restarted.due_between(0, 7), [(7, "a".to_owned())]);
        assert_eq!(restarted.to_list(), known.set_aside);
    }
}

//! Shares the outputs of a destination out among its transfers.
//!
//! Invariant: an output counts for at most one transfer, and only for a transfer in its coin.

use super::claimant::{Claimant, nearest_pair};
use super::facts::{BookState, DestinationFacts, DestinationOutput, DestinationTransfer, Presence};
use crate::domain::money::coin::Units;
use crate::domain::transfer::act::TransferActKind;
use crate::domain::transfer::{SettledBy, TransferStatus, TxidSource};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Transaction that stands for a transfer: entered, found on the chain, or following a replaced one.
pub type CurrentTransaction = (String, TxidSource);

/// Outputs with the transfers for which they count, and the transaction of each transfer.
pub(super) struct Sharing<'a> {
    pub(super) facts: &'a DestinationFacts,
    /// For each output, `seq` of the transfer for which it counts.
    pub(super) shares: Vec<Option<i64>>,
    /// For each transfer, its transaction.
    pub(super) transactions: Vec<Option<CurrentTransaction>>,
    /// For each transaction that an act names or that settled a transfer, those that took its place.
    replacements: BTreeMap<&'a str, Vec<&'a str>>,
}

/// Shares the outputs out.
///
/// Outputs that settled a transfer stay with it. Then come the transfers whose transaction was entered, first those that
/// are open or paid, then those that ended unpaid. A transaction that replaced an entered one is followed if it pays
/// enough. Last, an output of exactly the amount is taken by the only transfer that it fits.
pub(super) fn share_out(facts: &DestinationFacts) -> Sharing<'_> {
    let settled = |output: &DestinationOutput| output.settled.filter(|_| output.may_count());
    let mut sharing = Sharing {
        facts,
        shares: facts.outputs.iter().map(settled).collect(),
        transactions: vec![None; facts.transfers.len()],
        replacements: BTreeMap::new(),
    };
    sharing.find_replacements();
    for is_back in [false, true] {
        sharing.share_own_transactions(is_back);
        for owner in sharing.owners(is_back) {
            sharing.follow_replacement(&owner);
        }
    }
    sharing.take_exact_outputs();
    sharing.name_settled_transactions();
    sharing.keep_told_transactions();
    sharing
}

impl<'a> Sharing<'a> {
    /// Finds the transactions that took the place of those that acts name, and of those that settled a transfer.
    fn find_replacements(&mut self) {
        let acts = self.facts.transfers.iter().flat_map(|one| &one.acts);
        let settled = self.facts.outputs.iter().filter(|output| output.settled.is_some());
        let named = acts.map(|act| act.txid.as_str());
        for txid in named.chain(settled.map(|output| output.txid.as_str())) {
            self.replacements.entry(txid).or_insert_with(|| self.facts.replacements_of(txid));
        }
    }

    /// Returns `true` if a transaction is `txid` or took its place.
    pub(super) fn is_same_or_replaces(&self, txid: &str, other: &str) -> bool {
        let replacements = self.replacements.get(txid);
        txid == other || replacements.is_some_and(|by| by.contains(&other))
    }

    /// Returns `true` if this transaction, or one whose place it took, was removed from a transfer and not entered again.
    fn has_detached(&self, one: &DestinationTransfer, txid: &str) -> bool {
        let last = one.acts.iter().rev().find(|act| {
            act.kind != TransferActKind::Dismissed && self.is_same_or_replaces(&act.txid, txid)
        });
        last.is_some_and(|act| act.kind == TransferActKind::Detached)
    }

    /// Returns the outputs that count for no transfer and are not dropped, with their indexes.
    pub(super) fn free_outputs(&self) -> impl Iterator<Item = (usize, &'a DestinationOutput)> {
        let all = self.facts.outputs.iter().zip(&self.shares).enumerate();
        all.filter(|(_, (output, share))| share.is_none() && output.may_count())
            .map(|(place, (output, _))| (place, output))
    }

    pub(super) fn outputs_of(&self, seq: i64) -> impl Iterator<Item = &'a DestinationOutput> {
        let all = self.facts.outputs.iter().zip(&self.shares);
        all.filter(move |(_, share)| **share == Some(seq)).map(|(output, _)| output)
    }

    pub(super) fn assign(&mut self, place: usize, seq: i64) {
        if let Some(share) = self.shares.get_mut(place) {
            *share = Some(seq);
        }
    }

    fn set_transaction(&mut self, at: usize, txid: &str, from: TxidSource) {
        if let Some(transaction) = self.transactions.get_mut(at) {
            *transaction = Some((txid.to_owned(), from));
        }
    }

    /// Returns the transfers with a transaction of their own that ended unpaid, or the others.
    fn owners(&self, is_back: bool) -> Vec<Owner<'a>> {
        let all = self.facts.transfers.iter().enumerate();
        let owners = all.filter_map(|(at, one)| {
            let (txid, source) = self.facts.own_transaction(one)?;
            ((one.books() == BookState::Back) == is_back).then_some(Owner { at, one, txid, source })
        });
        owners.collect()
    }

    /// Shares the outputs of each transaction out among the transfers that have it as their own.
    fn share_own_transactions(&mut self, is_back: bool) {
        let owners = self.owners(is_back);
        let mut done: Vec<&str> = Vec::new();
        for owner in &owners {
            self.set_transaction(owner.at, owner.txid, owner.source);
            if done.contains(&owner.txid) {
                continue;
            }
            done.push(owner.txid);
            let claimants = owners.iter().filter(|other| other.txid == owner.txid);
            let claimants = claimants.filter_map(|other| self.claimant(other.one, owner.txid));
            let claimants = claimants.collect();
            self.share_transaction(owner.txid, claimants);
        }
    }

    /// Makes a transfer follow the transaction that took the place of its own, if that transaction pays enough.
    fn follow_replacement(&mut self, owner: &Owner<'a>) {
        let own = self.facts.presence_of(owner.txid);
        let others = self.facts.replacements_of(owner.txid).into_iter();
        let others = others.map(|by| (self.facts.presence_of(by), by));
        let mut others: Vec<(Presence, &str)> =
            others.filter(|(presence, _)| *presence > own).collect();
        others.sort_by_key(|(presence, _)| Reverse(*presence));
        let (one, needed) = (owner.one, owner.one.needed());
        for (_, by) in others {
            let before = self.shares.clone();
            self.release(one.seq());
            let Some(claimant) = self.claimant(one, by) else {
                return;
            };
            self.share_transaction(by, vec![claimant]);
            if needed.is_some_and(|needed| self.amount_of(one.seq()) >= needed) {
                return self.set_transaction(owner.at, by, owner.source);
            }
            self.shares = before;
        }
    }

    /// Takes back the outputs of a transfer that have not settled it.
    fn release(&mut self, seq: i64) {
        for (share, output) in self.shares.iter_mut().zip(&self.facts.outputs) {
            if *share == Some(seq) && output.settled != Some(seq) {
                *share = None;
            }
        }
    }

    /// Returns a transfer as a claimant of the outputs of a transaction; `None` if outputs of that transaction that
    /// settled the transfer cover its amount already.
    fn claimant(&self, one: &DestinationTransfer, txid: &str) -> Option<Claimant> {
        let needed = one.needed()?;
        let settled = sum(self.outputs_of(one.seq()).filter(|output| output.txid == txid));
        let left = needed.minus(settled).filter(|left| *left > Units::ZERO)?;
        let asset = one.transfer.asset;
        Some(Claimant { seq: one.seq(), asset, left, needed: left, is_other: false })
    }

    /// Returns the sum of the outputs that count for a transfer, without dropped ones.
    fn amount_of(&self, seq: i64) -> Units {
        sum(self.outputs_of(seq).filter(|output| output.may_count()))
    }

    /// Shares the outputs of a transaction out among claimants.
    ///
    /// First, each gets an output of exactly its amount, or else the one nearest to it. If the transaction pays more than
    /// the claimants need, other unpaid transfers keep what fits them. Then each claimant gets more until its amount is
    /// reached.
    fn share_transaction(&mut self, txid: &str, mut claimants: Vec<Claimant>) {
        let mut free: Vec<(usize, &DestinationOutput)> =
            self.free_outputs().filter(|(_, output)| output.txid == txid).collect();
        self.give_best(&mut claimants, &mut free);
        let left = claimants.iter().fold(Units::ZERO, |sum, one| plus(sum, one.left));
        if sum(free.iter().map(|(_, output)| *output)) > left {
            let mut others = self.unpaid_claimants();
            self.give_best(&mut others, &mut free);
        }
        for claimant in &mut claimants {
            while claimant.left > Units::ZERO {
                let next = free.iter().position(|(_, output)| output.asset == claimant.asset);
                if next.is_none() {
                    break;
                }
                self.give(next, &mut free, claimant);
            }
        }
    }

    /// Gives each claimant one output: of exactly its amount, or else the one nearest to it.
    fn give_best(
        &mut self,
        claimants: &mut [Claimant],
        free: &mut Vec<(usize, &DestinationOutput)>,
    ) {
        for claimant in claimants.iter_mut() {
            let exact = free.iter().position(|(_, output)| claimant.is_exact(output));
            self.give(exact, free, claimant);
        }
        let is_without = |claimant: &&mut Claimant| claimant.left == claimant.needed;
        let mut waiting: Vec<&mut Claimant> = claimants.iter_mut().filter(is_without).collect();
        while let Some((at, place)) = nearest_pair(&waiting, free) {
            let claimant = waiting.remove(at);
            self.give(Some(place), free, claimant);
        }
    }

    fn give(
        &mut self,
        place: Option<usize>,
        free: &mut Vec<(usize, &DestinationOutput)>,
        to: &mut Claimant,
    ) {
        let Some(place) = place.filter(|place| *place < free.len()) else {
            return;
        };
        let (at, output) = free.remove(place);
        to.left = to.left.minus(output.amount).unwrap_or(Units::ZERO);
        if !to.is_other {
            self.assign(at, to.seq);
        }
    }

    /// Returns the unpaid transfers without a transaction and without an output.
    fn unpaid_claimants(&self) -> Vec<Claimant> {
        let open = self.facts.transfers.iter().filter(|one| {
            matches!(one.books(), BookState::Open | BookState::Back)
                && one.entry().is_none()
                && self.outputs_of(one.seq()).next().is_none()
        });
        let open = open.filter_map(|one| self.claimant(one, ""));
        open.map(|one| Claimant { is_other: true, ..one }).collect()
    }

    /// Lets each output of exactly the amount be taken by the only transfer that it fits. A dropped output gives that
    /// transfer the transaction that replaced its own.
    fn take_exact_outputs(&mut self) {
        let all = self.facts.outputs.iter().zip(&self.shares).enumerate();
        let free = all.filter(|(_, (_, share))| share.is_none());
        let mut free: Vec<(usize, &DestinationOutput)> =
            free.map(|(place, (output, _))| (place, output)).collect();
        free.sort_by_key(|(_, output)| {
            (Reverse(output.presence()), output.seen_at, output.txid.as_str(), output.position)
        });
        for (place, output) in free {
            let Some((at, one)) = self.only_fit(output) else {
                continue;
            };
            if one.transfer.is_on_hold() {
                continue;
            }
            if output.may_count() {
                self.assign(place, one.seq());
                self.set_transaction(at, &output.txid, TxidSource::Chain);
            } else {
                let (txid, source) = (output.txid.as_str(), TxidSource::Chain);
                self.follow_replacement(&Owner { at, one, txid, source });
            }
        }
    }

    /// Returns the only transfer in `processing` that an output fits exactly; `None` if there is none, or several.
    ///
    /// A transfer that was handed over before the output was first seen comes before one that was handed over later. A
    /// transfer from which the transaction was removed comes last, and only once the transaction is in a block.
    fn only_fit(&self, output: &DestinationOutput) -> Option<(usize, &'a DestinationTransfer)> {
        let all = self.facts.transfers.iter().enumerate();
        let of_coin =
            || self.facts.transfers.iter().filter(|one| one.transfer.asset == output.asset);
        if of_coin().any(|one| one.may_be_sending_since(output)) {
            return None;
        }
        let fits: Vec<(usize, &DestinationTransfer)> = all
            .filter(|(_, one)| {
                one.transfer.status == TransferStatus::Processing
                    && one.entry().is_none()
                    && one.is_exact(output)
                    && one.is_after_approval(output)
                    && !one.is_before_release(output)
                    && !one.has_dismissed(&output.txid)
                    && (output.is_mined() || !self.has_detached(one, &output.txid))
                    && self.outputs_of(one.seq()).next().is_none()
            })
            .collect();
        let rank = |one: &DestinationTransfer| {
            (self.has_detached(one, &output.txid), !one.is_handed_over_before(output))
        };
        let best = fits.iter().map(|(_, one)| rank(one)).min()?;
        let mut best = fits.into_iter().filter(|(_, one)| rank(one) == best);
        match (best.next(), best.next()) {
            (Some(only), None) => Some(only),
            (_, _) => None,
        }
    }

    /// Sets the transaction of each settled transfer to the one that settled it, if that one is in a block and the
    /// transfer's own is not.
    fn name_settled_transactions(&mut self) {
        for (at, one) in self.facts.transfers.iter().enumerate() {
            let settled = self.facts.settled_outputs(one.seq());
            let best = settled.max_by_key(|output| output.presence());
            let own = self.facts.own_transaction(one);
            let is_there = own.is_some_and(|(own, _)| {
                self.outputs_of(one.seq()).any(|output| output.txid == own && output.is_mined())
            });
            if let Some(best) = best.filter(|best| best.is_mined() && !is_there) {
                let entered = one.entry().map(|entry| entry.source);
                let from = entered.unwrap_or(TxidSource::Chain);
                self.set_transaction(at, &best.txid, from);
            }
        }
    }

    /// Keeps the transaction with which the end of a transfer was told. Only the payment of a transfer that its chain
    /// settled may be replaced.
    fn keep_told_transactions(&mut self) {
        for (transaction, one) in self.transactions.iter_mut().zip(&self.facts.transfers) {
            let is_chains = one.transfer.sending_progress.settled_by == Some(SettledBy::Chain);
            if !one.transfer.status.is_open() && !is_chains {
                *transaction = one.transfer.transaction();
            }
        }
    }
}

/// A transfer with its own transaction: the entered one, or the one that settled it.
struct Owner<'a> {
    /// Index of the transfer.
    at: usize,
    one: &'a DestinationTransfer,
    txid: &'a str,
    source: TxidSource,
}

fn plus(sum: Units, more: Units) -> Units {
    sum.plus(more).unwrap_or(Units(u128::MAX))
}

/// Returns the sum of the amounts of outputs. A sum that overflows is the largest amount.
pub fn sum<'a>(outputs: impl Iterator<Item = &'a DestinationOutput>) -> Units {
    outputs.map(|output| output.amount).fold(Units::ZERO, plus)
}

/// Returns `true` if confirmed outputs reach the amount of a transfer.
pub(super) fn is_covered(sharing: &Sharing<'_>, one: &DestinationTransfer) -> bool {
    let confirmed = sharing.outputs_of(one.seq()).filter(|output| output.state.is_confirmed());
    one.needed().is_some_and(|needed| sum(confirmed) >= needed)
}

//! A chain with a few transactions, and two transfers to one destination. Events move the chain, and people act.

use super::outcomes::save_reviews;
use crate::domain::asset::Asset;
use crate::domain::money::coin::Units;
use crate::domain::observation::InputSource;
use crate::domain::payment::PaymentState;
use crate::domain::time::Time;
use crate::domain::transfer::act::{TransferAct, TransferActKind};
use crate::domain::transfer::destination::checks::{entry_problem, is_proved_gone};
use crate::domain::transfer::destination::facts::{
    DestinationFacts, DestinationOutput, DestinationTransfer,
};
use crate::domain::transfer::destination::{DestinationOutcome, assess_destination};
use crate::domain::transfer::on_chain::{
    AttachedState, AttachedTransaction, ReviewDecision, ReviewKind,
};
use crate::domain::transfer::outgoing::tests::refund;
use crate::domain::transfer::{SettledBy, TransferStatus, TxidSource};
use std::collections::BTreeSet;

/// Time of the approvals. The transactions are first seen after it.
const APPROVED: Time = Time(1_000);
/// Height at which the chain was read when the transfers were requested.
pub const REQUESTED: u32 = 50;
/// Height of the blocks in which transactions are mined.
pub const MINED: u32 = 60;

/// A transaction that the payer may send: its id, the input that it spends, and the amounts that it pays to the
/// destination.
#[derive(Clone, Copy, Debug)]
pub struct Sendable {
    pub txid: &'static str,
    pub input: u32,
    pub pays: &'static [u128],
}

/// State of a transaction on the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OnChain {
    Unsent,
    Mempool,
    Mined(u32),
    /// Another transaction spends its input.
    Replaced,
    /// In no block and no mempool.
    Lost,
}

/// An event: the chain moves, or somebody acts. Transactions and transfers are named by their indexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Event {
    Seen(usize),
    Mined(usize),
    /// The block of a transaction is gone, and its transaction is in the mempool again.
    Reorganised(usize),
    /// As [`Event::Reorganised`], but the transaction is in no mempool.
    Lost(usize),
    Enter(usize, usize),
    Detach(usize),
    Dismiss(usize, usize),
    /// Fails a transfer with `force`.
    Fail(usize),
    /// Adjusts the first open review that an adjustment ends.
    Adjust(usize),
    /// Resolves the first open review that a reason ends.
    Resolve(usize),
}

impl Event {
    /// Returns `true` if a person acts.
    pub fn is_act(self) -> bool {
        !matches!(self, Event::Seen(_) | Event::Mined(_) | Event::Reorganised(_) | Event::Lost(_))
    }
}

/// The chain, the recorded facts, and their assessment.
#[derive(Clone)]
pub struct World {
    pub sendable: &'static [Sendable],
    pub chain: Vec<OnChain>,
    pub facts: DestinationFacts,
    pub outcome: DestinationOutcome,
    /// Transaction that the last act was about.
    about: String,
    /// Accepted acts, each with its transaction.
    pub acts: Vec<(Event, String)>,
    /// Transfers in the order in which they were settled.
    pub settled: Vec<i64>,
    /// Transfers with the transactions that settled them.
    pub settlements: BTreeSet<(i64, String)>,
}

impl World {
    /// Returns transfers of these amounts in `processing`, with the numbers 1, 2 and so on, and a chain without
    /// transactions.
    pub fn new(amounts: &[u128], sendable: &'static [Sendable]) -> World {
        let transfers = (1..).zip(amounts).map(|(seq, amount)| {
            let mut transfer = refund(seq, *amount);
            transfer.txid = None;
            transfer.sending_progress.txid_from = None;
            transfer.sending_progress.handed_over_at = Some(APPROVED);
            transfer.sending_progress.approved_height = Some(REQUESTED);
            transfer.approved_at = Some(APPROVED);
            transfer.requested_height = Some(REQUESTED);
            DestinationTransfer { transfer, acts: Vec::new(), reviews: Vec::new() }
        });
        let facts = DestinationFacts {
            transfers: transfers.collect(),
            outputs: Vec::new(),
            transactions: Vec::new(),
            final_height: 0,
            now: Time(5_000),
        };
        let outcome = assess_destination(&facts);
        let chain = vec![OnChain::Unsent; sendable.len()];
        let (about, acts) = (String::new(), Vec::new());
        let (settled, settlements) = (Vec::new(), BTreeSet::new());
        World { sendable, chain, facts, outcome, about, acts, settled, settlements }
    }

    /// Applies an event and all that follows from it. Returns `false` if the event is impossible or refused, which
    /// changes nothing.
    pub fn apply(&mut self, event: Event) -> bool {
        self.about.clear();
        let is_applied = match event {
            Event::Seen(tx) => self.see(tx),
            Event::Mined(tx) => self.mine(tx, MINED),
            Event::Reorganised(tx) => self.unmine(tx, OnChain::Mempool),
            Event::Lost(tx) => self.unmine(tx, OnChain::Lost),
            Event::Enter(at, tx) => self.enter(at, self.sendable[tx].txid),
            Event::Detach(at) => self.detach(at),
            Event::Dismiss(at, tx) => self.dismiss(at, self.sendable[tx].txid),
            Event::Fail(at) => self.fail(at, true),
            Event::Adjust(at) => self.end_review(at, ReviewDecision::Adjusted),
            Event::Resolve(at) => self.end_review(at, ReviewDecision::Resolved),
        };
        if is_applied {
            if event.is_act() {
                self.acts.push((event, self.about.clone()));
            }
            self.tell();
            self.settle();
        }
        is_applied
    }

    fn conflicts(&self, tx: usize) -> impl Iterator<Item = usize> + use<> {
        let (all, own) = (self.sendable, self.sendable[tx].input);
        (0..all.len()).filter(move |other| *other != tx && all[*other].input == own)
    }

    fn is_mined(&self, tx: usize) -> bool {
        matches!(self.chain[tx], OnChain::Mined(_))
    }

    fn see(&mut self, tx: usize) -> bool {
        if self.chain[tx] == OnChain::Mempool
            || self.is_mined(tx)
            || self.conflicts(tx).any(|other| self.is_mined(other))
        {
            return false;
        }
        self.put(tx, OnChain::Mempool)
    }

    /// Mines a transaction in a block of this height.
    pub fn mine(&mut self, tx: usize, height: u32) -> bool {
        if self.is_mined(tx) || self.conflicts(tx).any(|other| self.is_mined(other)) {
            return false;
        }
        self.put(tx, OnChain::Mined(height))
    }

    fn unmine(&mut self, tx: usize, to: OnChain) -> bool {
        self.is_mined(tx) && self.put(tx, to)
    }

    fn put(&mut self, tx: usize, state: OnChain) -> bool {
        for other in self.conflicts(tx) {
            if self.chain[other] != OnChain::Unsent && state != OnChain::Lost {
                self.chain[other] = OnChain::Replaced;
            }
        }
        self.chain[tx] = state;
        true
    }

    /// Tells the facts of the chain.
    pub fn tell(&mut self) {
        let mut outputs = Vec::new();
        for (tx, sent) in self.sendable.iter().enumerate() {
            if self.chain[tx] == OnChain::Unsent {
                continue;
            }
            for (position, amount) in (0..).zip(sent.pays) {
                outputs.push(self.output(tx, position, *amount));
            }
        }
        self.facts.outputs = outputs;
        self.facts.transactions.clear();
        for (tx, sent) in self.sendable.iter().enumerate() {
            if self.facts.transfers.iter().any(|one| one.was_entered(sent.txid)) {
                self.facts.transactions.push(self.transaction(tx));
            }
        }
    }

    fn output(&self, tx: usize, position: u32, amount: u128) -> DestinationOutput {
        let sent = self.sendable[tx];
        let (state, height) = match self.chain[tx] {
            OnChain::Mined(height) => (PaymentState::Confirmed, Some(height)),
            OnChain::Mempool | OnChain::Lost | OnChain::Unsent => (PaymentState::Seen, None),
            OnChain::Replaced => (PaymentState::Dropped, None),
        };
        let known = self.facts.outputs.iter();
        let mut known =
            known.filter(|output| output.txid == sent.txid && output.position == position);
        DestinationOutput {
            observation: i64::try_from(tx).unwrap() * 100 + i64::from(position),
            txid: sent.txid.to_owned(),
            position,
            asset: Asset::find("LTC").unwrap(),
            amount: Units(amount),
            state,
            height,
            has_vanished: self.chain[tx] == OnChain::Lost,
            seen_at: APPROVED.plus_ms(1_000 + i64::try_from(tx).unwrap()),
            spends: vec![InputSource::Output("coin".to_owned(), sent.input)],
            settled: known.next().and_then(|output| output.settled),
        }
    }

    fn transaction(&self, tx: usize) -> AttachedTransaction {
        let (state, block_height) = match self.chain[tx] {
            OnChain::Unsent => (AttachedState::Unseen, None),
            OnChain::Mempool => (AttachedState::Mempool, None),
            OnChain::Mined(height) => (AttachedState::Mined, Some(height)),
            OnChain::Replaced | OnChain::Lost => (AttachedState::Absent, None),
        };
        let by = self
            .conflicts(tx)
            .find(|other| matches!(self.chain[*other], OnChain::Mempool | OnChain::Mined(_)));
        let seen_at = (state != AttachedState::Unseen).then_some(APPROVED);
        let is_mined = by.filter(|by| self.is_mined(*by));
        AttachedTransaction {
            seq: 1,
            txid: self.sendable[tx].txid.to_owned(),
            state,
            block_height,
            spends: Vec::new(),
            nonce: None,
            is_reverted: false,
            first_seen_at: seen_at,
            last_seen_at: seen_at,
            gone_by: by.map(|by| self.sendable[by].txid.to_owned()),
            gone_height: is_mined.map(|_| MINED),
            is_read_back: false,
            problem: None,
        }
    }

    fn act(&mut self, at: usize, kind: TransferActKind, txid: &str) -> bool {
        let act =
            TransferAct { kind, txid: txid.to_owned(), source: TxidSource::Person, at: APPROVED };
        self.facts.transfers[at].acts.push(act);
        txid.clone_into(&mut self.about);
        true
    }

    pub fn enter(&mut self, at: usize, txid: &str) -> bool {
        let is_gone =
            self.outcome.transfers[at].reviews.iter().any(|open| open.kind == ReviewKind::Gone);
        let one = &self.facts.transfers[at];
        let may_enter = one.transfer.status == TransferStatus::Processing
            || one.transfer.status == TransferStatus::Paid && is_gone;
        if !may_enter || entry_problem(&self.facts, one.seq(), txid, APPROVED).is_some() {
            return false;
        }
        self.act(at, TransferActKind::Entered, txid)
    }

    fn detach(&mut self, at: usize) -> bool {
        let status = self.facts.transfers[at].transfer.status;
        let transaction = self.outcome.transfers[at].transaction.clone();
        let entered = self.facts.transfers[at].entry().map(|entry| entry.txid.clone());
        match entered.or(transaction.map(|(txid, _)| txid)) {
            Some(txid) if status == TransferStatus::Processing => {
                self.act(at, TransferActKind::Detached, &txid)
            }
            Some(_) | None => false,
        }
    }

    fn dismiss(&mut self, at: usize, txid: &str) -> bool {
        let proposals = self.outcome.transfers[at].proposals.iter();
        let mut proposed = proposals.map(|place| &self.facts.outputs[*place].txid);
        proposed.any(|proposed| proposed == txid) && self.act(at, TransferActKind::Dismissed, txid)
    }

    /// Fails a transfer. Without force, its transaction must be proved gone.
    pub fn fail(&mut self, at: usize, has_force: bool) -> bool {
        let one = &self.facts.transfers[at];
        let txid = self.outcome.transfers[at].transaction.as_ref().map(|(txid, _)| txid);
        let is_gone = txid.is_some_and(|txid| is_proved_gone(&self.facts, one, txid));
        if one.transfer.status != TransferStatus::Processing || !(has_force || is_gone) {
            return false;
        }
        let found = self.outcome.transfers[at].transaction.clone();
        if let Some((txid, from @ TxidSource::Chain)) = found {
            self.act(at, TransferActKind::Entered, &txid);
            self.facts.transfers[at].acts.last_mut().unwrap().source = from;
        }
        let failed = &mut self.facts.transfers[at].transfer;
        failed.status = TransferStatus::Failed;
        failed.finalized_at = Some(self.facts.now);
        true
    }

    fn end_review(&mut self, at: usize, decision: ReviewDecision) -> bool {
        let seq = self.facts.transfers[at].seq();
        let is_own = |txid: &Option<String>| {
            let own = self.outcome.transfers[at].transaction.as_ref();
            own.is_some_and(|(own, _)| Some(own) == txid.as_ref())
        };
        let open = self.facts.transfers[at].reviews.iter().position(|review| {
            review.decision.is_none()
                && match review.kind {
                    ReviewKind::Gone => decision == ReviewDecision::Adjusted,
                    ReviewKind::Arrived => {
                        decision == ReviewDecision::Adjusted || !is_own(&review.txid)
                    }
                    ReviewKind::Overpaid | ReviewKind::BeyondReach => {
                        decision == ReviewDecision::Resolved
                    }
                }
        });
        let Some(open) = open else {
            return false;
        };
        let review = &mut self.facts.transfers[at].reviews[open];
        review.decision = Some(decision);
        self.about = format!("{} {}", review.kind, review.txid.as_deref().unwrap_or_default());
        if review.kind == ReviewKind::Arrived && decision == ReviewDecision::Adjusted {
            let txid = review.txid.clone().unwrap();
            for (output, share) in self.facts.outputs.iter_mut().zip(&self.outcome.shares) {
                if output.txid == txid && *share == Some(seq) {
                    output.settled = Some(seq);
                }
            }
        }
        true
    }

    /// Assesses the facts and saves what follows from them, until nothing changes.
    pub fn settle(&mut self) {
        loop {
            self.outcome = assess_destination(&self.facts);
            for (output, settled) in self.facts.outputs.iter_mut().zip(&self.outcome.settled) {
                output.settled = *settled;
            }
            for (one, outcome) in self.facts.transfers.iter_mut().zip(&self.outcome.transfers) {
                one.transfer.set_transaction(outcome.transaction.clone());
                save_reviews(one, outcome);
            }
            let next = self.outcome.transfers.iter().position(|outcome| outcome.is_settled);
            let Some(at) = next else {
                return;
            };
            let paid = &mut self.facts.transfers[at].transfer;
            paid.status = TransferStatus::Paid;
            paid.finalized_at = Some(self.facts.now);
            paid.sending_progress.settled_by = Some(SettledBy::Chain);
            self.settled.push(paid.seq);
            let (txid, _) = self.outcome.transfers[at].transaction.clone().unwrap();
            self.settlements.insert((paid.seq, txid));
        }
    }
}

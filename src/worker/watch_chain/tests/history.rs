//! One random history of a chain: payments, replacements, reorgs, faulty nodes, and a process that is killed at any
//! commit.
//!
//! Invariant: a history depends on its seed alone.

use super::HistoryCounts;
use super::dice::Dice;
use super::shop::{FileCopy, Shop};
use crate::chain::memory::{MemoryChain, MemoryNode, MemoryTransaction};
use crate::chain::{Node, NodeError};
use crate::domain::asset::Chain;
use crate::domain::time::{DAY_MS, MINUTE_MS};
use crate::domain::{Block, InputSource, PaymentState, Time, Units};
use crate::service::chains::apply::BatchStart;
use crate::service::tests::{
    NOW, audit_findings, block_on, is_unmatched_or_own_transfer, live_observations,
};
use crate::worker::watch_chain::{ChainWatch, FollowOutcome, StepError};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Received outputs by transaction and position: address, amount, block.
type ReceivedOutputs = BTreeMap<(String, u32), (String, u128, Block)>;

/// A chain, its follower, and its payments.
pub(super) struct ChainHistory {
    pub(super) seed: u64,
    pub(super) now: Time,
    pub(super) shop: Shop,
    pub(super) counts: HistoryCounts,
    dice: Dice,
    memory: Arc<Mutex<MemoryChain>>,
    watch: ChainWatch,
    nodes: Vec<MemoryNode>,
    /// Number of outputs of foreign addresses created so far. Each output is spent by one payment.
    made: u32,
    /// Transactions sent so far. Later transactions may spend or replace earlier ones.
    sent: Vec<MemoryTransaction>,
    /// An older copy of the file.
    copy: Option<FileCopy>,
    /// Addresses that the restored copy does not know.
    unknown: Vec<String>,
}

impl ChainHistory {
    pub(super) fn new(asset: &str, seed: u64) -> ChainHistory {
        let shop = Shop::new(asset);
        let network = shop.asset.chain.row().networks.0;
        let memory = Arc::new(Mutex::new(MemoryChain::new(shop.asset, network, NOW)));
        for _ in 0..12 {
            memory.lock().unwrap().mine_block(NOW, |_| false);
        }
        let mut history = ChainHistory {
            seed,
            now: NOW,
            dice: Dice::new(seed),
            nodes: Vec::new(),
            memory,
            watch: start_watch_of_shop(&shop),
            shop,
            counts: HistoryCounts::default(),
            made: 0,
            sent: Vec::new(),
            copy: None,
            unknown: Vec::new(),
        };
        history.restart();
        history.follow_once(false);
        history.follow_once(false);
        history.shop.assign_first_address();
        for _ in 0..4 {
            history.create_invoice();
        }
        assert_eq!(history.shop.ours.len(), 5);
        history.restart();
        history
    }

    /// Ends the process and starts it again. Only the file remains.
    fn restart(&mut self) {
        self.watch = start_watch_of_shop(&self.shop);
        self.nodes = self.new_nodes();
    }

    /// Returns two nodes of the chain. In every third history, the nodes are polled by address, like Solana nodes.
    fn new_nodes(&self) -> Vec<MemoryNode> {
        let mut nodes = [(); 2].map(|()| MemoryNode::new(&self.memory));
        for node in &mut nodes {
            node.polls_addresses |= self.seed.is_multiple_of(3);
        }
        nodes.into()
    }

    /// Creates an invoice. The follower watches the address of the invoice before the customer can pay.
    fn create_invoice(&mut self) {
        if let Some(address) = self.shop.create_invoice(self.now) {
            let mut watched = self.watch.addresses.write().unwrap();
            watched.insert(self.shop.asset.chain, &address);
            self.counts.addresses += 1;
        }
    }

    fn chain(&self) -> Chain {
        self.watch.chain
    }

    /// Performs a random action on the chain.
    pub(super) fn perform_random_action(&mut self) {
        self.now = self.now.plus_ms(MINUTE_MS);
        let now = self.now;
        if self.dice.once_in(3) {
            self.expire_invoices();
        }
        match self.dice.roll(24) {
            0..=7 => self.pay_randomly(),
            8..=9 => self.replace_transaction(),
            10..=11 => self.reorganize(),
            12 => self.create_invoice(),
            13 => {
                let (at, is_stuck) = (self.dice.roll(self.nodes.len()), self.dice.once_in(2));
                self.nodes[at].set_stuck(is_stuck);
                self.counts.nodes_stuck += usize::from(is_stuck);
            }
            14 if self.copy.is_none() => self.copy = Some(self.shop.copy_file()),
            _ => {
                let dice = &mut self.dice;
                let mut memory = self.memory.lock().unwrap();
                memory.mine_block(now, |_| !dice.once_in(3));
            }
        }
    }

    /// Returns a new output of a foreign address, which a transaction can spend.
    fn new_foreign_output(&mut self) -> InputSource {
        self.made += 1;
        InputSource::Output(format!("{:064x}", u64::from(self.made) << 32), 0)
    }

    /// Pays some of our addresses, and perhaps others, in one transaction. Sometimes the transaction spends money
    /// that we have received.
    fn pay_randomly(&mut self) {
        let mut spends = vec![self.new_foreign_output()];
        if self.dice.once_in(8) && !self.sent.is_empty() {
            let of = self.dice.roll(self.sent.len());
            spends.push(InputSource::Output(self.sent[of].txid.clone(), 0));
        }
        if !self.chain().has_outputs() {
            let of = self.dice.roll(12 * self.shop.ours.len());
            let stranger = || format!("0x{:040x}", self.made);
            let from = self.shop.ours.get(of).cloned();
            spends = vec![InputSource::Address(from.unwrap_or_else(stranger))];
        }
        let sent = self.random_transaction(spends);
        self.sent.push(sent.clone());
        self.memory.lock().unwrap().send_transaction(sent);
    }

    fn random_transaction(&mut self, spends: Vec<InputSource>) -> MemoryTransaction {
        self.counts.transactions += 1;
        let outputs = 1 + self.dice.roll(3);
        let pays = (0..outputs).map(|at| {
            let to = self.dice.roll(self.shop.ours.len() + 1);
            let stranger = "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa".to_owned();
            let to = self.shop.ours.get(to).cloned().unwrap_or(stranger);
            // The possible amounts: zero, dust, less than the price, the price, more than the price, and an amount
            // that needs many confirmations.
            let sixty = self.shop.units_for_sixty_euros();
            let units = [0, 1, sixty / 2, sixty, sixty, sixty * 3 / 2, sixty * 30];
            let units = Units(self.dice.pick(&units));
            (u32::try_from(at).unwrap(), to, units)
        });
        let pays = pays.collect();
        MemoryTransaction {
            txid: self.memory.lock().unwrap().new_id(),
            spends,
            pays,
            at: self.now,
            nonce: None,
            reverts: false,
        }
    }

    /// Replaces an unconfirmed transaction by another one that spends the same output.
    fn replace_transaction(&mut self) {
        let waits: Vec<MemoryTransaction> = self.memory.lock().unwrap().mempool.clone();
        if waits.is_empty() || !self.chain().has_outputs() {
            return;
        }
        self.counts.replacements += 1;
        let old = waits[self.dice.roll(waits.len())].clone();
        let mut new = self.random_transaction(old.spends.clone());
        if self.dice.once_in(2) {
            new.pays.clone_from(&old.pays);
        }
        self.sent.push(new.clone());
        self.memory.lock().unwrap().send_transaction(new);
    }

    /// Removes blocks in a reorg and mines other blocks. Each removed transaction becomes pending again or is lost.
    fn reorganize(&mut self) {
        self.counts.forks += 1;
        let depth = 1 + self.dice.roll(4);
        // On account-based chains the new branch is never shorter, so that final blocks stay final.
        let may_be_shorter = self.chain().has_outputs();
        let (now, dice) = (self.now, &mut self.dice);
        let mut memory = self.memory.lock().unwrap();
        memory.remove_blocks(depth, |_| !dice.once_in(5));
        if !may_be_shorter {
            // A contract may pay other amounts when its transaction is mined in another block.
            for sent in &mut memory.mempool {
                if dice.once_in(6) {
                    sent.pays[0].2 = Units(sent.pays[0].2.0 / 2);
                }
            }
        }
        let fewer = usize::from(may_be_shorter && dice.once_in(6));
        for _ in 0..depth + 1 - 2 * fewer {
            memory.mine_block(now, |_| !dice.once_in(3));
        }
    }

    /// Takes one step of the follower through a random node. If `kills` is `true`, the process may be killed at any
    /// commit.
    pub(super) fn follow_once(&mut self, kills: bool) {
        let at = self.dice.roll(self.nodes.len());
        let (behind, hides) = (self.dice.roll(6), self.dice.once_in(4));
        self.nodes[at].behind = if kills { behind.saturating_sub(3) } else { 0 };
        self.nodes[at].hides = kills && hides;
        let came = match self.watch.compute_step(&mut self.nodes[at], self.now) {
            Ok(came) => came,
            Err(StepError::Node(NodeError::Behind | NodeError::Lied(_))) => return,
            Err(failed) => panic!("{failed:?}"),
        };
        let step = match came {
            FollowOutcome::Step(step) => Arc::new(*step),
            FollowOutcome::Lagging(_) => return,
            FollowOutcome::Stopped(_) => panic!("it stopped"),
        };
        let mut part = BatchStart::FIRST;
        while part != BatchStart::Done {
            if kills && self.dice.once_in(6) {
                self.counts.kills += 1;
                return self.restart();
            }
            part = self
                .shop
                .service
                .apply_chain_step(self.now, &step, part, self.watch.batch_limit())
                .unwrap();
        }
        self.nodes[at].mark_answers_stored();
    }

    /// Mines all unconfirmed transactions, makes them final, and reads them.
    pub(super) fn finalize_all(&mut self) {
        for node in &mut self.nodes {
            node.set_stuck(false);
        }
        for _ in 0..2 {
            for _ in 0..40 {
                self.memory.lock().unwrap().mine_block(self.now, |_| true);
            }
            self.catch_up();
            // After more than a day, missing transactions are dropped.
            self.now = self.now.plus_ms(DAY_MS + MINUTE_MS);
        }
        self.catch_up();
    }

    /// Takes steps until the newest block is read and no rescan is pending. Then expires invoices.
    #[track_caller]
    pub(super) fn catch_up(&mut self) {
        let service = Arc::clone(&self.shop.service);
        let mut rest = 0;
        for _ in 0..400 {
            self.follow_once(false);
            let known = service.chain_state(self.now, self.chain(), 1, false).unwrap();
            let head = self.memory.lock().unwrap().tip().block.clone();
            let is_read = known.cursor.is_some_and(|cursor| cursor.block == head);
            rest += usize::from(is_read && known.rescan.is_none());
            if rest == 16 {
                return self.expire_invoices();
            }
        }
        panic!("seed {}: it does not catch up", self.seed);
    }

    /// Expires invoices, as the worker does.
    fn expire_invoices(&self) {
        while block_on(self.shop.service.expire_invoices(self.now)).unwrap() > 0 {}
    }

    /// Rescans the whole chain. The process is killed at random commits.
    pub(super) fn rescan_chain(&mut self) {
        let (service, chain) = (Arc::clone(&self.shop.service), self.chain());
        service.order_rescan(self.now, chain, 0).unwrap();
        for _ in 0..10 {
            self.follow_once(true);
        }
        for node in &mut self.nodes {
            node.set_stuck(false);
        }
        self.catch_up();
    }

    /// Returns `true` if a copy of the file was taken.
    pub(super) fn has_file_copy(&self) -> bool {
        self.copy.is_some()
    }

    /// Continues from the older copy of the file.
    pub(super) fn restore_copy(mut self) -> ChainHistory {
        let copy = self.copy.take().unwrap();
        let (shop, unknown) = self.shop.restore_copy(&copy);
        let mut restored =
            ChainHistory { watch: start_watch_of_shop(&shop), shop, unknown, ..self };
        // The addresses are loaded again from the restored file, and derived from its wallet.
        restored.watch.addresses = Arc::default();
        restored.nodes = restored.new_nodes();
        restored.watch.load_addresses().unwrap();
        while !restored.watch.derive_more_addresses().unwrap() {}
        restored.counts.restored += 1;
        restored
    }

    /// Asserts that the file has exactly the outputs on the chain, each with its block. Returns the outputs.
    #[track_caller]
    pub(super) fn assert_matches_chain(&mut self) -> ReceivedOutputs {
        let seed = self.seed;
        let memory = self.memory.lock().unwrap();
        let ours = |to: &String| self.shop.ours.contains(to);
        let paid = memory
            .active_outputs()
            .into_iter()
            .filter(|(_, _, to, units, _)| ours(to) && *units != Units::ZERO);
        let right: ReceivedOutputs =
            paid.map(|(txid, at, to, units, block)| ((txid, at), (to, units.0, block))).collect();
        let (mut stored, mut of_file) = (ReceivedOutputs::new(), BTreeMap::new());
        let mut unknown = 0;
        for observed in live_observations(&self.shop.service, self.chain()) {
            let seen = observed.seen;
            let place = (seen.txid.clone(), seen.position);
            of_file.insert(place.clone(), (observed.seq, observed.state));
            if observed.state == PaymentState::Dropped {
                continue;
            }
            let about = format!("{seen:?}");
            assert_eq!(observed.state, PaymentState::Confirmed, "seed {seed}: {about}");
            let is_unknown = self.unknown.contains(&seen.address);
            assert!(
                !is_unknown || is_unmatched_or_own_transfer(&self.shop.service, observed.seq),
                "seed {seed}: {about} is of an address that the file does not know"
            );
            unknown += usize::from(is_unknown);
            let value = (seen.address, seen.amount.0, seen.block.unwrap());
            assert!(stored.insert(place, value).is_none(), "seed {seed}: {about}");
        }
        for (place, value) in &right {
            let known = of_file.get(place);
            assert_eq!(stored.get(place), Some(value), "seed {seed}: {place:?} is {known:?}");
        }
        for (place, value) in &stored {
            assert_eq!(Some(value), right.get(place), "seed {seed}: {place:?}");
        }
        let findings = audit_findings(&self.shop.service);
        assert!(findings.is_empty(), "seed {seed}: {findings:#?}");
        (self.counts.outputs, self.counts.unknown) = (stored.len(), unknown);
        stored
    }
}

/// Starts a follower of a shop's chain.
fn start_watch_of_shop(shop: &Shop) -> ChainWatch {
    super::start_watch(&shop.service, shop.asset.chain, &shop.ours)
}

//! Random histories of refunds on a chain.
//!
//! Refunds are paid exactly, too little or too much, alone and in batches. Their transactions are replaced, dropped and
//! mined again. Two operators enter the right transaction id, a wrong one or none, and decide by what they saw some
//! steps ago. The process is killed at any commit, and the file is restored from an older copy.
//!
//! Invariant: see [`money`].

mod cases;
mod crowds;
mod money;
mod places;

use super::dice::Dice;
use super::shop::{FileCopy, Shop};
use super::{history_count, history_count_and_seed, print_line, start_watch};
use crate::chain::NodeError;
use crate::chain::memory::{MemoryChain, MemoryNode, MemoryTransaction};
use crate::domain::chain::Chain;
use crate::domain::time::{DAY_MS, MINUTE_MS};
use crate::domain::transfer::inputs::MoveTransfer;
use crate::domain::{InputSource, Time, TransferKind, Units};
use crate::service::chains::apply::BatchStart;
use crate::service::tests::{NOW, audit_findings, block_on, request_refund, request_without_key};
use crate::worker::watch_chain::{ChainWatch, FollowOutcome, StepError};
use money::RefundCounts;
use places::{foreign_addresses, has_nonces};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// Number of steps in one history.
const STEPS: usize = 50;
/// Kind of every transfer in these tests.
const KIND: TransferKind = TransferKind::Refund;

/// A requested refund, with its destination and its amount in base units.
struct ExpectedRefund {
    id: String,
    to: String,
    amount: Option<u128>,
}

/// A chain, its follower, and refunds.
struct RefundHistory {
    seed: u64,
    now: Time,
    dice: Dice,
    shop: Shop,
    memory: Arc<Mutex<MemoryChain>>,
    watch: ChainWatch,
    node: MemoryNode,
    refunds: Vec<ExpectedRefund>,
    made: u64,
    copy: Option<FileCopy>,
    /// Reviews that each of the two operators saw when that operator last looked: refund and id.
    seen_reviews: [Vec<(String, String)>; 2],
    restores: usize,
}

impl RefundHistory {
    fn new(asset: &str, seed: u64) -> RefundHistory {
        let shop = Shop::new(asset);
        let chain = shop.asset.chain;
        let memory = MemoryChain::new(shop.asset, chain.row().networks.0, NOW);
        let memory = Arc::new(Mutex::new(memory));
        let mut all = RefundHistory {
            seed,
            now: NOW,
            dice: Dice::new(seed),
            watch: start_watch(&shop.service, chain, &foreign_addresses(chain)),
            node: MemoryNode::new(&memory),
            shop,
            memory,
            refunds: Vec::new(),
            made: 0,
            copy: None,
            seen_reviews: Default::default(),
            restores: 0,
        };
        all.mine(12, |_| true);
        all.catch_up();
        let address = all.shop.create_invoice(all.now).unwrap();
        all.watch.addresses.write().unwrap().insert(chain, &address);
        let units = Units(all.shop.units_for_sixty_euros() * 20);
        let spends = all.new_transaction_inputs();
        all.send_transaction(spends, vec![(0, address, units)]);
        all.mine(40, |_| true);
        all.catch_up();
        all
    }

    fn chain(&self) -> Chain {
        self.shop.asset.chain
    }

    fn mine(&mut self, blocks: usize, picks: impl Fn(&MemoryTransaction) -> bool) {
        for _ in 0..blocks {
            self.memory.lock().unwrap().mine_block(self.now, |sent| picks(sent));
        }
    }

    /// Returns a list with one new input for a transaction.
    fn new_transaction_inputs(&mut self) -> Vec<InputSource> {
        self.made += 1;
        vec![if self.chain().has_outputs() {
            InputSource::Output(format!("{:064x}", self.made << 32), 0)
        } else {
            InputSource::Address(format!("0x{:040x}", self.made << 32))
        }]
    }

    fn send_transaction(
        &mut self,
        spends: Vec<InputSource>,
        pays: Vec<(u32, String, Units)>,
    ) -> String {
        let has_nonce = has_nonces(self.chain());
        let mut memory = self.memory.lock().unwrap();
        let txid = memory.new_id();
        memory.send_transaction(MemoryTransaction {
            txid: txid.clone(),
            spends,
            pays,
            at: self.now,
            nonce: has_nonce.then_some(0),
            reverts: false,
        });
        txid
    }

    /// Applies an action of the operator to a refund. Returns the refund, or `None` if the action was refused.
    fn apply_action(&self, id: &str, body: &Value) -> Option<Value> {
        let body = MoveTransfer::read(body.as_object().unwrap()).ok()?;
        let service = &self.shop.service;
        let request = request_without_key(&json!({}));
        let moved = service.apply_operator_step(self.now, "op", KIND, id, body.into(), request);
        block_on(moved).ok().map(|moved| serde_json::from_str(&moved.body).unwrap())
    }

    /// Requests and approves a refund, and usually starts its processing.
    fn start_refund(&mut self) {
        let to = foreign_addresses(self.chain())[self.dice.roll(3)].clone();
        let amount = self.dice.pick(&["6.00", "12.00", "12.00", "30.00"]);
        let (service, merchant) = (&self.shop.service, &self.shop.merchant);
        let id = request_refund(service, merchant, self.now, amount, &to);
        let approve = json!({
            "action": "approve", "rate": self.shop.rate, "acceptRate": true, "networkFee": "0", "sentBy": "hand",
        });
        let approved = self.apply_action(&id, &approve).unwrap();
        let text = approved["amountCrypto"].as_str().unwrap();
        let units = Units::parse(text, self.shop.asset.decimals).unwrap();
        if !self.dice.once_in(8) {
            self.apply_action(&id, &json!({ "action": "process" })).unwrap();
        }
        self.refunds.push(ExpectedRefund { id, to, amount: Some(units.0) });
    }

    /// Pays the destinations of one to three refunds in one transaction. Sometimes the fee is taken out of an output, and
    /// sometimes the operator enters the transaction
    /// id.
    fn pay_refunds(&mut self) {
        if self.refunds.is_empty() {
            return self.start_refund();
        }
        let mut pays = Vec::new();
        let mut of = Vec::new();
        for position in 0..self.dice.pick(&[1, 1, 1, 2, 2, 3]) {
            let at = self.dice.roll(self.refunds.len());
            let units = self.refunds[at].amount.unwrap();
            let units =
                self.dice.pick(&[units, units, units, units - 3, units / 2, units + 1, units * 2]);
            pays.push((position, self.refunds[at].to.clone(), Units(units)));
            of.push(self.refunds[at].id.clone());
        }
        let spends = self.new_transaction_inputs();
        let txid = self.send_transaction(spends, pays);
        for id in of {
            if self.dice.once_in(2) {
                self.apply_action(&id, &json!({ "action": "pay", "txid": txid }));
            }
        }
    }

    /// Replaces an unconfirmed transaction. The new transaction makes the same payments, or pays another destination.
    fn replace_transaction(&mut self) {
        let waits = self.memory.lock().unwrap().mempool.clone();
        let may_be = self.chain().has_outputs() || has_nonces(self.chain());
        if waits.is_empty() || !may_be {
            return;
        }
        let old = waits[self.dice.roll(waits.len())].clone();
        let mut pays = old.pays;
        if self.dice.once_in(3) {
            pays[0].1 = foreign_addresses(self.chain())[self.dice.roll(3)].clone();
        }
        self.send_transaction(old.spends, pays);
    }

    /// Applies a random action of an operator to a refund, whether or not the action fits the refund.
    fn apply_operator_action(&mut self) {
        if self.refunds.is_empty() {
            return;
        }
        let at = self.dice.roll(self.refunds.len());
        let id = self.refunds[at].id.clone();
        let known = self.memory.lock().unwrap().active_outputs();
        let wrong = match self.dice.roll(3) {
            0 if !known.is_empty() => known[self.dice.roll(known.len())].0.clone(),
            _ => self.memory.lock().unwrap().new_id(),
        };
        let body = match self.dice.roll(12) {
            0..=1 => json!({ "action": "process" }),
            2..=3 => json!({ "action": "pay", "txid": wrong }),
            4 => json!({ "action": "detach" }),
            5 => json!({ "action": "fail", "force": self.dice.once_in(3) }),
            6 => json!({ "action": "fail" }),
            7 => json!({ "action": "dismiss", "txid": "all" }),
            8 => json!({ "action": "cancel" }),
            9 => json!({ "action": "release" }),
            _ => json!({ "action": "dismiss", "txid": wrong }),
        };
        self.apply_action(&id, &body);
    }

    /// One of two operators decides about a review, as that operator last saw it, or looks again.
    fn decide_review(&mut self) {
        let operator = self.dice.roll(2);
        if self.seen_reviews[operator].is_empty() || self.dice.once_in(3) {
            self.seen_reviews[operator] = self.open_reviews();
            return;
        }
        let at = self.dice.roll(self.seen_reviews[operator].len());
        let (refund, review) = self.seen_reviews[operator].swap_remove(at);
        let action = self.dice.pick(&["resolve", "adjust", "adjust"]);
        let body = json!({ "action": action, "review": review, "reason": "as it looked to me" });
        self.apply_action(&refund, &body);
    }

    /// Returns the refund and the id of each open review.
    fn open_reviews(&self) -> Vec<(String, String)> {
        let mut open = Vec::new();
        for one in &self.refunds {
            let read = self.shop.service.transfer_for_operator(self.now, KIND, &one.id);
            let seen: Value = serde_json::from_str(read.unwrap().get()).unwrap();
            for review in seen["reviews"].as_array().unwrap() {
                if review["endedAt"].is_null() {
                    open.push((one.id.clone(), review["id"].as_str().unwrap().to_owned()));
                }
            }
        }
        open
    }

    /// Copies the file, or continues from the older copy.
    fn copy_or_restore(&mut self) {
        let Some(copy) = self.copy.take() else {
            self.copy = Some(self.shop.copy_file());
            return;
        };
        self.shop = self.shop.restore_copy(&copy).0;
        self.restores += 1;
        let service = &self.shop.service;
        let is_known =
            |one: &ExpectedRefund| service.transfer_for_operator(self.now, KIND, &one.id).is_ok();
        self.refunds.retain(is_known);
        self.restart();
    }

    /// Starts the follower again, as after a kill.
    fn restart(&mut self) {
        let chain = self.chain();
        self.watch = start_watch(&self.shop.service, chain, &foreign_addresses(chain));
        for address in &self.shop.ours {
            self.watch.addresses.write().unwrap().insert(chain, address);
        }
        self.node = MemoryNode::new(&self.memory);
    }

    fn perform_random_action(&mut self) {
        self.now = self.now.plus_ms(MINUTE_MS);
        match self.dice.roll(24) {
            20..=21 => self.decide_review(),
            22 if self.dice.once_in(3) => self.copy_or_restore(),
            0..=3 => self.start_refund(),
            4..=8 => self.pay_refunds(),
            9 => self.replace_transaction(),
            10 => {
                let depth = 1 + self.dice.roll(3);
                let dice = &mut self.dice;
                let mut memory = self.memory.lock().unwrap();
                memory.remove_blocks(depth, |_| !dice.once_in(4));
                for _ in 0..=depth {
                    memory.mine_block(self.now, |_| !dice.once_in(3));
                }
            }
            11..=13 => self.apply_operator_action(),
            _ => {
                let dice = &mut self.dice;
                let mut memory = self.memory.lock().unwrap();
                memory.mine_block(self.now, |_| !dice.once_in(3));
            }
        }
    }

    /// Takes one step of the follower. If `kills` is `true`, the process may be killed at any commit.
    fn follow_once(&mut self, kills: bool) {
        let came = match self.watch.compute_step(&mut self.node, self.now) {
            Ok(came) => came,
            Err(StepError::Node(NodeError::Behind | NodeError::Lied(_))) => return,
            Err(failed) => panic!("seed {}: {failed:?}", self.seed),
        };
        let FollowOutcome::Step(step) = came else {
            return;
        };
        let (step, mut part) = (Arc::new(*step), BatchStart::FIRST);
        while part != BatchStart::Done {
            if kills && self.dice.once_in(6) {
                return self.restart();
            }
            let service = &self.shop.service;
            let taken = service.apply_chain_step(self.now, &step, part, self.watch.batch_limit());
            part = taken.unwrap();
        }
    }

    fn catch_up(&mut self) {
        let mut rest = 0;
        for _ in 0..400 {
            self.follow_once(false);
            let known = self.shop.service.chain_state(self.now, self.chain(), 1, false).unwrap();
            let head = self.memory.lock().unwrap().tip().block.clone();
            let is_read = known.cursor.is_some_and(|cursor| cursor.block == head);
            rest += usize::from(is_read && known.rescan.is_none());
            if rest == 8 {
                return;
            }
        }
        panic!("seed {}: it does not catch up", self.seed);
    }

    /// Mines all unconfirmed transactions and makes them final.
    fn finalize_all(&mut self) {
        for _ in 0..2 {
            self.mine(60, |_| true);
            self.catch_up();
            self.now = self.now.plus_ms(DAY_MS + MINUTE_MS);
        }
        self.catch_up();
    }

    /// Asserts that books and chain agree, and that the audit finds nothing.
    fn assert_matches_chain(&mut self) -> RefundCounts {
        let findings = audit_findings(&self.shop.service);
        assert!(findings.is_empty(), "seed {}: {findings:#?}", self.seed);
        self.assert_money_matches_chain()
    }
}

/// Runs the random histories of a coin.
fn run_histories(asset: &str) {
    let (many, first) = history_count_and_seed();
    let many = history_count(asset, many);
    let (mut total, mut restores) = (RefundCounts::default(), 0);
    for seed in first..first + many {
        let mut history = RefundHistory::new(asset, seed);
        for _ in 0..STEPS {
            history.perform_random_action();
            history.follow_once(true);
        }
        history.finalize_all();
        total.add(history.assert_matches_chain());
        restores += history.restores;
    }
    print_line(&format!("{asset}: {many} from seed {first} on: {restores} restores, {total:?}"));
    assert!(
        total.paid > 0 && total.reviewed > 0 && total.put_back > 0 && total.paid < total.refunds
    );
}

#[test]
fn refunds_match_bitcoin_after_random_histories() {
    run_histories("BTC");
}

#[test]
fn refunds_match_ethereum_after_random_histories() {
    run_histories("ETH");
}

#[test]
fn refunds_match_tron_after_random_histories() {
    run_histories("TRX");
}

#[test]
fn refunds_match_solana_after_random_histories() {
    run_histories("SOL");
}

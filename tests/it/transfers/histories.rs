//! Random histories of payouts and refunds on a real node, seen from outside: the binary, its interface and `kill -9`.
//!
//! Transfers are paid exactly, too little or too much, alone and in batches, by hand and by the signer. Transactions are
//! replaced, reorganised away and mined again. Two operators act on the same transfers at the same time. The file is
//! restored from an older copy.
//!
//! Invariant: see [`super::money`]. The steps depend on the seed alone. The ids of a node's transactions do not, and neither
//! does the order of two operators, so a failure may need several runs.

mod operators;
mod signers;
mod transactions;

use super::money::{ChainOutputs, MoneyCounts, assert_money_matches_chain};
use crate::chain::till::TestnetShop;
use crate::support::dice::Dice;
use crate::support::installation::RunningServer;
use crate::support::{Response, polling};
use serde_json::{Value, json};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Number of histories on each node, unless the environment sets another number.
const HISTORIES: u64 = 7;
/// Number of histories in memory for each history on a node.
const MEMORY_HISTORIES: u64 = 12;
/// Number of steps in one history.
const STEPS: usize = 22;
/// Number of looks for the start of a signer. Another transfer may keep the signer busy.
const SIGNER_LOOKS: usize = 40;

/// An amount that a transaction pays to a destination.
#[derive(Clone, Debug)]
pub struct Payment {
    pub to: String,
    pub asset: &'static str,
    pub units: u128,
}

/// A real node, and a shop with a paid invoice in each coin.
pub trait HistoryChain {
    /// Coins that transfers are sent in.
    const ASSETS: &'static [&'static str];
    const CHAIN: &'static str;
    /// Number of blocks after which a payment is final, and the number that settles every transfer.
    const FINAL_DEPTH: u32;
    const SETTLING_BLOCKS: u32;

    fn shop(&self) -> (&TestnetShop, &RunningServer);
    /// Prepares a history: signs the operator in again, and gives coins to the payer. Returns new destinations.
    fn prepare(&mut self) -> Vec<String>;
    fn invoice(&self, asset: &str) -> String;
    fn height(&self) -> u32;
    /// Pays in one transaction, which stays unconfirmed. Returns its id, and the payments that it makes.
    fn pay(&mut self, payments: Vec<Payment>) -> (String, Vec<Payment>);
    /// Replaces an unconfirmed transaction and returns the id of the new one; `None` if it is not in the mempool.
    fn replace(&mut self, txid: &str, payments: &[Payment]) -> Option<String>;
    /// Mines a block with all unconfirmed transactions except these.
    fn mine(&mut self, held: &[String]);
    /// Replaces the newest blocks by empty ones. `keeps` tells which of their transactions return to the mempool, where
    /// the node allows a choice.
    fn reorganise(&mut self, depth: u32, keeps: impl FnMut() -> bool);
    fn mine_blocks(&mut self, blocks: u32);
    fn kill(&mut self);
    fn start(&mut self);
    /// Kills the server, starts it, and waits until it has read the chain.
    fn sync(&mut self);
    fn restore(&mut self, copy: &str);
    /// Reads the outputs at these destinations in the blocks from this height on. Asserts that they are all coins there.
    fn outputs(&self, destinations: &[String], from: u32) -> ChainOutputs;
    /// Returns the id of a transaction that does not exist.
    fn unknown_txid(&self, number: u32) -> String;
}

/// Totals of several histories.
#[derive(Debug, Default)]
struct HistoryCounts {
    histories: usize,
    events: usize,
    /// Requests to change a transfer, and those that were accepted.
    acts: usize,
    accepted: usize,
    transactions: usize,
    replacements: usize,
    reorgs: usize,
    kills: usize,
    restores: usize,
    /// Times that two operators acted at the same time.
    races: usize,
}

/// A payout or refund of a history.
#[derive(Clone, Debug)]
struct HistoryTransfer {
    path: String,
    id: String,
    to: String,
    asset: &'static str,
    /// Amount in base units, once it is approved.
    units: Option<u128>,
    /// `true` once a transaction was sent for it.
    is_paid: bool,
    /// `true` once its signer has answered.
    is_answered: bool,
}

/// A transaction of a history.
struct HistoryTransaction {
    txid: String,
    payments: Vec<Payment>,
}

/// One random history.
struct History<'c, C> {
    chain: &'c mut C,
    dice: Dice,
    counts: &'c mut HistoryCounts,
    /// Steps so far, for a failure.
    steps: &'c mut Vec<String>,
    destinations: Vec<String>,
    /// Height at the start. No reorg goes deeper.
    base: u32,
    transfers: Vec<HistoryTransfer>,
    transactions: Vec<HistoryTransaction>,
    copy: Option<String>,
    /// Open reviews that each operator saw at the last look: transfer and id.
    seen_reviews: [Vec<(String, String)>; 2],
}

/// Plays the random histories on a node, and prints what happened in them.
#[expect(clippy::print_stderr, reason = "whoever runs the tests can play it again")]
pub fn run_histories<C: HistoryChain>(mut chain: C) {
    let number = |name| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let many = number("COFFER_HISTORIES").map_or(HISTORIES, |many| many.div_ceil(MEMORY_HISTORIES));
    let first = number("COFFER_SEED").unwrap_or(1);
    let settled = json!([{ "confirmations": 2 }]);
    let tiers: Value =
        C::ASSETS.iter().map(|asset| ((*asset).to_owned(), settled.clone())).collect();
    let body = json!({ "confirmations": tiers });
    chain.shop().1.operator_request("PUT", "/dashboard/api/settings", &body).expect(200);
    let (mut counts, mut money) = (HistoryCounts::default(), MoneyCounts::default());
    for seed in first..first + many {
        let mut steps = Vec::new();
        let mut play = || money.add(History::new(&mut chain, seed, &mut counts, &mut steps).play());
        if let Err(failed) = catch_unwind(AssertUnwindSafe(&mut play)) {
            eprintln!("{}", steps.join("\n"));
            let again = format!("COFFER_HISTORIES={MEMORY_HISTORIES} COFFER_SEED={seed}");
            eprintln!("{}: {again} plays it again", C::CHAIN);
            resume_unwind(failed);
        }
    }
    eprintln!("{}: from seed {first} on: {counts:?}, {money:?}", C::CHAIN);
    let is_varied = money.paid > 0 && money.reviewed > 0 && money.put_back > 0;
    assert!(is_varied || many < HISTORIES, "{money:?}");
}

impl<'c, C: HistoryChain> History<'c, C> {
    #[track_caller]
    fn new(
        chain: &'c mut C,
        seed: u64,
        counts: &'c mut HistoryCounts,
        steps: &'c mut Vec<String>,
    ) -> History<'c, C> {
        let destinations = chain.prepare();
        let base = chain.height();
        History {
            chain,
            dice: Dice::new(seed),
            counts,
            steps,
            destinations,
            base,
            transfers: Vec::new(),
            transactions: Vec::new(),
            copy: None,
            seen_reviews: Default::default(),
        }
    }

    /// Plays the history, and compares books and chain at its end.
    #[track_caller]
    fn play(mut self) -> MoneyCounts {
        self.start_transfer();
        self.act_at_once();
        self.start_transfer();
        for _ in 0..STEPS {
            self.perform_random_step();
        }
        self.answer_all_signers();
        self.chain.mine(&[]);
        for blocks in [C::SETTLING_BLOCKS, 1] {
            self.chain.mine_blocks(blocks);
            self.sync();
        }
        let shop = self.chain.shop().0;
        shop.served.assert_audit_clean();
        let active = self.chain.outputs(&self.destinations, self.base + 1);
        let file = shop.served.open_file();
        let money = assert_money_matches_chain(&file, &self.destinations, &active, C::FINAL_DEPTH);
        self.end_all_transfers();
        self.counts.histories += 1;
        money
    }

    #[track_caller]
    fn perform_random_step(&mut self) {
        self.counts.events += 1;
        match self.dice.roll(24) {
            0..=3 => self.start_transfer(),
            4..=8 => self.pay_transfers(),
            9..=11 => self.replace_transaction(),
            12..=13 => self.reorganise(),
            14..=15 => self.act(),
            16 => self.act_at_once(),
            17 => self.copy_or_restore(),
            18 => self.kill_at_random_moment(),
            _ => self.mine(),
        }
        if self.dice.once_in(4) {
            self.sync();
        }
    }

    #[track_caller]
    fn sync(&mut self) {
        self.note("sync");
        self.chain.sync();
        self.counts.kills += 1;
    }

    /// Notes a step, which a failure prints.
    fn note(&mut self, step: impl Into<String>) {
        let height = self.chain.height();
        self.steps.push(format!("{height} {}", step.into()));
    }

    /// Returns the texts of a query with one column.
    #[track_caller]
    fn query(&self, sql: &str) -> Vec<String> {
        let file = self.chain.shop().0.served.open_file();
        let mut rows = file.prepare(sql).unwrap();
        let rows = rows.query_map([], |row| row.get(0)).unwrap();
        rows.map(Result::unwrap).collect()
    }

    /// Requests, approves and processes a payout or refund; sometimes it does not get so far.
    #[track_caller]
    fn start_transfer(&mut self) {
        let to = self.destinations[self.dice.roll(self.destinations.len())].clone();
        let asset = self.dice.pick(C::ASSETS);
        let open = "select id from transfers where kind = 'payout' and finalized_at is null";
        let is_payout = self.dice.once_in(4) && self.query(open).is_empty();
        let amount = self.dice.pick(&["1.00", "2.00", "2.00", "3.00"]);
        let (shop, running) = self.chain.shop();
        let path = if is_payout {
            let id = shop.served.request_payout_to(running, [asset, C::CHAIN, &to]);
            format!("/dashboard/api/payouts/{id}")
        } else {
            let path = format!("/dashboard/api/accounts/{}/refunds", shop.served.account);
            let body =
                json!({ "invoice": self.chain.invoice(asset), "amount": amount, "toAddress": to });
            let refund = running.operator_request("POST", &path, &body).expect(201).json();
            format!("/dashboard/api/refunds/{}", refund["id"].as_str().unwrap())
        };
        let id = path.rsplit('/').next().unwrap().to_owned();
        self.transfers.push(HistoryTransfer {
            path,
            id,
            to,
            asset,
            units: None,
            is_paid: false,
            is_answered: false,
        });
        let at = self.transfers.len() - 1;
        self.note(format!("start {:?}", self.transfers[at]));
        if self.dice.once_in(12) {
            return;
        }
        let is_by_signer = self.dice.once_in(4);
        self.approve(at, if is_by_signer { "signer" } else { "hand" });
        if is_by_signer {
            let mut looks = 0;
            let is_running = |transfer: &HistoryTransfer| self.has_signer(transfer);
            let _is_started = polling::wait_until(|| {
                looks += 1;
                looks > SIGNER_LOOKS || is_running(&self.transfers[at])
            });
        } else if !self.dice.once_in(8) {
            self.apply_action(at, &json!({ "action": "process" }));
        }
    }

    #[track_caller]
    fn approve(&mut self, at: usize, sent_by: &str) {
        let mut body = json!({
            "action": "approve", "rate": "100", "acceptRate": true, "networkFee": "0.001", "sentBy": sent_by,
        });
        if self.transfers[at].path.contains("/refunds/") {
            body["basis"] = "market".into();
        }
        if self.apply_action(at, &body).status == 200 {
            let id = &self.transfers[at].id;
            let units =
                self.query(&format!("select amount_crypto from transfers where id = '{id}'"));
            self.transfers[at].units = Some(units[0].parse().unwrap());
        }
    }

    /// Sends an action of the operator, which may be refused.
    #[track_caller]
    fn apply_action(&mut self, at: usize, body: &Value) -> Response {
        let running = self.chain.shop().1;
        let answer = running.operator_request("POST", &self.transfers[at].path, body);
        self.note(format!("{} {body}: {}", self.transfers[at].id, answer.status));
        self.count_status(answer.status);
        answer
    }
}

//! Bad answers of a Solana node about the transactions of payouts and refunds. Each transfer waits, and ends paid
//! exactly once without a restart.

use super::{SolanaMerchant, SolanaTransfer};
use crate::support::rpc_proxy::{RpcFault, RpcProxy, set_error};
use crate::support::step_follower::StepFollower;
use crate::support::surfpool::{SLOTS_UNTIL_FINAL, SOL, USDC, USDT};
use coffer::domain::asset::Chain;
use rusqlite::Connection;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Number of steps after which a test fails.
const STEPS_MAX: usize = 80;
/// Time limit of a request to a node that never answers, in milliseconds.
const HANG_MS: u64 = 400;
/// Time limit of a request to any other node, in milliseconds.
const TIMEOUT_MS: u64 = 30_000;

/// A bad answer about one transaction.
type BadAnswer = fn(&mut Value);

/// Bad answers, and `true` for each that is not what a node says of an unknown transaction.
const BAD_ANSWERS: [(BadAnswer, bool); 6] = [
    (|answer| set_error(answer, -32603, "it does not want to"), true),
    (|answer| set_error(answer, -32015, "it does not want to"), true),
    (|answer| answer["result"] = Value::Null, false),
    (|answer| answer["result"] = json!([]), true),
    (|answer| answer["result"]["meta"] = Value::Null, true),
    (|answer| answer["result"]["transaction"]["signatures"] = json!(["other"]), true),
];

/// A merchant whose server is stopped, and the follower of its chain.
struct Scene<'a> {
    merchant: &'a SolanaMerchant,
    liar: RpcProxy,
    follower: StepFollower,
    file: Connection,
}

impl Scene<'_> {
    /// Stops the server, and follows the chain through a proxy.
    #[track_caller]
    fn start(merchant: &mut SolanaMerchant) -> Scene<'_> {
        merchant.running.take().unwrap().process.kill();
        let (node, till) = (&merchant.node, &merchant.till);
        let liar = RpcProxy::start(&node.url);
        let mints = [USDC, USDT].map(|asset| (asset, node.mint_address(asset)));
        let follower = StepFollower::open(&till.served.file, Chain::Solana, &liar.url(), &mints);
        let file = till.served.open_file();
        Scene { merchant, liar, follower, file }
    }

    fn count(&self, sql: &str) -> u32 {
        self.file.query_row(sql, [], |row| row.get(0)).unwrap()
    }

    fn processing(&self) -> u32 {
        self.count("select count(*) from transfers where status = 'processing'")
    }

    fn state(&self, txid: &str) -> String {
        let sql = "select state from sent_transactions where txid = ?1";
        self.file.query_row(sql, [txid], |row| row.get(0)).unwrap()
    }

    fn problem(&self, txid: &str) -> Option<String> {
        let sql = "select problem from sent_transactions where txid = ?1";
        self.file.query_row(sql, [txid], |row| row.get(0)).unwrap()
    }

    /// Makes a step, and then lets slots pass. The step may fail.
    fn step(&mut self, slots: u32) {
        let _ = self.follower.step();
        self.merchant.node.wait_for_slots(slots);
    }

    /// Makes steps until no transfer is in `processing`, and asserts that no problem is left.
    #[track_caller]
    fn settle(&mut self) {
        for _ in 0..STEPS_MAX {
            self.step(10);
            if self.processing() == 0 {
                let problems = "select count(*) from sent_transactions where problem is not null";
                assert_eq!(self.count(problems), 0);
                return;
            }
        }
        unreachable!(
            "{} transfers are not paid: {:?}",
            self.processing(),
            self.follower.set_aside()
        );
    }

    /// Makes the node forget these transactions.
    fn forget(&self, signatures: &[String]) {
        let (own, listed) = (signatures.to_vec(), signatures.to_vec());
        let get = RpcFault::from_change(move |params, answer| {
            if own.iter().any(|one| params[0] == one.as_str()) {
                answer["result"] = Value::Null;
            }
        });
        let list = RpcFault::from_change(move |_, answer| {
            let page = answer["result"].as_array_mut().unwrap();
            page.retain(|entry| listed.iter().all(|one| entry["signature"] != one.as_str()));
        });
        self.liar.inject("getTransaction", get);
        self.liar.inject("getSignaturesForAddress", list);
    }
}

/// Returns a fault that gives each of these transactions its bad answer, this many times.
fn bad_answers(of: BTreeMap<String, BadAnswer>, times: usize) -> RpcFault {
    let left: BTreeMap<String, usize> = of.keys().map(|txid| (txid.clone(), times)).collect();
    let left = Arc::new(Mutex::new(left));
    RpcFault::from_change(move |params, answer| {
        let txid = params[0].as_str().unwrap_or_default();
        let mut left = left.lock().unwrap();
        if let (Some(bad), Some(left)) = (of.get(txid), left.get_mut(txid))
            && *left > 0
        {
            *left -= 1;
            bad(answer);
        }
    })
}

impl SolanaMerchant {
    /// Requests and hands over a payout or refund.
    #[track_caller]
    fn hand_over(&mut self, kind: &str, asset: &'static str) -> SolanaTransfer {
        let sent = self.request_transfer(kind, asset);
        self.approve(&sent);
        self.start_processing(&sent);
        sent
    }

    /// Pays a transfer on the chain, and enters its transaction. Returns the signature.
    #[track_caller]
    fn send(&self, sent: &SolanaTransfer) -> String {
        let txid = self.node.pay(sent.asset, &sent.to, sent.units);
        self.enter_txid(sent, &txid);
        txid
    }

    /// Pays a payout and a refund on the chain. Returns each with its signature.
    #[track_caller]
    fn send_payout_and_refund(&mut self) -> [(SolanaTransfer, String); 2] {
        [("payouts", SOL), ("refunds", USDC)].map(|(kind, asset)| {
            let sent = self.hand_over(kind, asset);
            let txid = self.send(&sent);
            (sent, txid)
        })
    }

    /// Starts the server again. Asserts that each transfer is paid once, by its own transaction.
    #[track_caller]
    fn assert_paid_once(&mut self, all: &[(SolanaTransfer, String)]) {
        self.running = Some(self.till.start());
        for (sent, txid) in all {
            let paid = self.wait_for_state(sent, "paid", "settled", "");
            assert_eq!((&paid["txid"], &paid["onChain"]["problem"]), (&json!(txid), &Value::Null));
            let events =
                "select count(*) from event_rows where object_id = ?1 and type like '%.paid'";
            let id = sent.path.rsplit('/').next().unwrap();
            let file = self.till.served.open_file();
            let count: u32 = file.query_row(events, [id], |row| row.get(0)).unwrap();
            assert_eq!(count, 1, "{id}");
            let states = "select group_concat(state) from observations where txid = ?1";
            let states: String = file.query_row(states, [txid], |row| row.get(0)).unwrap();
            assert_eq!(states, "confirmed");
        }
        self.till.served.assert_audit_clean();
    }
}

#[test]
fn bad_answers_about_a_payout_delay_it_only() {
    let Some(mut merchant) = SolanaMerchant::open() else {
        return;
    };
    for (times, kind, asset) in [(1, "payouts", SOL), (usize::MAX, "payouts", USDC)] {
        let mut all = Vec::new();
        for at in 0..BAD_ANSWERS.len() {
            let kind = if at == 0 { kind } else { "refunds" };
            let sent = merchant.hand_over(kind, if at == 0 { asset } else { SOL });
            let txid = merchant.send(&sent);
            all.push((sent, txid));
        }
        let each = all.iter().zip(BAD_ANSWERS);
        let bad = each.map(|((_, txid), (bad, _))| (txid.clone(), bad)).collect();
        let mut scene = Scene::start(&mut merchant);
        scene.liar.inject("getTransaction", bad_answers(bad, times));
        // The server may have read the first ones before it was stopped. What is told of them depends on how far it was.
        let unread =
            all.iter().zip(BAD_ANSWERS).filter(|((_, txid), _)| scene.state(txid) == "unseen");
        let unread: Vec<_> = unread.map(|((_, txid), (_, is_told))| (txid, is_told)).collect();
        if times > 1 {
            for _ in 0..8 {
                scene.step(100);
                assert_eq!(scene.processing(), 6);
            }
            for (txid, is_told) in unread {
                let told = format!("transaction {txid} cannot be looked up: its node ");
                let problem = scene.problem(txid);
                assert_eq!(problem.is_some_and(|text| text.starts_with(&told)), is_told, "{txid}");
            }
            scene.liar.clear_faults();
        }
        scene.settle();
        drop(scene);
        merchant.assert_paid_once(&all);
    }
}

#[test]
fn hanging_lookup_of_a_payout_delays_it_only() {
    let Some(mut merchant) = SolanaMerchant::open() else {
        return;
    };
    let all = merchant.send_payout_and_refund();
    let mut scene = Scene::start(&mut merchant);
    scene.follower.reconnect(HANG_MS);
    let hang = RpcFault::Naming(all[0].1.clone(), Arc::new(RpcFault::Hang));
    scene.liar.inject("getTransaction", hang);
    for _ in 0..6 {
        scene.step(50);
    }
    assert!(scene.processing() > 0);
    scene.liar.clear_faults();
    scene.settle();
    drop(scene);
    merchant.assert_paid_once(&all);
}

#[test]
fn problem_of_a_lookup_ends_with_the_next_answer() {
    let Some(mut merchant) = SolanaMerchant::open() else {
        return;
    };
    let sent = merchant.hand_over("payouts", SOL);
    // A signature that the node does not know yet.
    let unknown = "5".repeat(87);
    merchant.enter_txid(&sent, &unknown);
    let mut scene = Scene::start(&mut merchant);
    scene.liar.inject("getTransaction", RpcFault::error(-32603, "internal error"));
    scene.step(1);
    let problem = scene.problem(&unknown).unwrap();
    let told = format!("transaction {unknown} cannot be looked up: its node ");
    assert!(problem.starts_with(&told) && problem.contains("(-32603)"), "{problem}");
    scene.liar.clear_faults();
    scene.step(1);
    assert_eq!(scene.problem(&unknown), None);
}

#[test]
fn payout_that_a_node_forgets_ends_paid() {
    let Some(mut merchant) = SolanaMerchant::open() else {
        return;
    };
    let all = merchant.send_payout_and_refund();
    let mut scene = Scene::start(&mut merchant);
    let seen = "select count(*) from sent_transactions where state = 'mined'";
    while scene.count(seen) < 2 {
        scene.step(1);
    }
    scene.forget(&all.each_ref().map(|(_, txid)| txid.clone()));
    // A new client has not read that the histories listed them.
    scene.follower.reconnect(TIMEOUT_MS);
    for _ in 0..8 {
        scene.step(SLOTS_UNTIL_FINAL + 2);
    }
    assert_eq!(scene.processing(), 2);
    // One of the outputs is missing for so long that it is dropped.
    let earlier = "update observations set vanished_at = vanished_at - 10800000 where txid = ?1";
    assert_eq!(scene.file.execute(earlier, [&all[0].1]).unwrap(), 1);
    let dropped = "select count(*) from observations where state = 'dropped'";
    for _ in 0..STEPS_MAX {
        scene.step(650);
        if scene.count(dropped) == 1 {
            break;
        }
    }
    assert_eq!((scene.count(dropped), scene.processing()), (1, 2));
    scene.liar.clear_faults();
    scene.settle();
    drop(scene);
    merchant.assert_paid_once(&all);
}

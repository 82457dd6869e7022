//! Transactions of the mempool that a bitcoin-like node lists and does not give. They stop nothing, are named, and are
//! asked for again. A node that gives no transaction at all has failed.

use super::till::TestnetShop;
use crate::support::installation::RunningServer;
use crate::support::litecoind::Litecoind;
use crate::support::polling;
use crate::support::received::amounts_in_file;
use crate::support::rpc_proxy::{RpcFault, RpcProxy, set_error};
use crate::support::step_follower::StepFollower;
use coffer::domain::chain::Chain;
use coffer::worker::watch_chain::ChainProgress;
use rusqlite::Connection;
use serde_json::{Value, json};
use std::collections::BTreeSet;

const UNTESTED: &str = "transactions of a mempool that a node does not give";
const CALL: &str = "getrawtransaction";
/// Limit of a request, in milliseconds.
const TIMEOUT_MS: u64 = 30_000;
/// Steps within which a transaction that is set aside is asked for again: the longest backoff, and some more.
const STEPS_MAX: usize = 70;

/// A node, a proxy in front of it, and a shop whose chain is followed through the proxy.
struct Scene {
    node: Litecoind,
    liar: RpcProxy,
    till: TestnetShop,
    follower: StepFollower,
    file: Connection,
    asset: &'static str,
    /// Address of the shop, as the node writes it.
    to: String,
    /// An address of a stranger.
    stranger: String,
    /// Proxy that presents the node as one of dogecoin.
    _inner: Option<RpcProxy>,
}

impl Scene {
    /// Starts a scene. With `is_honest_second`, the node itself is the second url.
    #[track_caller]
    fn start(chain: Chain, is_honest_second: bool) -> Option<Scene> {
        let node = Litecoind::start(&["-txindex=1"], UNTESTED)?;
        node.mine(130);
        let (_inner, honest) = match chain {
            Chain::Dogecoin => RpcProxy::start_dogecoin(&node),
            _ => (None, node.url()),
        };
        let liar = RpcProxy::start(&honest);
        let till = TestnetShop::with_utxo_chain(chain.as_str(), &honest);
        let asset = if chain == Chain::Dogecoin { "DOGE" } else { "LTC" };
        let invoice = till.create_invoice_and_kill(chain.as_str(), asset, asset);
        let address = invoice["depositAddress"].as_str().unwrap();
        let to = node.to_litecoin_address(chain.as_str(), address);
        let urls = match is_honest_second {
            true => format!("{},{honest}", liar.url()),
            false => liar.url(),
        };
        let mut follower = StepFollower::open(&till.served.file, chain, &urls, &[]);
        follower.reconnect(TIMEOUT_MS);
        let (file, stranger) = (till.served.open_file(), node.new_address("legacy"));
        Some(Scene { node, liar, till, follower, file, asset, to, stranger, _inner })
    }

    fn pay_stranger(&self) -> String {
        self.node.pay(&self.stranger, "0.1")
    }

    /// Mines blocks that contain no transaction of the mempool.
    fn mine_without_transactions(&self, blocks: u32) {
        for _ in 0..blocks {
            self.node.call("generateblock", json!([self.stranger, []]));
        }
    }

    /// Gives bad answers about these transactions.
    fn inject(&self, txids: &[&String], change: fn(&mut Value)) {
        self.liar.inject(CALL, answers_about(txids, change));
    }

    /// Makes steps until one succeeds at the head.
    #[track_caller]
    fn step_to_head(&mut self) {
        let mut last = None;
        let is_at_head = (0..STEPS_MAX).any(|_| {
            last = Some(self.follower.step());
            matches!(last, Some(Ok(ChainProgress::AtHead(_))))
        });
        assert!(is_at_head, "{last:?}");
    }

    /// Makes steps until nothing is set aside.
    #[track_caller]
    fn step_until_whole(&mut self) {
        let is_whole = (0..STEPS_MAX).any(|_| {
            self.step_to_head();
            self.aside().is_empty()
        });
        assert!(is_whole, "{:?}", self.follower.set_aside());
    }

    /// Returns the ids of what is set aside.
    fn aside(&self) -> Vec<String> {
        self.follower.set_aside().iter().map(|part| part.id.clone()).collect()
    }

    /// Returns the state of a payment, and the height of its block.
    fn payment(&self, txid: &str) -> Option<(String, Option<u32>)> {
        let sql = "select state, block_height from observations where txid = ?";
        let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        self.file.query_row(sql, [txid], row).ok()
    }

    #[track_caller]
    fn assert_seen(&self, txid: &str, about: &str) {
        assert!(self.payment(txid).is_some(), "{about}: the payment {txid} is hidden");
    }

    /// Asserts that each payment of the node is stored and confirmed.
    #[track_caller]
    fn assert_books_match(mut self) {
        self.liar.clear_faults();
        self.node.mine_for_nobody(40);
        self.step_until_whole();
        let came = self.node.received_amounts(&BTreeSet::from([self.to.clone()]), self.asset);
        assert_eq!(amounts_in_file(&self.file), came);
        let unconfirmed = "select count(*) from observations where state <> 'confirmed'";
        let count: u32 = self.file.query_row(unconfirmed, [], |row| row.get(0)).unwrap();
        assert_eq!(count, 0);
        self.till.served.assert_audit_clean();
    }
}

/// Returns a fault that changes the answers about these transactions.
fn answers_about(txids: &[&String], change: fn(&mut Value)) -> RpcFault {
    let txids: BTreeSet<String> = txids.iter().map(|txid| (*txid).clone()).collect();
    RpcFault::from_change(move |params, answer| {
        if params[0].as_str().is_some_and(|txid| txids.contains(txid)) {
            change(answer);
        }
    })
}

type BadAnswer = (&'static str, fn(&mut Value));
/// Bad answers about one transaction, each with a part of the reason that is shown.
const BAD_ANSWERS: [BadAnswer; 9] = [
    ("(-1)", |answer| set_error(answer, -1, "std::exception")),
    ("(-32603)", |answer| set_error(answer, -32603, "internal error")),
    ("(-32601)", |answer| set_error(answer, -32601, "Method not found")),
    ("limit exceeded", |answer| set_error(answer, -32603, "response size limit exceeded")),
    ("is not what was asked", |answer| answer["result"] = Value::Null),
    ("is not what was asked", |answer| answer["result"] = json!({ "hello": "world" })),
    ("is not what was asked", |answer| answer["result"] = json!("0200")),
    ("is not what was asked", |answer| answer["result"]["vout"] = json!([{ "n": -1 }])),
    ("another one", |answer| answer["result"]["txid"] = json!("ab".repeat(32))),
];

#[test]
fn unreadable_transaction_of_the_mempool_hides_no_payment() {
    for chain in [Chain::Litecoin, Chain::Dogecoin] {
        let Some(mut scene) = Scene::start(chain, false) else {
            return;
        };
        for (reason, bad) in BAD_ANSWERS {
            let about = format!("{chain}: {reason}");
            let stranger = scene.pay_stranger();
            scene.inject(&[&stranger], bad);
            let paid = scene.node.pay(&scene.to, "0.2");
            assert_eq!(scene.follower.step().err(), None, "{about}");
            scene.assert_seen(&paid, &about);
            assert_eq!(scene.aside(), std::slice::from_ref(&stranger), "{about}");
            let told = &scene.follower.set_aside()[0].reason;
            assert!(told.contains(reason), "{about}: {told}");
            // The block of a payment is read meanwhile.
            if chain == Chain::Litecoin {
                scene.node.mine_for_nobody(1);
                scene.step_to_head();
                assert!(scene.payment(&paid).unwrap().1.is_some(), "{about}");
                assert_eq!(scene.aside(), Vec::<String>::new(), "{about}: it left the mempool");
            }
            // Later payments are seen while the node is asked again.
            let next = scene.pay_stranger();
            scene.inject(&[&stranger, &next], bad);
            let later = scene.node.pay(&scene.to, "0.3");
            scene.step_to_head();
            scene.assert_seen(&later, &about);
            scene.liar.clear_faults();
            scene.step_until_whole();
            scene.node.mine_for_nobody(1);
            scene.step_to_head();
        }
        scene.assert_books_match();
    }
}

#[test]
fn payment_in_an_unreadable_transaction_is_seen_in_its_block() {
    let Some(mut scene) = Scene::start(Chain::Litecoin, false) else {
        return;
    };
    let unread = scene.node.pay(&scene.to, "0.1");
    scene.pay_stranger();
    scene.inject(&[&unread], |answer| set_error(answer, -1, "no"));
    scene.step_to_head();
    assert_eq!((scene.aside(), scene.payment(&unread)), (vec![unread.clone()], None));
    // More blocks than one step reads. The transaction is in the last block of the first step, and the mempool is read
    // after the second.
    scene.mine_without_transactions(99);
    scene.node.mine_for_nobody(1);
    let height = scene.node.call("getblockcount", json!([])).as_u64().unwrap();
    scene.mine_without_transactions(30);
    scene.follower.step().unwrap();
    let height = Some(u32::try_from(height).unwrap());
    assert_eq!(scene.payment(&unread), Some(("seen".to_owned(), height)));
    scene.step_until_whole();
    assert_eq!(scene.payment(&unread), Some(("confirmed".to_owned(), height)));
    // The node gives the transaction before it is in a block.
    let unread = scene.node.pay(&scene.to, "0.2");
    scene.pay_stranger();
    scene.inject(&[&unread], |answer| set_error(answer, -1, "no"));
    scene.step_to_head();
    assert_eq!((scene.aside(), scene.payment(&unread)), (vec![unread.clone()], None));
    scene.liar.clear_faults();
    scene.step_until_whole();
    assert_eq!(scene.payment(&unread), Some(("seen".to_owned(), None)));
    scene.assert_books_match();
}

#[test]
fn only_unreadable_transaction_of_the_mempool_stops_no_block() {
    for chain in [Chain::Litecoin, Chain::Dogecoin] {
        let Some(mut scene) = Scene::start(chain, false) else {
            return;
        };
        let paid = scene.node.pay(&scene.to, "0.2");
        scene.node.mine_for_nobody(1);
        let stranger = scene.pay_stranger();
        scene.inject(&[&stranger], |answer| set_error(answer, -1, "no"));
        assert_eq!(scene.follower.step().err(), None, "{chain}");
        scene.assert_seen(&paid, chain.as_str());
        assert_eq!(scene.aside(), [stranger]);
        scene.assert_books_match();
    }
}

#[test]
fn node_that_gives_no_transaction_has_failed_and_another_url_is_used() {
    for (chain, strangers) in [(Chain::Litecoin, 0), (Chain::Litecoin, 30), (Chain::Dogecoin, 1)] {
        let Some(mut scene) = Scene::start(chain, true) else {
            return;
        };
        for bad in BAD_ANSWERS {
            let about = format!("{chain}: {strangers} besides: {}", bad.0);
            scene.liar.inject(CALL, RpcFault::from_change(move |_, answer| (bad.1)(answer)));
            (0..strangers).for_each(|_| drop(scene.pay_stranger()));
            let paid = scene.node.pay(&scene.to, "0.2");
            scene.follower.reconnect(TIMEOUT_MS);
            assert!(scene.follower.step().is_err(), "{about}: the step succeeds");
            scene.step_to_head();
            scene.assert_seen(&paid, &about);
            assert_eq!(scene.aside(), Vec::<String>::new(), "{about}");
            scene.node.mine_for_nobody(1);
            scene.step_to_head();
        }
        scene.assert_books_match();
    }
}

#[test]
fn answer_that_breaks_off_at_one_transaction_hides_no_payment() {
    let Some(mut scene) = Scene::start(Chain::Litecoin, false) else {
        return;
    };
    for (name, bad) in [
        ("HTML", RpcFault::Body("<html>".to_owned())),
        ("status 500", RpcFault::Status(500)),
        ("status 429", RpcFault::Status(429)),
        ("breaks off", RpcFault::Truncated(60)),
        ("other JSON", RpcFault::Body(r#"{"hello":"world"}"#.to_owned())),
        ("hang", RpcFault::Hang),
    ] {
        scene.follower.reconnect(if name == "hang" { 1_000 } else { TIMEOUT_MS });
        scene.step_to_head();
        let stranger = scene.pay_stranger();
        scene.liar.inject(CALL, RpcFault::Naming(stranger.clone(), bad.into()));
        let paid = scene.node.pay(&scene.to, "0.2");
        assert_eq!(scene.follower.step().err(), None, "{name}");
        scene.assert_seen(&paid, name);
        assert_eq!(scene.aside(), [stranger], "{name}");
        scene.liar.clear_faults();
        scene.step_until_whole();
        scene.node.mine_for_nobody(1);
        scene.step_to_head();
    }
    scene.assert_books_match();
}

#[test]
fn many_unreadable_transactions_are_asked_for_in_turn() {
    let Some(mut scene) = Scene::start(Chain::Litecoin, false) else {
        return;
    };
    let strangers: Vec<String> = (0..60).map(|_| scene.pay_stranger()).collect();
    let unread: Vec<&String> = strangers.iter().collect();
    scene.inject(&unread, |answer| set_error(answer, -1, "no"));
    scene.node.pay(&scene.to, "0.2");
    scene.step_to_head();
    assert_eq!(scene.aside().len(), 60);
    for _ in 0..20 {
        let before = scene.liar.call_count(CALL);
        scene.step_to_head();
        assert!(scene.liar.call_count(CALL) - before <= 24, "a step asks for few of them");
    }
    // The mempool is read in the meantime, and a restart forgets nothing.
    let paid = scene.node.pay(&scene.to, "0.3");
    scene.step_to_head();
    scene.assert_seen(&paid, "beside many");
    scene.follower.reconnect(TIMEOUT_MS);
    scene.step_to_head();
    assert_eq!(scene.aside().len(), 60);
    scene.liar.clear_faults();
    scene.step_until_whole();
    scene.assert_books_match();
}

#[test]
fn operator_reads_what_is_set_aside_until_it_can_be_read() {
    let Some(scene) = Scene::start(Chain::Litecoin, false) else {
        return;
    };
    let Scene { node, liar, mut till, to, .. } = scene;
    till.replace_node(&format!("litecoin={}", liar.url()));
    let unread = node.pay(&to, "0.1");
    let paid = node.pay(&to, "0.2");
    liar.inject(CALL, answers_about(&[&unread], |answer| set_error(answer, -1, "std::exception")));
    let log = till.served.path("log");
    let start = || till.served.start_with_log_and_settings("info", &log, &till.settings());
    let mut running = start();
    let seen =
        |txid: &str| format!("select count(*) || '' from observations where txid = '{txid}'");
    till.served.wait_for_query_result(&seen(&paid), &["1"]);
    let assert_named = |running: &RunningServer| {
        assert!(polling::wait_until(|| running.first_chain()["setAside"][0]["id"] == *unread));
        let view = running.first_chain();
        let problem = view["problem"].as_str().unwrap();
        let told = format!("transaction {unread} cannot be read: its node refuses {CALL}");
        assert!(problem.starts_with(&told) && problem.contains("std::exception (-1)"), "{view}");
        let kind = &view["setAside"][0]["kind"];
        assert_eq!((&view["keepsUp"], kind), (&json!(true), &json!("transaction")));
    };
    assert_named(&running);
    assert_eq!(till.offered_assets(&running), ["LTC"]);
    let settings = till.settings();
    let doctor = [&["doctor"][..], &settings[..settings.len() - 2]].concat();
    assert!(till.run_coffer(&doctor).contains(&unread));
    till.served.wait_for_query_result(&seen(&unread), &["0"]);
    assert!(running.process.close_input_and_wait());
    let line = |what: &str| format!("{what} aside: chain=litecoin transaction={unread}");
    let count = |what: &str| std::fs::read_to_string(&log).unwrap().matches(&line(what)).count();
    running = start();
    assert!(polling::wait_until(|| count("] set") == 1));
    assert_named(&running);
    liar.clear_faults();
    // The same server goes on by itself.
    till.served.wait_for_query_result(&seen(&unread), &["1"]);
    assert!(polling::wait_until(|| running.first_chain()["problem"].is_null()));
    assert!(running.process.close_input_and_wait());
    assert_eq!((count("] set"), count("] no longer set")), (1, 1));
}

#[test]
fn payment_without_a_time_of_arrival_is_seen() {
    let Some(mut scene) = Scene::start(Chain::Litecoin, false) else {
        return;
    };
    for (at, bad) in BAD_ANSWERS.into_iter().map(|(_, bad)| bad).enumerate() {
        scene.liar.inject("getmempoolentry", RpcFault::from_change(move |_, answer| bad(answer)));
        let paid = scene.node.pay(&scene.to, "0.2");
        assert_eq!(scene.follower.step().err(), None, "{at}");
        scene.assert_seen(&paid, &at.to_string());
    }
    scene.assert_books_match();
}

//! False responses from a proxy between the server and a node of each kind. No false response is booked, and the
//! operator sees the problem. The server stays ready, and its memory stays small.
//!
//! Invariant: a payment precedes each false response, so that the response can hide or change a payment. The false
//! responses are in `lies`. `everywhere` plays bad answers of every kind at every call.

mod answers;
mod everywhere;
mod lies;

use super::till::TestnetShop;
use crate::chain::till::deposit_address;
use crate::support::anvil::Node;
use crate::support::installation::RunningServer;
use crate::support::litecoind::Litecoind;
use crate::support::polling;
use crate::support::received::{ReceivedAmounts, amounts_in_file};
use crate::support::rpc_proxy::{RpcFault, RpcProxy};
use lies::LieCase;
use rusqlite::Connection;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Allowed additional memory of the server, in KiB, compared with a server whose node is honest.
const EXTRA_MEMORY_KIB_MAX: u64 = 200 * 1024;

/// A payer on a chain whose node sends false responses to the server.
trait LyingNodePayer {
    /// Sends a payment in a block and, if the chain has a mempool, another payment in the mempool. `time` is the
    /// number of the test case, and makes the amounts unique.
    fn pay_in_block_and_mempool(&self, time: u64);
    /// Returns all confirmed payments.
    fn confirmed_payments(&self) -> ReceivedAmounts;
    /// Returns the number of blocks, or slots, after which all payments so far are confirmed.
    fn blocks_until_final(&self) -> u32;
    /// Adds blocks without payments to addresses of the shop, except those in the mempool.
    fn add_blocks(&self, count: u32);
    /// Returns an SQL condition on the cursor that is true when the server has read the blocks of all payments that are
    /// [`blocks_until_final`](LyingNodePayer::blocks_until_final) old.
    fn is_read(&self) -> String;
    /// Returns the names by which calls ask for the newest block and its transactions.
    fn newest_block_names(&self) -> Vec<String>;
}

/// A payer with a litecoind, and an address of the shop. In some tests, a proxy presents the litecoind as a Dogecoin
/// node.
struct UtxoPayer {
    node: Litecoind,
    asset: &'static str,
    to: String,
}

impl LyingNodePayer for UtxoPayer {
    fn pay_in_block_and_mempool(&self, time: u64) {
        self.node.pay(&self.to, &format!("0.{:08}", 1_000_000 + time));
        self.node.mine_for_nobody(1);
        self.node.pay(&self.to, &format!("0.{:08}", 2_000_000 + time));
    }

    fn confirmed_payments(&self) -> ReceivedAmounts {
        self.node.mine(1);
        self.node.received_amounts(&BTreeSet::from([self.to.clone()]), self.asset)
    }

    fn blocks_until_final(&self) -> u32 {
        12
    }

    fn add_blocks(&self, count: u32) {
        self.node.mine_for_nobody(count);
    }

    fn is_read(&self) -> String {
        format!("height = {}", self.node.call("getblockcount", json!([])))
    }

    fn newest_block_names(&self) -> Vec<String> {
        let hash = self.node.call("getbestblockhash", json!([]));
        let block = self.node.call("getblock", json!([hash, 1]));
        let ids = block["tx"].as_array().unwrap().iter();
        let ids = ids.map(|id| id.as_str().unwrap().to_owned());
        let named = [block["height"].to_string(), hash.as_str().unwrap().to_owned()];
        named.into_iter().chain(ids).collect()
    }
}

/// A payer with an Ethereum node and a token, and addresses of the shop for token and coin.
struct EvmPayer {
    node: Node,
    token: String,
    to: [String; 2],
}

impl LyingNodePayer for EvmPayer {
    fn pay_in_block_and_mempool(&self, time: u64) {
        let units = 1_000_000 + u128::from(time);
        self.node.pay_token(&self.token, &self.to[0], units);
        self.node.pay(&self.to[1], units * 1_000_000_000);
        self.node.mine(1);
    }

    fn confirmed_payments(&self) -> ReceivedAmounts {
        let ours = self.to.iter().cloned().collect();
        self.node.received_amounts(&ours, "ETH", "USDC-ERC20", &self.token)
    }

    fn blocks_until_final(&self) -> u32 {
        30
    }

    fn add_blocks(&self, count: u32) {
        self.node.mine(count);
    }

    fn is_read(&self) -> String {
        format!("complete_height = {}", self.node.height() - 8)
    }

    fn newest_block_names(&self) -> Vec<String> {
        let height = self.node.height();
        let block = self.node.call_rpc("eth_getBlockByNumber", json!(["latest", false]));
        let hash = block["hash"].as_str().unwrap().to_owned();
        vec![height.to_string(), format!("{height:#x}"), hash]
    }
}

/// Returns the peak memory of the server, in KiB.
#[track_caller]
pub(super) fn peak_memory_kib(running: &RunningServer) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", running.process.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.unwrap().trim().trim_end_matches(" kB");
    kib.parse().unwrap()
}

/// Asserts that each stored payment exists on the chain.
#[track_caller]
fn assert_payments_exist(file: &Connection, truth: &ReceivedAmounts, about: &str) {
    let sql = "select txid, position, asset, amount from observations";
    let mut query = file.prepare(sql).unwrap();
    let rows = query.query_map([], |row| {
        let amount: String = row.get(3)?;
        let value = (row.get(2)?, amount.parse().unwrap());
        Ok(((row.get(0)?, row.get(1)?), value))
    });
    let known: ReceivedAmounts = rows.unwrap().map(Result::unwrap).collect();
    for (place, value) in &known {
        assert_eq!(truth.get(place), Some(value), "{about}: {place:?}");
    }
}

/// Asserts that the server is ready and reports this problem of the chain.
#[track_caller]
fn assert_problem_reported(running: &RunningServer, chain: &str, told: &str) {
    let wanted = format!("{chain}: its node {told}");
    let says = || {
        let ready = running.operator_request("GET", "/readyz?verbose", &Value::Null);
        ready.expect(200).text
    };
    let found = told.is_empty() || polling::wait_until(|| says().contains(&wanted));
    assert!(found, "{wanted}: {}", says());
    running.operator_request("GET", "/readyz", &Value::Null).expect(200);
}

/// Returns the output of `coffer doctor`.
#[track_caller]
fn doctor_output(till: &TestnetShop) -> String {
    let mut settings = till.settings();
    // The last two arguments are the webhook setting, which `doctor` does not accept.
    settings.truncate(settings.len() - 2);
    till.run_coffer(&[&["doctor"][..], &settings].concat())
}

/// Injects the false responses of each case in turn and removes them again. Asserts that no false payment is booked.
#[track_caller]
#[expect(clippy::print_stderr, reason = "prints the memory of the server")]
fn run_lie_cases(
    till: &TestnetShop,
    liar: &RpcProxy,
    chain: &str,
    cases: Vec<LieCase>,
    payer: &impl LyingNodePayer,
) {
    let file = till.served.open_file();
    let mut running = till.start();
    let is_read = "select exists (select 1 from chain_cursors) || ''";
    till.served.wait_for_query_result(is_read, &["1"]);
    let usual = peak_memory_kib(&running);
    running.process.kill();
    let (count, mut peak) = (cases.len(), (usual, ""));
    for (time, case) in (0..).zip(cases) {
        let (method, [ready, doctor]) = (case.method(), case.told);
        payer.pay_in_block_and_mempool(time);
        // A flood is a response of nearly the maximum size. When the server sends a second request, it has finished
        // reading the flood.
        let is_flood = matches!(case.lies[0].1, RpcFault::Flood(..));
        let asked = liar.call_count(method) + usize::from(is_flood && ready.is_empty());
        for (method, lie) in case.lies {
            liar.inject(method, lie);
        }
        let mut running = till.start();
        assert!(polling::wait_until(|| liar.call_count(method) > asked));
        assert_problem_reported(&running, chain, ready);
        if !doctor.is_empty() {
            let said = doctor_output(till);
            let wanted = format!("wrong: node of {chain} at http://127.0.0.1:");
            let about = said.lines().find(|line| line.starts_with(&wanted));
            let about = about.unwrap_or_else(|| unreachable!("{time} {method}: {said}"));
            assert!(about.contains(doctor), "{time} {method}: {about}");
        }
        peak = peak.max((peak_memory_kib(&running), method));
        running.process.kill();
        liar.clear_faults();
        assert_payments_exist(&file, &payer.confirmed_payments(), &format!("{time} {method}"));
    }
    payer.add_blocks(payer.blocks_until_final());
    let mut running = till.start();
    let rest = format!(
        "select ({} and not exists (select 1 from observations where state = 'seen')) || '' from chain_cursors",
        payer.is_read()
    );
    till.served.wait_for_query_result(&rest, &["1"]);
    assert!(running.process.close_input_and_wait());
    till.served.assert_audit_clean();
    assert_eq!(amounts_in_file(&file), payer.confirmed_payments());
    let (peak, method) = peak;
    eprintln!(
        "{chain}: {count} lies; the most memory: {peak} KiB (by {method}), without a lie {usual} KiB"
    );
    assert!(peak - usual < EXTRA_MEMORY_KIB_MAX, "{peak} KiB");
}

/// Returns the deposit address of an invoice in this coin.
#[track_caller]
fn first_deposit_address(till: &TestnetShop, chain: &str, asset: &str) -> String {
    let symbol = asset.split('-').next().unwrap();
    deposit_address(&till.create_invoice_and_kill(chain, symbol, asset))
}

#[track_caller]
fn run_utxo_lie_cases(
    chain: &str,
    asset: &'static str,
    url: impl Fn(&Litecoind) -> (Option<RpcProxy>, String),
) {
    let Some(node) = Litecoind::start(&["-txindex=1"], &format!("a node of {chain} that lies"))
    else {
        return;
    };
    node.mine(110);
    let (_inner, url) = url(&node);
    let liar = RpcProxy::start(&url);
    let till = TestnetShop::with_utxo_chain(chain, &liar.url());
    let before = node.call("getblockchaininfo", json!([]));
    node.mine(5);
    let to = node.to_litecoin_address(chain, &first_deposit_address(&till, chain, asset));
    let cases = lies::utxo_lie_cases(&before, &node.script_of_address(&to), chain == "litecoin");
    run_lie_cases(&till, &liar, chain, cases, &UtxoPayer { node, asset, to });
}

#[test]
fn false_responses_of_a_litecoin_node_are_not_booked() {
    run_utxo_lie_cases("litecoin", "LTC", |node| (None, node.url()));
}

#[test]
fn false_responses_of_a_dogecoin_node_are_not_booked() {
    run_utxo_lie_cases("dogecoin", "DOGE", RpcProxy::start_dogecoin);
}

#[test]
fn false_responses_of_an_ethereum_node_are_not_booked() {
    let Some(node) = Node::start(11_155_111, "a node of ethereum that lies to Coffer") else {
        return;
    };
    let token = node.deploy_token();
    let liar = RpcProxy::start(&node.url);
    let till = TestnetShop::with_account_chain("ethereum", &liar.url(), "USDC-ERC20", &token);
    let before = node.call_rpc("eth_getBlockByNumber", json!(["latest", true]));
    node.mine(5);
    let to = ["USDC-ERC20", "ETH"].map(|asset| first_deposit_address(&till, "ethereum", asset));
    let cases = lies::evm_lie_cases(&before, &token, &to[0]);
    let payer = EvmPayer { node, token, to };
    run_lie_cases(&till, &liar, "ethereum", cases, &payer);
}

/// The server does not wait for a node that sends one byte at a time. `coffer doctor` waits until a timeout.
#[test]
fn slow_node_delays_no_other_chain() {
    let untested = "nodes that send one byte at a time";
    let (Some(outputs), Some(accounts)) =
        (Litecoind::start(&[], untested), Node::start(84_532, untested))
    else {
        return;
    };
    let (_inner, dogecoin) = RpcProxy::start_dogecoin(&outputs);
    let before_each = [
        ("litecoin", RpcProxy::start(&outputs.url()), "getblockchaininfo"),
        ("dogecoin", RpcProxy::start(&dogecoin), "getblockhash"),
        ("base", RpcProxy::start(&accounts.url), "eth_getBlockByNumber"),
    ];
    let named = before_each.each_ref().map(|(chain, liar, _)| format!("{chain}={}", liar.url()));
    let nodes: Vec<&str> = named.iter().flat_map(|node| ["--node", node]).collect();
    let till = TestnetShop::new(&nodes);
    for (_, liar, method) in &before_each {
        liar.inject(method, RpcFault::Drip);
    }
    let mut running = till.start();
    let mut each = before_each.iter();
    assert!(each.all(|(_, liar, method)| polling::wait_until(|| liar.call_count(method) > 0)));
    let said = doctor_output(&till);
    for (chain, liar, _) in &before_each {
        let url = liar.url();
        let port = url.rsplit(':').next().unwrap();
        let about = format!(
            "wrong: node of {chain} at http://127.0.0.1:{port}: cannot be asked: no answer in time"
        );
        assert!(said.contains(&about), "{said}");
    }
    let ready = running.operator_request("GET", "/readyz?verbose", &Value::Null);
    let ready = ready.expect(200).text;
    for (chain, ..) in &before_each {
        assert!(ready.contains(&format!("{chain}: its node has not answered for ")), "{ready}");
    }
    assert!(running.process.close_input_and_wait());
    let nothing = "select count(*) || '' from observations";
    till.served.wait_for_query_result(nothing, &["0"]);
}

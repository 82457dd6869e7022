//! Payments on real test nodes: a running server with a wallet of public keys detects, books and confirms them.

use super::till::{TPUB, TestnetShop};
use crate::chain::till::deposit_address;
use crate::operator::wallets::run_wallet_command;
use crate::support::anvil::Node;
use crate::support::installation::RunningServer;
use crate::support::litecoind::Litecoind;
use crate::support::receiver::Receiver;
use coffer::domain::asset::Chain;
use coffer::domain::wallet::read;
use coffer::domain::{ScriptType, WalletHints, WalletNetwork};
use rusqlite::Connection;
use serde_json::{Value, json};

/// First address of [`TPUB`], as litecoind derives it.
const FIRST_ADDRESS: &str = "rltc1q6rz28mcfaxtmd6v789l9rrlrusdprr9puuzgkg";

#[test]
fn litecoin_paid_during_downtime_confirms_an_invoice() {
    let Some(node) = Litecoind::start(&[], "paying an invoice in litecoin") else {
        return;
    };
    node.mine(101);
    let till = TestnetShop::with_utxo_chain("litecoin", &node.url());
    let mut running = till.start();
    till.wait_for_rate("litecoin", "LTC");
    assert_eq!(till.offered_assets(&running), ["LTC"]);
    let invoice = till.create_invoice(&running, "LTC");
    assert_eq!(invoice["depositAddress"], FIRST_ADDRESS);
    assert_eq!(invoice["amountExpected"], "0.25");
    till.wait_for_event("invoice.created", &invoice);
    running.process.kill();
    drop(running);
    let txid = node.pay(FIRST_ADDRESS, "0.25");
    let running = till.start();
    till.wait_for_event("invoice.detected", &invoice);
    assert_progress_shown(&running);
    node.mine(3);
    till.wait_for_event("invoice.confirmed", &invoice);
    let path = format!("/v1/invoices/{}", invoice["id"].as_str().unwrap());
    let paid = till.call_api(&running, "GET", &path, "");
    assert_eq!((&paid["status"], &paid["amountReceived"]), (&json!("confirmed"), &json!("0.25")));
    drop(running);
    let seen = "select group_concat(txid || ' ' || state) from observations";
    till.served.wait_for_query_result(seen, &[&format!("{txid} confirmed")]);
    till.served.assert_audit_clean();
    pay_unassigned_address_and_rescan(&till, &node, &txid, seen);
}

/// Asserts that the server shows the progress of reading the chain, and the number of requests.
#[track_caller]
fn assert_progress_shown(running: &RunningServer) {
    let chains = running.operator_get("/dashboard/api/chains");
    let chains = chains["data"].clone();
    assert_eq!(
        [&chains[0]["chain"], &chains[0]["network"], &chains[0]["keepsUp"], &chains[0]["problem"]],
        [&json!("litecoin"), &json!("regtest"), &json!(true), &Value::Null]
    );
    let shown = chains[0]["node"].as_str().unwrap();
    assert!(shown.starts_with("http://127.0.0.1:"), "{shown}");
    assert_eq!(chains[0]["height"], 101);
    assert!(chains[0]["requests"].as_u64() > Some(0), "{chains}");
    assert_eq!(chains[0]["requestsPerDay"], Value::Null);
    let counted = running.operator_request("GET", "/metrics", &Value::Null).text;
    let counted = counted
        .lines()
        .find_map(|line| line.strip_prefix("coffer_chain_requests_total{chain=\"litecoin\"} "));
    assert!(counted.unwrap().parse::<u64>().unwrap() > 0);
    let ready = running.operator_request("GET", "/readyz?verbose", &Value::Null);
    assert!(ready.text.contains("chains: litecoin ok\n"), "{}", ready.text);
}

#[track_caller]
fn pay_unassigned_address_and_rescan(till: &TestnetShop, node: &Litecoind, txid: &str, seen: &str) {
    // A payment to an address that the server has not assigned is stored as unmatched.
    let said =
        WalletHints { script: Some(ScriptType::Wpkh), network: Some(WalletNetwork::Regtest) };
    let branch = read(Chain::Litecoin, TPUB, &said).unwrap().receiving_branch();
    let at = |index| branch.as_ref().unwrap().derive_address(index).unwrap().address;
    let stray = node.pay(&at(900), "0.5");
    let running = till.start();
    let unmatched = "select coalesce((select txid from observations \
        where seq in (select observation from unmatched_payments)), '')";
    till.served.wait_for_query_result(unmatched, &[&stray]);
    resume_stopped_wallet(till, &running, &at(901));
    drop(running);
    till.served.assert_audit_clean();
    let seen = format!("{seen} where address = '{FIRST_ADDRESS}'");
    // A rescan from the first block changes nothing.
    let said = till.run_coffer(&["rescan", "litecoin", "--from", "1"]);
    assert!(said.contains("litecoin is read again from block 1 on"), "{said}");
    let running = till.start();
    till.served.wait_for_query_result(
        "select count(*) || '' from rescans where ended_at is not null",
        &["1"],
    );
    till.served.wait_for_query_result(&seen, &[&format!("{txid} confirmed")]);
    drop(running);
    till.served.assert_audit_clean();
    let doctor = [&["doctor"][..], &till.settings()[..5]].concat();
    let said = till.run_coffer(&doctor);
    assert!(
        said.contains("ok: node of litecoin at http://127.0.0.1:")
            && said.contains(": regtest, block 104 of "),
        "{said}"
    );
    assert!(!said.contains("coffer:regtest"), "{said}");
    let requests = "ok: requests to litecoin: about 18576 a day (every 30 s), 53136 while money is expected all day";
    assert!(said.contains(requests), "{said}");
}

/// Asserts that the wallet is stopped because its index 900 was paid, and that all interfaces report the problem.
/// After the owner moves the next index above 900, the wallet assigns addresses again.
#[track_caller]
fn resume_stopped_wallet(till: &TestnetShop, running: &RunningServer, address: &str) {
    assert_eq!(till.offered_assets(running), Vec::<String>::new());
    let why = "something came to its index 900, which this file has not handed out: \
        this file is older than the wallet, or the key is used elsewhere";
    let listed = run_wallet_command(&till.served.file, &["list"], "").json_lines();
    let problem = listed[0]["problem"].as_str().unwrap();
    assert!(problem.ends_with(why), "{problem}");
    let shown = running.operator_get("/dashboard/api/wallets");
    assert_eq!(shown["data"], json!(listed));
    let chains = running.operator_request("GET", "/dashboard/api/chains", &Value::Null);
    assert!(chains.text.contains(why), "{}", chains.text);
    let said = till.run_coffer(&[&["doctor"][..], &till.settings()[..5]].concat());
    assert!(said.contains(&format!("wrong: {problem}; mend: ")), "{said}");
    assert!(
        said.contains("`coffer wallet add litecoin --next N` with the same key, N at least 901")
    );
    let noted = running.operator_request("GET", "/dashboard/api/audit-log", &Value::Null);
    assert_eq!(noted.text.matches("\"wallet.stop\"").count(), 1, "{}", noted.text);
    let add = |next| till.add_wallet("litecoin", TPUB, &["--next", next]);
    let refused = add("900").errors;
    assert!(refused.contains("next must be at least 901"), "{refused}");
    add("901").json_lines();
    assert_eq!(till.offered_assets(running), ["LTC"]);
    assert_eq!(till.create_invoice(running, "LTC")["depositAddress"], address);
}

#[test]
fn coin_and_token_of_one_chain_pay_one_invoice_each() {
    let Some(node) = Node::start(11_155_111, "paying an invoice on ethereum") else {
        return;
    };
    let token = node.deploy_token();
    let till = TestnetShop::with_account_chain("ethereum", &node.url, "USDC-ERC20", &token);
    let mut running = till.start();
    till.wait_for_rate("ethereum", "USDC");
    // Tether has no contract on this test network.
    assert_eq!(till.offered_assets(&running), ["ETH", "USDC-ERC20"]);
    let invoices = ["ETH", "USDC-ERC20"].map(|asset| till.create_invoice(&running, asset));
    let [coin, tokens] = &invoices;
    assert_ne!(coin["depositAddress"], tokens["depositAddress"]);
    running.process.kill();
    drop(running);
    node.pay(&deposit_address(coin), 10_u128.pow(16));
    node.pay_token(&token, &deposit_address(tokens), 20_000_000);
    let mut running = till.start();
    for invoice in &invoices {
        till.wait_for_event("invoice.detected", invoice);
    }
    running.process.kill();
    drop(running);
    node.mine(6);
    let running = till.start();
    for invoice in &invoices {
        till.wait_for_event("invoice.confirmed", invoice);
    }
    drop(running);
    let booked = "select group_concat(state) from (select state from observations)";
    till.served.wait_for_query_result(booked, &["confirmed,confirmed"]);
    till.served.assert_audit_clean();
    // `coffer doctor` reports a node whose block at a final height differs from the block that the server read there.
    let doctor = || till.run_coffer(&[&["doctor"][..], &till.settings()[..7]].concat());
    assert!(doctor().contains("ok: node of ethereum"), "{}", doctor());
    let file = Connection::open(&till.served.file).unwrap();
    let other = "update chain_cursors set complete_hash = '0xother'";
    assert_eq!(file.execute(other, []).unwrap(), 1);
    let said = doctor();
    assert!(said.contains("wrong: node of ethereum"), "{said}");
    assert!(
        said.contains("and 0xother was final when it was read; mend: use another node"),
        "{said}"
    );
}

#[test]
fn next_node_url_replaces_a_failing_one() {
    let Some(node) = Node::start(84_532, "fallback from a failing node") else {
        return;
    };
    let urls = format!("base=http://{},{}", Receiver::unused_address(), node.url);
    let till = TestnetShop::new(&["--node", &urls]);
    let _running = till.start();
    let network = "select coalesce((select chain || ' ' || network from chain_cursors), '')";
    till.served.wait_for_query_result(network, &["base 84532"]);
}

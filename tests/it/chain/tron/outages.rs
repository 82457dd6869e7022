//! Outages of a Tron node, with the real server: a node that begins to demand an API key, a node whose answers are a
//! page for people, and a node whose final blocks stand still.

use super::shop::{ASSET, assert_agrees_with_node, open_shop};
use crate::chain::till::{TestnetShop, deposit_address};
use crate::support::installation::RunningServer;
use crate::support::polling;
use crate::support::tron::{Fault, Node};
use serde_json::{Value, json};

/// Number of blocks after which a block is final.
const FINAL: u32 = 20;

/// Header with the API key of the test's node.
const HEADER: &str = "tron-pro-api-key";
const KEY: &str = "key-of-the-shop-0123456789";

/// Waits until the coins of the chain are not on offer. Asserts that the operator reads this problem everywhere.
#[track_caller]
fn assert_outage(till: &TestnetShop, running: &RunningServer, problem: &str) {
    let is_told = polling::wait_until(|| {
        let view = running.first_chain();
        view["keepsUp"] == false
            && view["problem"].as_str().unwrap_or_default().starts_with(problem)
    });
    assert!(is_told, "{}", running.first_chain());
    assert_eq!(till.offered_assets(running), Vec::<String>::new());
    let ready = running.operator_request("GET", "/readyz?verbose", &Value::Null).expect(200).text;
    assert!(ready.contains(&format!("tron: {problem}")), "{ready}");
}

#[test]
fn demanded_api_key_is_reported_and_sent_by_node_header() {
    for status in [401, 403] {
        let node = Node::start();
        let mut till = open_shop(&node.url());
        let invoice = till.create_invoice_and_kill("tron", "USDT", ASSET);
        node.pay_token(&deposit_address(&invoice), 20_000_000);
        node.mine(FINAL);
        node.demand_header(Some((HEADER, KEY, status)));
        let mut running = till.start();
        let problem = format!("its node is the wrong one: it refuses the login (status {status})");
        assert_outage(&till, &running, &problem);
        assert!(running.first_chain()["problem"].as_str().unwrap().contains("--node-header"));
        running.process.kill();
        let doctor = till.run_coffer(&[&["doctor"][..], &till.settings()[..7]].concat());
        let told = format!("is the wrong one: it refuses the login (status {status})");
        assert!(doctor.contains(&told), "{doctor}");
        till.add_settings(vec!["--node-header".to_owned(), format!("tron={HEADER}: {KEY}")]);
        let running = till.start();
        till.wait_for_event("invoice.confirmed", &invoice);
        let view = running.first_chain();
        assert_eq!([&view["keepsUp"], &view["problem"]], [&json!(true), &Value::Null]);
        drop(running);
        assert_agrees_with_node(&till, &node, &[deposit_address(&invoice)]);
    }
}

#[test]
fn page_for_people_takes_coins_off_the_offer_until_the_node_recovers() {
    let node = Node::start();
    let till = open_shop(&node.url());
    let invoice = till.create_invoice_and_kill("tron", "USDT", ASSET);
    node.pay_token(&deposit_address(&invoice), 20_000_000);
    node.mine(FINAL);
    let page = Fault::Status(200, "<html><title>Sign in</title></html>".to_owned());
    node.inject("/wallet/getnowblock", page);
    let running = till.start();
    assert_outage(&till, &running, "its node is not believed: its answer is not JSON");
    node.clear_faults();
    // The same server goes on by itself.
    till.wait_for_event("invoice.confirmed", &invoice);
    let is_back = polling::wait_until(|| running.first_chain()["keepsUp"] == true);
    assert!(
        is_back && running.first_chain()["problem"] == Value::Null,
        "{}",
        running.first_chain()
    );
    drop(running);
    assert_agrees_with_node(&till, &node, &[deposit_address(&invoice)]);
}

#[test]
fn payments_are_seen_and_not_confirmed_while_finality_stands_still() {
    let node = Node::start();
    let till = open_shop(&node.url());
    let invoice = till.create_invoice_and_kill("tron", "USDT", ASSET);
    node.stop_finality(true);
    // An hour of blocks, in which the shop is paid at the beginning and at the end.
    node.pay_token(&deposit_address(&invoice), 20_000_000);
    node.mine(1_200);
    node.pay_token(&deposit_address(&invoice), 3_000_000);
    node.mine(1);
    let mut running = till.start();
    let seen = "select group_concat(state) from (select state from observations)";
    till.served.wait_for_query_result(seen, &["seen,seen"]);
    let height = node.height();
    let is_read = format!("select (height = {height}) || '' from chain_cursors");
    till.served.wait_for_query_result(&is_read, &["1"]);
    assert_eq!(running.first_chain()["keepsUp"], true);
    running.process.kill();
    till.served.wait_for_query_result(seen, &["seen,seen"]);
    node.stop_finality(false);
    node.mine(FINAL);
    let running = till.start();
    till.wait_for_event("invoice.confirmed", &invoice);
    till.served.wait_for_query_result(seen, &["confirmed,confirmed"]);
    drop(running);
    assert_agrees_with_node(&till, &node, &[deposit_address(&invoice)]);
}

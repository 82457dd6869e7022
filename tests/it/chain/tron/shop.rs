//! A shop that accepts TRX and a token, with the real server.

use crate::chain::till::{TestnetShop, deposit_address};
use crate::operator::wallets::run_wallet_command;
use crate::support::received::amounts_in_file;
use crate::support::tron::{Action, Fault, Node, TOKEN, decode_address, encode_address};
use serde_json::{Value, json};
use std::collections::BTreeSet;

pub(super) const ASSET: &str = "USDT-TRC20";
/// Number of blocks after which a block is final.
const FINAL: u32 = 20;

#[track_caller]
pub(super) fn open_shop(urls: &str) -> TestnetShop {
    TestnetShop::with_account_chain("tron", urls, ASSET, &encode_address(TOKEN))
}

/// Asserts that the file passes the audit and agrees with the node.
#[track_caller]
pub(super) fn assert_agrees_with_node(till: &TestnetShop, node: &Node, to: &[String]) {
    till.served.assert_audit_clean();
    let to: BTreeSet<String> = to.iter().cloned().collect();
    assert_eq!(amounts_in_file(&till.served.open_file()), node.received_amounts(&to, ASSET));
}

#[test]
fn final_block_confirms_coin_and_token() {
    let node = Node::start();
    let till = open_shop(&node.url());
    let mut running = till.start();
    till.wait_for_rate("tron", "TRX");
    assert_eq!(till.offered_assets(&running), ["TRX", ASSET]);
    let invoices = ["TRX", ASSET].map(|asset| till.create_invoice(&running, asset));
    let [coin, token] = &invoices;
    assert!(deposit_address(coin).starts_with('T') && deposit_address(coin).len() == 34, "{coin}");
    assert_eq!(coin["amountExpected"], "200");
    assert_eq!(coin["paymentUri"], Value::Null);
    running.process.kill();
    node.pay(&deposit_address(coin), 200_000_000);
    node.pay_token(&deposit_address(token), 20_000_000);
    node.mine(1);
    let mut running = till.start();
    for invoice in &invoices {
        till.wait_for_event("invoice.detected", invoice);
    }
    running.process.kill();
    node.mine(FINAL - 2);
    let mut running = till.start();
    let height = node.height();
    till.served.wait_for_query_result(
        &format!("select (height = {height}) || '' from chain_cursors"),
        &["1"],
    );
    let booked = "select group_concat(state) from (select state from observations)";
    till.served.wait_for_query_result(booked, &["seen,seen"]);
    running.process.kill();
    node.mine(1);
    let running = till.start();
    for invoice in &invoices {
        till.wait_for_event("invoice.confirmed", invoice);
    }
    assert_chain_shown(&till, &running, &node);
    drop(running);
    assert_agrees_with_node(&till, &node, &invoices.each_ref().map(deposit_address));
}

/// Asserts that the Chains page and `coffer doctor` show the chain.
#[track_caller]
fn assert_chain_shown(
    till: &TestnetShop,
    running: &crate::support::installation::RunningServer,
    node: &Node,
) {
    let shown = &running.first_chain();
    assert_eq!(
        [
            &shown["chain"],
            &shown["network"],
            &shown["keepsUp"],
            &shown["problem"],
            &shown["height"]
        ],
        [&json!("tron"), &json!("nile"), &json!(true), &Value::Null, &json!(node.height())]
    );
    let said = till.run_coffer(&[&["doctor"][..], &till.settings()[..7]].concat());
    assert!(said.contains("ok: node of tron at http://127.0.0.1:"), "{said}");
    assert!(said.contains(&format!(": nile, block {} of ", node.height())), "{said}");
    let requests = "ok: requests to tron: about 43200 a day (every 60 s), 86400 while money is expected all day";
    assert!(said.contains(requests), "{said}");
}

#[test]
fn next_node_url_is_used_if_the_first_node_hides_a_payment() {
    let node = Node::start();
    let liar = node.start_another();
    // This node returns blocks without their transactions, and fails for final blocks.
    let empty = |_: &Value, answer: &mut Value| {
        for block in answer["block"].as_array_mut().into_iter().flatten() {
            block.as_object_mut().unwrap().remove("transactions");
        }
    };
    liar.inject("/wallet/getblockbylimitnext", Fault::from_change(empty));
    liar.inject("/walletsolidity/getblockbylimitnext", Fault::Status(500, String::new()));
    let urls = format!("{},{}", liar.url(), node.url());
    let till = open_shop(&urls);
    let invoice = till.create_invoice_and_kill("tron", "USDT", ASSET);
    node.pay_token(&deposit_address(&invoice), 20_000_000);
    node.mine(FINAL);
    till.run_until_event("invoice.confirmed", &invoice);
    assert_agrees_with_node(&till, &node, &[deposit_address(&invoice)]);
}

#[test]
fn unavailable_node_delays_but_does_not_lose_a_payment() {
    let node = Node::start();
    let till = open_shop(&node.url());
    let invoice = till.create_invoice_and_kill("tron", "USDT", ASSET);
    node.pay_token(&deposit_address(&invoice), 20_000_000);
    node.mine(FINAL);
    let stopped = |problem: &str| {
        let mut running = till.start();
        let said = crate::support::polling::wait_until(|| {
            let chain = running.first_chain();
            let said = chain["problem"].as_str().unwrap_or_default();
            said.contains(problem)
        });
        assert!(said, "{problem}");
        running.process.kill();
        let path = "select count(*) || '' from observations where state = 'confirmed'";
        till.served.wait_for_query_result(path, &["0"]);
    };
    node.inject("/wallet/getnowblock", Fault::Status(503, "[]".to_owned()));
    stopped("it answered with status 503");
    node.clear_faults();
    node.inject("/walletsolidity/gettransactioninfobyblocknum", Fault::body(&json!([])));
    stopped("does not tell what came of the transactions of block 31");
    node.clear_faults();
    // New blocks were read meanwhile, and the payment waits.
    let waits = "select state || ' ' || block_height from observations";
    till.served.wait_for_query_result(waits, &["seen 31"]);
    node.hide_newest_blocks(30);
    stopped("does not have block 50");
    node.hide_newest_blocks(0);
    till.run_until_event("invoice.confirmed", &invoice);
    assert_agrees_with_node(&till, &node, &[deposit_address(&invoice)]);
}

#[test]
fn transfers_within_the_shop_book_nothing() {
    let node = Node::start();
    let till = open_shop(&node.url());
    let gas = [0x6a; 20];
    let own = ["own", "tron", &encode_address(gas)];
    run_wallet_command(&till.served.file, &own, "").json_lines();
    let mut running = till.start();
    till.wait_for_rate("tron", "TRX");
    let [paid, other] = [ASSET, "TRX"].map(|asset| till.create_invoice(&running, asset));
    running.process.kill();
    node.pay_token(&deposit_address(&paid), 20_000_000);
    // Transfers within the shop: gas for a sweep, and a transfer from a customer's address.
    node.send(Action::Transfer {
        from: gas,
        to: decode_address(&deposit_address(&paid)),
        amount: 30_000_000,
    });
    node.send(Action::token_transfer(
        TOKEN,
        decode_address(&deposit_address(&paid)),
        decode_address(&deposit_address(&other)),
        20_000_000,
    ));
    node.mine(FINAL);
    let running = till.start();
    till.wait_for_event("invoice.confirmed", &paid);
    let owners = "select (select count(*) from payments) || ' ' || (select count(*) from own_transfers) || ' ' \
        || (select count(*) from unmatched_payments)";
    till.served.wait_for_query_result(owners, &["1 2 0"]);
    drop(running);
    assert_agrees_with_node(&till, &node, &[deposit_address(&paid), deposit_address(&other)]);
}

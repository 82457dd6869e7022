//! A shop that accepts SOL and two tokens, with the real server.

use crate::chain::till::{TestnetShop, deposit_address};
use crate::operator::wallets::run_wallet_command;
use crate::support::polling;
use crate::support::received::amounts_in_file;
use crate::support::rpc_proxy::{RpcFault, RpcProxy};
use crate::support::surfpool::{SLOTS_UNTIL_FINAL, SOL, Surfpool, USDC, USDT};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const UNTESTED: &str = "a shop that takes coins of Solana";

/// Asserts that the file passes the audit and agrees with the node.
#[track_caller]
fn assert_agrees_with_node(till: &TestnetShop, node: &Surfpool, to: &[String]) {
    till.served.assert_audit_clean();
    let to: BTreeSet<String> = to.iter().cloned().collect();
    assert_eq!(amounts_in_file(&till.served.open_file()), node.received_amounts(&to));
}

#[test]
fn final_slot_confirms_coin_and_tokens() {
    let Some(node) = Surfpool::start(UNTESTED) else {
        return;
    };
    let till = TestnetShop::with_solana(&node, &node.url);
    let mut running = till.start();
    till.wait_for_rate("solana", SOL);
    assert_eq!(till.offered_assets(&running), [SOL, USDC, USDT]);
    let invoices = [SOL, USDC, USDT].map(|asset| till.create_invoice(&running, asset));
    assert_eq!(invoices[0]["amountExpected"], "0.2");
    // No payment URI is offered: a Solana URI cannot name a test network, so a wallet could send real money.
    assert_eq!(invoices[0]["paymentUri"], Value::Null);
    running.process.kill();
    node.pay(SOL, &deposit_address(&invoices[0]), 200_000_000);
    node.pay(USDC, &deposit_address(&invoices[1]), 20_000_000);
    node.pay(USDT, &deposit_address(&invoices[2]), 20_000_000);
    let mut running = till.start();
    for invoice in &invoices {
        till.wait_for_event("invoice.detected", invoice);
    }
    running.process.kill();
    node.wait_for_slots(SLOTS_UNTIL_FINAL - 2);
    let read = |till: &TestnetShop| {
        let height = node.newest_slot();
        let read = format!("select (height = {height}) || '' from chain_cursors");
        till.served.wait_for_query_result(&read, &["1"]);
    };
    let mut running = till.start();
    read(&till);
    let last =
        "select group_concat(state) from (select state from observations order by block_height)";
    till.served.wait_for_query_result(last, &["confirmed,confirmed,seen"]);
    running.process.kill();
    node.wait_for_slots(2);
    let running = till.start();
    for invoice in &invoices {
        till.wait_for_event("invoice.confirmed", invoice);
    }
    let shown = &running.first_chain();
    assert_eq!(
        [&shown["chain"], &shown["network"], &shown["keepsUp"], &shown["problem"]],
        [&json!("solana"), &json!("localnet"), &json!(true), &Value::Null]
    );
    let mut settings = vec!["doctor"];
    settings.extend(till.settings().into_iter().take(9));
    let said = till.run_coffer(&settings);
    for part in [
        "ok: node of solana at http://127.0.0.1:",
        ": localnet, block ",
        "ok: requests to solana: about 10240 a day (every 60 s), 46240 while money is expected all day (every 10 s), \
         while somebody may pay to 20 addresses",
    ] {
        assert!(said.contains(part), "{said}");
    }
    drop(running);
    assert_agrees_with_node(&till, &node, &invoices.each_ref().map(deposit_address));
}

#[test]
fn next_node_url_is_used_if_the_first_node_hides_a_payment() {
    let Some(node) = Surfpool::start(UNTESTED) else {
        return;
    };
    let liar = RpcProxy::start(&node.url);
    let till = TestnetShop::with_solana(&node, &format!("{},{}", liar.url(), node.url));
    let invoice = till.create_invoice_and_kill("solana", SOL, USDC);
    liar.inject("getSignaturesForAddress", RpcFault::result(json!([])));
    node.pay(USDC, &deposit_address(&invoice), 20_000_000);
    node.wait_for_slots(SLOTS_UNTIL_FINAL + 2);
    let mut running = till.start();
    let height = node.newest_slot();
    let read = format!("select (height = {height}) || '' from chain_cursors");
    till.served.wait_for_query_result(&read, &["1"]);
    assert!(liar.call_count("getSignaturesForAddress") > 0);
    till.served.wait_for_query_result("select count(*) || '' from observations", &["0"]);
    running.process.kill();
    liar.inject("getSlot", RpcFault::Status(503));
    till.run_until_event("invoice.confirmed", &invoice);
    assert_agrees_with_node(&till, &node, &[deposit_address(&invoice)]);
}

#[test]
fn unavailable_node_delays_but_does_not_lose_a_payment() {
    let Some(node) = Surfpool::start(UNTESTED) else {
        return;
    };
    let liar = RpcProxy::start(&node.url);
    let till = TestnetShop::with_solana(&node, &liar.url());
    let invoice = till.create_invoice_and_kill("solana", SOL, SOL);
    let before = node.newest_slot();
    node.pay(SOL, &deposit_address(&invoice), 200_000_000);
    node.wait_for_slots(SLOTS_UNTIL_FINAL + 2);
    let stopped = |problem: &str| {
        let mut running = till.start();
        let said = polling::wait_until(|| {
            let chain = running.first_chain();
            let said = chain["problem"].as_str().unwrap_or_default();
            said.contains(problem)
        });
        assert!(said, "{problem}");
        running.process.kill();
        till.served.wait_for_query_result("select count(*) || '' from observations", &["0"]);
        liar.clear_faults();
    };
    liar.inject("getSlot", RpcFault::Status(503));
    stopped("it answered with status 503");
    liar.inject("getTransaction", RpcFault::result(Value::Null));
    stopped("lists it and does not have it");
    let behind = json!(before.saturating_sub(20));
    liar.inject("getSlot", RpcFault::result(behind));
    stopped("does not have block ");
    till.run_until_event("invoice.confirmed", &invoice);
    assert_agrees_with_node(&till, &node, &[deposit_address(&invoice)]);
}

#[test]
fn transfers_within_the_shop_book_nothing() {
    let Some(node) = Surfpool::start(UNTESTED) else {
        return;
    };
    let till = TestnetShop::with_solana(&node, &node.url);
    let mut running = till.start();
    till.wait_for_rate("solana", SOL);
    let [paid, other] = [USDC, SOL].map(|asset| till.create_invoice(&running, asset));
    running.process.kill();
    node.pay(USDC, &deposit_address(&paid), 20_000_000);
    till.run_until_event("invoice.detected", &paid);
    // Transfers within the shop: gas for a sweep, the sweep with its returned rent, and a transfer between two
    // deposit addresses.
    let own = ["own", "solana", &node.payer];
    run_wallet_command(&till.served.file, &own, "").json_lines();
    node.pay(SOL, &deposit_address(&paid), 300_000_000);
    let pool = node.pool_addresses(0, 40);
    let at = pool.iter().position(|one| *one == deposit_address(&paid)).unwrap();
    let at = Some(u32::try_from(at).unwrap());
    let sweep =
        json!([["token", USDC, node.payer, 20_000_000], ["close", USDC, deposit_address(&paid)]]);
    node.send(at, &sweep);
    node.send(at, &json!([["sol", deposit_address(&other), 200_000_000]]));
    node.wait_for_slots(SLOTS_UNTIL_FINAL + 2);
    let running = till.start();
    till.wait_for_event("invoice.confirmed", &paid);
    let owners = "select (select count(*) from payments) || ' ' || (select count(*) from own_transfers) || ' ' \
        || (select count(*) from unmatched_payments)";
    till.served.wait_for_query_result(owners, &["1 2 0"]);
    drop(running);
    assert_agrees_with_node(&till, &node, &[deposit_address(&paid), deposit_address(&other)]);
}

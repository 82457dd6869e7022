//! One history of payments with every outcome, on each kind of node with outputs.
//!
//! Invariant: the server is killed after each step. In the end the ledger has each output of the chain exactly once.

use super::counter::{COINS, Counter, nobody};
use crate::support::electrumx::Electrumx;
use crate::support::payer::{FEE, Payer, SignedTransaction};
use crate::support::regtest::Regtest;
use serde_json::{Value, json};

const UNTESTED: &str = "what becomes of payments on chains whose money lies in outputs";

#[test]
fn ledger_agrees_with_a_random_litecoin_history() {
    if let Some(node) = Regtest::litecoind(&[], UNTESTED) {
        goes_through(Counter::open(&node, "LTC", "wpkh"));
    }
}

#[test]
fn ledger_agrees_with_a_random_bitcoin_history() {
    // A small shop has a pruned node without an index.
    if let Some(node) = Regtest::bitcoind(&["-prune=550"], UNTESTED) {
        goes_through(Counter::open(&node, "BTC", "wpkh"));
    }
}

#[test]
fn ledger_agrees_with_a_random_bitcoin_history_from_electrum() {
    // ElectrumX needs both indexes.
    let indexes = ["-txindex=1", "-txospenderindex=1"];
    let Some(node) = Regtest::bitcoind(&indexes, UNTESTED) else {
        return;
    };
    let payer = Payer::with_coins(&node, COINS);
    if let Some(server) = Electrumx::start(&node, &[], UNTESTED) {
        let url = server.url();
        goes_through(Counter::open_at(payer, &node, (&url, 15), ("BTC", "wpkh")));
    }
}

/// Plays the whole history.
#[track_caller]
fn goes_through(mut counter: Counter<'_>) {
    simple_payments(&mut counter);
    replacements(&mut counter);
    reorganisations(&mut counter);
    late_payments(&mut counter);
    money_of_our_own(&mut counter);
    what_is_no_sale(&mut counter);
    counter.agrees();
    // A rescan of all blocks changes nothing.
    let said = counter
        .till
        .coffer(&["rescan", &counter.node.chain.to_string(), "--from", "1"]);
    assert!(said.contains("is read again from block 1 on"), "{said}");
    counter.has(
        "select count(*) || '' from rescans where ended_at is not null",
        "1",
    );
    counter.agrees();
}

/// Payments that are exact, topped up, too large, several in one transaction, or repeated.
#[track_caller]
fn simple_payments(counter: &mut Counter<'_>) {
    let dues = counter.invoices(7);
    let [exact, under, over, one, other, beside, second] = &dues[..] else {
        unreachable!("seven were made")
    };
    let customer = counter.customer("ada");
    let price = exact.amount;
    for (due, amount) in [
        (exact, price),
        (under, price / 2),
        (over, 2 * price),
        (second, price),
    ] {
        counter.payer.pay(&[(&due.address, amount)]);
    }
    counter
        .payer
        .pay(&[(&one.address, price), (&other.address, price)]);
    let mut to = vec![(beside.address.as_str(), price)];
    to.extend(
        customer
            .as_ref()
            .map(|customer| (customer.as_str(), 3 * price)),
    );
    counter.payer.pay(&to);
    counter.looks(&[
        (exact, "detected", price),
        (under, "detected", price / 2),
        (over, "detected", 2 * price),
        (one, "detected", price),
        (other, "detected", price),
        (beside, "detected", price),
        (second, "detected", price),
    ]);
    let deposits = "select count(*) || ' ' || total(was_confirmed) from deposits";
    let has_customers = customer.is_some();
    counter.has(deposits, if has_customers { "1 0.0" } else { "0 0.0" });
    // The node and the server are down while blocks are mined.
    counter.confirms();
    counter.node.stop();
    counter.node.start_process();
    counter.looks(&[
        (exact, "confirmed", price),
        (under, "underpaid", price / 2),
        (over, "overpaid", 2 * price),
        (one, "confirmed", price),
        (other, "confirmed", price),
        (beside, "confirmed", price),
        (second, "confirmed", price),
    ]);
    counter.has(deposits, if has_customers { "1 1.0" } else { "0 0.0" });
    let rest = price - price / 2;
    counter
        .payer
        .pay(&[(&under.address, rest), (&second.address, price)]);
    counter.looks(&[(under, "detected", price), (second, "confirmed", 2 * price)]);
    counter.confirms();
    counter.looks(&[(under, "confirmed", price), (second, "overpaid", 2 * price)]);
    assert_eq!(counter.events(exact), "created detected confirmed");
    assert_eq!(
        counter.events(under),
        "created detected underpaid detected confirmed"
    );
    assert_eq!(
        counter.events(second),
        "created detected confirmed overpaid"
    );
}

/// Replacements that raise only the fee, pay more, pay less, or pay another address.
#[track_caller]
fn replacements(counter: &mut Counter<'_>) {
    let dues = counter.invoices(6);
    let [same, more, less, lost, parent, child] = &dues[..] else {
        unreachable!("six were made")
    };
    let price = same.amount;
    let simple = dues.iter().take(5);
    let made: Vec<SignedTransaction> = simple
        .map(|due| counter.payer.pay(&[(&due.address, price)]))
        .collect();
    // A child spends the change of the last transaction, and is dropped with it.
    let rest = made[4].rest.clone().unwrap();
    let on_top = counter.payer.spend(vec![rest], &[(&child.address, price)]);
    counter.payer.send(&on_top);
    let seen = dues.iter().map(|due| (due, "detected", price));
    counter.looks(&seen.collect::<Vec<_>>());
    let nobody = nobody(counter.node);
    counter.payer.replace(&made[0], &[(&same.address, price)]);
    counter
        .payer
        .replace(&made[1], &[(&more.address, 2 * price)]);
    counter
        .payer
        .replace(&made[2], &[(&less.address, price / 2)]);
    counter.payer.replace(&made[3], &[(&nobody, price)]);
    counter.payer.replace(&made[4], &[(&parent.address, price)]);
    counter.looks(&[
        (same, "detected", price),
        (more, "detected", 2 * price),
        (less, "detected", price / 2),
        (lost, "awaiting_payment", 0),
        (parent, "detected", price),
        (child, "awaiting_payment", 0),
    ]);
    counter.confirms();
    counter.looks(&[
        (same, "confirmed", price),
        (more, "overpaid", 2 * price),
        (less, "underpaid", price / 2),
        (lost, "awaiting_payment", 0),
        (parent, "confirmed", price),
        (child, "awaiting_payment", 0),
    ]);
    assert_eq!(counter.events(same), "created detected confirmed");
    // The invoice is paid in the end.
    counter.payer.pay(&[(&lost.address, price)]);
    counter.confirms();
    counter.looks(&[(lost, "confirmed", price)]);
}

/// Reorgs: transactions return to the mempool, move to other blocks, return with their blocks, or are lost.
#[track_caller]
fn reorganisations(counter: &mut Counter<'_>) {
    let dues = counter.invoices(3);
    let [waits, gone, moved] = &dues[..] else {
        unreachable!("three were made")
    };
    let price = waits.amount;
    let made: Vec<SignedTransaction> = dues
        .iter()
        .map(|due| counter.payer.pay(&[(&due.address, price)]))
        .collect();
    let first = counter.confirms().remove(0);
    let all = |status| {
        dues.iter()
            .map(move |due| (due, status, price))
            .collect::<Vec<_>>()
    };
    counter.looks(&all("confirmed"));

    counter.node.call("invalidateblock", json!([first]));
    let elsewhere = nobody(counter.node);
    let thief = counter.payer.replace(&made[1], &[(&elsewhere, price)]);
    let second = counter.payer.mine_only(&[]);
    // Another block, and another index in it.
    counter.payer.mine_only(&[&thief.txid, &made[2].txid]);
    for _ in 0..counter.depth() {
        counter.payer.mine_only(&[]);
    }
    counter.looks(&[
        (waits, "detected", price),
        (gone, "failed", 0),
        (moved, "confirmed", price),
    ]);
    counter.confirms();
    counter.looks(&[(waits, "confirmed", price), (gone, "failed", 0)]);

    // The first branch wins, and loses again.
    changes_branch(counter, &second, &first);
    counter.looks(&all("confirmed"));
    changes_branch(counter, &first, &second);
    counter.looks(&[
        (waits, "confirmed", price),
        (gone, "failed", 0),
        (moved, "confirmed", price),
    ]);
}

/// Switches from the branch of one block to that of another, which becomes longer. A node with an index does not
/// switch back.
#[track_caller]
fn changes_branch(counter: &Counter<'_>, from: &str, to: &str) {
    let height = || counter.node.call("getblockcount", json!([])).as_u64();
    let before = height();
    counter.node.call("invalidateblock", json!([from]));
    counter.node.call("reconsiderblock", json!([to]));
    while height() <= before {
        counter.payer.mine_only(&[]);
    }
}

/// Payments after the invoice was cancelled.
#[track_caller]
fn late_payments(counter: &mut Counter<'_>) {
    let dues = counter.invoices(1);
    let [late] = &dues[..] else {
        unreachable!("one was made")
    };
    let running = counter.begin();
    let (account, id) = (
        &counter.till.served.account,
        late.invoice["id"].as_str().unwrap(),
    );
    let path = format!("/dashboard/api/accounts/{account}/invoices/{id}/cancel");
    running
        .operator_request("POST", &path, &Value::Null)
        .expect(200);
    drop(running);
    // Block times have a resolution of one second. The clock of the node is ahead, so that each block is after the
    // cancellation.
    let block = counter.node.text("getbestblockhash", json!([]));
    let header = counter.node.call("getblockheader", json!([block]));
    let later = header["time"].as_u64().unwrap() + 3_600;
    counter.node.call("setmocktime", json!([later]));
    counter.payer.pay(&[(&late.address, late.amount)]);
    counter.confirms();
    counter.looks(&[(late, "paid_late", late.amount)]);
    counter.node.call("setmocktime", json!([0]));
}

/// Transfers between addresses of the shop are no sales, mined or not, seen before or not.
#[track_caller]
fn money_of_our_own(counter: &mut Counter<'_>) {
    let dues = counter.invoices(3);
    let [paid, swept, unpaid] = &dues[..] else {
        unreachable!("three were made")
    };
    let ours = counter
        .customer("bob")
        .unwrap_or_else(|| unpaid.address.clone());
    let price = paid.amount;
    let first = counter.payer.pay(&[(&paid.address, price)]);
    counter.looks(&[(paid, "detected", price)]);
    let coin = counter.coin(&first.txid, 0, &paid.address, price);
    let moves = counter
        .payer
        .spend(vec![coin], &[(&unpaid.address, price - FEE)]);
    counter.payer.send(&moves);
    counter.looks(&[(paid, "detected", price), (unpaid, "awaiting_payment", 0)]);
    // Both transactions are in one block before the server polls.
    let second = counter.payer.pay(&[(&swept.address, price)]);
    let coin = counter.coin(&second.txid, 0, &swept.address, price);
    let moves = counter.payer.spend(vec![coin], &[(&ours, price - FEE)]);
    counter.payer.send(&moves);
    counter.confirms();
    counter.looks(&[
        (paid, "confirmed", price),
        (swept, "confirmed", price),
        (unpaid, "awaiting_payment", 0),
    ]);
    counter.has("select count(*) || '' from own_transfers", "2");
}

/// Coinbase outputs, dust, zero outputs, and payments to addresses that were not handed out.
#[track_caller]
fn what_is_no_sale(counter: &mut Counter<'_>) {
    let dues = counter.invoices(2);
    let [made, dust] = &dues[..] else {
        unreachable!("two were made")
    };
    let stray = counter.stray();
    counter
        .node
        .call("generatetoaddress", json!([1, made.address]));
    // No node relays so little, but a miner may include it.
    let tiny = counter
        .payer
        .sign(&[(&dust.address, 0), (&dust.address, 7)]);
    counter.payer.mine_only(&[&tiny.raw]);
    counter.payer.pay(&[(&stray, 50_000)]);
    counter.confirms();
    let unmatched = "select group_concat(reason, ' ') from (select reason from unmatched_payments order by reason)";
    counter.has(unmatched, "coinbase dust unknown_address");
    counter.looks(&[(made, "awaiting_payment", 0), (dust, "awaiting_payment", 0)]);
}

//! The same payments, with every outcome, on each kind of node of a UTXO chain.
//!
//! Invariant: the server is killed after each step. In the end the ledger has each output of the chain exactly once.

use super::counter::{COINS, UtxoShop, foreign_address};
use crate::support::electrumx::Electrumx;
use crate::support::payer::{FEE, Payer, SignedTransaction};
use crate::support::regtest::Regtest;
use serde_json::{Value, json};

const UNTESTED: &str = "payments on chains with outputs";

#[test]
fn ledger_agrees_with_a_litecoin_node_after_every_outcome() {
    if let Some(node) = Regtest::start_litecoind(&[], UNTESTED) {
        play_all_steps(UtxoShop::open(&node, "LTC", "wpkh"));
    }
}

#[test]
fn ledger_agrees_with_a_bitcoin_node_after_every_outcome() {
    // This node is pruned and has no transaction index, like the node of a small shop.
    if let Some(node) = Regtest::start_bitcoind(&["-prune=550"], UNTESTED) {
        play_all_steps(UtxoShop::open(&node, "BTC", "wpkh"));
    }
}

#[test]
fn ledger_agrees_with_electrum_after_every_bitcoin_outcome() {
    // ElectrumX needs an index of transactions and an index of spent outputs.
    let indexes = ["-txindex=1", "-txospenderindex=1"];
    let Some(node) = Regtest::start_bitcoind(&indexes, UNTESTED) else {
        return;
    };
    let payer = Payer::with_coins(&node, COINS);
    if let Some(server) = Electrumx::start(&node, &[], UNTESTED) {
        let url = server.url();
        play_all_steps(UtxoShop::open_with_url(payer, &node, &url, 15, "BTC", "wpkh"));
    }
}

/// Plays all steps, and compares the ledger with the chain.
#[track_caller]
fn play_all_steps(mut counter: UtxoShop<'_>) {
    play_simple_payments(&mut counter);
    play_replacements(&mut counter);
    play_reorgs(&mut counter);
    play_late_payments(&mut counter);
    play_transfers_within_shop(&mut counter);
    play_ignored_outputs(&mut counter);
    counter.assert_ledger_matches_chain();
    // A rescan of all blocks changes nothing.
    let said = counter.till.run_coffer(&["rescan", &counter.node.chain.to_string(), "--from", "1"]);
    assert!(said.contains("is read again from block 1 on"), "{said}");
    counter.wait_for_query("select count(*) || '' from rescans where ended_at is not null", "1");
    counter.assert_ledger_matches_chain();
}

/// Sends exact payments, top-ups, overpayments, several payments in one transaction, and repeated payments.
#[track_caller]
fn play_simple_payments(counter: &mut UtxoShop<'_>) {
    let dues = counter.create_invoices(7);
    let [exact, under, over, one, other, beside, second] = &dues[..] else {
        unreachable!("seven were made")
    };
    let customer = counter.customer_address("ada");
    let price = exact.amount;
    for (due, amount) in [(exact, price), (under, price / 2), (over, 2 * price), (second, price)] {
        counter.payer.pay(&[(&due.address, amount)]);
    }
    counter.payer.pay(&[(&one.address, price), (&other.address, price)]);
    let mut to = vec![(beside.address.as_str(), price)];
    to.extend(customer.as_ref().map(|customer| (customer.as_str(), 3 * price)));
    counter.payer.pay(&to);
    counter.assert_invoices(&[
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
    counter.wait_for_query(deposits, if has_customers { "1 0.0" } else { "0 0.0" });
    // The node and the server are down while blocks are mined.
    counter.mine_until_confirmed();
    counter.node.stop();
    counter.node.start_process();
    counter.assert_invoices(&[
        (exact, "confirmed", price),
        (under, "underpaid", price / 2),
        (over, "overpaid", 2 * price),
        (one, "confirmed", price),
        (other, "confirmed", price),
        (beside, "confirmed", price),
        (second, "confirmed", price),
    ]);
    counter.wait_for_query(deposits, if has_customers { "1 1.0" } else { "0 0.0" });
    let rest = price - price / 2;
    counter.payer.pay(&[(&under.address, rest), (&second.address, price)]);
    counter.assert_invoices(&[(under, "detected", price), (second, "confirmed", 2 * price)]);
    counter.mine_until_confirmed();
    counter.assert_invoices(&[(under, "confirmed", price), (second, "overpaid", 2 * price)]);
    assert_eq!(counter.event_types(exact), "created detected confirmed");
    assert_eq!(counter.event_types(under), "created detected underpaid detected confirmed");
    assert_eq!(counter.event_types(second), "created detected confirmed overpaid");
}

/// Replaces transactions by others that raise only the fee, pay more, pay less, or pay another address.
#[track_caller]
fn play_replacements(counter: &mut UtxoShop<'_>) {
    let dues = counter.create_invoices(6);
    let [same, more, less, lost, parent, child] = &dues[..] else { unreachable!("six were made") };
    let price = same.amount;
    let simple = dues.iter().take(5);
    let made: Vec<SignedTransaction> =
        simple.map(|due| counter.payer.pay(&[(&due.address, price)])).collect();
    // The transaction for `child` spends the change of the transaction for `parent`. When the parent transaction is
    // replaced, the node drops both transactions.
    let rest = made[4].rest.clone().unwrap();
    let on_top = counter.payer.sign_with_inputs(vec![rest], &[(&child.address, price)]);
    counter.payer.send(&on_top);
    let seen = dues.iter().map(|due| (due, "detected", price));
    counter.assert_invoices(&seen.collect::<Vec<_>>());
    let nobody = foreign_address(counter.node);
    counter.payer.replace(&made[0], &[(&same.address, price)]);
    counter.payer.replace(&made[1], &[(&more.address, 2 * price)]);
    counter.payer.replace(&made[2], &[(&less.address, price / 2)]);
    counter.payer.replace(&made[3], &[(&nobody, price)]);
    counter.payer.replace(&made[4], &[(&parent.address, price)]);
    counter.assert_invoices(&[
        (same, "detected", price),
        (more, "detected", 2 * price),
        (less, "detected", price / 2),
        (lost, "awaiting_payment", 0),
        (parent, "detected", price),
        (child, "awaiting_payment", 0),
    ]);
    counter.mine_until_confirmed();
    counter.assert_invoices(&[
        (same, "confirmed", price),
        (more, "overpaid", 2 * price),
        (less, "underpaid", price / 2),
        (lost, "awaiting_payment", 0),
        (parent, "confirmed", price),
        (child, "awaiting_payment", 0),
    ]);
    assert_eq!(counter.event_types(same), "created detected confirmed");
    // A new payment confirms the invoice whose payment was lost.
    counter.payer.pay(&[(&lost.address, price)]);
    counter.mine_until_confirmed();
    counter.assert_invoices(&[(lost, "confirmed", price)]);
}

/// Reorganises blocks: transactions return to the mempool, move to other blocks, return with their blocks, or are
/// lost.
#[track_caller]
fn play_reorgs(counter: &mut UtxoShop<'_>) {
    let dues = counter.create_invoices(3);
    let [waits, gone, moved] = &dues[..] else { unreachable!("three were made") };
    let price = waits.amount;
    let made: Vec<SignedTransaction> =
        dues.iter().map(|due| counter.payer.pay(&[(&due.address, price)])).collect();
    let first = counter.mine_until_confirmed().remove(0);
    let all = |status| dues.iter().map(move |due| (due, status, price)).collect::<Vec<_>>();
    counter.assert_invoices(&all("confirmed"));

    counter.node.call("invalidateblock", json!([first]));
    let elsewhere = foreign_address(counter.node);
    let thief = counter.payer.replace(&made[1], &[(&elsewhere, price)]);
    let second = counter.payer.mine_only_transactions(&[]);
    // The third payment is confirmed in another block, at another index within the block.
    counter.payer.mine_only_transactions(&[&thief.txid, &made[2].txid]);
    for _ in 0..counter.confirmations_needed() {
        counter.payer.mine_only_transactions(&[]);
    }
    counter.assert_invoices(&[
        (waits, "detected", price),
        (gone, "failed", 0),
        (moved, "confirmed", price),
    ]);
    counter.mine_until_confirmed();
    counter.assert_invoices(&[(waits, "confirmed", price), (gone, "failed", 0)]);

    // Makes the first branch active again, and then the second branch.
    switch_branch(counter, &second, &first);
    counter.assert_invoices(&all("confirmed"));
    switch_branch(counter, &first, &second);
    counter.assert_invoices(&[
        (waits, "confirmed", price),
        (gone, "failed", 0),
        (moved, "confirmed", price),
    ]);
}

/// Invalidates the branch of block `from`, and extends the branch of block `to` until it is the longest. A node with
/// an index does not change branches by itself.
#[track_caller]
fn switch_branch(counter: &UtxoShop<'_>, from: &str, to: &str) {
    let height = || counter.node.call("getblockcount", json!([])).as_u64();
    let before = height();
    counter.node.call("invalidateblock", json!([from]));
    counter.node.call("reconsiderblock", json!([to]));
    while height() <= before {
        counter.payer.mine_only_transactions(&[]);
    }
}

/// Pays an invoice after its cancellation.
#[track_caller]
fn play_late_payments(counter: &mut UtxoShop<'_>) {
    let dues = counter.create_invoices(1);
    let [late] = &dues[..] else { unreachable!("one was made") };
    let running = counter.start_synced();
    let (account, id) = (&counter.till.served.account, late.invoice["id"].as_str().unwrap());
    let path = format!("/dashboard/api/accounts/{account}/invoices/{id}/cancel");
    running.operator_request("POST", &path, &Value::Null).expect(200);
    drop(running);
    // Block times have a resolution of one second. The clock of the node is set ahead, so that each block is later
    // than the cancellation.
    let block = counter.node.call_text("getbestblockhash", json!([]));
    let header = counter.node.call("getblockheader", json!([block]));
    let later = header["time"].as_u64().unwrap() + 3_600;
    counter.node.call("setmocktime", json!([later]));
    counter.payer.pay(&[(&late.address, late.amount)]);
    counter.mine_until_confirmed();
    counter.assert_invoices(&[(late, "paid_late", late.amount)]);
    counter.node.call("setmocktime", json!([0]));
}

/// Plays transfers between addresses of the shop, which are not booked as payments. The server sees some transactions
/// in the mempool, and others only in a block.
#[track_caller]
fn play_transfers_within_shop(counter: &mut UtxoShop<'_>) {
    let dues = counter.create_invoices(3);
    let [paid, swept, unpaid] = &dues[..] else { unreachable!("three were made") };
    let ours = counter.customer_address("bob").unwrap_or_else(|| unpaid.address.clone());
    let price = paid.amount;
    let first = counter.payer.pay(&[(&paid.address, price)]);
    counter.assert_invoices(&[(paid, "detected", price)]);
    let coin = counter.spendable_coin(&first.txid, 0, &paid.address, price);
    let moves = counter.payer.sign_with_inputs(vec![coin], &[(&unpaid.address, price - FEE)]);
    counter.payer.send(&moves);
    counter.assert_invoices(&[(paid, "detected", price), (unpaid, "awaiting_payment", 0)]);
    // The payment and the transfer that spends it are in one block before the server polls.
    let second = counter.payer.pay(&[(&swept.address, price)]);
    let coin = counter.spendable_coin(&second.txid, 0, &swept.address, price);
    let moves = counter.payer.sign_with_inputs(vec![coin], &[(&ours, price - FEE)]);
    counter.payer.send(&moves);
    counter.mine_until_confirmed();
    counter.assert_invoices(&[
        (paid, "confirmed", price),
        (swept, "confirmed", price),
        (unpaid, "awaiting_payment", 0),
    ]);
    counter.wait_for_query("select count(*) || '' from own_transfers", "2");
}

/// Sends outputs that confirm no invoice: coinbase outputs, dust, zero outputs, and payments to unassigned addresses.
#[track_caller]
fn play_ignored_outputs(counter: &mut UtxoShop<'_>) {
    let dues = counter.create_invoices(2);
    let [made, dust] = &dues[..] else { unreachable!("two were made") };
    let stray = counter.unassigned_address();
    counter.node.call("generatetoaddress", json!([1, made.address]));
    // No node relays outputs as small as these, but a miner may include them in a block.
    let tiny = counter.payer.sign(&[(&dust.address, 0), (&dust.address, 7)]);
    counter.payer.mine_only_transactions(&[&tiny.raw]);
    counter.payer.pay(&[(&stray, 50_000)]);
    counter.mine_until_confirmed();
    let unmatched = "select group_concat(reason, ' ') from (select reason from unmatched_payments order by reason)";
    counter.wait_for_query(unmatched, "coinbase dust unknown_address");
    counter.assert_invoices(&[(made, "awaiting_payment", 0), (dust, "awaiting_payment", 0)]);
}

//! Transactions that stay unconfirmed, are dropped, replaced or reorganised.

use super::{ETH, EthMerchant, EthTransfer, FINAL, HOUR_MS, USDC, play_with_each_sender};
use crate::transfers::on_testnet::available_eur_balance;
use serde_json::json;

const UNTESTED: &str = "payouts and refunds whose transactions are lost on ethereum";

/// Asserts that a transfer in processing can fail only with `force`.
#[track_caller]
fn assert_fails_only_by_force(merchant: &EthMerchant, of: &EthTransfer) {
    let refused = merchant.apply_action(of, &json!({ "action": "fail" }));
    refused.assert_error(409, "invalid_transition", Some("force"));
}

#[test]
fn dropped_transaction_fails_without_force_when_its_nonce_is_used() {
    play_with_each_sender(UNTESTED, assert_dropped_transactions_are_handled);
}

fn assert_dropped_transactions_are_handled(merchant: &mut EthMerchant) {
    merchant.node.set_mining_paused(true);
    let (both, txids) = merchant.enter_txids(&[("payouts", ETH), ("refunds", USDC)]);
    merchant.restart_and_sync();
    for sent in &both {
        merchant.wait_for_state(sent, "processing", "seen", "in the mempool since 2");
    }
    merchant.node.call_rpc("anvil_dropAllTransactions", json!([]));
    merchant.restart_and_sync();
    both.iter().for_each(|sent| merchant.assert_waiting(sent));
    merchant.advance_ms(6 * HOUR_MS);
    merchant.mine_and_sync(1);
    for (sent, txid) in both.iter().zip(&txids) {
        merchant
            .wait_for_review(sent, &format!("transaction {txid} was in the mempool and is gone"));
        assert_fails_only_by_force(merchant, sent);
    }
    // Other transactions use the nonces of the lost transactions.
    let nobody = merchant.new_destination();
    both.iter().for_each(|_| drop(merchant.send_coin(ETH, &nobody, 1)));
    merchant.mine_and_sync(1);
    both.iter().for_each(|sent| assert_fails_only_by_force(merchant, sent));
    merchant.mine_and_sync(FINAL);
    for (sent, txid) in both.iter().zip(&txids) {
        let problem = format!("transaction {txid} cannot be confirmed any more");
        merchant.wait_for_review(sent, &problem);
        merchant.apply_action(sent, &json!({ "action": "fail" })).expect(200);
        merchant.assert_only_event(sent, "failed");
    }
    // Payments arrive after the transfers ended.
    both.iter().for_each(|sent| drop(merchant.send_transfer_amount(sent)));
    merchant.mine_and_sync(1);
    for sent in &both {
        let problem = "pays exactly the amount, after the end";
        merchant.wait_for_state(sent, "failed", "needs_review", problem);
        merchant.resolve_review(sent, "arrived", "adjust").expect(200);
    }
    merchant.mine_and_sync(FINAL);
    for sent in &both {
        merchant.wait_for_state(sent, "failed", "settled", "");
        merchant.assert_only_event(sent, "failed");
    }
}

#[test]
fn replacement_that_pays_the_amount_is_followed() {
    play_with_each_sender(UNTESTED, play_replacements);
}

fn play_replacements(merchant: &mut EthMerchant) {
    merchant.node.set_mining_paused(true);
    for payout in [0, 3] {
        let mut kinds = [ETH, USDC, ETH, USDC].map(|asset| ("refunds", asset));
        kinds[payout].0 = "payouts";
        replace_and_settle(merchant, &kinds);
    }
}

/// Replaces four pending transactions. Two replacements pay the same amount, one pays another address, and one pays
/// less.
#[track_caller]
fn replace_and_settle(merchant: &mut EthMerchant, kinds: &[(&str, &'static str)]) {
    let (all, old) = merchant.enter_txids(kinds);
    merchant.restart_and_sync();
    merchant.assert_all_seen(&all, &old);
    let nobody = merchant.new_destination();
    let new = [0, 1, 2, 3].map(|at: usize| {
        let sent = &all[at];
        let (to, units) = match at {
            2 => (&nobody, sent.units),
            3 => (&sent.to, sent.units - 1),
            _ => (&sent.to, sent.units),
        };
        let paid = merchant.payment_fields(sent.asset, to, units);
        merchant.node.replace_transaction(&old[at], paid).as_str().unwrap().to_owned()
    });
    merchant.mine_and_sync(1);
    merchant.restart_and_sync();
    merchant.assert_all_seen(&all[..2], &new[..2]);
    merchant.assert_waiting(&all[2]);
    let problem = format!("cannot be confirmed any more: {} took its place", new[3]);
    merchant.wait_for_review(&all[3], &problem);
    assert_fails_only_by_force(merchant, &all[3]);
    merchant.mine_and_sync(FINAL);
    merchant.assert_all_paid(&all[..2], &new[..2]);
    for (sent, txid) in all[2..].iter().zip(&old[2..]) {
        merchant.wait_for_review(sent, &format!("transaction {txid} cannot be confirmed any more"));
    }
    merchant.apply_action(&all[2], &json!({ "action": "fail" })).expect(200);
    // A replacement that pays at least half of the amount proves nothing.
    assert_fails_only_by_force(merchant, &all[3]);
    merchant.apply_action(&all[3], &json!({ "action": "fail", "force": true })).expect(200);
    merchant.wait_for_state(&all[3], "failed", "needs_review", &new[3]);
    all[2..].iter().for_each(|sent| merchant.assert_only_event(sent, "failed"));
    // The replacement that pays less is proposed to the operator.
    assert_eq!(merchant.read_transfer(&all[3])["proposals"][0]["txid"], new[3]);
    let received =
        [0, 1, 2, 3].map(|at: usize| all[at].units - merchant.destination_balance(&all[at]));
    assert_eq!(received, [0, 0, all[2].units, 1]);
}

#[test]
fn reorged_transaction_settles_in_its_new_block() {
    play_with_each_sender(UNTESTED, play_reorg);
}

fn play_reorg(merchant: &mut EthMerchant) {
    let before = merchant.node.call_rpc("evm_snapshot", json!([]));
    let both = [("payouts", USDC), ("refunds", ETH)]
        .map(|(kind, asset)| merchant.send_transfer(kind, asset));
    let (both, txids): (Vec<EthTransfer>, Vec<String>) = both.into_iter().unzip();
    let raws = signed_transactions(merchant, &txids);
    // By hand, only the first id is entered. The server finds the second transaction by itself.
    if merchant.sent_by == "hand" {
        merchant.enter_txid(&both[0], &txids[0]);
    }
    merchant.mine_and_sync(2);
    merchant.assert_all_seen(&both, &txids);
    merchant.node.call_rpc("evm_revert", json!([before]));
    merchant.mine_and_sync(5);
    both.iter().for_each(|sent| merchant.assert_waiting(sent));
    broadcast_transactions_again(merchant, &raws);
    merchant.mine_and_sync(1);
    merchant.assert_all_seen(&both, &txids);
    merchant.mine_and_sync(FINAL);
    merchant.assert_all_paid(&both, &txids);
    for sent in &both {
        assert_eq!(merchant.destination_balance(sent), sent.units);
    }
}

/// Returns the signed transactions with these ids.
#[track_caller]
fn signed_transactions(merchant: &EthMerchant, txids: &[String]) -> Vec<serde_json::Value> {
    let raw = |txid: &String| merchant.node.call_rpc("eth_getRawTransactionByHash", json!([txid]));
    txids.iter().map(raw).collect()
}

#[track_caller]
fn broadcast_transactions_again(merchant: &EthMerchant, raws: &[serde_json::Value]) {
    for raw in raws {
        let txid = merchant.node.call_rpc("eth_sendRawTransaction", json!([raw]));
        merchant.node.wait_for_receipt(&txid);
    }
}

#[test]
fn lost_paid_transaction_is_reviewed_until_resolved() {
    play_with_each_sender(UNTESTED, play_lost_paid_transactions);
}

fn play_lost_paid_transactions(merchant: &mut EthMerchant) {
    // With these settings of the operator, payments are confirmed before they are final.
    let tiers = json!({ "confirmations": { ETH: [{ "confirmations": 2 }], USDC: [{ "confirmations": 2 }] } });
    merchant.running().operator_request("PUT", "/dashboard/api/settings", &tiers).expect(200);
    for payout in 0..3 {
        let mut kinds = [ETH, USDC, ETH].map(|asset| ("refunds", asset));
        kinds[payout].0 = "payouts";
        reorganise_and_resolve_reviews(merchant, &kinds);
    }
}

/// Reorganises the blocks of three paid transfers. The first transaction is broadcast again, the second transfer is
/// paid again, and the amount of the third is reversed.
#[track_caller]
fn reorganise_and_resolve_reviews(merchant: &mut EthMerchant, kinds: &[(&str, &'static str)]) {
    let before = merchant.node.call_rpc("evm_snapshot", json!([]));
    let (all, txids) = merchant.enter_txids(kinds);
    let raws = signed_transactions(merchant, &txids);
    merchant.mine_and_sync(2);
    merchant.assert_all_paid(&all, &txids);
    merchant.node.call_rpc("evm_revert", json!([before]));
    merchant.mine_and_sync(6);
    for (sent, txid) in all.iter().zip(&txids) {
        assert_eq!(merchant.destination_balance(sent), 0);
        let problem = format!("transaction {txid} is not confirmed any more, after it was paid");
        merchant.wait_for_state(sent, "paid", "needs_review", &problem);
        let refused = merchant.resolve_review(sent, "gone", "resolve");
        refused.assert_error(409, "invalid_transition", Some("action"));
    }
    let balance = available_eur_balance(merchant.running());
    merchant.resolve_review(&all[2], "gone", "adjust").expect(200);
    let adjusted = available_eur_balance(merchant.running());
    assert_ne!(adjusted, balance);
    // The first transaction is broadcast again. The second transfer is paid again by a transaction with the nonce of the
    // lost one, which it replaces.
    broadcast_transactions_again(merchant, &raws[..1]);
    let other = merchant.send_transfer_amount(&all[1]);
    merchant.mine_and_sync(2);
    let settled = [txids[0].clone(), other, txids[2].clone()];
    merchant.assert_all_paid(&all, &settled);
    // More final blocks change nothing.
    for _ in 0..2 {
        merchant.mine_and_sync(FINAL);
        merchant.assert_all_paid(&all, &settled);
    }
    assert_eq!(available_eur_balance(merchant.running()), adjusted);
    // The transaction whose amount was reversed is confirmed again.
    broadcast_transactions_again(merchant, &raws[2..]);
    merchant.mine_and_sync(2);
    let problem = "is in a block again, after its amount was booked back";
    merchant.wait_for_state(&all[2], "paid", "needs_review", problem);
    merchant.resolve_review(&all[2], "arrived", "adjust").expect(200);
    merchant.mine_and_sync(FINAL);
    merchant.assert_all_paid(&all, &settled);
    assert_eq!(available_eur_balance(merchant.running()), balance);
    for sent in &all {
        assert_eq!(merchant.destination_balance(sent), sent.units);
    }
}

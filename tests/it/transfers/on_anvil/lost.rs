//! Transactions that stay unconfirmed, are dropped, replaced or reorganised.

use super::{ETH, EthMerchant, EthTransfer, FINAL, HOUR_MS, USDC, by_each};
use serde_json::json;

const UNTESTED: &str = "payouts and refunds whose transactions are lost on ethereum";

/// Asserts that a transfer in processing can fail only with `force`.
#[track_caller]
fn assert_needs_force(merchant: &EthMerchant, of: &EthTransfer) {
    let refused = merchant.act(of, &json!({ "action": "fail" }));
    refused.assert_error(409, "invalid_transition", Some("force"));
}

#[test]
fn dropped_transaction_fails_without_force_when_its_nonce_is_used() {
    by_each(UNTESTED, dropped);
}

fn dropped(merchant: &mut EthMerchant) {
    merchant.node.hold(true);
    let (both, txids) = merchant.attached(&[("payouts", ETH), ("refunds", USDC)]);
    merchant.restart_and_read();
    for sent in &both {
        merchant.wait_until(sent, "processing", "seen", "in the mempool since 2");
    }
    merchant.node.ask("anvil_dropAllTransactions", json!([]));
    merchant.restart_and_read();
    both.iter()
        .for_each(|sent| merchant.wait_until_waiting(sent));
    merchant.advance_ms(6 * HOUR_MS);
    merchant.mine(1);
    for (sent, txid) in both.iter().zip(&txids) {
        merchant.wait_for_review(
            sent,
            &format!("transaction {txid} was in the mempool and is gone"),
        );
        assert_needs_force(merchant, sent);
    }
    // Other transactions use the nonces of the lost ones.
    let nobody = merchant.destination();
    both.iter()
        .for_each(|_| drop(merchant.send(ETH, &nobody, 1)));
    merchant.mine(1);
    both.iter()
        .for_each(|sent| assert_needs_force(merchant, sent));
    merchant.mine(FINAL);
    for (sent, txid) in both.iter().zip(&txids) {
        let problem = format!("transaction {txid} cannot be confirmed any more");
        merchant.wait_for_review(sent, &problem);
        merchant.act(sent, &json!({ "action": "fail" })).expect(200);
        merchant.assert_event(sent, "failed");
    }
    // Payments arrive after the transfers ended.
    both.iter()
        .for_each(|sent| drop(merchant.send_amount(sent)));
    merchant.mine(1);
    for sent in &both {
        let problem = "pays exactly the amount, after the end";
        merchant.wait_until(sent, "failed", "needs_review", problem);
        merchant.end_review(sent, "arrived", "adjust").expect(200);
    }
    merchant.mine(FINAL);
    for sent in &both {
        merchant.wait_until(sent, "failed", "settled", "");
        merchant.assert_event(sent, "failed");
    }
}

#[test]
fn replacement_that_pays_the_amount_is_followed() {
    by_each(UNTESTED, replaced);
}

fn replaced(merchant: &mut EthMerchant) {
    merchant.node.hold(true);
    for payout in [0, 3] {
        let mut kinds = [ETH, USDC, ETH, USDC].map(|asset| ("refunds", asset));
        kinds[payout].0 = "payouts";
        replaced_at_once(merchant, &kinds);
    }
}

/// Replaces four pending transactions. Two replacements pay the same amount, one pays another address, and one pays
/// less.
#[track_caller]
fn replaced_at_once(merchant: &mut EthMerchant, kinds: &[(&str, &'static str)]) {
    let (all, old) = merchant.attached(kinds);
    merchant.restart_and_read();
    merchant.assert_all_seen(&all, &old);
    let nobody = merchant.destination();
    let new = [0, 1, 2, 3].map(|at: usize| {
        let sent = &all[at];
        let (to, units) = match at {
            2 => (&nobody, sent.units),
            3 => (&sent.to, sent.units - 1),
            _ => (&sent.to, sent.units),
        };
        let paid = merchant.payment(sent.asset, to, units);
        merchant
            .node
            .replace(&old[at], paid)
            .as_str()
            .unwrap()
            .to_owned()
    });
    merchant.mine(1);
    merchant.restart_and_read();
    merchant.assert_all_seen(&all[..2], &new[..2]);
    merchant.wait_until_waiting(&all[2]);
    let problem = format!("cannot be confirmed any more: {} took its place", new[3]);
    merchant.wait_for_review(&all[3], &problem);
    assert_needs_force(merchant, &all[3]);
    merchant.mine(FINAL);
    merchant.assert_all_paid(&all[..2], &new[..2]);
    for (sent, txid) in all[2..].iter().zip(&old[2..]) {
        merchant.wait_for_review(
            sent,
            &format!("transaction {txid} cannot be confirmed any more"),
        );
        merchant.act(sent, &json!({ "action": "fail" })).expect(200);
        merchant.assert_event(sent, "failed");
    }
    // The transaction that pays less is proposed to the operator.
    assert_eq!(merchant.read(&all[3])["proposals"][0]["txid"], new[3]);
    let received = [0, 1, 2, 3].map(|at: usize| all[at].units - merchant.received(&all[at]));
    assert_eq!(received, [0, 0, all[2].units, 1]);
}

#[test]
fn reorged_transaction_settles_in_its_new_block() {
    by_each(UNTESTED, reorganised);
}

fn reorganised(merchant: &mut EthMerchant) {
    let before = merchant.node.ask("evm_snapshot", json!([]));
    let both = [("payouts", USDC), ("refunds", ETH)].map(|of| merchant.sent(of));
    let (both, txids): (Vec<EthTransfer>, Vec<String>) = both.into_iter().unzip();
    let raws = raws(merchant, &txids);
    // By hand, one transaction id is entered, and the server finds the other transaction.
    if merchant.sent_by == "hand" {
        merchant.enter(&both[0], &txids[0]);
    }
    merchant.mine(2);
    merchant.assert_all_seen(&both, &txids);
    merchant.node.ask("evm_revert", json!([before]));
    merchant.mine(5);
    both.iter()
        .for_each(|sent| merchant.wait_until_waiting(sent));
    send_again(merchant, &raws);
    merchant.mine(1);
    merchant.assert_all_seen(&both, &txids);
    merchant.mine(FINAL);
    merchant.assert_all_paid(&both, &txids);
    for sent in &both {
        assert_eq!(merchant.received(sent), sent.units);
    }
}

/// Returns the signed transactions with these ids.
#[track_caller]
fn raws(merchant: &EthMerchant, txids: &[String]) -> Vec<serde_json::Value> {
    let raw = |txid: &String| {
        merchant
            .node
            .ask("eth_getRawTransactionByHash", json!([txid]))
    };
    txids.iter().map(raw).collect()
}

#[track_caller]
fn send_again(merchant: &EthMerchant, raws: &[serde_json::Value]) {
    for raw in raws {
        let txid = merchant.node.ask("eth_sendRawTransaction", json!([raw]));
        merchant.node.wait_receipt(&txid);
    }
}

#[test]
fn lost_paid_transaction_is_reviewed_until_resolved() {
    by_each(UNTESTED, gone);
}

fn gone(merchant: &mut EthMerchant) {
    // The operator's settings confirm payments before they are final.
    let tiers = json!({ "confirmations": { ETH: [{ "confirmations": 2 }], USDC: [{ "confirmations": 2 }] } });
    merchant
        .running()
        .operator_request("PUT", "/dashboard/api/settings", &tiers)
        .expect(200);
    for payout in 0..3 {
        let mut kinds = [ETH, USDC, ETH].map(|asset| ("refunds", asset));
        kinds[payout].0 = "payouts";
        reorganise_and_resolve(merchant, &kinds);
    }
}

/// Reorganises the blocks of three paid transfers. The first transaction returns, the second transfer is sent again,
/// and the third is reversed.
#[track_caller]
fn reorganise_and_resolve(merchant: &mut EthMerchant, kinds: &[(&str, &'static str)]) {
    let before = merchant.node.ask("evm_snapshot", json!([]));
    let (all, txids) = merchant.attached(kinds);
    let raws = raws(merchant, &txids);
    merchant.mine(2);
    merchant.assert_all_paid(&all, &txids);
    merchant.node.ask("evm_revert", json!([before]));
    merchant.mine(6);
    for (sent, txid) in all.iter().zip(&txids) {
        assert_eq!(merchant.received(sent), 0);
        let problem = format!("transaction {txid} is not confirmed any more, after it was paid");
        merchant.wait_until(sent, "paid", "needs_review", &problem);
        let refused = merchant.end_review(sent, "gone", "resolve");
        refused.assert_error(409, "invalid_transition", Some("action"));
    }
    let balance = merchant.balance();
    merchant.end_review(&all[2], "gone", "adjust").expect(200);
    let adjusted = merchant.balance();
    assert_ne!(adjusted, balance);
    // The first transaction returns. The second transfer is sent again, before the new id is entered.
    send_again(merchant, &raws[..1]);
    let other = merchant.send_amount(&all[1]);
    merchant.mine(2);
    merchant.enter(&all[1], &other);
    merchant.restart_and_read();
    let settled = [txids[0].clone(), other, txids[2].clone()];
    merchant.assert_all_paid(&all, &settled);
    // Further final blocks change nothing.
    for _ in 0..2 {
        merchant.mine(FINAL);
        merchant.assert_all_paid(&all, &settled);
    }
    assert_eq!(merchant.balance(), adjusted);
    // The transaction whose amount was reversed is confirmed again.
    send_again(merchant, &raws[2..]);
    merchant.mine(2);
    let problem = "is confirmed again, after its amount was booked back";
    merchant.wait_until(&all[2], "paid", "needs_review", problem);
    merchant
        .end_review(&all[2], "arrived", "adjust")
        .expect(200);
    merchant.mine(FINAL);
    merchant.assert_all_paid(&all, &settled);
    assert_eq!(merchant.balance(), balance);
    for sent in &all {
        assert_eq!(merchant.received(sent), sent.units);
    }
}

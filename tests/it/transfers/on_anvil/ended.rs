//! Payments that arrive after a transfer has ended, and payments that exceed the amount of a transfer.

use super::by_signer::open_with_scripted_signer;
use super::{ETH, EthMerchant, FINAL, USDC, play_with_each_sender};
use crate::transfers::on_testnet::available_eur_balance;
use serde_json::json;

const UNTESTED: &str = "late and excess payments on ethereum";

#[test]
fn payment_of_an_ended_transfer_is_booked_once() {
    play_with_each_sender(UNTESTED, pay_ended_transfers);
}

fn pay_ended_transfers(merchant: &mut EthMerchant) {
    for kinds in [["payouts", "refunds"], ["refunds", "payouts"]] {
        end_then_pay_transfers(merchant, kinds);
    }
}

/// Cancels and fails transfers of each kind, and pays them afterwards.
#[track_caller]
fn end_then_pay_transfers(merchant: &mut EthMerchant, [first, second]: [&str; 2]) {
    let cancelled = [(first, ETH), (second, USDC)];
    let cancelled = cancelled.map(|(kind, asset)| merchant.approved_transfer(kind, asset, "hand"));
    for sent in &cancelled {
        merchant.apply_action(sent, &json!({ "action": "cancel" })).expect(200);
    }
    merchant.node.set_mining_paused(true);
    let (mut attached, txids) = merchant.enter_txids(&[(second, ETH)]);
    let entered = &txids[0];
    let signed = merchant.node.call_rpc("eth_getRawTransactionByHash", json!([entered]));
    let is_by_hand = merchant.sent_by == "hand";
    // If transfers are sent by hand, `other` has no transaction, and the transaction of `attached` is in the mempool.
    // If the signer sends, both transfers have transactions, which are dropped below.
    let other = if is_by_hand {
        merchant.processing_transfer(first, USDC)
    } else {
        merchant.send_transfer(first, USDC).0
    };
    let failed = [other, attached.remove(0)];
    merchant.restart_and_sync();
    if !is_by_hand {
        merchant.node.call_rpc("anvil_dropAllTransactions", json!([]));
        merchant.restart_and_sync();
        failed.iter().for_each(|sent| merchant.assert_waiting(sent));
    }
    for sent in &failed {
        merchant.apply_action(sent, &json!({ "action": "fail", "force": true })).expect(200);
    }
    let balance = available_eur_balance(merchant.running());
    let all: Vec<_> = cancelled.iter().chain(&failed).collect();
    if !is_by_hand {
        merchant.node.call_rpc("eth_sendRawTransaction", json!([signed]));
    }
    for sent in &all[..3] {
        merchant.send_transfer_amount(sent);
    }
    // For the first three transfers, the review opens when the server sees the payment. For the fourth, it opens when
    // the payment is final.
    merchant.mine_and_sync(1);
    for sent in &all[..3] {
        let status = &merchant.read_transfer(sent)["status"];
        let problem = "pays exactly the amount, after the end";
        merchant.wait_for_state(sent, status.as_str().unwrap(), "needs_review", problem);
        merchant.resolve_review(sent, "arrived", "adjust").expect(200);
    }
    merchant.mine_and_sync(FINAL);
    merchant.wait_for_state(all[3], "failed", "needs_review", entered);
    merchant.resolve_review(all[3], "arrived", "adjust").expect(200);
    let adjusted = available_eur_balance(merchant.running());
    assert_ne!(adjusted, balance);
    for _ in 0..2 {
        merchant.mine_and_sync(FINAL);
        for sent in &all {
            let status = &merchant.read_transfer(sent)["status"];
            merchant.wait_for_state(sent, status.as_str().unwrap(), "settled", "");
        }
    }
    assert_eq!(available_eur_balance(merchant.running()), adjusted);
}

#[test]
fn overpayment_above_1_percent_is_paid_and_reviewed() {
    for merchant in [EthMerchant::open(UNTESTED), open_with_scripted_signer(UNTESTED)] {
        let Some(mut merchant) = merchant else { return };
        for kinds in [["payouts", "refunds"], ["refunds", "payouts"]] {
            overpay_transfers(&mut merchant, kinds);
        }
        merchant.till.served.assert_audit_clean();
    }
}

/// Overpays one transfer of each kind by more than 1 percent, and a third transfer by exactly 1 percent.
#[track_caller]
fn overpay_transfers(merchant: &mut EthMerchant, [first, second]: [&str; 2]) {
    let all = [(first, USDC), (second, ETH), ("refunds", USDC)];
    let starts = usize::from(merchant.sent_by == "signer");
    let sent = [0, 1, 2].map(|at: usize| {
        let (kind, asset) = all[at];
        let sent = merchant.new_transfer_with_running_signer(kind, asset);
        let more = sent.units / 100 + u128::from(at < 2);
        let txid = merchant.send_coin(sent.asset, &sent.to, sent.units + more);
        merchant.attach_txid(&sent, &txid);
        (sent, txid)
    });
    merchant.mine_and_sync(FINAL);
    for (sent, _) in &sent[..2] {
        merchant.wait_for_state(sent, "paid", "needs_review", " were sent, of ");
        merchant.assert_only_event(sent, "paid");
        let refused = merchant.resolve_review(sent, "overpaid", "adjust");
        refused.assert_error(409, "invalid_transition", Some("action"));
        merchant.resolve_review(sent, "overpaid", "resolve").expect(200);
    }
    for _ in 0..2 {
        for (sent, txid) in &sent {
            merchant.assert_paid(sent, txid);
            assert_eq!(merchant.signer_start_count_for(sent), starts);
        }
        merchant.mine_and_sync(FINAL);
    }
}

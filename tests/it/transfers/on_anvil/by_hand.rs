//! Transfers sent by a person who enters an unknown transaction id, the id of a wrong transaction, or no id.

use super::{ETH, EthMerchant, FINAL, HOUR_MS, MINUTE_MS, USDC};
use crate::support::anvil::address_word;
use crate::transfers::on_testnet::available_eur_balance;
use serde_json::json;

const UNTESTED: &str = "payouts and refunds that are sent by hand on ethereum";

#[test]
fn unknown_txid_is_reviewed_after_6_hours_of_blocks_and_can_be_corrected() {
    let Some(mut merchant) = EthMerchant::open(UNTESTED) else {
        return;
    };
    let both = [("payouts", ETH), ("refunds", USDC)]
        .map(|(kind, asset)| merchant.processing_transfer(kind, asset));
    let forgotten = merchant.processing_transfer("refunds", ETH);
    let invented = format!("0x{}", "ab".repeat(32));
    for sent in &both {
        for wrong in ["deadbeef", "0xdeadbeef", "0x", &"a".repeat(63), &"g".repeat(64)] {
            let refused = merchant.apply_pay_action(sent, wrong);
            refused.assert_error(400, "invalid_request", Some("txid"));
        }
        merchant.assert_waiting(sent);
        merchant.enter_txid(sent, &invented);
    }
    merchant.advance_ms(6 * HOUR_MS - 10 * MINUTE_MS);
    merchant.mine_and_sync(1);
    both.iter().for_each(|sent| merchant.assert_waiting(sent));
    // Time without a new block does not count towards the 6 hours until a review.
    merchant.advance_ms(HOUR_MS);
    merchant.restart_and_sync();
    both.iter().for_each(|sent| merchant.assert_waiting(sent));
    merchant.mine_and_sync(1);
    let mut right = Vec::new();
    for sent in &both {
        let problem = format!(
            "transaction {invented} was not seen for 6 hours. It may be the hash of a Safe"
        );
        merchant.wait_for_review(sent, &problem);
        let txid = merchant.send_transfer_amount(sent);
        merchant.enter_txid(sent, &txid.to_uppercase().replacen("0X", "0x", 1));
        right.push(txid);
    }
    merchant.restart_and_sync();
    merchant.assert_all_seen(&both, &right);
    merchant.mine_and_sync(FINAL);
    merchant.assert_all_paid(&both, &right);
    for sent in &both {
        let refused = merchant.apply_pay_action(sent, &invented);
        refused.assert_error(409, "invalid_transition", Some("action"));
    }
    merchant.assert_waiting(&forgotten);
    merchant.advance_ms(17 * HOUR_MS + 10 * MINUTE_MS);
    merchant.mine_and_sync(1);
    merchant.wait_for_review(&forgotten, "no transaction was entered or found for 24 hours");
    merchant.till.served.assert_audit_clean();
}

#[test]
fn exact_amount_without_a_txid_is_matched_once() {
    let Some(mut merchant) = EthMerchant::open(UNTESTED) else {
        return;
    };
    for (kinds, coin) in [
        ([("payouts", ETH), ("refunds", USDC)], USDC),
        ([("payouts", USDC), ("refunds", ETH)], ETH),
    ] {
        let first = kinds.map(|(kind, asset)| merchant.processing_transfer(kind, asset));
        let txids = first.each_ref().map(|sent| merchant.send_transfer_amount(sent));
        // A transaction with a different amount is only proposed to the operator.
        let less = merchant.processing_transfer("refunds", coin);
        let proposed = merchant.send_coin(coin, &less.to, less.units - 1);
        merchant.restart_and_sync();
        merchant.assert_all_seen(&first, &txids);
        merchant.assert_waiting(&less);
        assert_eq!(merchant.read_transfer(&less)["proposals"][0]["txid"], proposed);
        merchant.enter_txid(&first[1], &txids[1]);
        let second = merchant.processing_transfer_to("refunds", coin, first[1].to.clone());
        for _ in 0..2 {
            let refused = merchant.apply_pay_action(&second, &txids[1]);
            refused.assert_error(409, "invalid_transition", Some("txid"));
            merchant.assert_waiting(&second);
            merchant.mine_and_sync(FINAL);
            merchant.assert_all_paid(&first, &txids);
        }
        let own = merchant.send_transfer_amount(&second);
        merchant.mine_and_sync(FINAL);
        merchant.assert_paid(&second, &own);
    }
    merchant.till.served.assert_audit_clean();
}

#[test]
fn wrong_transaction_is_reviewed_until_corrected() {
    let Some(mut merchant) = EthMerchant::open(UNTESTED) else {
        return;
    };
    let both = [("payouts", USDC), ("refunds", ETH)]
        .map(|(kind, asset)| merchant.processing_transfer(kind, asset));
    let short = both.each_ref().map(|sent| merchant.send_coin(sent.asset, &sent.to, 1_000));
    let nobody = merchant.new_destination();
    let elsewhere = both.each_ref().map(|sent| merchant.send_coin(sent.asset, &nobody, sent.units));
    let other = both.each_ref().map(|sent| {
        let coin = if sent.asset == ETH { USDC } else { ETH };
        merchant.send_coin(coin, &sent.to, sent.units.min(9_000))
    });
    let problems = [
        [" pays 0.001 of 0.199 USDC-ERC20", " pays 0.000000000000001 of 0.009 ETH"],
        [" pays another address"; 2],
        [" pays ETH, not USDC-ERC20", " pays USDC-ERC20, not ETH"],
    ];
    for (txids, problems) in [&short, &elsewhere, &other].into_iter().zip(problems) {
        both.iter().zip(txids).for_each(|(sent, txid)| merchant.enter_txid(sent, txid));
        merchant.mine_and_sync(FINAL);
        for ((sent, txid), problem) in both.iter().zip(txids).zip(problems) {
            merchant.wait_for_review(sent, &format!("transaction {txid}{problem}"));
            let refused = merchant.apply_action(sent, &json!({ "action": "fail" }));
            refused.assert_error(409, "invalid_transition", Some("force"));
        }
    }
    let right = both.each_ref().map(|sent| merchant.send_transfer_amount(sent));
    both.iter().zip(&right).for_each(|(sent, txid)| merchant.enter_txid(sent, txid));
    merchant.mine_and_sync(FINAL);
    // The short transaction was entered for the transfer, so it paid more than its amount.
    for (sent, txid) in both.iter().zip(&short) {
        merchant.wait_for_state(sent, "paid", "needs_review", &format!("transaction {txid} pays"));
        merchant.resolve_review(sent, "overpaid", "resolve").expect(200);
    }
    merchant.assert_all_paid(&both, &right);
    merchant.till.served.assert_audit_clean();
}

#[test]
fn reverted_transaction_is_reviewed_and_fails_without_force_when_final() {
    let Some(mut merchant) = EthMerchant::open(UNTESTED) else {
        return;
    };
    let contract = merchant.node.deploy_forwarder();
    let (before, both) = (
        available_eur_balance(merchant.running()),
        [("payouts", ETH), ("refunds", USDC)]
            .map(|(kind, asset)| merchant.processing_transfer(kind, asset)),
    );
    let txids = both.each_ref().map(|sent| {
        let (to, units) = (address_word(&sent.to), format!("{:064x}", sent.units));
        let node = &merchant.node;
        let txid = match sent.asset {
            ETH => node.call_contract(&contract, "fail(address)", &[to], sent.units),
            _ => node.call_contract(&merchant.token, "fail(address,uint256)", &[to, units], 0),
        };
        txid.as_str().unwrap().to_owned()
    });
    both.iter().zip(&txids).for_each(|(sent, txid)| merchant.enter_txid(sent, txid));
    for blocks in [0, 5] {
        merchant.mine_and_sync(blocks);
        for (sent, txid) in both.iter().zip(&txids) {
            merchant
                .wait_for_review(sent, &format!("transaction {txid} reverted and moved nothing"));
            let refused = merchant.apply_action(sent, &json!({ "action": "fail" }));
            refused.assert_error(409, "invalid_transition", Some("force"));
        }
    }
    merchant.mine_and_sync(FINAL);
    for sent in &both {
        merchant.wait_for_review(sent, "reverted");
        merchant.apply_action(sent, &json!({ "action": "fail" })).expect(200);
        merchant.assert_only_event(sent, "failed");
    }
    assert_ne!(available_eur_balance(merchant.running()), before);
    merchant.till.served.assert_audit_clean();
}

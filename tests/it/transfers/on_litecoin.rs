//! Payouts and refunds sent by hand on a real litecoind and settled by its chain.

use super::litecoin_shop::{
    CONFIRMATIONS, LitecoinMerchant, LitecoinTransfer, ROUNDS, SentBy, start_node,
};
use super::litecoin_told::format_amount;
use crate::support::payer::{SignedTransaction, format_units};
use serde_json::json;

/// A payout and a refund, both sent by hand.
const BY_HAND: [(&str, SentBy); 2] = [ROUNDS[0][0], ROUNDS[1][0]];

#[test]
fn unknown_txid_is_reviewed_after_6_hours_and_can_be_corrected() {
    let Some(node) = start_node(&[]) else { return };
    let mut merchant = LitecoinMerchant::open(&node);
    let sent = BY_HAND.map(|(kind, by)| merchant.processing_transfer(kind, by, None));
    for of in &sent {
        for wrong in ["deadbeef", "0x", &"g".repeat(64), &"a".repeat(63)] {
            let refused = merchant.apply_pay_action(of, wrong);
            refused.assert_error(400, "invalid_request", Some("txid"));
        }
        merchant.wait_for_state(of, ["processing", "waiting"]);
        // No transaction has this id.
        let after = merchant.apply_pay_action(of, &"ab".repeat(32)).expect(200).json();
        assert_eq!(after["status"], "processing");
    }
    merchant.advance_hours(5);
    merchant.mine_and_sync(CONFIRMATIONS + 3);
    for of in &sent {
        merchant.wait_for_state(of, ["processing", "waiting"]);
    }
    merchant.advance_hours(1);
    merchant.restart_and_sync();
    let made = sent.each_ref().map(|of| {
        merchant.wait_for_review(of, "processing", "was not seen for 6 hours");
        // The operator corrects the mistake and enters the id of the transaction that was really sent.
        let made = merchant.payer.pay(&[(&of.to, of.units)]);
        merchant.apply_pay_action(of, &made.txid.to_uppercase()).expect(200);
        made
    });
    merchant.restart_and_sync();
    for (of, made) in sent.iter().zip(&made) {
        let seen = merchant.wait_for_state(of, ["processing", "seen"]);
        assert_eq!(seen["onChain"]["txid"], made.txid.as_str());
    }
    merchant.mine_and_sync(CONFIRMATIONS - 1);
    for of in &sent {
        let seen = merchant.wait_for_state(of, ["processing", "seen"]);
        let on_chain = &seen["onChain"];
        assert_eq!(
            [&on_chain["confirmations"], &on_chain["confirmationsNeeded"]],
            [&json!(11), &json!(12)]
        );
    }
    merchant.mine_and_sync(1);
    for (of, made) in sent.iter().zip(&made) {
        merchant.assert_paid(of, &made.txid);
        let late = merchant.apply_pay_action(of, &"ab".repeat(32));
        late.assert_error(409, "invalid_transition", Some("action"));
    }
    merchant.till.served.assert_audit_clean();
}

#[test]
fn exact_payment_settles_without_a_txid() {
    let Some(node) = start_node(&[]) else { return };
    let mut merchant = LitecoinMerchant::open(&node);
    let sent = BY_HAND.map(|(kind, by)| merchant.processing_transfer(kind, by, None));
    let made = sent.each_ref().map(|of| merchant.payer.pay(&[(&of.to, of.units)]));
    merchant.restart_and_sync();
    for (of, made) in sent.iter().zip(&made) {
        let seen = merchant.wait_for_state(of, ["processing", "seen"]);
        assert_eq!(seen["onChain"]["txid"], made.txid.as_str());
    }
    merchant.mine_and_sync(CONFIRMATIONS + 3);
    for (of, made) in sent.iter().zip(&made) {
        merchant.assert_paid(of, &made.txid);
    }
    merchant.till.served.assert_audit_clean();
}

#[test]
fn transfer_not_found_for_24_hours_is_reviewed() {
    let Some(node) = start_node(&[]) else { return };
    let mut merchant = LitecoinMerchant::open(&node);
    let sent = BY_HAND.map(|(kind, by)| merchant.processing_transfer(kind, by, None));
    for (hours, state) in [(23, "waiting"), (1, "needs_review")] {
        merchant.advance_hours(hours);
        merchant.restart_and_sync();
        for of in &sent {
            merchant.wait_for_state(of, ["processing", state]);
        }
    }
    // The transfers are sent after the review has opened.
    let made = sent.each_ref().map(|of| merchant.payer.pay(&[(&of.to, of.units)]));
    merchant.mine_and_sync(CONFIRMATIONS);
    for (of, made) in sent.iter().zip(&made) {
        merchant.assert_paid(of, &made.txid);
    }
    merchant.till.served.assert_audit_clean();
}

#[test]
fn transaction_in_the_mempool_for_a_day_shows_its_age() {
    let Some(node) = start_node(&[]) else { return };
    let mut merchant = LitecoinMerchant::open(&node);
    for round in ROUNDS {
        let sent = round.map(|(kind, by)| merchant.send_transfer(kind, by, 100));
        merchant.restart_and_sync();
        let since = sent.each_ref().map(|(of, _)| {
            let seen = merchant.wait_for_state(of, ["processing", "seen"]);
            let since = seen["onChain"]["problem"].as_str().unwrap();
            assert!(since.starts_with("in the mempool since 2"), "{since}");
            since.to_owned()
        });
        for hours in [7, 18] {
            merchant.advance_hours(hours);
            merchant.restart_and_sync();
            for ((of, made), since) in sent.iter().zip(&since) {
                let seen = merchant.wait_for_state(of, ["processing", "seen"]);
                assert_eq!(seen["onChain"]["problem"], since.as_str());
                assert_eq!(seen["onChain"]["txid"], made.txid.as_str());
                assert_eq!(seen["reviews"], json!([]));
            }
        }
        merchant.mine_and_sync(CONFIRMATIONS);
        for (of, made) in &sent {
            merchant.assert_paid(of, &made.txid);
        }
    }
    merchant.till.served.assert_audit_clean();
}

#[test]
fn entered_txid_is_looked_up_or_found_by_rescan() {
    for (option, is_read_back) in [("-txindex=0", true), ("-txindex=1", false)] {
        let Some(node) = start_node(&[option]) else {
            return;
        };
        let mut merchant = LitecoinMerchant::open(&node);
        // The first transaction pays 0.5 percent too much and is proposed to the operator. The second pays three
        // times the amount. It is not kept, as 20 newer payments of other amounts follow.
        let sent = [0, 1].map(|at: usize| {
            let (kind, by) = BY_HAND[at];
            let sent = merchant.processing_transfer(kind, by, None);
            let units = [sent.units + sent.units / 200, sent.units * 3][at];
            let made = merchant.payer.pay(&[(&sent.to, units)]);
            (sent, made)
        });
        merchant.payer.mine(1);
        let (of, made) = &sent[1];
        spend_outputs(&merchant, of, made);
        merchant.mine_and_sync(CONFIRMATIONS - 3);
        let crowd = vec![(sent[1].0.to.as_str(), 5_000); 20];
        merchant.payer.pay(&crowd);
        merchant.restart_and_sync();
        for ((of, made), proposals) in sent.iter().zip([1, 0]) {
            let now = merchant.wait_for_state(of, ["processing", "waiting"]);
            assert_eq!(now["proposals"].as_array().unwrap().len(), proposals);
            merchant.apply_pay_action(of, &made.txid).expect(200);
        }
        merchant.restart_and_sync();
        for (of, _) in &sent {
            let seen = merchant.wait_for_state(of, ["processing", "seen"]);
            assert_eq!(seen["onChain"]["confirmations"], json!(10));
        }
        let rescans = "select exists (select 1 from rescans)";
        let file = merchant.till.served.open_file();
        let was_read_back: bool = file.query_row(rescans, [], |row| row.get(0)).unwrap();
        assert_eq!(was_read_back, is_read_back);
        merchant.mine_and_sync(2);
        let [(near, first), (triple, second)] = &sent;
        merchant.assert_paid(near, &first.txid);
        let paid = merchant.wait_for_review(triple, "paid", "were sent");
        assert_eq!(paid["txid"], second.txid.as_str());
        merchant.till.served.assert_audit_clean();
    }
}

/// Spends both outputs of a transaction, so that a node without an index cannot find the transaction.
#[track_caller]
fn spend_outputs(merchant: &LitecoinMerchant<'_>, of: &LitecoinTransfer, made: &SignedTransaction) {
    let elsewhere = merchant.foreign_address();
    let rest = made.rest.clone().unwrap();
    let rest = merchant.payer.sign_with_inputs(vec![rest], &[(&elsewhere, 1_000_000)]);
    merchant.payer.send(&rest);
    let input = json!([{ "txid": made.txid, "vout": 0 }]);
    let output = json!([{ elsewhere: format_units(of.units) }]);
    let node = merchant.node;
    let raw = node.call_text("createrawtransaction", json!([input, output]));
    let signed = node.call("signrawtransactionwithwallet", json!([raw]));
    node.call_text("sendrawtransaction", json!([signed["hex"], 0]));
}

#[test]
fn underpaying_transaction_is_reviewed_until_corrected() {
    let Some(node) = start_node(&[]) else { return };
    let mut merchant = LitecoinMerchant::open(&node);
    for round in ROUNDS {
        let sent = round.map(|(kind, by)| {
            let sent = merchant.processing_transfer(kind, by, None);
            let short = merchant.payer.pay(&[(&sent.to, 100_000)]);
            merchant.enter_txid(&sent, &short.txid);
            (sent, short)
        });
        for _ in 0..2 {
            merchant.mine_and_sync(CONFIRMATIONS);
            for (of, short) in &sent {
                let problem =
                    format!("transaction {} pays 0.001 of {} LTC", short.txid, format_amount(of));
                let now = merchant.wait_for_review(of, "processing", &problem);
                assert_eq!(now["onChain"]["amountSeen"], "0.001");
            }
        }
        let elsewhere = merchant.foreign_address();
        for (of, _) in &sent {
            let other = merchant.payer.pay(&[(&elsewhere, of.units)]);
            merchant.apply_pay_action(of, &other.txid).expect(200);
        }
        merchant.restart_and_sync();
        let right = sent.each_ref().map(|(of, _)| {
            merchant.wait_for_review(of, "processing", "pays another address");
            let right = merchant.payer.pay(&[(&of.to, of.units)]);
            merchant.apply_pay_action(of, &right.txid).expect(200);
            right
        });
        merchant.mine_and_sync(CONFIRMATIONS);
        // The short transaction was entered for the transfer, so it paid more than its amount.
        for ((of, short), right) in sent.iter().zip(&right) {
            let paid = merchant.wait_for_review(of, "paid", &short.txid);
            let review = &paid["reviews"][0];
            assert_eq!(review["kind"], "overpaid", "{paid}");
            let end = json!({ "action": "resolve", "review": review["id"], "reason": "a tip" });
            merchant.apply_action(of, &end).expect(200);
            merchant.assert_paid(of, &right.txid);
        }
    }
    merchant.till.served.assert_audit_clean();
}

#[test]
fn each_output_of_a_transaction_pays_one_transfer() {
    let Some(node) = start_node(&[]) else { return };
    let mut merchant = LitecoinMerchant::open(&node);
    let first = merchant.processing_transfer("refunds", SentBy::Hand, None);
    let second = merchant.processing_transfer("refunds", SentBy::Hand, Some(&first.to));
    let made = merchant.payer.pay(&[(&first.to, first.units)]);
    merchant.enter_txid(&first, &made.txid);
    for state in [["processing", "seen"], ["paid", "settled"]] {
        merchant.restart_and_sync();
        merchant.wait_for_state(&first, state);
        let taken = merchant.apply_pay_action(&second, &made.txid);
        taken.assert_error(409, "invalid_transition", Some("txid"));
        merchant.wait_for_state(&second, ["processing", "waiting"]);
        merchant.payer.mine(CONFIRMATIONS);
    }
    // The server stores the signer's response and opens a review of the transfer.
    let third = merchant.processing_transfer("refunds", SentBy::Signer, Some(&first.to));
    merchant.enter_txid(&third, &made.txid);
    merchant.restart_and_sync();
    merchant.wait_for_review(
        &third,
        "processing",
        "pays this destination for other transfers only",
    );
    // One transaction pays the second and the third transfer.
    let both = [(first.to.as_str(), first.units); 2];
    let own = merchant.payer.pay(&both);
    for of in [&second, &third] {
        merchant.apply_pay_action(of, &own.txid).expect(200);
    }
    merchant.mine_and_sync(CONFIRMATIONS);
    merchant.assert_paid(&first, &made.txid);
    merchant.assert_paid(&second, &own.txid);
    merchant.assert_paid(&third, &own.txid);
    merchant.till.served.assert_audit_clean();
}

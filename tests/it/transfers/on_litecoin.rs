//! Payouts and refunds sent by hand on a real litecoind and settled by its chain.

use super::litecoin_shop::{
    CONFIRMATIONS, LitecoinMerchant, LitecoinTransfer, ROUNDS, Sender, node,
};
use super::litecoin_told::amount;
use crate::support::payer::{SignedTransaction, decimal};
use serde_json::json;

/// Both kinds of transfer, sent by hand.
const BY_HAND: [(&str, Sender); 2] = [ROUNDS[0][0], ROUNDS[1][0]];

#[test]
fn unknown_txid_is_reviewed_after_6_hours_and_can_be_corrected() {
    let Some(node) = node(&[]) else { return };
    let mut merchant = LitecoinMerchant::open(&node);
    let sent = BY_HAND.map(|who| merchant.processing(who, None));
    for of in &sent {
        for wrong in ["deadbeef", "0x", &"g".repeat(64), &"a".repeat(63)] {
            let refused = merchant.pay(of, wrong);
            refused.assert_error(400, "invalid_request", Some("txid"));
        }
        merchant.wait_until(of, ["processing", "waiting"]);
        // No transaction has this id.
        let after = merchant.pay(of, &"ab".repeat(32)).expect(200).json();
        assert_eq!(after["status"], "processing");
    }
    merchant.advance_hours(5);
    merchant.mine(CONFIRMATIONS + 3);
    for of in &sent {
        merchant.wait_until(of, ["processing", "waiting"]);
    }
    merchant.advance_hours(1);
    merchant.restart_and_read();
    let made = sent.each_ref().map(|of| {
        merchant.wait_for_review(of, "processing", "was not seen for 6 hours");
        // The operator corrects the mistake: another transaction was sent.
        let made = merchant.payer.pay(&[(&of.to, of.units)]);
        merchant.pay(of, &made.txid.to_uppercase()).expect(200);
        made
    });
    merchant.restart_and_read();
    for (of, made) in sent.iter().zip(&made) {
        let seen = merchant.wait_until(of, ["processing", "seen"]);
        assert_eq!(seen["onChain"]["txid"], made.txid.as_str());
    }
    merchant.mine(CONFIRMATIONS - 1);
    for of in &sent {
        let seen = merchant.wait_until(of, ["processing", "seen"]);
        let on_chain = &seen["onChain"];
        assert_eq!(
            [&on_chain["confirmations"], &on_chain["confirmationsNeeded"]],
            [&json!(11), &json!(12)]
        );
    }
    merchant.mine(1);
    for (of, made) in sent.iter().zip(&made) {
        merchant.assert_paid(of, &made.txid);
        let late = merchant.pay(of, &"ab".repeat(32));
        late.assert_error(409, "invalid_transition", Some("action"));
    }
    merchant.audited();
}

#[test]
fn sent_amount_without_a_txid_settles() {
    let Some(node) = node(&[]) else { return };
    let mut merchant = LitecoinMerchant::open(&node);
    let sent = BY_HAND.map(|who| merchant.processing(who, None));
    let made = sent
        .each_ref()
        .map(|of| merchant.payer.pay(&[(&of.to, of.units)]));
    merchant.restart_and_read();
    for (of, made) in sent.iter().zip(&made) {
        let seen = merchant.wait_until(of, ["processing", "seen"]);
        assert_eq!(seen["onChain"]["txid"], made.txid.as_str());
    }
    merchant.mine(CONFIRMATIONS + 3);
    for (of, made) in sent.iter().zip(&made) {
        merchant.assert_paid(of, &made.txid);
    }
    merchant.audited();
}

#[test]
fn transfer_not_found_for_24_hours_is_reviewed() {
    let Some(node) = node(&[]) else { return };
    let mut merchant = LitecoinMerchant::open(&node);
    let sent = BY_HAND.map(|who| merchant.processing(who, None));
    for (hours, state) in [(23, "waiting"), (1, "needs_review")] {
        merchant.advance_hours(hours);
        merchant.restart_and_read();
        for of in &sent {
            merchant.wait_until(of, ["processing", state]);
        }
    }
    // The transfers are sent after the review has opened.
    let made = sent
        .each_ref()
        .map(|of| merchant.payer.pay(&[(&of.to, of.units)]));
    merchant.mine(CONFIRMATIONS);
    for (of, made) in sent.iter().zip(&made) {
        merchant.assert_paid(of, &made.txid);
    }
    merchant.audited();
}

#[test]
fn transaction_in_the_mempool_for_a_day_shows_its_age() {
    let Some(node) = node(&[]) else { return };
    let mut merchant = LitecoinMerchant::open(&node);
    for round in ROUNDS {
        let sent = round.map(|who| merchant.sent(who, 100));
        merchant.restart_and_read();
        let since = sent.each_ref().map(|(of, _)| {
            let seen = merchant.wait_until(of, ["processing", "seen"]);
            let since = seen["onChain"]["problem"].as_str().unwrap();
            assert!(since.starts_with("in the mempool since 2"), "{since}");
            since.to_owned()
        });
        for hours in [7, 18] {
            merchant.advance_hours(hours);
            merchant.restart_and_read();
            for ((of, made), since) in sent.iter().zip(&since) {
                let seen = merchant.wait_until(of, ["processing", "seen"]);
                assert_eq!(seen["onChain"]["problem"], since.as_str());
                assert_eq!(seen["onChain"]["txid"], made.txid.as_str());
                assert_eq!(seen["reviews"], json!([]));
            }
        }
        merchant.mine(CONFIRMATIONS);
        for (of, made) in &sent {
            merchant.assert_paid(of, &made.txid);
        }
    }
    merchant.audited();
}

#[test]
fn entered_txid_is_looked_up_or_found_by_rescan() {
    for (option, is_read_back) in [("-txindex=0", true), ("-txindex=1", false)] {
        let Some(node) = node(&[option]) else { return };
        let mut merchant = LitecoinMerchant::open(&node);
        // The first transaction is proposed, because its amount is nearly right. The second is not stored, and its
        // outputs are spent.
        let sent = [0, 1].map(|at: usize| {
            let sent = merchant.processing(BY_HAND[at], None);
            let units = [sent.units + sent.units / 200, sent.units * 3][at];
            let made = merchant.payer.pay(&[(&sent.to, units)]);
            (sent, made)
        });
        merchant.payer.mine(1);
        spend(&merchant, &sent[1]);
        merchant.mine(CONFIRMATIONS - 3);
        for ((of, made), proposals) in sent.iter().zip([1, 0]) {
            let now = merchant.wait_until(of, ["processing", "waiting"]);
            assert_eq!(now["proposals"].as_array().unwrap().len(), proposals);
            merchant.pay(of, &made.txid).expect(200);
        }
        merchant.restart_and_read();
        for (of, _) in &sent {
            let seen = merchant.wait_until(of, ["processing", "seen"]);
            assert_eq!(seen["onChain"]["confirmations"], json!(10));
        }
        let rescans = "select exists (select 1 from rescans)";
        let file = merchant.till.served.open_file();
        let was_read_back: bool = file.query_row(rescans, [], |row| row.get(0)).unwrap();
        assert_eq!(was_read_back, is_read_back);
        merchant.mine(2);
        let [(near, first), (triple, second)] = &sent;
        merchant.assert_paid(near, &first.txid);
        let paid = merchant.wait_for_review(triple, "paid", "were sent");
        assert_eq!(paid["txid"], second.txid.as_str());
        merchant.audited();
    }
}

/// Spends both outputs of a transaction, so that a node without an index cannot find it.
#[track_caller]
fn spend(merchant: &LitecoinMerchant<'_>, (of, made): &(LitecoinTransfer, SignedTransaction)) {
    let elsewhere = merchant.address();
    let rest = made.rest.clone().unwrap();
    let rest = merchant.payer.spend(vec![rest], &[(&elsewhere, 1_000_000)]);
    merchant.payer.send(&rest);
    let input = json!([{ "txid": made.txid, "vout": 0 }]);
    let output = json!([{ elsewhere: decimal(of.units) }]);
    let node = merchant.node;
    let raw = node.text("createrawtransaction", json!([input, output]));
    let signed = node.call("signrawtransactionwithwallet", json!([raw]));
    node.text("sendrawtransaction", json!([signed["hex"], 0]));
}

#[test]
fn underpaying_transaction_is_reviewed_until_corrected() {
    let Some(node) = node(&[]) else { return };
    let mut merchant = LitecoinMerchant::open(&node);
    for round in ROUNDS {
        let sent = round.map(|who| {
            let sent = merchant.processing(who, None);
            let short = merchant.payer.pay(&[(&sent.to, 100_000)]);
            merchant.enter(&sent, &short.txid);
            (sent, short)
        });
        for _ in 0..2 {
            merchant.mine(CONFIRMATIONS);
            for (of, short) in &sent {
                let problem = format!(
                    "transaction {} pays 0.001 of {} LTC",
                    short.txid,
                    amount(of)
                );
                let now = merchant.wait_for_review(of, "processing", &problem);
                assert_eq!(now["onChain"]["amountSeen"], "0.001");
            }
        }
        let elsewhere = merchant.address();
        for (of, _) in &sent {
            let other = merchant.payer.pay(&[(&elsewhere, of.units)]);
            merchant.pay(of, &other.txid).expect(200);
        }
        merchant.restart_and_read();
        let right = sent.each_ref().map(|(of, _)| {
            merchant.wait_for_review(of, "processing", "pays another address");
            let right = merchant.payer.pay(&[(&of.to, of.units)]);
            merchant.pay(of, &right.txid).expect(200);
            right
        });
        merchant.mine(CONFIRMATIONS);
        for ((of, _), right) in sent.iter().zip(&right) {
            merchant.assert_paid(of, &right.txid);
        }
    }
    merchant.audited();
}

#[test]
fn each_output_of_a_transaction_pays_one_transfer() {
    let Some(node) = node(&[]) else { return };
    let mut merchant = LitecoinMerchant::open(&node);
    let by_hand = ("refunds", Sender::Hand);
    let first = merchant.processing(by_hand, None);
    let second = merchant.processing(by_hand, Some(&first.to));
    let made = merchant.payer.pay(&[(&first.to, first.units)]);
    merchant.enter(&first, &made.txid);
    for state in [["processing", "seen"], ["paid", "settled"]] {
        merchant.restart_and_read();
        merchant.wait_until(&first, state);
        let taken = merchant.pay(&second, &made.txid);
        taken.assert_error(409, "invalid_transition", Some("txid"));
        merchant.wait_until(&second, ["processing", "waiting"]);
        merchant.payer.mine(CONFIRMATIONS);
    }
    // The signer's response is stored, and the transfer is reviewed.
    let third = merchant.processing(("refunds", Sender::Signer), Some(&first.to));
    merchant.enter(&third, &made.txid);
    merchant.restart_and_read();
    merchant.wait_for_review(
        &third,
        "processing",
        "pays this destination for other transfers only",
    );
    // One transaction pays the second and the third transfer.
    let both = [(first.to.as_str(), first.units); 2];
    let own = merchant.payer.pay(&both);
    for of in [&second, &third] {
        merchant.pay(of, &own.txid).expect(200);
    }
    merchant.mine(CONFIRMATIONS);
    merchant.assert_paid(&first, &made.txid);
    merchant.assert_paid(&second, &own.txid);
    merchant.assert_paid(&third, &own.txid);
    merchant.audited();
}

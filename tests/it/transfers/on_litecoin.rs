//! Payouts and refunds that are sent by hand on a real litecoind, and go by its chain.

use super::litecoin_shop::{CONFIRMATIONS, Merchant, ROUNDS, Sender, node};
use super::litecoin_told::amount;
use serde_json::json;

/// Both kinds, sent by hand.
const BY_HAND: [(&str, Sender); 2] = [ROUNDS[0][0], ROUNDS[1][0]];

#[test]
fn invented_txid_waits_until_it_is_corrected() {
    let Some(node) = node(&[]) else { return };
    let mut merchant = Merchant::open(&node);
    let sent = BY_HAND.map(|who| merchant.processing(who, None));
    for of in &sent {
        for wrong in ["deadbeef", "0x", &"g".repeat(64), &"a".repeat(63)] {
            let refused = merchant.pay(of, wrong);
            refused.refused(400, "invalid_request", Some("txid"));
        }
        merchant.until(of, ["processing", "waiting"]);
        // An id that no transaction has.
        let after = merchant.pay(of, &"ab".repeat(32)).expect(200).json();
        assert_eq!(after["status"], "processing");
    }
    merchant.mine(CONFIRMATIONS + 3);
    let made = sent.each_ref().map(|of| {
        merchant.until(of, ["processing", "waiting"]);
        // It was a slip: another one was sent.
        let made = merchant.payer.pay(&[(&of.to, of.units)]);
        merchant.pay(of, &made.txid.to_uppercase()).expect(200);
        made
    });
    merchant.look();
    for (of, made) in sent.iter().zip(&made) {
        let seen = merchant.until(of, ["processing", "seen"]);
        assert_eq!(seen["onChain"]["txid"], made.txid.as_str());
    }
    merchant.mine(CONFIRMATIONS - 1);
    for of in &sent {
        let seen = merchant.until(of, ["processing", "seen"]);
        let on_chain = &seen["onChain"];
        assert_eq!(
            [&on_chain["confirmations"], &on_chain["confirmationsNeeded"]],
            [&json!(11), &json!(12)]
        );
    }
    merchant.mine(1);
    for (of, made) in sent.iter().zip(&made) {
        merchant.is_paid(of, &made.txid);
        let late = merchant.pay(of, &"ab".repeat(32));
        late.refused(409, "invalid_transition", Some("action"));
    }
    merchant.audited();
}

#[test]
fn sent_amount_without_a_txid_settles() {
    let Some(node) = node(&[]) else { return };
    let mut merchant = Merchant::open(&node);
    let sent = BY_HAND.map(|who| merchant.processing(who, None));
    let made = sent
        .each_ref()
        .map(|of| merchant.payer.pay(&[(&of.to, of.units)]));
    merchant.look();
    for (of, made) in sent.iter().zip(&made) {
        let seen = merchant.until(of, ["processing", "seen"]);
        assert_eq!(seen["onChain"]["txid"], made.txid.as_str());
    }
    merchant.mine(CONFIRMATIONS + 3);
    for (of, made) in sent.iter().zip(&made) {
        merchant.is_paid(of, &made.txid);
    }
    merchant.audited();
}

#[test]
fn nothing_found_for_24_hours_is_reviewed() {
    let Some(node) = node(&[]) else { return };
    let mut merchant = Merchant::open(&node);
    let sent = BY_HAND.map(|who| merchant.processing(who, None));
    for (hours, state) in [(23, "waiting"), (1, "needs_review")] {
        merchant.pass(hours);
        merchant.look();
        for of in &sent {
            merchant.until(of, ["processing", state]);
        }
    }
    // It is sent after all.
    let made = sent
        .each_ref()
        .map(|of| merchant.payer.pay(&[(&of.to, of.units)]));
    merchant.mine(CONFIRMATIONS);
    for (of, made) in sent.iter().zip(&made) {
        merchant.is_paid(of, &made.txid);
    }
    merchant.audited();
}

#[test]
fn transaction_that_pays_too_little_is_reviewed_until_the_right_one_is_entered() {
    let Some(node) = node(&[]) else { return };
    let mut merchant = Merchant::open(&node);
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
                let now = merchant.reviewed(of, "processing", &problem);
                assert_eq!(now["onChain"]["amountSeen"], "0.001");
            }
        }
        let elsewhere = merchant.address();
        for (of, _) in &sent {
            let other = merchant.payer.pay(&[(&elsewhere, of.units)]);
            merchant.pay(of, &other.txid).expect(200);
        }
        merchant.look();
        let right = sent.each_ref().map(|(of, _)| {
            merchant.reviewed(of, "processing", "pays another address");
            let right = merchant.payer.pay(&[(&of.to, of.units)]);
            merchant.pay(of, &right.txid).expect(200);
            right
        });
        merchant.mine(CONFIRMATIONS);
        for ((of, _), right) in sent.iter().zip(&right) {
            merchant.is_paid(of, &right.txid);
        }
    }
    merchant.audited();
}

#[test]
fn transaction_pays_as_many_transfers_as_it_has_outputs() {
    let Some(node) = node(&[]) else { return };
    let mut merchant = Merchant::open(&node);
    let by_hand = ("refunds", Sender::Hand);
    let first = merchant.processing(by_hand, None);
    let second = merchant.processing(by_hand, Some(&first.to));
    let made = merchant.payer.pay(&[(&first.to, first.units)]);
    merchant.enter(&first, &made.txid);
    for state in [["processing", "seen"], ["paid", "settled"]] {
        merchant.look();
        merchant.until(&first, state);
        let taken = merchant.pay(&second, &made.txid);
        taken.refused(409, "invalid_transition", Some("txid"));
        merchant.until(&second, ["processing", "waiting"]);
        merchant.payer.mine(CONFIRMATIONS);
    }
    // A signer's answer is kept, and reviewed.
    let third = merchant.processing(("refunds", Sender::Signer), Some(&first.to));
    merchant.enter(&third, &made.txid);
    merchant.look();
    merchant.reviewed(
        &third,
        "processing",
        "pays this destination for other transfers only",
    );
    // One transaction pays two of them.
    let both = [(first.to.as_str(), first.units); 2];
    let own = merchant.payer.pay(&both);
    for of in [&second, &third] {
        merchant.pay(of, &own.txid).expect(200);
    }
    merchant.mine(CONFIRMATIONS);
    merchant.is_paid(&first, &made.txid);
    merchant.is_paid(&second, &own.txid);
    merchant.is_paid(&third, &own.txid);
    merchant.audited();
}

//! Dropped, replaced and reorganised transactions of payouts and refunds, on a real litecoind.

use super::litecoin_shop::{
    CONFIRMATIONS, HORIZON, LitecoinMerchant, LitecoinTransfer, ROUNDS, SentBy, start_node,
};
use crate::support::litecoind::Litecoind;
use crate::support::payer::SignedTransaction;
use serde_json::json;

/// Asserts that a transfer in processing can fail only with `force`.
#[track_caller]
fn assert_fails_only_by_force(merchant: &LitecoinMerchant<'_>, of: &LitecoinTransfer) {
    let failed = merchant.apply_action(of, &json!({ "action": "fail" }));
    failed.assert_error(409, "invalid_transition", Some("force"));
}

/// Returns the id of the newest review of a transfer, and asserts that it has this kind.
#[track_caller]
fn newest_review(merchant: &LitecoinMerchant<'_>, of: &LitecoinTransfer, kind: &str) -> String {
    let now = merchant.wait_for_review(of, &merchant.status(of), "");
    assert_eq!(now["reviews"][0]["kind"], kind, "{now}");
    now["reviews"][0]["id"].as_str().unwrap().to_owned()
}

#[test]
fn dropped_transaction_is_reviewed_after_6_hours_and_fails_when_its_input_is_spent() {
    let Some(node) = start_node(&[]) else { return };
    assert_fails_when_input_spent(&node, LitecoinMerchant::open(&node));
}

#[test]
fn dropped_transaction_fails_when_electrum_reports_its_input_spent() {
    let Some(node) = start_node(&["-txindex=1"]) else {
        return;
    };
    let (merchant, _server) = LitecoinMerchant::open_with_electrum(&node);
    assert_fails_when_input_spent(&node, merchant);
}

#[track_caller]
fn assert_fails_when_input_spent(node: &Litecoind, mut merchant: LitecoinMerchant<'_>) {
    for (round, back_by) in ROUNDS.into_iter().zip([SentBy::Hand, SentBy::Signer]) {
        let lost = round.map(|(kind, by)| merchant.send_transfer(kind, by, 100));
        let (back, again) = merchant.send_transfer("refunds", back_by, 100);
        merchant.restart_and_sync();
        let all = [&lost[0].0, &lost[1].0, &back];
        for of in all {
            merchant.wait_for_state(of, ["processing", "seen"]);
        }
        merchant.empty_mempool();
        merchant.restart_and_sync();
        for of in all {
            let dropped = merchant.wait_for_state(of, ["processing", "waiting"]);
            assert_eq!(dropped["onChain"]["amountSeen"], "0");
        }
        // Time during which the node is down does not count towards the 6 hours until a review.
        node.stop();
        merchant.advance_hours(6);
        merchant.start();
        for of in all {
            merchant.wait_for_state(of, ["processing", "waiting"]);
        }
        merchant.start_node();
        merchant.restart_and_sync();
        for of in all {
            merchant.wait_for_review(of, "processing", "was in the mempool and is gone");
        }
        for (of, _) in &lost {
            assert_fails_only_by_force(&merchant, of);
        }
        prove_transactions_lost(&mut merchant, &lost, &back, &again);
    }
}

/// Spends the inputs of both transactions in `lost` in other transactions. Broadcasts the transaction `again` a
/// second time, and sends a new refund.
///
/// Asserts that both lost transfers can fail without `force` once the spending transactions are final.
#[track_caller]
fn prove_transactions_lost(
    merchant: &mut LitecoinMerchant<'_>,
    lost: &[(LitecoinTransfer, SignedTransaction); 2],
    back: &LitecoinTransfer,
    again: &SignedTransaction,
) {
    let (next, own) = merchant.send_transfer("refunds", SentBy::Signer, 100);
    merchant.payer.send(again);
    let elsewhere = merchant.foreign_address();
    let others =
        lost.each_ref().map(|(_, made)| merchant.payer.replace(made, &[(&elsewhere, 1_000_000)]));
    merchant.restart_and_sync();
    merchant.wait_for_state(back, ["processing", "seen"]);
    for ((of, _), other) in lost.iter().zip(&others) {
        merchant.wait_for_review(of, "processing", &format!("{} took its place", other.txid));
    }
    // After one more block, the spending transactions are below the reorg horizon.
    merchant.mine_and_sync(HORIZON);
    merchant.assert_paid(back, &again.txid);
    merchant.assert_paid(&next, &own.txid);
    for (of, _) in lost {
        assert_fails_only_by_force(merchant, of);
    }
    merchant.mine_and_sync(1);
    for (of, _) in lost {
        let before = merchant.available_cents();
        let failed = merchant.apply_action(of, &json!({ "action": "fail" })).expect(200);
        assert_eq!(failed.json()["status"], "failed");
        assert!(merchant.available_cents() > before);
        merchant.assert_one_final_event(of, "failed");
    }
    merchant.till.served.assert_audit_clean();
}

#[test]
fn sufficient_replacement_is_followed_and_others_are_reviewed() {
    let Some(node) = start_node(&[]) else { return };
    assert_replacement_followed(LitecoinMerchant::open(&node));
}

#[test]
fn electrum_follows_a_replacement() {
    let Some(node) = start_node(&["-txindex=1"]) else {
        return;
    };
    let (merchant, _server) = LitecoinMerchant::open_with_electrum(&node);
    assert_replacement_followed(merchant);
}

#[track_caller]
fn assert_replacement_followed(mut merchant: LitecoinMerchant<'_>) {
    for (round, is_mined_at_once, times) in
        [(0, false, 1), (1, true, 1), (0, true, 3), (1, false, 3)]
    {
        let mut sent = ROUNDS[round].map(|(kind, by)| merchant.send_transfer(kind, by, 100));
        if is_mined_at_once {
            sent.reverse();
        }
        merchant.restart_and_sync();
        let [(bumped, first), (strayed, second)] = &sent;
        let paid = times * bumped.units;
        let raised = merchant.payer.replace(first, &[(&bumped.to, paid)]);
        let elsewhere = merchant.foreign_address();
        let other = merchant.payer.replace(second, &[(&elsewhere, strayed.units)]);
        merchant.mine_and_sync(usize::from(is_mined_at_once));
        let seen = merchant.wait_for_state(bumped, ["processing", "seen"]);
        assert_eq!(seen["onChain"]["txid"], raised.txid.as_str());
        merchant.wait_for_review(strayed, "processing", &format!("{} took its place", other.txid));
        let right = merchant.payer.pay(&[(&strayed.to, strayed.units)]);
        merchant.apply_pay_action(strayed, &right.txid).expect(200);
        merchant.mine_and_sync(CONFIRMATIONS);
        if times > 1 {
            merchant.wait_for_review(bumped, "paid", "were sent");
            let review = newest_review(&merchant, bumped, "overpaid");
            let end = json!({ "action": "resolve", "review": review, "reason": "a tip" });
            merchant.apply_action(bumped, &end).expect(200);
            merchant.restart_and_sync();
        }
        merchant.assert_paid(bumped, &raised.txid);
        merchant.assert_paid(strayed, &right.txid);
    }
    merchant.till.served.assert_audit_clean();
}

#[test]
fn reorg_of_a_paid_transfer_is_reviewed_until_resolved() {
    let Some(node) = start_node(&[]) else { return };
    let mut merchant = LitecoinMerchant::open(&node);
    for is_swapped in [false, true] {
        for round in ROUNDS {
            let mut paid = round.map(|(kind, by)| merchant.send_transfer(kind, by, 100));
            if is_swapped {
                paid.reverse();
            }
            merchant.mine_and_sync(CONFIRMATIONS);
            for (of, made) in &paid {
                merchant.assert_paid(of, &made.txid);
            }
            reorganise_and_mine_again(&mut merchant, &paid);
            reorganise_and_double_spend(&mut merchant, &paid);
            merchant.till.served.assert_audit_clean();
        }
    }
}

/// Reorganises the blocks that contain the transactions of two paid transfers, and mines the transactions again.
#[track_caller]
fn reorganise_and_mine_again(
    merchant: &mut LitecoinMerchant<'_>,
    paid: &[(LitecoinTransfer, SignedTransaction); 2],
) {
    merchant.reorganise(CONFIRMATIONS);
    merchant.restart_and_sync();
    for (of, _) in paid {
        merchant.wait_for_review(of, "paid", "is not confirmed any more");
        let id = newest_review(merchant, of, "gone");
        let resolved = json!({ "action": "resolve", "review": id, "reason": "fine" });
        merchant.apply_action(of, &resolved).assert_error(
            409,
            "invalid_transition",
            Some("action"),
        );
    }
    // In a deep reorg the node does not return transactions to its mempool.
    for (_, made) in paid {
        merchant.payer.send(made);
    }
    merchant.mine_and_sync(CONFIRMATIONS);
    for (of, made) in paid {
        merchant.assert_paid(of, &made.txid);
        let ended = &merchant.read_transfer(of)["reviews"][0];
        assert_eq!([&ended["decision"], &ended["endedBy"]], ["cleared", "chain"], "{ended}");
    }
}

/// Reorganises the blocks of two paid transfers, and spends the inputs of their transactions in other transactions.
/// Reverses the amount of the first transfer, and pays the second transfer again.
#[track_caller]
fn reorganise_and_double_spend(
    merchant: &mut LitecoinMerchant<'_>,
    paid: &[(LitecoinTransfer, SignedTransaction); 2],
) {
    let [(booked_back, first), (sent_again, second)] = paid;
    merchant.reorganise(CONFIRMATIONS);
    merchant.restart_and_sync();
    let before = merchant.available_cents();
    resolve_by_adjustment(merchant, booked_back, "gone");
    let after = merchant.available_cents();
    assert!(after > before);
    let elsewhere = merchant.foreign_address();
    for made in [first, second] {
        merchant.payer.replace(made, &[(&elsewhere, 1_000_000)]);
    }
    merchant.mine_and_sync(1);
    merchant.wait_for_state(booked_back, ["paid", "settled"]);
    newest_review(merchant, sent_again, "gone");
    // After this reorg, the original transaction of the first transfer is confirmed again instead of its replacement.
    merchant.reorganise(1);
    merchant.payer.mine_only_transactions(&[&first.raw]);
    // The server reads this transaction before an operator enters its id.
    let other = merchant.payer.pay(&[(&sent_again.to, sent_again.units)]);
    merchant.mine_and_sync(1);
    newest_review(merchant, sent_again, "gone");
    merchant.apply_pay_action(sent_again, &other.txid).expect(200);
    merchant.mine_and_sync(CONFIRMATIONS);
    merchant.assert_paid(sent_again, &other.txid);
    assert_eq!(merchant.available_cents(), after);
    resolve_by_adjustment(merchant, booked_back, "arrived");
    assert_eq!(merchant.available_cents(), before);
    merchant.restart_and_sync();
    merchant.assert_paid(booked_back, &first.txid);
}

/// Resolves the newest review of a transfer by an adjustment. Asserts that the review has this kind and cannot be
/// resolved twice.
#[track_caller]
fn resolve_by_adjustment(merchant: &LitecoinMerchant<'_>, of: &LitecoinTransfer, kind: &str) {
    let id = newest_review(merchant, of, kind);
    let adjusted = json!({ "action": "adjust", "review": id, "reason": "looked at its chain" });
    merchant.apply_action(of, &adjusted).expect(200);
    let again = merchant.apply_action(of, &adjusted);
    again.assert_error(409, "invalid_transition", Some("review"));
}

#[test]
fn transaction_after_the_transfer_ended_is_reviewed_once() {
    let Some(node) = start_node(&[]) else { return };
    let mut merchant = LitecoinMerchant::open(&node);
    for round in ROUNDS {
        let attached = round.map(|(kind, by)| merchant.send_transfer(kind, by, 100));
        merchant.restart_and_sync();
        merchant.empty_mempool();
        merchant.restart_and_sync();
        for (of, _) in &attached {
            merchant.wait_for_state(of, ["processing", "waiting"]);
            assert_fails_only_by_force(&merchant, of);
            let forced = json!({ "action": "fail", "force": true });
            merchant.apply_action(of, &forced).expect(200);
        }
        // These transfers have no transaction, because the operator entered no id and the signer sent nothing.
        let unsent = round.map(|(kind, by)| merchant.processing_transfer(kind, by, None));
        for of in &unsent {
            if of.by == SentBy::Signer {
                merchant.write_signer_response(of, r#"{"sent": false, "reason": "low funds"}"#);
                merchant.wait_for_review(of, "processing", "the signer sent nothing: low funds");
                merchant.apply_action(of, &json!({ "action": "fail" })).expect(200);
            } else {
                let forced = json!({ "action": "fail", "force": true });
                merchant.apply_action(of, &forced).expect(200);
            }
        }
        let cancelled = merchant.request_transfer(round[0].0, SentBy::Hand, None, None);
        merchant.approve(&cancelled);
        merchant.apply_action(&cancelled, &json!({ "action": "cancel" })).expect(200);
        let before = merchant.available_cents();
        for (_, made) in &attached {
            merchant.payer.send(made);
        }
        let late = [&unsent[0], &unsent[1], &cancelled];
        let paid = late.map(|of| merchant.payer.pay(&[(&of.to, of.units)]));
        merchant.restart_and_sync();
        for of in late {
            // In the mempool it may still vanish.
            merchant.wait_for_state(of, [&merchant.status(of), "settled"]);
            assert_eq!(merchant.read_transfer(of)["proposals"].as_array().unwrap().len(), 1);
        }
        merchant.mine_and_sync(1);
        for of in late {
            merchant.wait_for_review(
                of,
                &merchant.status(of),
                "pays exactly the amount, after the end",
            );
            resolve_by_adjustment(&merchant, of, "arrived");
        }
        merchant.mine_and_sync(CONFIRMATIONS);
        for (of, _) in &attached {
            merchant.wait_for_review(of, "failed", "is in a block, although");
            resolve_by_adjustment(&merchant, of, "arrived");
        }
        let booked_out = before - merchant.available_cents();
        // Each amount is booked once, whatever happens on the chain afterwards.
        merchant.reorganise(CONFIRMATIONS + 1);
        merchant.restart_and_sync();
        for of in late {
            newest_review(&merchant, of, "gone");
        }
        for made in attached.iter().map(|(_, made)| made).chain(&paid) {
            merchant.payer.send(made);
        }
        merchant.mine_and_sync(CONFIRMATIONS);
        for of in [&attached[0].0, &attached[1].0, late[0], late[1], late[2]] {
            merchant.wait_for_state(of, [&merchant.status(of), "settled"]);
        }
        assert_eq!(before - merchant.available_cents(), booked_out);
        merchant.till.served.assert_audit_clean();
    }
}

//! Amounts, inputs and outputs of transactions that pay payouts and refunds, on a real litecoind.

use super::litecoin_shop::{CONFIRMATIONS, LitecoinMerchant, ROUNDS, SentBy, start_node};
use super::litecoin_told::format_amount;
use crate::support::payer::format_units;
use crate::support::polling;
use serde_json::json;

#[test]
fn overpayment_above_1_percent_is_paid_and_reviewed_until_resolved() {
    let Some(node) = start_node(&[]) else { return };
    let mut merchant = LitecoinMerchant::open(&node);
    for round in ROUNDS {
        let over = round.map(|(kind, by)| merchant.send_transfer(kind, by, 102));
        let (within, whole) = merchant.send_transfer("refunds", SentBy::Hand, 101);
        merchant.mine_and_sync(CONFIRMATIONS);
        merchant.assert_paid(&within, &whole.txid);
        assert_eq!(merchant.read_transfer(&within)["reviews"], json!([]));
        for (of, made) in &over {
            let told = format!(
                "{} LTC were sent, of {}",
                format_units(of.units * 102 / 100),
                format_amount(of)
            );
            let paid = merchant.wait_for_review(of, "paid", &told);
            let review = &paid["reviews"][0];
            assert_eq!(review["kind"], "overpaid");
            let end = |action: &str| json!({ "action": action, "review": review["id"], "reason": "a tip" });
            let adjusted = merchant.apply_action(of, &end("adjust"));
            adjusted.assert_error(409, "invalid_transition", Some("action"));
            let unsaid = json!({ "action": "resolve", "review": review["id"] });
            let unsaid = merchant.apply_action(of, &unsaid);
            unsaid.assert_error(400, "invalid_request", Some("reason"));
            merchant.apply_action(of, &end("resolve")).expect(200);
            merchant.restart_and_sync();
            merchant.assert_paid(of, &made.txid);
        }
    }
    merchant.till.served.assert_audit_clean();
}

#[test]
fn transaction_that_spends_shop_deposits_settles_its_transfer() {
    let Some(node) = start_node(&[]) else { return };
    let mut merchant = LitecoinMerchant::open(&node);
    for round in ROUNDS {
        // The test spends these two deposits later, one for the refund and one for the payout.
        let mut deposits = merchant.pay_invoice_in_parts(&[1_000_000, 20_000_000]);
        let mut paid = Vec::new();
        for (kind, by) in round {
            let sent = merchant.processing_transfer(kind, by, None);
            let coin = if kind == "payouts" { deposits.pop() } else { Some(deposits.remove(0)) };
            let made =
                merchant.payer.sign_with_inputs(vec![coin.unwrap()], &[(&sent.to, sent.units)]);
            merchant.payer.send(&made);
            // Enters the transaction id only for the transfer that the signer sends. The server finds the transaction
            // of the other transfer by itself.
            if by == SentBy::Signer {
                merchant.enter_txid(&sent, &made.txid);
            }
            paid.push((sent, made));
        }
        merchant.mine_and_sync(CONFIRMATIONS);
        for (of, made) in &paid {
            merchant.assert_paid(of, &made.txid);
        }
        let own = "select count(*) || '' from own_transfers";
        merchant.till.served.wait_for_query_result(own, &["0"]);
    }
    merchant.till.served.assert_audit_clean();
}

#[test]
fn entered_txid_takes_its_output_from_another_transfer() {
    let Some(node) = start_node(&[]) else { return };
    let mut merchant = LitecoinMerchant::open(&node);
    for by in [SentBy::Hand, SentBy::Signer] {
        // The payout and the refund have the same amount and the same address.
        merchant.pay_invoice_in_parts(&[20_000_000]);
        let first = merchant.processing_transfer("payouts", SentBy::Hand, None);
        let made = merchant.payer.pay(&[(&first.to, first.units)]);
        merchant.restart_and_sync();
        let seen = merchant.wait_for_state(&first, ["processing", "seen"]);
        assert_eq!(seen["onChain"]["txid"], made.txid.as_str());
        let second = merchant.request_transfer("refunds", by, Some(&first.to), Some("20.00"));
        merchant.approve(&second);
        merchant.start_processing(&second);
        merchant.enter_txid(&second, &made.txid);
        merchant.wait_for_state(&second, ["processing", "seen"]);
        let waiting = merchant.wait_for_state(&first, ["processing", "waiting"]);
        assert_eq!(waiting["txid"], json!(null));
        let own = merchant.payer.pay(&[(&first.to, first.units)]);
        merchant.mine_and_sync(CONFIRMATIONS);
        merchant.assert_paid(&second, &made.txid);
        merchant.assert_paid(&first, &own.txid);
        // An output that has settled one transfer cannot settle another.
        merchant.pay_invoice_in_parts(&[20_000_000]);
        let third = merchant.processing_transfer("refunds", SentBy::Hand, Some(&first.to));
        let taken = merchant.apply_pay_action(&third, &own.txid);
        taken.assert_error(409, "invalid_transition", Some("txid"));
        merchant.apply_action(&third, &json!({ "action": "fail", "force": true })).expect(200);
    }
    merchant.till.served.assert_audit_clean();
}

#[test]
fn exact_payment_holds_the_signer_until_a_person_decides() {
    let Some(node) = start_node(&[]) else { return };
    let mut merchant = LitecoinMerchant::open(&node);
    for kind in ["payouts", "refunds"] {
        // The signer is busy with another transfer, so it does not start for `held`.
        let busy = merchant.processing_transfer("refunds", SentBy::Signer, None);
        let held = merchant.request_transfer(kind, SentBy::Signer, None, None);
        merchant.approve(&held);
        // The payment directly follows the approval. Its time is in whole seconds, so it may be just below the time
        // of the approval.
        let made = merchant.payer.pay(&[(&held.to, held.units)]);
        merchant.running.process.kill();
        merchant.write_signer_response(&busy, "nobody hears it");
        merchant.start_with_settings(&[]);
        let proposals = format!(
            "select group_concat(o.txid) from transfer_proposals p join transfers t on t.seq = p.transfer \
                join observations o on o.seq = p.observation where t.id = '{}'",
            held.id
        );
        merchant.till.served.wait_for_query_result(&proposals, &[&made.txid]);
        merchant.restart_and_sync();
        merchant.wait_for_review(&held, "approved", "pays exactly the amount");
        assert_eq!(merchant.read_transfer(&held)["proposals"][0]["txid"], made.txid.as_str());
        let (next, own) = merchant.send_transfer("refunds", SentBy::Signer, 100);
        assert_eq!(
            (merchant.signer_start_count(&next), merchant.signer_start_count(&held)),
            (1, 0)
        );
        // When the operator dismisses the transaction, the signer starts and sends the transfer.
        let dismissed = json!({ "action": "dismiss", "txid": made.txid });
        merchant.apply_action(&held, &dismissed).expect(200);
        assert!(polling::wait_until(|| merchant.signer_start_count(&held) == 1));
        let right = merchant.payer.pay(&[(&held.to, held.units)]);
        merchant.enter_txid(&held, &right.txid);
        merchant.mine_and_sync(CONFIRMATIONS);
        merchant.assert_paid(&held, &right.txid);
        merchant.assert_paid(&next, &own.txid);
        merchant.wait_for_review(&busy, "processing", "nobody knows whether the signer sent it");
        merchant.apply_action(&busy, &json!({ "action": "fail", "force": true })).expect(200);
    }
    merchant.till.served.assert_audit_clean();
}

#[test]
fn payment_is_not_matched_while_a_signer_runs_for_its_address() {
    let Some(node) = start_node(&[]) else { return };
    let mut merchant = LitecoinMerchant::open(&node);
    let failed = merchant.processing_transfer("refunds", SentBy::Hand, None);
    let forced = json!({ "action": "fail", "force": true });
    merchant.apply_action(&failed, &forced).expect(200);
    let waits = merchant.processing_transfer("refunds", SentBy::Hand, Some(&failed.to));
    // While a transfer is in progress, the server polls its chain more often.
    merchant.restart_and_sync();
    let runs = merchant.processing_transfer("refunds", SentBy::Signer, Some(&failed.to));
    let made = merchant.payer.pay(&[(&failed.to, failed.units)]);
    let proposals = format!(
        "select count(*) || '' from transfer_proposals p join observations o on o.seq = p.observation where o.txid = '{}'",
        made.txid
    );
    merchant.till.served.wait_for_query_result(&proposals, &["3"]);
    merchant.wait_for_state(&failed, ["failed", "settled"]);
    merchant.wait_for_review(&waits, "processing", "pays exactly the amount");
    merchant.enter_txid(&runs, &made.txid);
    merchant.mine_and_sync(CONFIRMATIONS);
    merchant.assert_paid(&runs, &made.txid);
    merchant.wait_for_state(&failed, ["failed", "settled"]);
    merchant.wait_for_state(&waits, ["processing", "waiting"]);
    let own = merchant.payer.pay(&[(&waits.to, waits.units)]);
    merchant.mine_and_sync(CONFIRMATIONS);
    merchant.assert_paid(&waits, &own.txid);
    merchant.till.served.assert_audit_clean();
}

//! Outputs at destinations, whichever order a chain and people tell about them in, on a real litecoind.
//!
//! Invariant: each history ends with a clean audit, and the coins at the destinations are those that the books hold.

use super::litecoin_shop::{
    CONFIRMATIONS, HORIZON, LitecoinMerchant, LitecoinTransfer, SentBy, start_node,
};
use serde_json::{Value, json};

impl LitecoinMerchant<'_> {
    /// Returns refunds of 1.00 in processing, all to one new address.
    #[track_caller]
    fn refunds_to_one_address<const COUNT: usize>(&mut self) -> [LitecoinTransfer; COUNT] {
        self.pay_invoice_in_parts(&[20_000_000]);
        let to = self.foreign_address();
        [(); COUNT].map(|()| self.processing_transfer("refunds", SentBy::Hand, Some(&to)))
    }

    /// Returns `kind txid` of each open review.
    #[track_caller]
    fn open_reviews(&self, of: &LitecoinTransfer) -> Vec<String> {
        let read = self.read_transfer(of);
        let open = read["reviews"].as_array().unwrap().iter();
        let open = open.filter(|review| review["endedAt"].is_null());
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        open.map(|review| format!("{} {}", text(&review["kind"]), text(&review["txid"]))).collect()
    }

    /// Waits until the open reviews of a transfer are these, each `kind txid`.
    #[track_caller]
    fn wait_for_open_reviews(&self, of: &LitecoinTransfer, expected: &[String]) {
        let is_so = crate::support::polling::wait_until(|| self.open_reviews(of) == expected);
        assert!(is_so, "never {expected:?}: {}", self.read_transfer(of));
    }

    /// Ends the only open review of a transfer by this action.
    #[track_caller]
    fn end_review(&self, of: &LitecoinTransfer, action: &str) {
        let read = self.read_transfer(of);
        let mut open = read["reviews"].as_array().unwrap().iter();
        let open = open.find(|review| review["endedAt"].is_null()).unwrap();
        let end = json!({ "action": action, "review": open["id"], "reason": "looked at it" });
        self.apply_action(of, &end).expect(200);
    }

    #[track_caller]
    fn proposed(&self, of: &LitecoinTransfer) -> Vec<String> {
        let read = self.read_transfer(of);
        let proposals = read["proposals"].as_array().unwrap().iter();
        proposals.map(|one| one["txid"].as_str().unwrap().to_owned()).collect()
    }

    #[track_caller]
    fn fail_with_force(&self, of: &LitecoinTransfer) {
        self.apply_action(of, &json!({ "action": "fail", "force": true })).expect(200);
    }

    #[track_caller]
    fn detach(&self, of: &LitecoinTransfer) {
        self.apply_action(of, &json!({ "action": "detach" })).expect(200);
    }
}

#[test]
fn each_refund_of_a_batch_follows_its_fee_bump() {
    let Some(node) = start_node(&[]) else { return };
    let mut merchant = LitecoinMerchant::open(&node);
    for (to_one_address, is_seen_first) in [(false, false), (false, true), (true, true)] {
        merchant.pay_invoice_in_parts(&[20_000_000]);
        let first = merchant.processing_transfer("refunds", SentBy::Hand, None);
        let to = to_one_address.then_some(first.to.as_str());
        let second = merchant.request_transfer("refunds", SentBy::Hand, to, Some("2.00"));
        merchant.approve(&second);
        merchant.start_processing(&second);
        let pays = [(first.to.as_str(), first.units), (second.to.as_str(), second.units)];
        let batch = merchant.payer.pay(&pays);
        if is_seen_first {
            merchant.restart_and_sync();
        }
        for of in [&second, &first] {
            merchant.apply_pay_action(of, &batch.txid).expect(200);
        }
        merchant.restart_and_sync();
        let bumped = merchant.payer.replace(&batch, &pays);
        merchant.restart_and_sync();
        for of in [&first, &second] {
            let seen = merchant.wait_for_state(of, ["processing", "seen"]);
            assert_eq!(seen["txid"], bumped.txid.as_str());
            let failed = merchant.apply_action(of, &json!({ "action": "fail" }));
            failed.assert_error(409, "invalid_transition", Some("force"));
        }
        merchant.mine_and_sync(CONFIRMATIONS);
        merchant.assert_paid(&first, &bumped.txid);
        merchant.assert_paid(&second, &bumped.txid);
        let unmatched = "select count(*) || '' from unmatched_payments";
        merchant.till.served.wait_for_query_result(unmatched, &["0"]);
    }
    merchant.till.served.assert_audit_clean();
}

#[test]
fn short_batch_is_in_review_at_each_of_its_refunds() {
    let Some(node) = start_node(&[]) else { return };
    let mut merchant = LitecoinMerchant::open(&node);
    let [first, second] = merchant.refunds_to_one_address();
    let less = first.units - 1_000;
    let short = merchant.payer.pay(&[(&first.to, less), (&first.to, less)]);
    merchant.mine_and_sync(1);
    merchant.apply_pay_action(&second, &short.txid).expect(200);
    assert_eq!(merchant.proposed(&first), std::slice::from_ref(&short.txid));
    merchant.apply_pay_action(&first, &short.txid).expect(200);
    merchant.mine_and_sync(CONFIRMATIONS);
    for of in [&first, &second] {
        let told = merchant.wait_for_review(of, "processing", " pays 0.00899 of 0.009 LTC");
        assert_eq!(told["onChain"]["amountSeen"], "0.00899");
    }
    merchant.till.served.assert_audit_clean();
}

#[test]
fn detached_transaction_that_is_mined_is_not_forgotten() {
    let Some(node) = start_node(&[]) else { return };
    let mut merchant = LitecoinMerchant::open(&node);
    let [taken] = merchant.refunds_to_one_address();
    let [failed] = merchant.refunds_to_one_address();
    let [corrected] = merchant.refunds_to_one_address();
    let [twice] = merchant.refunds_to_one_address();
    let all = [&taken, &failed, &corrected, &twice];
    let made = all.map(|of| {
        let made = merchant.payer.pay(&[(&of.to, of.units)]);
        merchant.apply_pay_action(of, &made.txid).expect(200);
        made
    });
    merchant.restart_and_sync();
    all.iter().for_each(|of| drop(merchant.wait_for_state(of, ["processing", "seen"])));
    merchant.detach(&taken);
    merchant.detach(&failed);
    merchant.fail_with_force(&failed);
    let unsent = merchant.payer.sign(&[(&corrected.to, corrected.units)]);
    merchant.apply_pay_action(&corrected, &unsent.txid).expect(200);
    let second = merchant.payer.pay(&[(&twice.to, twice.units)]);
    merchant.apply_pay_action(&twice, &second.txid).expect(200);
    merchant.mine_and_sync(CONFIRMATIONS);
    merchant.assert_paid(&taken, &made[0].txid);
    merchant.wait_for_open_reviews(&failed, &[format!("arrived {}", made[1].txid)]);
    let problem = format!("{} pays exactly the amount", made[2].txid);
    merchant.wait_for_review(&corrected, "processing", &problem);
    assert_eq!(merchant.proposed(&corrected), [made[2].txid.clone()]);
    let paid = merchant.wait_for_review(&twice, "paid", &made[3].txid);
    assert_eq!(paid["txid"], second.txid.as_str());
    merchant.wait_for_open_reviews(&twice, &[format!("overpaid {}", made[3].txid)]);
    merchant.end_review(&failed, "adjust");
    merchant.end_review(&twice, "resolve");
    merchant.apply_pay_action(&corrected, &made[2].txid).expect(200);
    merchant.assert_paid(&corrected, &made[2].txid);
    // The transaction that was never sent is sent after all.
    merchant.payer.send(&unsent);
    merchant.mine_and_sync(CONFIRMATIONS);
    merchant.wait_for_open_reviews(&corrected, &[format!("overpaid {}", unsent.txid)]);
    merchant.till.served.assert_audit_clean();
}

#[test]
fn transaction_returns_to_its_refund_when_another_gives_it_up() {
    let Some(node) = start_node(&[]) else { return };
    let mut merchant = LitecoinMerchant::open(&node);
    let [first] = merchant.refunds_to_one_address();
    let second = merchant.request_transfer("refunds", SentBy::Hand, Some(&first.to), Some("1.10"));
    merchant.approve(&second);
    merchant.start_processing(&second);
    let made = merchant.payer.pay(&[(&first.to, first.units)]);
    merchant.restart_and_sync();
    merchant.wait_for_state(&first, ["processing", "seen"]);
    merchant.apply_pay_action(&second, &made.txid).expect(200);
    merchant.wait_for_state(&first, ["processing", "waiting"]);
    merchant.detach(&second);
    let seen = merchant.wait_for_state(&first, ["processing", "seen"]);
    assert_eq!(seen["txid"], made.txid.as_str());
    merchant.mine_and_sync(CONFIRMATIONS);
    merchant.assert_paid(&first, &made.txid);
    merchant.till.served.assert_audit_clean();
}

#[test]
fn payment_mined_again_after_its_amount_was_booked_back_has_arrived() {
    let Some(node) = start_node(&[]) else { return };
    let mut merchant = LitecoinMerchant::open(&node);
    let (paid, made) = merchant.send_transfer("refunds", SentBy::Hand, 100);
    merchant.mine_and_sync(CONFIRMATIONS);
    merchant.assert_paid(&paid, &made.txid);
    merchant.reorganise(CONFIRMATIONS);
    merchant.restart_and_sync();
    merchant.wait_for_open_reviews(&paid, &[format!("gone {}", made.txid)]);
    let unsent = merchant.payer.sign(&[(&paid.to, paid.units)]);
    merchant.apply_pay_action(&paid, &unsent.txid).expect(200);
    let before = merchant.available_cents();
    merchant.end_review(&paid, "adjust");
    assert_eq!(merchant.available_cents(), before + 100);
    merchant.payer.send(&made);
    merchant.mine_and_sync(CONFIRMATIONS);
    merchant.wait_for_open_reviews(&paid, &[format!("arrived {}", made.txid)]);
    merchant.end_review(&paid, "adjust");
    assert_eq!(merchant.available_cents(), before);
    merchant.wait_for_state(&paid, ["paid", "settled"]);
    merchant.till.served.assert_audit_clean();
}

#[test]
fn review_of_an_arrival_ends_with_it() {
    let Some(node) = start_node(&[]) else { return };
    let mut merchant = LitecoinMerchant::open(&node);
    let [failed] = merchant.refunds_to_one_address();
    let made = merchant.payer.pay(&[(&failed.to, failed.units)]);
    merchant.fail_with_force(&failed);
    merchant.mine_and_sync(1);
    let arrived = [format!("arrived {}", made.txid)];
    merchant.wait_for_open_reviews(&failed, &arrived);
    let id = merchant.read_transfer(&failed)["reviews"][0]["id"].clone();
    merchant.reorganise(1);
    merchant.restart_and_sync();
    merchant.wait_for_open_reviews(&failed, &[]);
    let before = merchant.available_cents();
    let adjust = json!({ "action": "adjust", "review": id, "reason": "it arrived" });
    let refused = merchant.apply_action(&failed, &adjust);
    refused.assert_error(409, "invalid_transition", Some("review"));
    assert_eq!(merchant.available_cents(), before);
    // Its reverse: booked out, then reorganised away.
    merchant.mine_and_sync(1);
    merchant.wait_for_open_reviews(&failed, &arrived);
    merchant.end_review(&failed, "adjust");
    assert_eq!(merchant.available_cents(), before - 100);
    merchant.reorganise(1);
    merchant.restart_and_sync();
    merchant.wait_for_open_reviews(&failed, &[format!("gone {}", made.txid)]);
    merchant.mine_and_sync(1);
    merchant.wait_for_state(&failed, ["failed", "settled"]);
    merchant.till.served.assert_audit_clean();
}

#[test]
fn failing_a_refund_that_was_paid_already_opens_its_review() {
    let Some(node) = start_node(&[]) else { return };
    let mut merchant = LitecoinMerchant::open(&node);
    let [short] = merchant.refunds_to_one_address();
    let made = merchant.payer.pay(&[(&short.to, short.units - 1)]);
    merchant.apply_pay_action(&short, &made.txid).expect(200);
    let [first, second] = merchant.refunds_to_one_address();
    let exact = merchant.payer.pay(&[(&first.to, first.units)]);
    merchant.mine_and_sync(CONFIRMATIONS);
    merchant.fail_with_force(&short);
    merchant.wait_for_open_reviews(&short, &[format!("arrived {}", made.txid)]);
    for of in [&first, &second] {
        merchant.wait_for_review(of, "processing", "pays exactly the amount");
    }
    // The payment is dismissed at one, so it fits the other.
    let dismiss = json!({ "action": "dismiss", "txid": exact.txid });
    merchant.apply_action(&first, &dismiss).expect(200);
    merchant.assert_paid(&second, &exact.txid);
    merchant.fail_with_force(&first);
    merchant.wait_for_open_reviews(&first, &[]);
    merchant.till.served.assert_audit_clean();
}

#[test]
fn second_payment_of_a_paid_refund_is_overpaid() {
    let Some(node) = start_node(&[]) else { return };
    let mut merchant = LitecoinMerchant::open(&node);
    let (paid, made) = merchant.send_transfer("refunds", SentBy::Hand, 100);
    merchant.mine_and_sync(CONFIRMATIONS);
    merchant.assert_paid(&paid, &made.txid);
    let again = merchant.payer.pay(&[(&paid.to, paid.units)]);
    // The owner's own wallet sends there, too.
    merchant.payer.pay(&[(&paid.to, paid.units * 3 / 2)]);
    merchant.mine_and_sync(CONFIRMATIONS);
    merchant.wait_for_open_reviews(&paid, &[format!("overpaid {}", again.txid)]);
    merchant.end_review(&paid, "resolve");
    merchant.restart_and_sync();
    merchant.assert_paid(&paid, &made.txid);
    // The next refund of the amount takes its own payment.
    let next = merchant.processing_transfer("refunds", SentBy::Hand, Some(&paid.to));
    let own = merchant.payer.pay(&[(&next.to, next.units)]);
    merchant.mine_and_sync(CONFIRMATIONS);
    merchant.assert_paid(&next, &own.txid);
    merchant.wait_for_open_reviews(&paid, &[]);
    merchant.till.served.assert_audit_clean();
}

#[test]
fn transaction_from_before_the_request_pays_nothing() {
    let Some(node) = start_node(&[]) else { return };
    let mut merchant = LitecoinMerchant::open(&node);
    let to = merchant.foreign_address();
    let old = merchant.payer.pay(&[(&to, 900_000)]);
    merchant.mine_and_sync(30);
    // A node that has not told of it yet does not know that it is old.
    let refund = merchant.processing_transfer("refunds", SentBy::Hand, Some(&to));
    merchant.apply_pay_action(&refund, &old.txid).expect(200);
    merchant.restart_and_sync();
    merchant.wait_for_review(&refund, "processing", "before this refund was requested");
    merchant.mine_and_sync(CONFIRMATIONS);
    merchant.wait_for_review(&refund, "processing", "before this refund was requested");
    merchant.detach(&refund);
    let again = merchant.apply_pay_action(&refund, &old.txid);
    again.assert_error(409, "invalid_transition", Some("txid"));
    let word =
        json!({ "action": "pay", "txid": old.txid, "reason": "sent before it was asked for" });
    merchant.apply_action(&refund, &word).expect(200);
    assert_eq!(merchant.status(&refund), "paid");
    merchant.till.served.assert_audit_clean();
}

#[test]
fn replacement_that_pays_half_proves_nothing() {
    let Some(node) = start_node(&[]) else { return };
    let mut merchant = LitecoinMerchant::open(&node);
    let (replaced, first) = merchant.send_transfer("refunds", SentBy::Hand, 100);
    merchant.restart_and_sync();
    let half = merchant.payer.replace(&first, &[(&replaced.to, replaced.units / 2)]);
    merchant.mine_and_sync(HORIZON + 1);
    let problem = format!("{} took its place and pays 0.0045 of 0.009", half.txid);
    merchant.wait_for_review(&replaced, "processing", &problem);
    let failed = merchant.apply_action(&replaced, &json!({ "action": "fail" }));
    failed.assert_error(409, "invalid_transition", Some("force"));
    merchant.fail_with_force(&replaced);
    merchant.wait_for_open_reviews(&replaced, &[format!("arrived {}", half.txid)]);
    merchant.till.served.assert_audit_clean();
}

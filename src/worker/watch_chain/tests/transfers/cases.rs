//! Tests of which payments settle a refund, and which payments cause a review.

use super::{KIND, RefundHistory, foreign_addresses, start_watch};
use crate::domain::time::{DAY_MS, MINUTE_MS};
use crate::domain::{SendingState, SentBy, Time, Transfer, TransferKind, Units};
use crate::service::chains::apply::BatchStart;
use crate::service::tests::{
    audit_findings, block_on, change_transfer, request_refund, unwrap_refusal,
};
use crate::worker::watch_chain::FollowOutcome;
use serde_json::{Value, json};
use std::sync::Arc;

pub(super) const AMOUNT: &str = "6.00";

impl RefundHistory {
    /// Creates an approved refund to the destination at position `to`. Returns the refund id.
    pub(super) fn approve_refund(&mut self, to: usize, amount: &str) -> String {
        let to = foreign_addresses(self.chain())[to].clone();
        let (service, merchant) = (&self.shop.service, &self.shop.merchant);
        let id = request_refund(service, merchant, self.now, amount, &to);
        let approve = json!({
            "action": "approve", "rate": self.shop.rate, "acceptRate": true, "networkFee": "0", "sentBy": "hand",
        });
        self.apply_action(&id, &approve).unwrap();
        id
    }

    pub(super) fn process_refund(&mut self, to: usize) -> String {
        let id = self.approve_refund(to, AMOUNT);
        self.apply_action(&id, &json!({ "action": "process" })).unwrap();
        id
    }

    pub(super) fn refund_view(&self, id: &str) -> Value {
        let read = self.shop.service.transfer_for_operator(self.now, KIND, id);
        serde_json::from_str(read.unwrap().get()).unwrap()
    }

    /// Returns three values of a refund: its status, its state on the chain, and its transaction id.
    pub(super) fn refund_state(&self, id: &str) -> [Value; 3] {
        let read = self.refund_view(id);
        let on_chain = &read["onChain"];
        [&read["status"], &on_chain["state"], &on_chain["txid"]].map(Value::clone)
    }

    /// Changes a stored refund directly, as a signer or a restore does.
    pub(super) fn update_stored_refund(
        &self,
        id: &str,
        change: impl FnOnce(&mut Transfer) + Send + 'static,
    ) {
        change_transfer(&self.shop.service, id, change);
    }

    fn set_sending_state(&self, id: &str, sending: SendingState) {
        let now = self.now;
        self.update_stored_refund(id, move |transfer| {
            transfer.sent_by = Some(SentBy::Signer);
            transfer.signer_share = Some((now, transfer.amount));
            transfer.sending = Some(sending);
            transfer.sending_progress.sending_reason = Some("a test".to_owned());
            let is_retry = sending == SendingState::Retry;
            transfer.sending_progress.retry = is_retry.then(|| (now, now.plus_ms(MINUTE_MS)));
        });
    }

    /// Pays the destination at position `to` the amount of a refund, multiplied by `times`. Returns the transaction
    /// id.
    pub(super) fn pay_refund_amount(&mut self, to: usize, times: u128) -> String {
        let to = foreign_addresses(self.chain())[to].clone();
        let amount = Units(self.shop.units_for_sixty_euros() / 10 * times);
        let spends = self.new_transaction_inputs();
        self.send_transaction(spends, vec![(0, to, amount)])
    }

    /// Takes some steps of the follower. Returns the log lines of these steps.
    fn follow_and_collect_log(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        for _ in 0..20 {
            let FollowOutcome::Step(step) =
                self.watch.compute_step(&mut self.node, self.now).unwrap()
            else {
                continue;
            };
            let (step, mut part) = (Arc::new(*step), BatchStart::FIRST);
            while part != BatchStart::Done {
                let service = &self.shop.service;
                let taken =
                    service.apply_chain_step(self.now, &step, part, self.watch.batch_limit());
                part = taken.unwrap();
                lines.extend(service.take_log_lines(self.chain()));
            }
        }
        lines
    }

    pub(super) fn mine_until_final(&mut self) {
        self.mine(30, |_| true);
        self.catch_up();
    }
}

const PAID: &str = "paid";

#[test]
fn paid_refund_destination_is_not_watched_after_many_blocks() {
    for (asset, blocks) in [("BTC", 100), ("ETH", 60)] {
        let mut all = RefundHistory::new(asset, 1);
        let [paid, open] = [0, 1].map(|to| all.process_refund(to));
        all.pay_refund_amount(0, 1);
        let is_watched = |all: &RefundHistory, to: usize| {
            let (mut is_found, chain) = (false, all.chain());
            let each = |address: &str| is_found |= address == foreign_addresses(chain)[to];
            all.shop.service.for_each_watched_address(chain, each).unwrap();
            is_found
        };
        all.mine_until_final();
        assert_eq!(all.refund_state(&paid)[0], PAID, "{asset}");
        assert!(asset == "ETH" || is_watched(&all, 0), "{asset}");
        all.mine(blocks, |_| true);
        all.catch_up();
        assert!(!is_watched(&all, 0), "{asset}");
        assert_eq!(all.refund_state(&paid)[0], PAID, "{asset}");
        assert_eq!(all.refund_state(&open)[0], "processing");
        assert!(is_watched(&all, 1), "{asset}");
    }
}

#[test]
fn payment_that_fits_two_refunds_settles_neither() {
    for asset in ["BTC", "ETH"] {
        for sending in [
            SendingState::Unknown,
            SendingState::Declined,
            SendingState::Retry,
            SendingState::Restored,
        ] {
            let mut all = RefundHistory::new(asset, 1);
            let (left, plain) = (all.process_refund(0), all.process_refund(0));
            all.set_sending_state(&left, sending);
            let txid = all.pay_refund_amount(0, 1);
            all.mine_until_final();
            for id in [&left, &plain] {
                let [status, _, attached] = all.refund_state(id);
                assert_eq!(status, "processing", "{asset} {sending}");
                assert_eq!(attached, Value::Null, "{asset} {sending}");
                assert_eq!(all.refund_view(id)["proposals"][0]["txid"], txid);
            }
        }
    }
}

#[test]
fn exact_payment_settles_a_refund_of_a_signer_but_not_a_restored_refund() {
    for asset in ["BTC", "ETH"] {
        for sending in [SendingState::Unknown, SendingState::Declined, SendingState::Retry] {
            let mut all = RefundHistory::new(asset, 1);
            let id = all.process_refund(0);
            all.set_sending_state(&id, sending);
            let txid = all.pay_refund_amount(0, 1);
            all.mine(1, |_| true);
            all.catch_up();
            let [_, on_chain, attached] = all.refund_state(&id);
            assert_eq!([on_chain, attached], ["seen", &txid], "{asset} {sending}");
            // The matching payment was found, so the refund counts as sent. It cannot be marked as failed without
            // `force`, and the signer does not run again.
            assert!(all.apply_action(&id, &json!({ "action": "fail" })).is_none());
            let later = all.now.plus_ms(DAY_MS);
            let service = &all.shop.service;
            assert!(service.next_transfer_to_send(later).unwrap().is_none());
            assert_eq!(service.next_signer_retry(Time(0)).unwrap(), None);
            let again = block_on(service.begin_sending(later, KIND, &id));
            assert_eq!(unwrap_refusal(again).code.to_string(), "invalid_transition");
            all.mine_until_final();
            assert_eq!(all.refund_state(&id), [PAID, "settled", &txid], "{asset} {sending}");
            assert_eq!(audit_findings(&all.shop.service), Vec::<String>::new());
        }
        let mut all = RefundHistory::new(asset, 1);
        let id = all.process_refund(0);
        all.set_sending_state(&id, SendingState::Restored);
        let txid = all.pay_refund_amount(0, 1);
        all.mine_until_final();
        assert_eq!(
            all.refund_state(&id),
            [json!("processing"), json!("needs_review"), Value::Null]
        );
        assert_eq!(all.refund_view(&id)["proposals"][0]["txid"], txid);
    }
}

#[test]
fn signer_is_not_started_for_a_refund_with_a_matching_payment() {
    let mut all = RefundHistory::new("BTC", 1);
    all.now = all.now.plus_ms(900);
    let id = all.approve_refund(0, AMOUNT);
    let now = all.now;
    all.update_stored_refund(&id, move |transfer| {
        transfer.sent_by = Some(SentBy::Signer);
        transfer.signer_share = Some((now, transfer.amount));
    });
    assert!(all.shop.service.next_transfer_to_send(all.now).unwrap().is_some());
    // The block time is a fraction of a second before the approval, because nodes report whole seconds.
    all.now = all.now.plus_ms(-900);
    let txid = all.pay_refund_amount(0, 1);
    all.now = all.now.plus_ms(900);
    all.catch_up();
    let service = &all.shop.service;
    assert!(service.next_transfer_to_send(all.now).unwrap().is_none());
    // Simulates a signer whose start was decided before the payment was seen.
    let begun = block_on(service.begin_sending(all.now, TransferKind::Refund, &id));
    assert_eq!(unwrap_refusal(begun).code.to_string(), "invalid_transition");
    assert_eq!(all.refund_view(&id)["proposals"][0]["txid"], txid);
    all.apply_action(&id, &json!({ "action": "dismiss", "txid": txid })).unwrap();
    let service = &all.shop.service;
    assert!(service.next_transfer_to_send(all.now).unwrap().is_some());
    block_on(service.begin_sending(all.now, KIND, &id)).unwrap();
}

#[test]
fn retry_that_awaits_a_decision_has_no_due_time() {
    let mut all = RefundHistory::new("BTC", 1);
    let (first, second) = (all.process_refund(0), all.process_refund(0));
    all.set_sending_state(&first, SendingState::Retry);
    all.set_sending_state(&second, SendingState::Retry);
    all.pay_refund_amount(0, 1);
    all.catch_up();
    let later = all.now.plus_ms(DAY_MS);
    let service = &all.shop.service;
    assert!(service.next_transfer_to_send(later).unwrap().is_none());
    assert_eq!(service.next_signer_retry(later).unwrap(), None);
}

#[test]
fn payment_of_a_failed_refund_is_reviewed() {
    for asset in ["BTC", "ETH"] {
        let mut all = RefundHistory::new(asset, 1);
        let id = all.process_refund(0);
        let txid = all.pay_refund_amount(0, 1);
        all.mine(1, |_| true);
        all.now = all.now.plus_ms(2 * MINUTE_MS);
        all.apply_action(&id, &json!({ "action": "fail", "force": true })).unwrap();
        all.mine_until_final();
        let read = all.refund_view(&id);
        assert_eq!(read["reviews"][0]["kind"], "arrived", "{asset}: {read}");
        let review = read["reviews"][0]["id"].clone();
        let resolved = json!({ "action": "resolve", "review": review, "reason": "another's" });
        all.apply_action(&id, &resolved).unwrap();
        // After an operator has resolved a review, the same transaction does not reopen the review.
        let (chain, now) = (all.chain(), all.now);
        all.shop.service.order_rescan(now, chain, 1).unwrap();
        all.mine_until_final();
        assert_eq!(all.refund_view(&id)["reviews"].as_array().unwrap().len(), 1);
        assert_eq!(all.refund_view(&id)["proposals"][0]["txid"], txid);
    }
}

#[test]
fn rescan_keeps_the_payment_at_a_destination_that_is_no_longer_watched() {
    for asset in ["BTC", "ETH"] {
        let mut all = RefundHistory::new(asset, 1);
        let id = all.process_refund(0);
        let txid = all.pay_refund_amount(0, 1);
        all.finalize_all();
        // A server that starts now watches only the shop's own addresses.
        let (chain, now) = (all.chain(), all.now);
        all.watch = start_watch(&all.shop.service, chain, &all.shop.ours);
        all.shop.service.order_rescan(now, chain, 1).unwrap();
        all.catch_up();
        assert_eq!(all.refund_state(&id), [PAID, "settled", &txid], "{asset}");
        assert_eq!(audit_findings(&all.shop.service), Vec::<String>::new(), "{asset}");
    }
}

#[test]
fn replacement_transaction_belongs_to_the_refund_of_the_original() {
    let mut all = RefundHistory::new("BTC", 1);
    let (first, second) = (all.process_refund(0), all.process_refund(0));
    let spends = all.new_transaction_inputs();
    let to = foreign_addresses(all.chain())[0].clone();
    let amount = Units(all.shop.units_for_sixty_euros() / 10);
    let txid = all.send_transaction(spends.clone(), vec![(0, to.clone(), amount)]);
    all.apply_action(&first, &json!({ "action": "pay", "txid": txid })).unwrap();
    all.catch_up();
    assert_eq!(all.refund_state(&first)[2], txid);
    let by = all.send_transaction(spends, vec![(0, to, amount)]);
    all.mine_until_final();
    assert_eq!(all.refund_state(&first), [PAID, "settled", &by]);
    assert_eq!(all.refund_state(&second), [json!("processing"), json!("waiting"), Value::Null]);
}

#[test]
fn transaction_of_one_refund_may_pay_another_refund() {
    for (asset, has_index) in [("BTC", true), ("BTC", false), ("ETH", true)] {
        let mut all = RefundHistory::new(asset, 1);
        all.node.has_index = has_index;
        let (first, second) = (all.process_refund(0), all.process_refund(1));
        let [one, other, _] = foreign_addresses(all.chain());
        let amount = all.shop.units_for_sixty_euros() / 10;
        let spends = all.new_transaction_inputs();
        let pays = vec![(0, one, Units(amount)), (1, other, Units(amount * 3))];
        let txid = all.send_transaction(spends, pays);
        all.mine_until_final();
        assert_eq!(all.refund_state(&first), [PAID, "settled", &txid], "{asset}");
        assert_eq!(all.refund_state(&second)[1], "waiting", "{asset}");
        // A payment of three times the refund amount is not proposed as the payment of the refund.
        assert_eq!(all.refund_view(&second)["proposals"], json!([]));
        all.apply_action(&second, &json!({ "action": "pay", "txid": txid })).unwrap();
        all.mine_until_final();
        let read = all.refund_view(&second);
        assert_eq!(read["status"], PAID, "{asset} {has_index}: {read}");
        assert_eq!(read["reviews"][0]["kind"], "overpaid");
        assert_eq!(audit_findings(&all.shop.service), Vec::<String>::new());
    }
}

#[test]
fn log_contains_the_state_of_refund_transactions() {
    let mut all = RefundHistory::new("BTC", 1);
    let (_, gone) = (all.process_refund(0), all.process_refund(1));
    all.pay_refund_amount(0, 1);
    let lost = all.pay_refund_amount(1, 1);
    let mut lines = all.follow_and_collect_log();
    all.memory.lock().unwrap().evict_transactions(|sent| sent.txid == lost);
    lines.extend(all.follow_and_collect_log());
    all.mine(30, |_| true);
    lines.extend(all.follow_and_collect_log());
    all.now = all.now.plus_ms(2 * DAY_MS);
    lines.extend(all.follow_and_collect_log());
    for what in ["seen", "confirmed", "dropped"] {
        let begin = format!("refund {what}: chain=bitcoin txid=");
        assert!(lines.iter().any(|line| line.starts_with(&begin)), "{what}: {lines:?}");
    }
    assert!(lines.iter().all(|line| line.starts_with("refund ")), "{lines:?}");
    assert_eq!(all.refund_state(&gone)[1], "needs_review");
}

/// Returns a refund in processing that was requested half a day ago. The file does not record the first block that
/// may contain the payment of the refund. If `blocks` is set, the node has only that many of the newest blocks.
fn refund_without_first_block(asset: &str, blocks: Option<u32>) -> (RefundHistory, String) {
    let mut all = RefundHistory::new(asset, 1);
    let id = all.process_refund(0);
    all.mine(1, |_| true);
    all.now = all.now.plus_ms(DAY_MS / 2);
    all.mine(20, |_| true);
    let height = all.memory.lock().unwrap().tip().block.height;
    all.node.pruned_below = blocks.map_or(0, |blocks| height - blocks);
    all.update_stored_refund(&id, |transfer| transfer.sending_progress.watched_from = None);
    all.catch_up();
    (all, id)
}

#[test]
fn blocks_missing_on_a_pruned_node_cause_a_review() {
    for asset in ["BTC", "ETH"] {
        let (all, id) = refund_without_first_block(asset, None);
        assert_eq!(all.refund_view(&id)["reviews"], json!([]), "{asset}");
        let (all, id) = refund_without_first_block(asset, Some(5));
        let read = all.refund_view(&id);
        assert_eq!(read["reviews"][0]["kind"], "beyond_reach", "{asset}: {read}");
        assert_eq!(read["onChain"]["state"], "needs_review");
        let (review, reason) = (&read["reviews"][0]["id"], "nothing came");
        let resolve = json!({ "action": "resolve", "review": review, "reason": reason });
        assert!(all.apply_action(&id, &resolve).is_some());
        assert_eq!(all.refund_state(&id)[1], "waiting");
    }
}

//! Tests of which payments settle a refund, and which payments cause a review.

use super::{KIND, MoneyOut, destinations};
use crate::domain::money::coin::Units;
use crate::domain::time::{DAY_MS, MINUTE_MS, Time};
use crate::domain::transfer::sender::SentBy;
use crate::domain::transfer::{Sending, Transfer, TransferKind};
use crate::service::chains::apply::BatchStart;
use crate::service::tests::{change_transfer, done, found_by_audit, refund, refused};
use crate::worker::watch_chain::FollowOutcome;
use serde_json::{Value, json};
use std::sync::Arc;

const AMOUNT: &str = "6.00";

impl MoneyOut {
    /// Creates an approved refund to one of the destinations. Returns its id.
    fn approved(&mut self, to: usize, amount: &str) -> String {
        let to = destinations(self.chain())[to].clone();
        let (service, merchant) = (&self.shop.service, &self.shop.merchant);
        let id = refund(service, merchant, self.now, (amount, &to));
        let approve = json!({
            "action": "approve", "rate": self.shop.rate, "acceptRate": true, "networkFee": "0", "sentBy": "hand",
        });
        self.act(&id, &approve).unwrap();
        id
    }

    fn processing(&mut self, to: usize) -> String {
        let id = self.approved(to, AMOUNT);
        self.act(&id, &json!({ "action": "process" })).unwrap();
        id
    }

    fn read(&self, id: &str) -> Value {
        let read = self.shop.service.transfer_of_operator(self.now, KIND, id);
        serde_json::from_str(read.unwrap().get()).unwrap()
    }

    /// Returns the status, the state on the chain, and the transaction id.
    fn state(&self, id: &str) -> [Value; 3] {
        let read = self.read(id);
        let on_chain = &read["onChain"];
        [&read["status"], &on_chain["state"], &on_chain["txid"]].map(Value::clone)
    }

    /// Changes a stored refund directly, as a signer or a restore does.
    fn set(&self, id: &str, change: impl FnOnce(&mut Transfer) + Send + 'static) {
        change_transfer(&self.shop.service, id, change);
    }

    fn leave(&self, id: &str, sending: Sending) {
        let now = self.now;
        self.set(id, move |transfer| {
            transfer.sent_by = Some(SentBy::Signer);
            transfer.signer_at = Some(now);
            transfer.sending = Some(sending);
            transfer.dispatch.sending_reason = Some("a test".to_owned());
            let is_retry = sending == Sending::Retry;
            transfer.dispatch.retry = is_retry.then(|| (now, now.plus_ms(MINUTE_MS)));
        });
    }

    /// Pays one of the destinations the amount of a refund, multiplied by `times`. Returns the transaction id.
    fn pays(&mut self, to: usize, times: u128) -> String {
        let to = destinations(self.chain())[to].clone();
        let amount = Units(self.shop.sixty() / 10 * times);
        let spends = self.origin();
        self.send(spends, vec![(0, to, amount)])
    }

    /// Takes some steps of the follower. Returns their log lines.
    fn lines(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        for _ in 0..20 {
            let FollowOutcome::Step(step) = self.watch.next_step(&mut self.node, self.now).unwrap()
            else {
                continue;
            };
            let (step, mut part) = (Arc::new(*step), BatchStart::FIRST);
            while part != BatchStart::Done {
                let service = &self.shop.service;
                let taken = service.apply_chain_step(self.now, &step, part, self.watch.bound());
                part = taken.unwrap();
                lines.extend(service.take_lines(self.chain()));
            }
        }
        lines
    }

    fn settle(&mut self) {
        self.mine(30, |_| true);
        self.catch_up();
    }
}

const PAID: &str = "paid";

#[test]
fn destination_of_a_paid_refund_is_watched_until_its_block_is_beyond_the_horizon() {
    for (asset, blocks) in [("BTC", 100), ("ETH", 60)] {
        let mut all = MoneyOut::new(asset, 1);
        let [paid, open] = [0, 1].map(|to| all.processing(to));
        all.pays(0, 1);
        let is_watched = |all: &MoneyOut, to: usize| {
            let (mut is_found, chain) = (false, all.chain());
            let each = |address: &str| is_found |= address == destinations(chain)[to];
            all.shop.service.each_watched_address(chain, each).unwrap();
            is_found
        };
        all.settle();
        assert_eq!(all.state(&paid)[0], PAID, "{asset}");
        assert!(asset == "ETH" || is_watched(&all, 0), "{asset}");
        all.mine(blocks, |_| true);
        all.catch_up();
        assert!(!is_watched(&all, 0), "{asset}");
        assert_eq!(all.state(&paid)[0], PAID, "{asset}");
        assert_eq!(all.state(&open)[0], "processing");
        assert!(is_watched(&all, 1), "{asset}");
    }
}

#[test]
fn arrival_that_fits_two_refunds_is_taken_for_neither() {
    for asset in ["BTC", "ETH"] {
        for sending in [
            Sending::Unknown,
            Sending::Declined,
            Sending::Retry,
            Sending::Restored,
        ] {
            let mut all = MoneyOut::new(asset, 1);
            let (left, plain) = (all.processing(0), all.processing(0));
            all.leave(&left, sending);
            let txid = all.pays(0, 1);
            all.settle();
            for id in [&left, &plain] {
                let [status, _, attached] = all.state(id);
                assert_eq!(status, "processing", "{asset} {sending}");
                assert_eq!(attached, Value::Null, "{asset} {sending}");
                assert_eq!(all.read(id)["proposals"][0]["txid"], txid);
            }
        }
    }
}

#[test]
fn exact_arrival_settles_what_a_signer_left_but_not_what_a_restore_holds() {
    for asset in ["BTC", "ETH"] {
        for sending in [Sending::Unknown, Sending::Declined, Sending::Retry] {
            let mut all = MoneyOut::new(asset, 1);
            let id = all.processing(0);
            all.leave(&id, sending);
            let txid = all.pays(0, 1);
            all.mine(1, |_| true);
            all.catch_up();
            let [_, on_chain, attached] = all.state(&id);
            assert_eq!([on_chain, attached], ["seen", &txid], "{asset} {sending}");
            // The refund was sent. So it cannot fail without force, and the signer does not run again.
            assert!(all.act(&id, &json!({ "action": "fail" })).is_none());
            let later = all.now.plus_ms(DAY_MS);
            let service = &all.shop.service;
            assert!(service.to_send(later, 9).unwrap().is_empty());
            assert_eq!(service.next_retry(Time(0)).unwrap(), None);
            let again = done(service.begin_sending(later, KIND, &id));
            assert_eq!(refused(again).code.to_string(), "invalid_transition");
            all.settle();
            assert_eq!(
                all.state(&id),
                [PAID, "settled", &txid],
                "{asset} {sending}"
            );
            assert_eq!(found_by_audit(&all.shop.service), Vec::<String>::new());
        }
        let mut all = MoneyOut::new(asset, 1);
        let id = all.processing(0);
        all.leave(&id, Sending::Restored);
        let txid = all.pays(0, 1);
        all.settle();
        assert_eq!(
            all.state(&id),
            [json!("processing"), json!("needs_review"), Value::Null]
        );
        assert_eq!(all.read(&id)["proposals"][0]["txid"], txid);
    }
}

#[test]
fn signer_is_not_started_for_what_has_arrived() {
    let mut all = MoneyOut::new("BTC", 1);
    all.now = all.now.plus_ms(900);
    let id = all.approved(0, AMOUNT);
    let now = all.now;
    all.set(&id, move |transfer| {
        transfer.sent_by = Some(SentBy::Signer);
        transfer.signer_at = Some(now);
    });
    assert_eq!(all.shop.service.to_send(all.now, 9).unwrap().len(), 1);
    // The payment is dated a fraction of a second earlier, because nodes report whole seconds.
    all.now = all.now.plus_ms(-900);
    let txid = all.pays(0, 1);
    all.now = all.now.plus_ms(900);
    all.catch_up();
    let service = &all.shop.service;
    assert!(service.to_send(all.now, 9).unwrap().is_empty());
    // Simulates a signer that passed its check before the payment was seen.
    let begun = done(service.begin_sending(all.now, TransferKind::Refund, &id));
    assert_eq!(refused(begun).code.to_string(), "invalid_transition");
    assert_eq!(all.read(&id)["proposals"][0]["txid"], txid);
    all.act(&id, &json!({ "action": "dismiss", "txid": txid }))
        .unwrap();
    let service = &all.shop.service;
    assert_eq!(service.to_send(all.now, 9).unwrap().len(), 1);
    done(service.begin_sending(all.now, KIND, &id)).unwrap();
}

#[test]
fn retry_that_a_person_decides_about_keeps_no_worker_busy() {
    let mut all = MoneyOut::new("BTC", 1);
    let (first, second) = (all.processing(0), all.processing(0));
    all.leave(&first, Sending::Retry);
    all.leave(&second, Sending::Retry);
    all.pays(0, 1);
    all.catch_up();
    let later = all.now.plus_ms(DAY_MS);
    let service = &all.shop.service;
    assert!(service.to_send(later, 9).unwrap().is_empty());
    assert_eq!(service.next_retry(later).unwrap(), None);
}

#[test]
fn money_that_was_under_way_when_a_refund_failed_is_reviewed() {
    for asset in ["BTC", "ETH"] {
        let mut all = MoneyOut::new(asset, 1);
        let id = all.processing(0);
        let txid = all.pays(0, 1);
        all.mine(1, |_| true);
        all.now = all.now.plus_ms(2 * MINUTE_MS);
        all.act(&id, &json!({ "action": "fail", "force": true }))
            .unwrap();
        all.settle();
        let read = all.read(&id);
        assert_eq!(read["reviews"][0]["kind"], "arrived", "{asset}: {read}");
        let review = read["reviews"][0]["id"].clone();
        let resolved = json!({ "action": "resolve", "review": review, "reason": "another's" });
        all.act(&id, &resolved).unwrap();
        // The same transaction does not reopen a review that an operator has ended.
        let (chain, now) = (all.chain(), all.now);
        all.shop.service.order_rescan(now, chain, 1).unwrap();
        all.settle();
        assert_eq!(all.read(&id)["reviews"].as_array().unwrap().len(), 1);
        assert_eq!(all.read(&id)["proposals"][0]["txid"], txid);
    }
}

#[test]
fn replacement_belongs_to_the_refund_of_what_it_replaces() {
    let mut all = MoneyOut::new("BTC", 1);
    let (first, second) = (all.processing(0), all.processing(0));
    let spends = all.origin();
    let to = destinations(all.chain())[0].clone();
    let amount = Units(all.shop.sixty() / 10);
    let txid = all.send(spends.clone(), vec![(0, to.clone(), amount)]);
    all.act(&first, &json!({ "action": "pay", "txid": txid }))
        .unwrap();
    all.catch_up();
    assert_eq!(all.state(&first)[2], txid);
    let by = all.send(spends, vec![(0, to, amount)]);
    all.settle();
    assert_eq!(all.state(&first), [PAID, "settled", &by]);
    assert_eq!(
        all.state(&second),
        [json!("processing"), json!("waiting"), Value::Null]
    );
}

#[test]
fn known_transaction_is_asked_for_its_outputs_to_another_destination() {
    for (asset, has_index) in [("BTC", true), ("BTC", false), ("ETH", true)] {
        let mut all = MoneyOut::new(asset, 1);
        all.node.has_index = has_index;
        let (first, second) = (all.processing(0), all.processing(1));
        let [one, other, _] = destinations(all.chain());
        let amount = all.shop.sixty() / 10;
        let spends = all.origin();
        let pays = vec![(0, one, Units(amount)), (1, other, Units(amount * 3))];
        let txid = all.send(spends, pays);
        all.settle();
        assert_eq!(all.state(&first), [PAID, "settled", &txid], "{asset}");
        assert_eq!(all.state(&second)[1], "waiting", "{asset}");
        // A payment of three times the amount is not proposed for the refund.
        assert_eq!(all.read(&second)["proposals"], json!([]));
        all.act(&second, &json!({ "action": "pay", "txid": txid }))
            .unwrap();
        all.settle();
        let read = all.read(&second);
        assert_eq!(read["status"], PAID, "{asset} {has_index}: {read}");
        assert_eq!(read["reviews"][0]["kind"], "overpaid");
        assert_eq!(found_by_audit(&all.shop.service), Vec::<String>::new());
    }
}

#[test]
fn log_line_names_what_was_sent() {
    let mut all = MoneyOut::new("BTC", 1);
    let (_, gone) = (all.processing(0), all.processing(1));
    all.pays(0, 1);
    let lost = all.pays(1, 1);
    let mut lines = all.lines();
    all.memory.lock().unwrap().evict(|sent| sent.txid == lost);
    lines.extend(all.lines());
    all.mine(30, |_| true);
    lines.extend(all.lines());
    all.now = all.now.plus_ms(2 * DAY_MS);
    lines.extend(all.lines());
    for what in ["seen", "confirmed", "dropped"] {
        let begin = format!("refund {what}: chain=bitcoin txid=");
        assert!(
            lines.iter().any(|line| line.starts_with(&begin)),
            "{what}: {lines:?}"
        );
    }
    assert!(
        lines.iter().all(|line| line.starts_with("refund ")),
        "{lines:?}"
    );
    assert_eq!(all.state(&gone)[1], "needs_review");
}

/// Returns a refund in processing, half a day after its request. The first block that may contain its payment is not
/// known. With `blocks`, the node has only that many newest blocks.
fn undated(asset: &str, blocks: Option<u32>) -> (MoneyOut, String) {
    let mut all = MoneyOut::new(asset, 1);
    let id = all.processing(0);
    all.mine(1, |_| true);
    all.now = all.now.plus_ms(DAY_MS / 2);
    all.mine(20, |_| true);
    let height = all.memory.lock().unwrap().tip().block.height;
    all.node.pruned_below = blocks.map_or(0, |blocks| height - blocks);
    all.set(&id, |transfer| transfer.dispatch.watched_from = None);
    all.catch_up();
    (all, id)
}

#[test]
fn blocks_that_a_pruned_node_lacks_are_told_of() {
    for asset in ["BTC", "ETH"] {
        let (all, id) = undated(asset, None);
        assert_eq!(all.read(&id)["reviews"], json!([]), "{asset}");
        let (all, id) = undated(asset, Some(5));
        let read = all.read(&id);
        assert_eq!(
            read["reviews"][0]["kind"], "beyond_reach",
            "{asset}: {read}"
        );
        assert_eq!(read["onChain"]["state"], "needs_review");
        let (review, reason) = (&read["reviews"][0]["id"], "nothing came");
        let resolve = json!({ "action": "resolve", "review": review, "reason": reason });
        assert!(all.act(&id, &resolve).is_some());
        assert_eq!(all.state(&id)[1], "waiting");
    }
}

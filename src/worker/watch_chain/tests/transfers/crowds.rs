//! Tests of destinations to which strangers send many outputs.

use super::{KIND, RefundHistory, foreign_addresses};
use crate::domain::{SentBy, Units};
use crate::service::tests::{audit_findings, block_on, destination_output_count, unwrap_refusal};
use serde_json::json;

/// Number of outputs in one transaction of the crowd.
const OUTPUTS: u32 = 100;

impl RefundHistory {
    /// Sends this many outputs of an amount to a destination, a block for each 1 000.
    fn send_crowd(&mut self, to: usize, count: u32, units: u128) {
        let to = foreign_addresses(self.chain())[to].clone();
        self.watch.outputs_max = 200;
        for batch in 0..count / OUTPUTS {
            let spends = self.new_transaction_inputs();
            let pays = (0..OUTPUTS).map(|position| (position, to.clone(), Units(units)));
            self.send_transaction(spends, pays.collect());
            if batch % 10 == 9 {
                self.mine(1, |_| true);
                self.catch_up();
            }
        }
        self.catch_up();
    }
}

#[test]
fn undecided_payment_is_kept_among_ten_thousand_small_outputs() {
    for asset in ["BTC", "ETH"] {
        let mut all = RefundHistory::new(asset, 1);
        let (first, second) = (all.process_refund(0), all.process_refund(0));
        let dust = all.shop.units_for_sixty_euros() / 10_000;
        all.send_crowd(0, 5_000, dust);
        let exact = all.pay_refund_amount(0, 1);
        all.mine(1, |_| true);
        all.send_crowd(0, 5_000, dust);
        assert_eq!(destination_output_count(&all.shop.service), 21, "{asset}");
        for id in [&first, &second] {
            let read = all.refund_view(id);
            assert_eq!(read["proposals"][0]["txid"], exact, "{asset}: {read}");
            assert_eq!(read["onChain"]["state"], "needs_review");
        }
        all.apply_action(&second, &json!({ "action": "pay", "txid": exact })).unwrap();
        all.mine_until_final();
        assert_eq!(all.refund_state(&second)[0], "paid", "{asset}");
        assert_eq!(audit_findings(&all.shop.service), Vec::<String>::new());
    }
}

#[test]
fn no_signer_starts_where_more_exact_payments_came_than_are_kept() {
    let mut all = RefundHistory::new("BTC", 1);
    let id = all.approve_refund(0, super::cases::AMOUNT);
    let now = all.now;
    all.update_stored_refund(&id, move |transfer| {
        transfer.sent_by = Some(SentBy::Signer);
        transfer.signer_share = Some((now, transfer.amount));
    });
    let exact = all.shop.units_for_sixty_euros() / 10;
    all.send_crowd(0, 1_100, exact);
    assert_eq!(destination_output_count(&all.shop.service), 1_000);
    // The operator dismisses each payment that is listed, again and again.
    while all.apply_action(&id, &json!({ "action": "dismiss", "txid": "all" })).is_some() {}
    let read = all.refund_view(&id);
    let problem = read["onChain"]["problem"].as_str().unwrap();
    assert!(problem.contains("not all are kept"), "{problem}");
    let service = &all.shop.service;
    assert!(service.next_transfer_to_send(all.now).unwrap().is_none());
    let begun = block_on(service.begin_sending(all.now, KIND, &id));
    assert_eq!(unwrap_refusal(begun).code.to_string(), "invalid_transition");
    // It can still be sent by hand, and settles.
    all.apply_action(&id, &json!({ "action": "reassign", "sentBy": "hand" })).unwrap();
    all.apply_action(&id, &json!({ "action": "process" })).unwrap();
    let own = all.pay_refund_amount(0, 1);
    all.apply_action(&id, &json!({ "action": "pay", "txid": own })).unwrap();
    all.mine_until_final();
    let [status, _, txid] = all.refund_state(&id);
    assert_eq!([status, txid], [json!("paid"), json!(own)]);
    assert_eq!(audit_findings(&all.shop.service), Vec::<String>::new());
}

#[test]
fn payment_that_was_found_is_found_again_after_a_reorg() {
    for asset in ["BTC", "ETH", "TRX"] {
        let mut all = RefundHistory::new(asset, 1);
        let id = all.process_refund(0);
        let txid = all.pay_refund_amount(0, 1);
        all.mine(2, |_| true);
        all.catch_up();
        assert_eq!(all.refund_state(&id)[2], txid, "{asset}");
        all.memory.lock().unwrap().remove_blocks(2, |_| true);
        all.mine(5, |sent| sent.txid != txid);
        all.catch_up();
        all.mine(1, |_| true);
        all.catch_up();
        let [_, state, found] = all.refund_state(&id);
        assert_eq!([state, found], [json!("seen"), json!(txid)], "{asset}");
        all.mine_until_final();
        assert_eq!(all.refund_state(&id)[0], "paid", "{asset}");
    }
}

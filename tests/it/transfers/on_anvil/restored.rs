//! Payouts and refunds on hold after a restore. Transactions that were sent after the backup
//! are proposed to the operator. The server does not match them with a transfer.

use super::by_signer::open_with_scripted_signer;
use super::{ETH, EthMerchant, EthTransfer, FINAL, USDC};
use crate::support::anvil::address_word;
use crate::transfers::litecoin_restored::proposed_txids;
use serde_json::json;

const UNTESTED: &str = "payouts and refunds that a restore holds on ethereum";

/// Transfers that were at different steps when the file was copied, with the transactions sent after the copy.
struct CopiedEthTransfers {
    /// Transfer with two transactions. The second transaction has another amount.
    requested: (EthTransfer, [String; 2]),
    approved: (EthTransfer, String),
    processing: (EthTransfer, String),
    unsent: EthTransfer,
}

#[test]
fn held_transfer_lists_candidate_transactions_and_matches_none() {
    for merchant in [EthMerchant::open(UNTESTED), open_with_scripted_signer(UNTESTED)] {
        let Some(mut merchant) = merchant else { return };
        for payout in 0..3 {
            let copied = restore_old_copy(&mut merchant, payout);
            merchant.restart_and_sync();
            merchant.mine_and_sync(FINAL);
            assert_held_before_sending(&mut merchant, &copied);
            assert_held_while_processing(&mut merchant, &copied, payout);
            merchant.restart_and_sync();
            assert_signer_starts(&merchant, &copied);
            merchant.till.served.assert_audit_clean();
        }
    }
}

/// Copies the file when it has a transfer at each step, sends the transfers, and restores the copy.
#[track_caller]
fn restore_old_copy(merchant: &mut EthMerchant, payout: usize) -> CopiedEthTransfers {
    let kind = |place: usize| ["refunds", "payouts"][usize::from(place == payout)];
    let asset = |place: usize| [ETH, USDC][(place + payout) % 2];
    let unsent = merchant.new_transfer_with_running_signer("refunds", USDC);
    if merchant.sent_by == "signer" {
        merchant.write_signer_response(&unsent, r#"{"sent": false, "reason": "low funds"}"#);
        merchant.wait_for_review(&unsent, "the signer sent nothing: low funds");
    }
    // The signer is busy with this transfer when the next transfer is approved.
    let processing = merchant.new_transfer_with_running_signer(kind(2), asset(2));
    let approved = merchant.approved_transfer(kind(1), asset(1), merchant.sent_by);
    let to = merchant.new_destination();
    let requested = merchant.request_transfer(kind(0), asset(0), to);
    let copy = merchant.till.served.path(&format!("copy{payout}.db"));
    let copy = copy.to_str().unwrap();
    merchant.till.run_coffer(&["backup", copy]);
    merchant.approve(&requested, merchant.sent_by);
    let paid = [processing, approved, requested].map(|of| {
        if merchant.read_transfer(&of)["status"] == "approved" {
            merchant.start_processing(&of);
        }
        let txid = merchant.send_transfer_amount(&of);
        merchant.attach_txid(&of, &txid);
        (of, txid)
    });
    // A transfer without approval has no fixed amount, so any amount is proposed.
    let (requested, _) = &paid[2];
    let other = merchant.send_coin(requested.asset, &requested.to, 7_000);
    merchant.mine_and_sync(FINAL);
    for (of, txid) in &paid {
        merchant.assert_paid(of, txid);
    }
    let told = merchant.restore_copy(copy);
    for (of, txid) in &paid {
        let line = told.lines().find(|line| line.contains(&of.id)).unwrap();
        // The printed addresses have a checksum, so they contain upper and lower case.
        let line = line.to_lowercase();
        for named in [&of.to, txid, "is paid in the replaced file"] {
            assert!(line.contains(named), "{line}");
        }
    }
    assert!(!told.contains(&unsent.id), "{told}");
    let [processing, approved, (requested, first)] = paid;
    CopiedEthTransfers { requested: (requested, [first, other]), approved, processing, unsent }
}

/// Asserts that transfers that were requested or approved in the copy accept only `release`.
#[track_caller]
fn assert_held_before_sending(merchant: &mut EthMerchant, copied: &CopiedEthTransfers) {
    let (requested, sent) = &copied.requested;
    let (approved, txid) = &copied.approved;
    let now = merchant.wait_for_state(requested, "requested", "waiting", "");
    let mut found = proposed_txids(&now);
    found.sort_unstable();
    let mut expected = sent.each_ref().map(String::as_str);
    expected.sort_unstable();
    assert_eq!(found, expected);
    let exactly = "pays exactly the amount";
    let now = merchant.wait_for_state(approved, "approved", "needs_review", exactly);
    assert_eq!(proposed_txids(&now), [txid]);
    for of in [requested, approved] {
        for action in ["approve", "reassign", "process", "reject", "cancel", "fail", "pay"] {
            let held = merchant.apply_action(of, &json!({ "action": action }));
            assert_eq!(held.status, 409, "{action}: {}", held.text);
        }
        merchant.apply_action(of, &json!({ "action": "release" })).expect(200);
    }
    // At the market rate, the first transaction is worth about the amount. It may have sent the transfer, so the amount is
    // not put back before a person decides.
    let cancel = json!({ "action": "cancel", "reason": "another customer's" });
    let refused = merchant.apply_action(requested, &cancel);
    refused.assert_error(409, "invalid_transition", Some("action"));
    assert!(refused.text.contains(sent[0].as_str()), "{}", refused.text);
    let dismiss = json!({ "action": "dismiss", "txid": "all" });
    merchant.apply_action(requested, &dismiss).expect(200);
    merchant.apply_action(requested, &cancel).expect(200);
    if merchant.sent_by == "signer" {
        // A transaction paid the destination after the copy was taken. The signer does not start until the operator
        // decides.
        merchant.restart_and_sync();
        merchant.wait_for_state(approved, "approved", "needs_review", exactly);
        assert_signer_starts(merchant, copied);
        let by_hand = json!({ "action": "reassign", "sentBy": "hand" });
        merchant.apply_action(approved, &by_hand).expect(200);
    }
    let process = json!({ "action": "process" });
    merchant.apply_action(approved, &process).expect(200);
    merchant.enter_txid(approved, txid);
}

/// Asserts that transfers that were processing in the copy accept only `pay`, and `fail` with `force`.
#[track_caller]
fn assert_held_while_processing(
    merchant: &mut EthMerchant,
    copied: &CopiedEthTransfers,
    payout: usize,
) {
    let (processing, txid) = &copied.processing;
    let held = "on hold since a restore";
    let now = merchant.wait_for_review(processing, held);
    assert_eq!(proposed_txids(&now), [txid]);
    merchant.wait_for_review(&copied.unsent, held);
    for of in [processing, &copied.unsent] {
        let released = merchant.apply_action(of, &json!({ "action": "release" }));
        released.assert_error(409, "invalid_transition", Some("action"));
        let failed = merchant.apply_action(of, &json!({ "action": "fail" }));
        failed.assert_error(409, "invalid_transition", Some("force"));
    }
    fail_unsent_transfer(merchant, &copied.unsent, payout);
    merchant.enter_txid(processing, txid);
    merchant.restart_and_sync();
    merchant.assert_paid(processing, txid);
    let (approved, txid) = &copied.approved;
    merchant.assert_paid(approved, txid);
}

/// Fails a transfer that was never sent. For the first copy, enters the id of a reverted transaction, so that `force`
/// is not needed. For later copies, uses `force`.
#[track_caller]
fn fail_unsent_transfer(merchant: &mut EthMerchant, of: &EthTransfer, payout: usize) {
    let forced = json!({ "action": "fail", "force": true });
    if payout > 0 {
        merchant.apply_action(of, &forced).expect(200);
        return;
    }
    let words = [address_word(&of.to), format!("{:064x}", of.units)];
    let token = &merchant.token;
    let reverted = merchant.node.call_contract(token, "fail(address,uint256)", &words, 0);
    merchant.enter_txid(of, reverted.as_str().unwrap());
    merchant.mine_and_sync(FINAL);
    merchant.wait_for_review(of, "");
    merchant.apply_action(of, &json!({ "action": "fail" })).expect(200);
}

/// Asserts that the signer was started once for each transfer that it sends, and never for another transfer.
#[track_caller]
fn assert_signer_starts(merchant: &EthMerchant, copied: &CopiedEthTransfers) {
    let starts = usize::from(merchant.sent_by == "signer");
    let ((approved, _), (processing, _)) = (&copied.approved, &copied.processing);
    for of in [&copied.requested.0, approved, processing, &copied.unsent] {
        assert_eq!(merchant.signer_start_count_for(of), starts, "{}", of.path);
    }
}

impl EthMerchant {
    /// Restores a copy of the file, starts the server, and returns the output of the command.
    #[track_caller]
    pub(super) fn restore_copy(&mut self, copy: &str) -> String {
        self.running.take().unwrap().process.kill();
        let told = self.till.run_coffer(&["restore", copy, "--force"]);
        self.running = Some(self.till.start());
        told
    }
}

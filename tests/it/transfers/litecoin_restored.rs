//! Payouts and refunds on hold after a restore, on a real litecoind. Transactions sent since the copy are proposed,
//! but not matched.

use super::litecoin_shop::{CONFIRMATIONS, LitecoinMerchant, LitecoinTransfer, SentBy, start_node};
use crate::support::payer::SignedTransaction;
use serde_json::{Value, json};

/// Transfers that were at different steps when the file was copied, with the transactions sent after the copy.
struct CopiedLitecoinTransfers {
    requested: (LitecoinTransfer, [SignedTransaction; 2]),
    approved: (LitecoinTransfer, SignedTransaction),
    processing: (LitecoinTransfer, SignedTransaction),
    unsent: LitecoinTransfer,
}

/// Returns the ids of the transactions proposed for a transfer, newest first.
#[track_caller]
pub fn proposed_txids(now: &Value) -> Vec<&str> {
    let proposals = now["proposals"].as_array().unwrap().iter();
    proposals.map(|one| one["txid"].as_str().unwrap()).collect()
}

/// Copies the file when it has a transfer at each step, sends the transfers, and restores the copy.
#[track_caller]
fn restore_old_copy(
    merchant: &mut LitecoinMerchant<'_>,
    by: SentBy,
    payout: usize,
) -> CopiedLitecoinTransfers {
    let kind = |place: usize| {
        if place == payout { "payouts" } else { "refunds" }
    };
    let unsent = merchant.processing_transfer("refunds", by, None);
    if by == SentBy::Signer {
        merchant.write_signer_response(&unsent, r#"{"sent": false, "reason": "low funds"}"#);
        merchant.wait_for_review(&unsent, "processing", "the signer sent nothing: low funds");
    }
    // The signer is busy with this transfer when the next transfer is approved.
    let processing = merchant.processing_transfer(kind(2), by, None);
    let approved = merchant.request_transfer(kind(1), by, None, None);
    merchant.approve(&approved);
    let requested = merchant.request_transfer(kind(0), by, None, None);
    let copy = merchant.till.served.path(&format!("copy{by:?}{payout}.db"));
    let copy = copy.to_str().unwrap();
    merchant.till.run_coffer(&["backup", copy]);
    merchant.approve(&requested);
    let paid = [&processing, &approved, &requested].map(|of| {
        if of.id != processing.id {
            merchant.start_processing(of);
        }
        let made = merchant.payer.pay(&[(&of.to, of.units)]);
        merchant.enter_txid(of, &made.txid);
        (of.clone(), made)
    });
    // A transfer without approval has no fixed amount, so any amount is proposed.
    let other = merchant.payer.pay(&[(&requested.to, 7_000)]);
    merchant.mine_and_sync(CONFIRMATIONS);
    for (of, made) in &paid {
        merchant.assert_paid(of, &made.txid);
    }
    let told = merchant.restore_copy(copy);
    for (of, made) in &paid {
        let mut lines = told.lines().filter(|line| line.contains(&of.id));
        let line = lines.next().unwrap();
        let named = line.contains(&of.to) && line.contains(&made.txid);
        assert!(named && line.contains("is paid in the replaced file"), "{line}");
    }
    assert!(!told.contains(&unsent.id), "{told}");
    let [processing, approved, (requested, first)] = paid;
    CopiedLitecoinTransfers { requested: (requested, [first, other]), approved, processing, unsent }
}

#[test]
fn held_transfer_lists_candidate_transactions_and_matches_none() {
    let Some(node) = start_node(&[]) else { return };
    let mut merchant = LitecoinMerchant::open(&node);
    for by in [SentBy::Hand, SentBy::Signer] {
        for payout in 0..3 {
            let copied = restore_old_copy(&mut merchant, by, payout);
            merchant.restart_and_sync();
            merchant.mine_and_sync(CONFIRMATIONS);
            assert_held_before_sending(&mut merchant, &copied);
            assert_held_while_processing(&mut merchant, &copied);
            merchant.restart_and_sync();
            assert_signer_starts(&merchant, &copied);
            merchant.till.served.assert_audit_clean();
        }
    }
}

/// Asserts that the signer was started once for each transfer that it sends, and never for another transfer.
#[track_caller]
fn assert_signer_starts(merchant: &LitecoinMerchant<'_>, copied: &CopiedLitecoinTransfers) {
    let ((approved, _), (processing, _)) = (&copied.approved, &copied.processing);
    for of in [&copied.requested.0, approved, processing, &copied.unsent] {
        let starts = usize::from(of.by == SentBy::Signer);
        assert_eq!(merchant.signer_start_count(of), starts, "{of:?}");
    }
}

/// Asserts that transfers that were requested or approved in the copy accept only `release`.
#[track_caller]
fn assert_held_before_sending(
    merchant: &mut LitecoinMerchant<'_>,
    copied: &CopiedLitecoinTransfers,
) {
    let (requested, [first, other]) = &copied.requested;
    let (approved, made) = &copied.approved;
    let now = merchant.wait_for_state(requested, ["requested", "waiting"]);
    let mut found = proposed_txids(&now);
    found.sort_unstable();
    let mut expected = [first.txid.as_str(), other.txid.as_str()];
    expected.sort_unstable();
    assert_eq!(found, expected);
    let now = merchant.wait_for_review(approved, "approved", "pays exactly the amount");
    assert_eq!(proposed_txids(&now), [made.txid.as_str()]);
    for of in [requested, approved] {
        for action in ["approve", "reassign", "process", "reject", "cancel", "fail", "pay"] {
            let body = json!({ "action": action });
            let held = merchant.apply_action(of, &body);
            assert_eq!(held.status, 409, "{action}: {}", held.text);
        }
        merchant.apply_action(of, &json!({ "action": "release" })).expect(200);
    }
    // It cannot be cancelled before the operator has looked at the transactions that may have sent it.
    merchant.wait_for_review(requested, "requested", "it may have been sent after the copy");
    let cancel = json!({ "action": "cancel", "reason": "another customer's" });
    let cancelled = merchant.apply_action(requested, &cancel);
    cancelled.assert_error(409, "invalid_transition", Some("action"));
    let dismissed = json!({ "action": "dismiss", "txid": "all" });
    merchant.apply_action(requested, &dismissed).expect(200);
    merchant.apply_action(requested, &cancel).expect(200);
    if approved.by == SentBy::Signer {
        // A transaction paid the destination after the copy was taken. The signer does not start until the operator
        // decides.
        merchant.restart_and_sync();
        merchant.wait_for_review(approved, "approved", "pays exactly the amount");
        assert_signer_starts(merchant, copied);
        let by_hand = json!({ "action": "reassign", "sentBy": "hand" });
        merchant.apply_action(approved, &by_hand).expect(200);
    }
    let process = json!({ "action": "process" });
    merchant.apply_action(approved, &process).expect(200);
    merchant.apply_pay_action(approved, &made.txid).expect(200);
}

/// Asserts that transfers that were processing in the copy accept only `pay`, and `fail` with `force`.
#[track_caller]
fn assert_held_while_processing(
    merchant: &mut LitecoinMerchant<'_>,
    copied: &CopiedLitecoinTransfers,
) {
    let (processing, made) = &copied.processing;
    let held = "on hold since a restore";
    let now = merchant.wait_for_review(processing, "processing", held);
    assert_eq!(proposed_txids(&now), [made.txid.as_str()]);
    merchant.wait_for_review(&copied.unsent, "processing", held);
    for of in [processing, &copied.unsent] {
        let released = merchant.apply_action(of, &json!({ "action": "release" }));
        released.assert_error(409, "invalid_transition", Some("action"));
        let failed = merchant.apply_action(of, &json!({ "action": "fail" }));
        failed.assert_error(409, "invalid_transition", Some("force"));
    }
    let forced = json!({ "action": "fail", "force": true });
    merchant.apply_action(&copied.unsent, &forced).expect(200);
    merchant.apply_pay_action(processing, &made.txid).expect(200);
    merchant.restart_and_sync();
    merchant.assert_paid(processing, &made.txid);
    let (approved, made) = &copied.approved;
    merchant.assert_paid(approved, &made.txid);
}

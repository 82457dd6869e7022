//! Tests of the assessment of transfers.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::{
    OnChainState, Transfer, TransferFacts, TransferStatus, TransferVerdict, UNSEEN_MS_MAX,
    assess_transfer,
};
use crate::domain::asset::{Asset, Mode};
use crate::domain::money::coin::{Rate, Units};
use crate::domain::money::{Cents, Currency};
use crate::domain::payment::PaymentState;
use crate::domain::time::{DAY_MS, MINUTE_MS, Time};
use crate::domain::transfer::on_chain::{
    AttachedState, AttachedTransaction, ReviewKind, SentOutput, TransferReview,
};
use crate::domain::transfer::terms::TransferTerms;
use crate::domain::transfer::{SendingProgress, SendingState, SettledBy, TransferKind, TxidSource};

/// Time at which the transfer became `processing` and its transaction was attached.
const THEN: Time = Time(DAY_MS);
/// Amount of the transfer: 0.5 LTC.
const AMOUNT: u128 = 50_000_000;

/// Returns a refund in status `processing` of this amount in LTC. A person entered its transaction id.
pub fn refund(seq: i64, amount: u128) -> Transfer {
    Transfer {
        seq,
        id: format!("r{seq}"),
        kind: TransferKind::Refund,
        account: 1,
        account_id: "a".to_owned(),
        mode: Mode::Live,
        invoice: Some((1, "i".to_owned())),
        status: TransferStatus::Processing,
        currency: Currency::Eur,
        amount: Cents(4_000),
        asset: Asset::find("LTC").unwrap(),
        to_address: "x".to_owned(),
        terms: Some(TransferTerms {
            rate: "80".parse::<Rate>().unwrap(),
            network_fee: Units::ZERO,
            amount_crypto: Units(amount),
        }),
        fee_source: None,
        sent_by: None,
        signer_at: None,
        txid: Some("t".to_owned()),
        reason: None,
        failure_reason: None,
        sending: None,
        sending_progress: SendingProgress {
            txid_from: Some(TxidSource::Person),
            attached_at: Some(THEN),
            handed_over_at: Some(THEN),
            ..SendingProgress::default()
        },
        requested_at: Time(0),
        approved_at: Some(Time(1)),
        finalized_at: None,
    }
}

/// Returns a confirmed output to the address `x` in LTC.
pub fn output(observation: i64, amount: u128, transfer: Option<i64>) -> SentOutput {
    SentOutput {
        observation,
        transfer,
        address: "x".to_owned(),
        asset: Asset::find("LTC").unwrap(),
        amount: Units(amount),
        state: PaymentState::Confirmed,
        height: Some(7),
    }
}

fn transaction(state: AttachedState) -> AttachedTransaction {
    let seen_at = (state != AttachedState::Unseen).then_some(THEN);
    AttachedTransaction {
        seq: 1,
        txid: "t".to_owned(),
        state,
        block_height: (state == AttachedState::Mined).then_some(7),
        spends: Vec::new(),
        nonce: None,
        is_reverted: false,
        first_seen_at: seen_at,
        last_seen_at: seen_at,
        gone_by: None,
        gone_height: None,
        is_read_back: false,
        problem: None,
    }
}

/// Facts about a watched chain that has reported nothing.
const NOTHING: TransferFacts<'static> = TransferFacts {
    is_watched: true,
    transaction: None,
    outputs: &[],
    reviews: &[],
    scanned_to: THEN,
    now: THEN,
};

/// Assesses a transfer this many milliseconds after [`THEN`].
fn assess(
    of: &Transfer,
    transaction: Option<&AttachedTransaction>,
    outputs: &[SentOutput],
    ms: i64,
) -> TransferVerdict {
    let facts = TransferFacts {
        is_watched: true,
        transaction,
        outputs,
        reviews: &[],
        scanned_to: THEN.plus_ms(ms),
        now: THEN.plus_ms(ms),
    };
    assess_transfer(of, &facts)
}

#[track_caller]
fn assert_review(verdict: &TransferVerdict, problem: &str) {
    assert_eq!(verdict.state, OnChainState::NeedsReview, "{verdict:?}");
    let found = verdict.problem.as_deref().unwrap();
    assert!(found.contains(problem), "{found}");
    assert!(!verdict.is_covered, "{verdict:?}");
}

#[test]
fn exact_amount_is_seen_until_confirmed_then_covered() {
    let (of, mut paid) = (refund(1, AMOUNT), output(1, AMOUNT, Some(1)));
    paid.state = PaymentState::Seen;
    let mempool = transaction(AttachedState::Mempool);
    let seen = assess(&of, Some(&mempool), std::slice::from_ref(&paid), 0);
    assert_eq!(seen.state, OnChainState::Seen);
    assert!(!seen.is_covered && !seen.is_overpaid);
    assert!(seen.problem.unwrap().starts_with("in the mempool since "));
    // A transaction that stays in the mempool for a long time counts as seen, not as lost.
    let outputs = std::slice::from_ref(&paid);
    let late = assess(&of, Some(&mempool), outputs, 30 * DAY_MS);
    assert_eq!(late.state, OnChainState::Seen);
    let mined = transaction(AttachedState::Mined);
    let seen = assess(&of, Some(&mined), &[paid.clone()], 0);
    assert_eq!(seen.problem, None);
    assert!(!seen.is_covered);
    paid.state = PaymentState::Confirmed;
    let covered = assess(&of, Some(&mined), &[paid], 0);
    assert!(covered.is_covered && !covered.is_overpaid);
    assert_eq!(covered.amount_seen, Units(AMOUNT));
}

#[test]
fn several_outputs_together_cover_the_amount() {
    let of = refund(1, AMOUNT);
    let halves = [1, 2].map(|one| output(one, AMOUNT / 2, Some(1)));
    let mined = transaction(AttachedState::Mined);
    assert!(assess(&of, Some(&mined), &halves, 0).is_covered);
    let [first, mut second] = halves;
    second.transfer = Some(2);
    let short = assess(&of, Some(&mined), &[first.clone(), second.clone()], 0);
    assert_review(&short, "transaction t pays 0.25 of 0.5 LTC");
    second.transfer = Some(1);
    second.state = PaymentState::Dropped;
    let dropped = assess(&of, Some(&mined), &[first, second], 0);
    assert_review(&dropped, "pays 0.25 of 0.5 LTC");
}

#[test]
fn more_than_a_percent_too_much_is_overpaid() {
    let of = refund(1, AMOUNT);
    let mined = transaction(AttachedState::Mined);
    for (more, is_overpaid) in [(0, false), (AMOUNT / 100, false), (AMOUNT / 100 + 1, true)] {
        let verdict = assess(&of, Some(&mined), &[output(1, AMOUNT + more, Some(1))], 0);
        assert!(verdict.is_covered);
        assert_eq!(verdict.is_overpaid, is_overpaid, "{more}");
    }
    let mut seen = output(1, 2 * AMOUNT, Some(1));
    seen.state = PaymentState::Seen;
    assert!(!assess(&of, Some(&mined), &[seen], 0).is_overpaid);
}

#[test]
fn short_or_misdirected_transaction_needs_review() {
    let of = refund(1, AMOUNT);
    for state in [AttachedState::Mempool, AttachedState::Mined] {
        let known = transaction(state);
        let judged = |output: SentOutput| assess(&of, Some(&known), &[output], 0);
        let short = judged(output(1, AMOUNT - 1, Some(1)));
        assert_review(&short, "transaction t pays 0.49999999 of 0.5 LTC");
        let mut other = output(1, AMOUNT, None);
        other.asset = Asset::find("DOGE").unwrap();
        assert_review(&judged(other), "transaction t pays DOGE, not LTC");
        let mut other = output(1, AMOUNT, None);
        other.address = "y".to_owned();
        assert_review(&judged(other), "transaction t pays another address");
        assert_review(&assess(&of, Some(&known), &[], 0), "transaction t pays another address");
        let taken = judged(output(1, AMOUNT, Some(2)));
        assert_review(&taken, "pays this destination for other transfers only");
    }
}

#[test]
fn pending_transaction_with_a_nonce_counts_as_seen() {
    let mut known = transaction(AttachedState::Mempool);
    known.nonce = Some(7);
    let verdict = assess(&refund(1, AMOUNT), Some(&known), &[], 0);
    assert_eq!(verdict.state, OnChainState::Seen);
    assert!(verdict.problem.unwrap().starts_with("in the mempool since "));
    known.state = AttachedState::Mined;
    let verdict = assess(&refund(1, AMOUNT), Some(&known), &[], 0);
    assert_review(&verdict, "transaction t pays another address");
}

#[test]
fn reverted_transaction_is_reviewed() {
    let mut reverted = transaction(AttachedState::Mined);
    reverted.is_reverted = true;
    let verdict = assess(&refund(1, AMOUNT), Some(&reverted), &[], 0);
    assert_review(&verdict, "transaction t reverted and moved nothing");
}

#[test]
fn unseen_transaction_is_reviewed_after_six_hours_of_blocks() {
    let of = refund(1, AMOUNT);
    for (state, problem) in [
        (AttachedState::Unseen, "transaction t was not seen for 6 hours"),
        (AttachedState::Absent, "transaction t was in the mempool and is gone"),
    ] {
        let known = transaction(state);
        let at = |ms| assess(&of, Some(&known), &[], ms);
        for early in [-DAY_MS, 0, UNSEEN_MS_MAX - 1] {
            assert_eq!(at(early).state, OnChainState::Waiting, "{state} {early}");
        }
        assert_review(&at(UNSEEN_MS_MAX), problem);
        // After a correction of the transaction id, the waiting time starts again.
        let mut corrected = of.clone();
        corrected.sending_progress.attached_at = Some(THEN.plus_ms(MINUTE_MS));
        let verdict = assess(&corrected, Some(&known), &[], UNSEEN_MS_MAX);
        assert_eq!(verdict.state, OnChainState::Waiting);
    }
    let mut gone = transaction(AttachedState::Absent);
    gone.gone_by = Some("u".to_owned());
    let verdict = assess(&of, Some(&gone), &[], 0);
    assert_review(&verdict, "cannot be confirmed any more: u took its place");
}

#[test]
fn processing_transfer_without_a_txid_is_reviewed_after_a_day() {
    let mut of = refund(1, AMOUNT);
    of.detach_txid();
    assert_eq!(assess(&of, None, &[], DAY_MS - 1).state, OnChainState::Waiting);
    let late = assess(&of, None, &[], DAY_MS);
    assert_review(&late, "no transaction was entered or found for 24 hours");
    of.sending_progress.handed_over_at = Some(THEN.plus_ms(MINUTE_MS));
    assert_eq!(assess(&of, None, &[], DAY_MS).state, OnChainState::Waiting);
}

#[test]
fn transfer_with_unknown_signer_outcome_is_reviewed() {
    let mut of = refund(1, AMOUNT);
    of.detach_txid();
    of.sending_progress.sending_reason = Some("low funds".to_owned());
    let judged = |sending, ms| {
        let mut of = of.clone();
        of.sending = Some(sending);
        of.sending_progress.retry = Some((THEN, THEN.plus_ms(10 * MINUTE_MS)));
        assess(&of, None, &[], ms)
    };
    let running = judged(SendingState::Running, 2 * DAY_MS).state;
    assert_eq!(running, OnChainState::Waiting);
    for (sending, problem) in [
        (SendingState::Unknown, "nobody knows whether"),
        (SendingState::Declined, "the signer sent nothing: low funds"),
        (SendingState::Restored, "on hold since a restore"),
    ] {
        assert_review(&judged(sending, 0), problem);
    }
    let retry = judged(SendingState::Retry, DAY_MS - 1);
    assert_eq!(retry.state, OnChainState::Waiting);
    assert!(retry.problem.unwrap().ends_with(": low funds"));
    assert_review(&judged(SendingState::Retry, DAY_MS), "tries again every 10 minutes: low funds");
    // The wall clock counts here, not the chain's scan time: the signer may be waiting for the node.
    of.sending = Some(SendingState::Retry);
    of.sending_progress.retry = Some((THEN, THEN.plus_ms(10 * MINUTE_MS)));
    let facts = TransferFacts { now: THEN.plus_ms(DAY_MS), ..NOTHING };
    let retry = assess_transfer(&of, &facts);
    assert_review(&retry, "tries again every 10 minutes");
}

#[test]
fn open_review_takes_precedence_over_the_status() {
    let review = TransferReview {
        seq: 1,
        id: "v".to_owned(),
        kind: ReviewKind::Gone,
        problem: "transaction t is not confirmed any more, after it was paid".to_owned(),
        opened_at: THEN,
        ended_at: None,
        reason: None,
    };
    let mut of = refund(1, AMOUNT);
    of.status = TransferStatus::Paid;
    of.sending_progress.settled_by = Some(SettledBy::Chain);
    let mut dropped = output(1, AMOUNT, Some(1));
    dropped.state = PaymentState::Dropped;
    let absent = transaction(AttachedState::Absent);
    let facts = TransferFacts {
        is_watched: true,
        transaction: Some(&absent),
        outputs: &[dropped],
        reviews: std::slice::from_ref(&review),
        scanned_to: THEN,
        now: THEN,
    };
    assert_review(&assess_transfer(&of, &facts), &review.problem);
}

#[test]
fn state_of_paid_transfer_depends_on_who_settled_it() {
    let judged = |by, is_watched| {
        let mut of = refund(1, AMOUNT);
        of.status = TransferStatus::Paid;
        of.sending_progress.settled_by = Some(by);
        of.sending_progress.settled_reason = (by == SettledBy::Person).then(|| "inside".to_owned());
        let facts = TransferFacts { is_watched, ..NOTHING };
        let verdict = assess_transfer(&of, &facts);
        (verdict.state, verdict.problem)
    };
    let unchecked = Some("not checked on a chain".to_owned());
    for (by, is_watched, state, problem) in [
        (SettledBy::Chain, true, OnChainState::Settled, None),
        (SettledBy::Chain, false, OnChainState::Unwatched, None),
        (SettledBy::Unchecked, true, OnChainState::Unwatched, unchecked),
        (SettledBy::Person, false, OnChainState::Settled, Some("inside".to_owned())),
    ] {
        assert_eq!(judged(by, is_watched), (state, problem), "{by}");
    }
}

#[test]
fn transfer_without_terms_or_node_is_never_covered() {
    let mut of = refund(1, AMOUNT);
    of.terms = None;
    let mined = transaction(AttachedState::Mined);
    assert!(!assess(&of, Some(&mined), &[output(1, AMOUNT, Some(1))], 0).is_covered);
    for (status, state) in [
        (TransferStatus::Requested, OnChainState::Waiting),
        (TransferStatus::Approved, OnChainState::Waiting),
        (TransferStatus::Rejected, OnChainState::Settled),
        (TransferStatus::Failed, OnChainState::Settled),
        (TransferStatus::Cancelled, OnChainState::Settled),
    ] {
        of.status = status;
        for (is_watched, state) in [(true, state), (false, OnChainState::Unwatched)] {
            let facts = TransferFacts { is_watched, ..NOTHING };
            assert_eq!(assess_transfer(&of, &facts).state, state, "{status}");
        }
    }
}

//! Tests of the assessment of transfers.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use super::{
    OnChainState, SendingHold, TransferSituation, TransferStatus, TransferVerdict, UNSEEN_MS_MAX,
    assess_transfer,
};
use crate::domain::asset::{Asset, Mode};
use crate::domain::money::coin::{Rate, Units};
use crate::domain::money::{Cents, Currency};
use crate::domain::payment::PaymentState;
use crate::domain::time::{DAY_MS, MINUTE_MS, Time};
use crate::domain::transfer::act::{TransferAct, TransferActKind};
use crate::domain::transfer::destination::assess_destination;
use crate::domain::transfer::destination::facts::{
    DestinationFacts, DestinationOutput, DestinationTransfer,
};
use crate::domain::transfer::on_chain::{AttachedState, AttachedTransaction};
use crate::domain::transfer::terms::TransferTerms;
use crate::domain::transfer::{
    SendingProgress, SendingState, SettledBy, Transfer, TransferKind, TxidSource,
};

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
        destination: 0,
        terms: Some(TransferTerms {
            rate: "80".parse::<Rate>().unwrap(),
            network_fee: Units::ZERO,
            amount_crypto: Units(amount),
        }),
        terms_source: None,
        sent_by: None,
        signer_share: None,
        txid: Some("t".to_owned()),
        reason: None,
        failure_reason: None,
        sending: None,
        sending_progress: SendingProgress {
            txid_from: Some(TxidSource::Person),
            handed_over_at: Some(THEN),
            ..SendingProgress::default()
        },
        has_exact_proposal: false,
        released_at: None,
        is_frozen: false,
        requested_at: Time(0),
        requested_height: None,
        approved_at: Some(Time(1)),
        finalized_at: None,
    }
}

/// Returns a confirmed output of the transaction `t` in LTC.
fn output(position: u32, amount: u128) -> DestinationOutput {
    DestinationOutput {
        observation: i64::from(position),
        txid: "t".to_owned(),
        position,
        asset: Asset::find("LTC").unwrap(),
        amount: Units(amount),
        state: PaymentState::Confirmed,
        height: Some(7),
        has_vanished: false,
        seen_at: THEN,
        spends: Vec::new(),
        settled: None,
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

/// What is known besides the transfer, the transaction and its outputs.
#[derive(Clone, Copy)]
struct Known<'a> {
    is_watched: bool,
    review: Option<&'a str>,
    hold: Option<&'a SendingHold>,
    scanned_to: Time,
    now: Time,
}

const KNOWN: Known<'static> =
    Known { is_watched: true, review: None, hold: None, scanned_to: THEN, now: THEN };

/// Returns the facts about transfers, each with its transaction entered by a person.
fn facts_about(
    transfers: &[&Transfer],
    transaction: Option<&AttachedTransaction>,
    outputs: &[DestinationOutput],
    entered_at: Time,
) -> DestinationFacts {
    let transfers = transfers.iter().map(|of| {
        let entered = of.txid.clone().map(|txid| TransferAct {
            kind: TransferActKind::Entered,
            txid,
            source: TxidSource::Person,
            at: entered_at,
        });
        let acts = entered.into_iter().collect();
        DestinationTransfer { transfer: (*of).clone(), acts, reviews: Vec::new() }
    });
    DestinationFacts {
        transfers: transfers.collect(),
        outputs: outputs.to_vec(),
        transactions: transaction.into_iter().cloned().collect(),
        final_height: 0,
        now: THEN,
    }
}

fn verdict(facts: &DestinationFacts, at: usize, known: Known<'_>) -> TransferVerdict {
    let outcome = assess_destination(facts);
    assess_transfer(&TransferSituation {
        one: &facts.transfers[at],
        outcome: &outcome.transfers[at],
        facts,
        review: known.review,
        hold: known.hold,
        is_watched: known.is_watched,
        scanned_to: known.scanned_to,
        now: known.now,
    })
}

/// Assesses a transfer this many milliseconds after [`THEN`].
fn assess(
    of: &Transfer,
    transaction: Option<&AttachedTransaction>,
    outputs: &[DestinationOutput],
    ms: i64,
) -> TransferVerdict {
    let at = THEN.plus_ms(ms);
    let facts = facts_about(&[of], transaction, outputs, THEN);
    verdict(&facts, 0, Known { scanned_to: at, now: at, ..KNOWN })
}

#[track_caller]
fn assert_review(verdict: &TransferVerdict, problem: &str) {
    assert_eq!(verdict.state, OnChainState::NeedsReview, "{verdict:?}");
    let found = verdict.problem.as_deref().unwrap();
    assert!(found.contains(problem), "{found}");
}

#[test]
fn exact_amount_is_seen() {
    let (of, mut paid) = (refund(1, AMOUNT), output(1, AMOUNT));
    (paid.state, paid.height) = (PaymentState::Seen, None);
    let outputs = std::slice::from_ref(&paid);
    let mempool = transaction(AttachedState::Mempool);
    let seen = assess(&of, Some(&mempool), outputs, 0);
    assert_eq!((seen.state, seen.amount_seen), (OnChainState::Seen, Units(AMOUNT)));
    assert!(seen.problem.unwrap().starts_with("in the mempool since "));
    // A transaction that stays in the mempool for a long time counts as seen, not as lost.
    let late = assess(&of, Some(&mempool), outputs, 30 * DAY_MS);
    assert_eq!(late.state, OnChainState::Seen);
    let mined = transaction(AttachedState::Mined);
    let seen = assess(&of, Some(&mined), outputs, 0);
    assert_eq!((seen.state, seen.problem), (OnChainState::Seen, None));
    // While no node has the transaction, nothing is seen.
    let absent = transaction(AttachedState::Absent);
    assert_eq!(assess(&of, Some(&absent), outputs, 0).amount_seen, Units::ZERO);
}

#[test]
fn short_or_misdirected_transaction_needs_review() {
    let of = refund(1, AMOUNT);
    for state in [AttachedState::Mempool, AttachedState::Mined] {
        let known = transaction(state);
        let judged = |outputs: &[DestinationOutput]| assess(&of, Some(&known), outputs, 0);
        let short = judged(&[output(1, AMOUNT - 1)]);
        assert_review(&short, "transaction t pays 0.49999999 of 0.5 LTC");
        let mut dropped = output(2, AMOUNT / 2);
        dropped.state = PaymentState::Dropped;
        let half = judged(&[output(1, AMOUNT / 2), dropped]);
        assert_review(&half, "transaction t pays 0.25 of 0.5 LTC");
        let mut other = output(1, AMOUNT);
        other.asset = Asset::find("DOGE").unwrap();
        assert_review(&judged(&[other]), "transaction t pays DOGE, not LTC");
        assert_review(&judged(&[]), "transaction t pays another address");
        let older = refund(0, AMOUNT);
        let facts = facts_about(&[&older, &of], Some(&known), &[output(1, AMOUNT)], THEN);
        let taken = verdict(&facts, 1, KNOWN);
        assert_review(&taken, "pays this destination for other transfers only");
    }
}

#[test]
fn pending_transaction_with_a_nonce_counts_as_seen() {
    let mut known = transaction(AttachedState::Mempool);
    known.nonce = Some(7);
    let seen = assess(&refund(1, AMOUNT), Some(&known), &[], 0);
    assert_eq!(seen.state, OnChainState::Seen);
    assert!(seen.problem.unwrap().starts_with("in the mempool since "));
    known.state = AttachedState::Mined;
    let mined = assess(&refund(1, AMOUNT), Some(&known), &[], 0);
    assert_review(&mined, "transaction t pays another address");
}

#[test]
fn reverted_transaction_is_reviewed() {
    let mut reverted = transaction(AttachedState::Mined);
    reverted.is_reverted = true;
    let verdict = assess(&refund(1, AMOUNT), Some(&reverted), &[], 0);
    assert_review(&verdict, "transaction t reverted and moved nothing");
}

#[test]
fn transaction_from_before_the_request_is_reviewed() {
    let mut of = refund(1, AMOUNT);
    of.requested_height = Some(7);
    let mined = transaction(AttachedState::Mined);
    let verdict = assess(&of, Some(&mined), &[output(1, AMOUNT)], 0);
    assert_review(&verdict, "transaction t was in block 7 before this refund was requested");
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
        let corrected = facts_about(&[&of], Some(&known), &[], THEN.plus_ms(MINUTE_MS));
        let at = THEN.plus_ms(UNSEEN_MS_MAX);
        let waiting = verdict(&corrected, 0, Known { scanned_to: at, now: at, ..KNOWN });
        assert_eq!(waiting.state, OnChainState::Waiting);
    }
}

#[test]
fn replaced_transaction_is_reviewed() {
    let of = refund(1, AMOUNT);
    let mut gone = transaction(AttachedState::Absent);
    gone.gone_by = Some("u".to_owned());
    let lost = assess(&of, Some(&gone), &[], 0);
    assert_review(&lost, "cannot be confirmed any more: u took its place");
    let mut half = output(1, AMOUNT / 2);
    half.txid = "u".to_owned();
    let short = assess(&of, Some(&gone), &[half], 0);
    assert_review(&short, "u took its place and pays 0.25 of 0.5");
}

#[test]
fn processing_transfer_without_a_txid_is_reviewed_after_a_day() {
    let mut of = refund(1, AMOUNT);
    of.set_transaction(None);
    assert_eq!(assess(&of, None, &[], DAY_MS - 1).state, OnChainState::Waiting);
    let late = assess(&of, None, &[], DAY_MS);
    assert_review(&late, "no transaction was entered or found for 24 hours");
    of.sending_progress.handed_over_at = Some(THEN.plus_ms(MINUTE_MS));
    assert_eq!(assess(&of, None, &[], DAY_MS).state, OnChainState::Waiting);
}

#[test]
fn undecided_payment_of_the_amount_is_reviewed() {
    for status in [TransferStatus::Approved, TransferStatus::Processing] {
        let mut of = refund(1, AMOUNT);
        (of.status, of.sending) = (status, None);
        of.set_transaction(None);
        let mut other = of.clone();
        other.seq = 2;
        let facts = facts_about(&[&of, &other], None, &[output(1, AMOUNT)], THEN);
        let outcome = assess_destination(&facts);
        assert!(outcome.transfers.iter().all(|outcome| outcome.has_exact_proposal));
        let hold = SendingHold::Decision("it may have been sent".to_owned());
        for at in [0, 1] {
            let held = verdict(&facts, at, Known { hold: Some(&hold), ..KNOWN });
            assert_review(&held, hold.problem());
        }
    }
}

#[test]
fn transfer_with_unknown_signer_outcome_is_reviewed() {
    let mut of = refund(1, AMOUNT);
    of.set_transaction(None);
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
    let facts = facts_about(&[&of], None, &[], THEN);
    let retry = verdict(&facts, 0, Known { now: THEN.plus_ms(DAY_MS), ..KNOWN });
    assert_review(&retry, "tries again every 10 minutes");
}

#[test]
fn open_review_takes_precedence_over_the_status() {
    let mut of = refund(1, AMOUNT);
    of.status = TransferStatus::Paid;
    of.sending_progress.settled_by = Some(SettledBy::Chain);
    let absent = transaction(AttachedState::Absent);
    let facts = facts_about(&[&of], Some(&absent), &[], THEN);
    let problem = "transaction t is not confirmed any more, after it was paid";
    assert_review(&verdict(&facts, 0, Known { review: Some(problem), ..KNOWN }), problem);
}

#[test]
fn state_of_paid_transfer_depends_on_who_settled_it() {
    let judged = |by, is_watched| {
        let mut of = refund(1, AMOUNT);
        of.status = TransferStatus::Paid;
        of.sending_progress.settled_by = Some(by);
        of.sending_progress.settled_reason = (by == SettledBy::Person).then(|| "inside".to_owned());
        let facts = facts_about(&[&of], None, &[], THEN);
        let verdict = verdict(&facts, 0, Known { is_watched, ..KNOWN });
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
fn state_without_a_node_is_unwatched() {
    let mut of = refund(1, AMOUNT);
    for (status, state) in [
        (TransferStatus::Requested, OnChainState::Waiting),
        (TransferStatus::Approved, OnChainState::Waiting),
        (TransferStatus::Rejected, OnChainState::Settled),
        (TransferStatus::Failed, OnChainState::Settled),
        (TransferStatus::Cancelled, OnChainState::Settled),
    ] {
        of.status = status;
        for (is_watched, state) in [(true, state), (false, OnChainState::Unwatched)] {
            let facts = facts_about(&[&of], None, &[], THEN);
            let verdict = verdict(&facts, 0, Known { is_watched, ..KNOWN });
            assert_eq!(verdict.state, state, "{status}");
        }
    }
}

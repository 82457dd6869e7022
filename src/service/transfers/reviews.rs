//! Ends reviews by the decision of a person, and lists what waits for one.

use super::hold::sending_hold;
use super::loading::{LoadedDestination, load_destination_of};
use super::{StepActor, write_audit_entry};
use crate::domain::asset::Chain;
use crate::domain::transfer::destination::assess_destination;
use crate::domain::transfer::outgoing::assess_transfer;
use crate::domain::{
    LedgerEntry, LedgerKind, Mode, OnChainState, RefType, Refusal, RefusalCode, ReviewDecision,
    ReviewKind, Time, Transfer, TransferAction, TransferReview, TransferSituation,
    TransferStepRequest, TransferVerdict, id,
};
use crate::service::transfers::destination::settle_destination_of;
use crate::service::{Error, Service, Step};
use crate::store::{Reader, chains, destinations, ledger, transfer_reviews, transfers};
use serde_json::json;

impl Service {
    /// Returns the transfers of a mode that need a review, newest first.
    pub(in crate::service) fn transfers_to_review(
        &self,
        db: &Reader<'_>,
        now: Time,
        mode: Mode,
    ) -> Result<Vec<Transfer>, Error> {
        let is_real = !self.is_simulated(mode);
        let found =
            list_transfers_to_review(db, now, mode, |chain| (is_real, self.live.has_node(chain)))?;
        let mut found: Vec<Transfer> = found.into_iter().map(|(transfer, _)| transfer).collect();
        found.sort_by_key(|transfer| std::cmp::Reverse(transfer.seq));
        Ok(found)
    }
}

/// Ends a review by the decision of a person: a reason, or an adjustment of the balance.
pub(super) fn end_review(
    step: &Step<'_>,
    by: StepActor<'_>,
    of: &Transfer,
    request: &TransferStepRequest,
) -> Result<Transfer, Error> {
    let Step { tx, now, .. } = *step;
    let id = request.review.as_deref().unwrap_or_default();
    let reason =
        request.reason.as_deref().ok_or_else(|| Refusal::field("reason", "must be given"))?;
    let reviews = transfer_reviews::of_transfer(tx, of.seq)?;
    let missing = "must be the id of a review of this transfer";
    let found = reviews.iter().find(|review| review.id == id);
    let review = found.ok_or_else(|| Refusal::field("review", missing))?;
    let is_own = review.txid.is_some() && review.txid == of.txid;
    let decision = match request.action {
        TransferAction::Adjust => ReviewDecision::Adjusted,
        _ => ReviewDecision::Resolved,
    };
    check_decision(review, decision, is_own)?;
    if decision == ReviewDecision::Adjusted {
        book_review_adjustment(step, of, review.kind, reason)?;
    }
    if (review.kind, decision) == (ReviewKind::Arrived, ReviewDecision::Adjusted) {
        keep_outputs(step, of, review.txid.as_deref().unwrap_or_default())?;
    }
    let actor = by.actor_name();
    transfer_reviews::end(tx, review.seq, actor, decision, Some(reason), now)?;
    let detail = json!({
        "review": review.id, "kind": review.kind, "transaction": review.txid, "reason": reason,
        "decision": decision,
    });
    write_audit_entry(tx, now, actor, request.action.as_str(), of, &detail)?;
    transfers::notify_transfer_change(tx, of);
    settle_destination_of(step, of)
}

/// Refuses a decision that cannot end a review.
fn check_decision(
    review: &TransferReview,
    decision: ReviewDecision,
    is_own: bool,
) -> Result<(), Refusal> {
    let param = |message: &str| {
        Refusal::for_param(RefusalCode::InvalidTransition, "action", message.to_owned())
    };
    if let (Some(at), Some(ended)) = (review.ended_at, review.decision) {
        let message = format!("this review was {ended} at {at}, and needs no decision any more");
        return Err(Refusal::for_param(RefusalCode::InvalidTransition, "review", message));
    }
    match (review.kind, decision) {
        (ReviewKind::Overpaid | ReviewKind::BeyondReach, ReviewDecision::Adjusted) => {
            let kind = review.kind;
            Err(param(&format!("a review of kind {kind} is ended by a reason: action resolve")))
        }
        (ReviewKind::Gone, ReviewDecision::Resolved) => Err(param(
            "a reason does not end the review of a transaction that disappeared: attach another one, or adjust the balance",
        )),
        (ReviewKind::Arrived, ReviewDecision::Resolved) if is_own => Err(param(
            "the transfer's own transaction has arrived, and a reason does not end such a review: adjust the balance",
        )),
        (
            ReviewKind::Overpaid | ReviewKind::Gone | ReviewKind::Arrived | ReviewKind::BeyondReach,
            ReviewDecision::Resolved | ReviewDecision::Adjusted | ReviewDecision::Cleared,
        ) => Ok(()),
    }
}

/// Keeps the outputs of a transaction for the transfer whose amount is booked out for them.
fn keep_outputs(step: &Step<'_>, of: &Transfer, txid: &str) -> Result<(), Error> {
    let Step { tx, now, .. } = *step;
    let loaded = load_destination_of(tx, now, of)?;
    for (output, share) in loaded.facts.outputs.iter().zip(&loaded.shares) {
        if output.txid == txid && *share == Some(of.seq) {
            destinations::update_output(tx, output.observation, *share, *share)?;
        }
    }
    Ok(())
}

/// Credits the amount of a transfer to the balance if its transaction is gone. Debits the amount if a transaction
/// appeared after the transfer had failed.
fn book_review_adjustment(
    step: &Step<'_>,
    of: &Transfer,
    kind: ReviewKind,
    reason: &str,
) -> Result<(), Error> {
    let Step { tx, now, .. } = *step;
    let amount = match kind {
        ReviewKind::Gone => of.amount,
        ReviewKind::Arrived => of.amount.negated()?,
        ReviewKind::Overpaid | ReviewKind::BeyondReach => {
            return Err(Error::Failed(format!("a review of kind {kind} books nothing")));
        }
    };
    let entry = LedgerEntry {
        seq: 0,
        id: id::new(now).to_string(),
        currency: of.currency,
        amount,
        kind: LedgerKind::Adjustment,
        ref_type: RefType::Admin,
        ref_id: None,
        fee_bps: None,
        memo: Some(format!("{} {}: {reason}", of.kind, of.id)),
        created_at: now,
    };
    Ok(ledger::insert_adjustment(tx, of.account, of.mode, &entry, now)?)
}

/// Returns the state of a transfer for people. `is_real` and `has_node` are about the transfer's chain.
pub(in crate::service) fn transfer_verdict(
    db: &Reader<'_>,
    now: Time,
    of: &Transfer,
    is_real: bool,
    has_node: bool,
) -> Result<(LoadedDestination, TransferVerdict), Error> {
    let loaded = load_destination_of(db, now, of)?;
    let outcome = assess_destination(&loaded.facts);
    let missing = || Error::Failed(format!("transfer {} is not at its destination", of.seq));
    let at = loaded.place_of(of.seq).ok_or_else(missing)?;
    let (one, outcome) =
        loaded.facts.transfers.get(at).zip(outcome.transfers.get(at)).ok_or_else(missing)?;
    let reviews = loaded.reviews.get(at).map(Vec::as_slice).unwrap_or_default();
    let mut open = reviews.iter().filter(|review| review.ended_at.is_none());
    let scanned_to = if is_real {
        // If the chain was never read, the time is 0, so no deadline has passed.
        chains::lagging_chains(db)?.scanned_to(of.asset.chain).unwrap_or(Time(0)).min(now)
    } else {
        now
    };
    let hold = sending_hold(db, now, &loaded, one, outcome)?;
    let verdict = assess_transfer(&TransferSituation {
        one,
        outcome,
        facts: &loaded.facts,
        review: open.next().map(|review| review.problem.as_str()),
        hold: hold.as_ref(),
        is_watched: if is_real { has_node } else { !loaded.facts.transactions.is_empty() },
        scanned_to,
        now,
    });
    Ok((loaded, verdict))
}

/// Returns the transfers of a mode that need a review, each with its problem. `of_chain` returns two values for a
/// chain: whether the chain is real, and whether the chain has a node.
pub fn list_transfers_to_review(
    db: &Reader<'_>,
    now: Time,
    mode: Mode,
    of_chain: impl Fn(Chain) -> (bool, bool),
) -> Result<Vec<(Transfer, String)>, Error> {
    let mut found = transfers::list_being_sent(db, mode)?;
    for seq in transfer_reviews::transfers_under_review(db, mode)? {
        if !found.iter().any(|transfer| transfer.seq == seq) {
            found.push(transfers::by_seq(db, seq)?);
        }
    }
    let mut to_review = Vec::new();
    for transfer in found {
        let (is_real, has_node) = of_chain(transfer.asset.chain);
        let (_, verdict) = transfer_verdict(db, now, &transfer, is_real, has_node)?;
        if verdict.state == OnChainState::NeedsReview {
            to_review.push((transfer, verdict.problem.unwrap_or_default()));
        }
    }
    Ok(to_review)
}

//! Saves what transfers got: transactions, outputs, proposals, reviews.
//!
//! Invariant: only differences from the stored outcome are written.

use super::loading::LoadedDestination;
use super::{StepActor, write_audit_entry};
use crate::domain::transfer::destination::keeping::find_surplus;
use crate::domain::transfer::destination::sum_of_outputs;
use crate::domain::{
    DestinationFacts, DestinationOutcome, DestinationTransfer, ReviewDecision, ReviewFinding,
    ReviewKind, Time, Transfer, TransferOutcome, TransferReview, TransferStatus, id,
};
use crate::service::{Error, Step};
use crate::store::transfer_proposals::{self, PROPOSALS_MAX};
use crate::store::{Tx, destinations, sent_transactions, transfer_reviews, transfers};
use serde_json::json;
use std::collections::BTreeSet;

pub(super) fn save_outcome(
    step: &Step<'_>,
    loaded: &LoadedDestination,
    outcome: &DestinationOutcome,
) -> Result<(), Error> {
    let Step { tx, now, .. } = *step;
    let stored = loaded.facts.outputs.iter().zip(&loaded.shares);
    for ((output, stored), (share, settled)) in
        stored.zip(outcome.shares.iter().zip(&outcome.settled))
    {
        if (stored, &output.settled) != (share, settled) {
            destinations::update_output(tx, output.observation, *share, *settled)?;
        }
    }
    let each = loaded.facts.transfers.iter().zip(&outcome.transfers).zip(&loaded.reviews);
    for ((one, got), reviews) in each {
        save_transaction(step, loaded, one, got)?;
        save_proposals(tx, loaded, one, got)?;
        save_reviews(tx, now, one, loaded, outcome, got, reviews)?;
    }
    delete_surplus(tx, loaded, outcome)?;
    // Frozen last: a frozen output is not read any more.
    for (one, got) in loaded.facts.transfers.iter().zip(&outcome.transfers) {
        if got.is_frozen && !one.transfer.is_frozen {
            transfers::freeze(tx, one.seq())?;
            destinations::freeze_outputs(tx, one.seq())?;
        }
    }
    Ok(())
}

/// Saves the transaction of a transfer, and whether an output of exactly its amount waits for a decision.
fn save_transaction(
    step: &Step<'_>,
    loaded: &LoadedDestination,
    one: &DestinationTransfer,
    got: &TransferOutcome,
) -> Result<(), Error> {
    let Step { tx, now, .. } = *step;
    let before = &one.transfer;
    let is_same = before.transaction() == got.transaction;
    if is_same && before.has_exact_proposal == got.has_exact_proposal {
        return Ok(());
    }
    let mut after = before.clone();
    after.set_transaction(got.transaction.clone());
    after.has_exact_proposal = got.has_exact_proposal;
    transfers::update(tx, &after, before.status)?;
    if is_same {
        return Ok(());
    }
    let verb = if after.txid.is_some() { "attach" } else { "detach" };
    let detail = json!({
        "transaction": after.txid.as_ref().or(before.txid.as_ref()),
        "from": after.sending_progress.txid_from, "before": before.txid,
    });
    write_audit_entry(tx, now, StepActor::Chain.actor_name(), verb, &after, &detail)?;
    after.txid.map_or(Ok(()), |txid| insert_transaction(step, loaded, &txid))
}

/// Starts to ask nodes about a transaction. What its outputs show is known already.
pub(super) fn insert_transaction(
    step: &Step<'_>,
    loaded: &LoadedDestination,
    txid: &str,
) -> Result<(), Error> {
    let Step { tx, now, .. } = *step;
    let (mode, chain) = (loaded.destination.mode, loaded.destination.chain);
    sent_transactions::insert(tx, mode, chain, txid)?;
    let mut outputs = loaded.facts.outputs.iter().filter(|output| output.txid == txid);
    let Some(output) = outputs.find(|output| output.may_count()) else {
        return Ok(sent_transactions::ask_again(tx, mode, chain, txid)?);
    };
    if let Some(mut known) = sent_transactions::by_txid(tx, mode, chain, txid)? {
        let (height, seen_at) = (output.height, output.seen_at);
        known.record_output(height, output.has_vanished, seen_at, now, &output.spends);
        sent_transactions::update(tx, &known)?;
    }
    Ok(())
}

/// Returns the observations of the proposals that are kept for a transfer: those of exactly its amount, then the newest.
pub(in crate::service) fn newest_proposals(
    facts: &DestinationFacts,
    one: &DestinationTransfer,
    got: &TransferOutcome,
) -> BTreeSet<i64> {
    let proposed = got.proposals.iter().filter_map(|place| facts.outputs.get(*place));
    let (exact, others): (Vec<_>, Vec<_>) = proposed.partition(|output| one.is_exact(output));
    let newest = exact.into_iter().chain(others).take(PROPOSALS_MAX);
    newest.map(|output| output.observation).collect()
}

/// Saves the newest proposals of a transfer.
fn save_proposals(
    tx: &Tx<'_>,
    loaded: &LoadedDestination,
    one: &DestinationTransfer,
    got: &TransferOutcome,
) -> Result<(), Error> {
    let wanted = newest_proposals(&loaded.facts, one, got);
    let stored: BTreeSet<i64> =
        transfer_proposals::observations_of(tx, one.seq())?.into_iter().collect();
    for observation in stored.difference(&wanted) {
        transfer_proposals::delete(tx, one.seq(), *observation)?;
    }
    for observation in wanted.difference(&stored) {
        transfer_proposals::insert(tx, one.seq(), *observation)?;
    }
    if wanted != stored {
        transfers::notify_transfer_change(tx, &one.transfer);
    }
    Ok(())
}

/// Opens the reviews that the facts ask for, and ends those whose facts are no more.
fn save_reviews(
    tx: &Tx<'_>,
    now: Time,
    one: &DestinationTransfer,
    loaded: &LoadedDestination,
    outcome: &DestinationOutcome,
    got: &TransferOutcome,
    stored: &[TransferReview],
) -> Result<(), Error> {
    let is_about = |review: &TransferReview, finding: &ReviewFinding| {
        review.kind == finding.kind && review.txid == finding.txid
    };
    let open = || stored.iter().filter(|review| review.ended_at.is_none());
    for review in open().filter(|review| !got.reviews.iter().any(|of| is_about(review, of))) {
        let by = StepActor::Chain.actor_name();
        transfer_reviews::end(tx, review.seq, by, ReviewDecision::Cleared, None, now)?;
        let detail = json!({
            "review": review.id, "kind": review.kind, "transaction": review.txid,
            "decision": ReviewDecision::Cleared,
        });
        write_audit_entry(tx, now, by, "resolve", &one.transfer, &detail)?;
        transfers::notify_transfer_change(tx, &one.transfer);
    }
    for finding in &got.reviews {
        if open().any(|review| is_about(review, finding)) {
            continue;
        }
        let (id, txid) = (id::new(now).to_string(), finding.txid.as_deref());
        let problem = describe_finding(one, loaded, outcome, got, finding);
        transfer_reviews::insert(tx, &id, one.seq(), finding.kind, txid, &problem, now)?;
        transfers::notify_transfer_change(tx, &one.transfer);
        let (kind, transfer) = (finding.kind, &one.transfer);
        log::warn!("review opened: {}={} kind={kind} reason={problem}", transfer.kind, transfer.id);
    }
    Ok(())
}

fn describe_finding(
    one: &DestinationTransfer,
    loaded: &LoadedDestination,
    outcome: &DestinationOutcome,
    got: &TransferOutcome,
    finding: &ReviewFinding,
) -> String {
    let Transfer { kind, status, asset, .. } = &one.transfer;
    let txid = finding.txid.as_deref().unwrap_or_default();
    let is_own = got.transaction.as_ref().is_some_and(|(own, _)| own == txid);
    let shared = loaded.facts.outputs.iter().zip(&outcome.shares);
    let own = shared.filter(|(_, share)| **share == Some(one.seq())).map(|(output, _)| output);
    let amount = one.needed().map(|needed| asset.format_units(needed)).unwrap_or_default();
    match (finding.kind, status) {
        (ReviewKind::Overpaid, _) if is_own => {
            let sent = own.filter(|output| output.state.is_confirmed());
            let sent = asset.format_units(sum_of_outputs(sent));
            format!("{sent} {} were sent, of {amount}", asset.id)
        }
        (ReviewKind::Overpaid, _) => {
            let more = asset.format_units(sum_of_outputs(own.filter(|output| output.txid == txid)));
            format!("transaction {txid} pays {more} {} besides, after it was paid", asset.id)
        }
        (ReviewKind::Gone, _) => {
            format!("transaction {txid} is not confirmed any more, after it was paid")
        }
        (ReviewKind::Arrived, TransferStatus::Paid) => {
            format!("transaction {txid} is in a block again, after its amount was booked back")
        }
        (ReviewKind::Arrived, _) if is_own => {
            format!("transaction {txid} is in a block, although the {kind} is {status}")
        }
        (ReviewKind::Arrived, _) => {
            let paid = asset.format_units(sum_of_outputs(own.filter(|output| output.txid == txid)));
            let paid = if paid == amount { "exactly the amount".to_owned() } else { paid };
            format!("transaction {txid} pays {paid}, after the end")
        }
        (ReviewKind::BeyondReach, _) => {
            let from = one.transfer.sending_progress.watched_from.unwrap_or(0);
            format!(
                "it was approved before block {from}, the first one that is read for it: 30 days back, or as far as the node \
                 has blocks. What was sent before that is unknown. Look at its destination"
            )
        }
    }
}

/// Deletes the outputs that are not kept.
fn delete_surplus(
    tx: &Tx<'_>,
    loaded: &LoadedDestination,
    outcome: &DestinationOutcome,
) -> Result<(), Error> {
    let reviews = loaded.reviews.iter().flatten();
    let reviewed = reviews.filter_map(|review| review.txid.as_deref()).collect();
    let surplus = find_surplus(&loaded.facts, outcome, &reviewed);
    for output in surplus.outputs.iter().filter_map(|place| loaded.facts.outputs.get(*place)) {
        destinations::delete_output(tx, output.observation)?;
    }
    let is_used = loaded.facts.transfers.iter().any(|one| one.transfer.status.is_open());
    let is_overfull = is_used && (loaded.destination.is_overfull || surplus.is_overfull);
    if is_overfull != loaded.destination.is_overfull {
        destinations::set_overfull(tx, loaded.destination.seq, is_overfull)?;
    }
    Ok(())
}

//! Payments that arrive at the destinations of payouts and refunds.
//!
//! Invariant: an arrival is stored as an observation only if it belongs to an attached transaction, or has exactly
//! the amount of one transfer. All other arrivals are stored as proposals.

use super::StepActor;
use crate::domain::id;
use crate::domain::money::coin::Units;
use crate::domain::observation::Observation;
use crate::domain::refusal::Refusal;
use crate::domain::time::{DAY_MS, SECOND_MS, Time};
use crate::domain::transfer::on_chain::{AttachedTransaction, ProposedOutput, ReviewKind};
use crate::domain::transfer::request::TransferStepRequest;
use crate::domain::transfer::{SendingState, Transfer, TransferStatus};
use crate::service::{Error, Service};
use crate::store::{
    Reader, Tx, sent_transactions, transfer_proposals, transfer_reviews, transfers,
};
use serde_json::json;

/// Time for which a destination is watched after the end of its transfer, in milliseconds.
pub(in crate::service) const WATCHED_AFTER_END_MS: i64 = 30 * DAY_MS;

/// Classification of an arrival at a destination.
pub(in crate::service) enum Arrival {
    /// The arrival belongs to an attached transaction.
    Attached,
    /// The arrival has exactly the amount of this transfer.
    Exact(Box<Transfer>),
    /// The arrival is proposed for these transfers until a person decides.
    Proposed(Vec<Transfer>),
}

/// Classifies an observation at an address that is not ours.
pub(in crate::service) fn classify_arrival(
    db: &Reader<'_>,
    now: Time,
    seen: &Observation,
) -> Result<Arrival, Error> {
    let chain = seen.asset.chain;
    let all = transfers::list_to_address(db, seen.mode, chain, &seen.address)?;
    if all.iter().any(|transfer| transfer.txid.as_ref() == Some(&seen.txid)) {
        return Ok(Arrival::Attached);
    }
    let of_coin = all.into_iter().filter(|transfer| transfer.asset == seen.asset);
    let watched: Vec<Transfer> =
        of_coin.filter(|transfer| is_destination_watched(transfer, now)).collect();
    let is_running = |transfer: &Transfer| transfer.sending == Some(SendingState::Running);
    let mut fits = watched.iter().filter(|transfer| is_exact_amount(transfer, seen));
    if let (Some(only), None, false) = (fits.next(), fits.next(), watched.iter().any(is_running))
        && !only.is_on_hold()
    {
        return Ok(Arrival::Exact(Box::new(only.clone())));
    }
    let mut proposed = Vec::new();
    for transfer in watched {
        if is_plausible_amount(&transfer, seen) || spends_input_of_transfer(db, &transfer, seen)? {
            proposed.push(transfer);
        }
    }
    Ok(Arrival::Proposed(proposed))
}

/// Returns `true` if an arrival spends one of the inputs of a transfer's transaction.
fn spends_input_of_transfer(
    db: &Reader<'_>,
    of: &Transfer,
    seen: &Observation,
) -> Result<bool, Error> {
    let (Some(txid), TransferStatus::Processing) = (&of.txid, of.status) else {
        return Ok(false);
    };
    let attached = sent_transactions::by_txid(db, seen.mode, seen.asset.chain, txid)?;
    let is_spent = |attached: AttachedTransaction| {
        let mut spends = attached.spends.iter();
        spends.any(|spent| seen.spends.contains(spent))
    };
    Ok(attached.is_some_and(is_spent))
}

/// Returns `true` if the destination of a transfer is watched.
fn is_destination_watched(of: &Transfer, now: Time) -> bool {
    match of.status {
        TransferStatus::Approved | TransferStatus::Processing => true,
        TransferStatus::Requested => of.is_on_hold(),
        TransferStatus::Rejected => false,
        TransferStatus::Paid | TransferStatus::Failed | TransferStatus::Cancelled => {
            let ended = of.finalized_at.filter(|_| of.approved_at.is_some());
            ended.is_some_and(|ended| now.since_ms(ended) <= WATCHED_AFTER_END_MS)
        }
    }
}

/// Returns `true` if an arrival has exactly the amount of a transfer that still has no transaction.
fn is_exact_amount(of: &Transfer, seen: &Observation) -> bool {
    of.status == TransferStatus::Processing
        && of.txid.is_none()
        && matches_amount_after_approval(of, (seen.amount, seen.seen_at))
}

/// Returns `true` if an arrival has exactly the amount of a transfer, and was first seen after the approval of the
/// transfer.
fn matches_amount_after_approval(of: &Transfer, (amount, seen_at): (Units, Time)) -> bool {
    of.approved_at.is_some_and(|at| seen_at >= start_of_second(at))
        && of.terms.is_some_and(|terms| terms.amount_crypto == amount)
}

/// Rounds a time down to a full second, because nodes report times of transactions in seconds.
fn start_of_second(at: Time) -> Time {
    at.plus_ms(at.0.rem_euclid(SECOND_MS).saturating_neg())
}

/// Returns `true` if an arrival is between half and twice the amount of a transfer. Any amount fits a held transfer,
/// which has no terms yet.
fn is_plausible_amount(of: &Transfer, seen: &Observation) -> bool {
    let Some(terms) = &of.terms else {
        return true;
    };
    let (amount, seen) = (terms.amount_crypto.0, seen.amount.0);
    seen >= amount.div_ceil(2) && seen / 2 <= amount && of.status != TransferStatus::Paid
}

impl Service {
    /// Stores an arrival as a proposal for each of these transfers.
    pub(super) fn store_proposals(
        &self,
        tx: &Tx<'_>,
        now: Time,
        seen: &Observation,
        to: &[Transfer],
    ) -> Result<(), Error> {
        let arrival = ProposedOutput {
            txid: seen.txid.clone(),
            position: seen.position,
            amount: seen.amount,
            spends: seen.spends.clone(),
            seen_at: seen.seen_at.min(now),
            block: seen.block.clone(),
        };
        let is_amount =
            |of: &Transfer| matches_amount_after_approval(of, (seen.amount, seen.seen_at));
        let is_awaited = |of: &Transfer| of.status.is_open() && of.txid.is_none() && is_amount(of);
        let is_late = !to.iter().any(is_awaited);
        for transfer in to {
            transfer_proposals::put(tx, transfer.seq, &arrival)?;
            let has_failed =
                matches!(transfer.status, TransferStatus::Failed | TransferStatus::Cancelled);
            if has_failed
                && is_late
                && is_amount(transfer)
                && !transfer_proposals::is_dismissed(tx, transfer.seq, &seen.txid, seen.position)?
            {
                let txid = &seen.txid;
                let problem = format!("transaction {txid} pays exactly the amount, after the end");
                open_arrival_review(tx, now, transfer, &problem)?;
            }
        }
        Ok(())
    }

    /// Stores an arrival at an address that is not ours as a proposal. Returns `false` if no transfer has the address
    /// as its destination.
    ///
    /// Returns `None` if the arrival belongs to a transfer: the caller must then store the arrival.
    pub(in crate::service) fn store_arrival(
        &self,
        tx: &Tx<'_>,
        now: Time,
        seen: &Observation,
    ) -> Result<Option<bool>, Error> {
        match classify_arrival(tx, now, seen)? {
            Arrival::Attached | Arrival::Exact(_) => Ok(None),
            Arrival::Proposed(to) => {
                if seen.amount > Units::ZERO {
                    self.store_proposals(tx, now, seen, &to)?;
                }
                Ok(Some(!to.is_empty()))
            }
        }
    }

    /// Dismisses a transaction that was proposed for a transfer.
    pub(super) fn dismiss_proposal(
        &self,
        tx: &Tx<'_>,
        now: Time,
        by: StepActor<'_>,
        of: &Transfer,
        request: &TransferStepRequest,
    ) -> Result<Transfer, Error> {
        let txid = request.txid.as_deref().unwrap_or_default();
        let txid = of.asset.chain.canonical_txid(txid);
        if transfer_proposals::dismiss(tx, of.seq, &txid, now)? == 0 {
            let problem = "must be the transaction of a proposal of this transfer";
            return Err(Refusal::field("txid", problem).into());
        }
        let detail = json!({ "transaction": txid });
        super::write_audit_entry(tx, now, by.actor_name(), "dismiss", of, &detail)?;
        transfers::notify_transfer_change(tx, of);
        Ok(of.clone())
    }
}

/// Opens a review of an arrival after the end of a transfer, unless any review of the transfer already has this
/// problem. The same transaction can be reported several times.
pub(super) fn open_arrival_review(
    tx: &Tx<'_>,
    now: Time,
    of: &Transfer,
    problem: &str,
) -> Result<(), Error> {
    let reviews = transfer_reviews::of_transfer(tx, of.seq)?;
    if reviews.iter().any(|review| review.problem == problem) {
        return Ok(());
    }
    open_review(tx, now, of, (ReviewKind::Arrived, problem))
}

/// Opens a review of a transfer, unless the transfer has an open review of this kind.
pub(super) fn open_review(
    tx: &Tx<'_>,
    now: Time,
    of: &Transfer,
    (kind, problem): (ReviewKind, &str),
) -> Result<(), Error> {
    let id = id::new(now).to_string();
    if transfer_reviews::open_review(tx, &id, of.seq, kind, problem, now)? {
        log::warn!("review opened: {}={} kind={kind} reason={problem}", of.kind, of.id);
    }
    Ok(())
}

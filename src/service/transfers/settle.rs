//! Settles transfers by the state of their transactions, and ends reviews.

use super::arrivals::{open_arrival_review, open_review};
use super::watch::final_height;
use super::{StepActor, write_audit_entry};
use crate::domain::asset::{Chain, Mode};
use crate::domain::id;
use crate::domain::ledger::{LedgerEntry, LedgerKind, RefType};
use crate::domain::payment::PaymentState;
use crate::domain::refusal::{Refusal, RefusalCode};
use crate::domain::time::Time;
use crate::domain::transfer::on_chain::{
    AttachedState, AttachedTransaction, OnChainState, ReviewKind, SentOutput, TransferReview,
};
use crate::domain::transfer::outgoing::{TransferFacts, TransferVerdict, assess_transfer};
use crate::domain::transfer::request::TransferStepRequest;
use crate::domain::transfer::step::{Settlement, TransferAction, TransferStep};
use crate::domain::transfer::{SendingState, SettledBy, Transfer, TransferStatus};
use crate::service::{Error, Service};
use crate::store::{
    Reader, Tx, chains, ledger, sent_outputs, sent_transactions, transfer_reviews, transfers,
};
use serde_json::json;

/// The stored data that decides how a transfer is settled.
pub(in crate::service) struct StoredTransferFacts {
    is_watched: bool,
    transaction: Option<AttachedTransaction>,
    pub(super) outputs: Vec<SentOutput>,
    pub(in crate::service) reviews: Vec<TransferReview>,
    scanned_to: Time,
    now: Time,
}

impl StoredTransferFacts {
    /// Returns the verdict on a transfer that follows from the data.
    pub(in crate::service) fn verdict(&self, of: &Transfer) -> TransferVerdict {
        let open: Vec<TransferReview> =
            self.reviews.iter().filter(is_review_open).cloned().collect();
        let facts = TransferFacts {
            is_watched: self.is_watched,
            transaction: self.transaction.as_ref(),
            outputs: &self.outputs,
            reviews: &open,
            scanned_to: self.scanned_to,
            now: self.now,
        };
        assess_transfer(of, &facts)
    }

    fn find_open_review(&self, kind: ReviewKind) -> Option<&TransferReview> {
        let mut open = self.reviews.iter().filter(is_review_open);
        open.find(|review| review.kind == kind)
    }

    /// Returns `true` if a person booked the amount back because the transaction disappeared. Later arrivals on which
    /// no person has decided do not change the result.
    fn is_amount_booked_back(&self) -> bool {
        let decided = |review: &&TransferReview| match review.kind {
            ReviewKind::Gone => true,
            ReviewKind::Arrived => review.ended_at.is_some(),
            ReviewKind::Overpaid | ReviewKind::BeyondReach => false,
        };
        let newest = self.reviews.iter().find(decided);
        newest.is_some_and(|review| {
            let reason = review.reason.as_deref();
            review.kind == ReviewKind::Gone
                && reason.is_some_and(|reason| reason != CONFIRMED_AGAIN)
        })
    }
}

/// Reason for the end of a review whose transaction is confirmed again.
const CONFIRMED_AGAIN: &str = "the transaction is confirmed again";

fn is_review_open(review: &&TransferReview) -> bool {
    review.ended_at.is_none()
}

/// Reads the data that decides how a transfer is settled. `is_real` is `true` if the chain of the transfer is not
/// simulated, and `has_node` if the chain has a node.
pub(in crate::service) fn read_transfer_facts(
    db: &Reader<'_>,
    now: Time,
    of: &Transfer,
    (is_real, has_node): (bool, bool),
) -> Result<StoredTransferFacts, Error> {
    let (mode, chain) = (of.mode, of.asset.chain);
    let (transaction, outputs) = match &of.txid {
        None => (None, Vec::new()),
        Some(txid) => (
            sent_transactions::by_txid(db, mode, chain, txid)?,
            sent_outputs::of_transaction(db, mode, chain, txid)?,
        ),
    };
    let scanned_to = if is_real {
        // If the chain was never read, the time is 0, so no deadline has passed.
        chains::lagging_chains(db)?.scanned_to(chain).unwrap_or(Time(0)).min(now)
    } else {
        now
    };
    Ok(StoredTransferFacts {
        is_watched: if is_real { has_node } else { transaction.is_some() },
        transaction,
        outputs,
        reviews: transfer_reviews::of_transfer(db, of.seq)?,
        scanned_to,
        now,
    })
}

impl Service {
    /// Reads the data that decides how a transfer is settled.
    pub(super) fn transfer_facts(
        &self,
        db: &Reader<'_>,
        now: Time,
        of: &Transfer,
    ) -> Result<StoredTransferFacts, Error> {
        let is_real = !self.is_simulated(of.mode);
        read_transfer_facts(db, now, of, (is_real, self.live.has_node(of.asset.chain)))
    }

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

    /// Settles a transfer or opens a review, as its verdict requires.
    pub(in crate::service) fn settle_or_review_transfer(
        &self,
        tx: &Tx<'_>,
        now: Time,
        of: &Transfer,
    ) -> Result<(), Error> {
        let facts = self.transfer_facts(tx, now, of)?;
        let verdict = facts.verdict(of);
        match of.status {
            TransferStatus::Processing if verdict.is_covered => {
                let settlement = Settlement { txid: None, by: SettledBy::Chain, reason: None };
                let paid =
                    self.apply_step(tx, now, StepActor::Chain, of, TransferStep::Pay(settlement))?;
                if verdict.is_overpaid {
                    let (sent, id) = (paid.asset.format_units(verdict.amount_seen), paid.asset.id);
                    let amount =
                        paid.terms.map(|terms| paid.asset.format_units(terms.amount_crypto));
                    let amount = amount.unwrap_or_default();
                    let problem = format!("{sent} {id} were sent, of {amount}");
                    open_review(tx, now, &paid, (ReviewKind::Overpaid, &problem))?;
                }
                Ok(())
            }
            TransferStatus::Paid if of.sending_progress.settled_by == Some(SettledBy::Chain) => {
                let open = facts.find_open_review(ReviewKind::Gone);
                let txid = of.txid.as_deref().unwrap_or_default();
                match (verdict.is_covered, open, facts.is_amount_booked_back()) {
                    (true, Some(open), _) => {
                        end_review_automatically(tx, now, of, open, CONFIRMED_AGAIN)
                    }
                    (true, None, true) => {
                        let problem = format!(
                            "transaction {txid} is confirmed again, after its amount was booked back"
                        );
                        open_review(tx, now, of, (ReviewKind::Arrived, &problem))
                    }
                    (false, None, false) => {
                        let problem = format!(
                            "transaction {txid} is not confirmed any more, after it was paid"
                        );
                        open_review(tx, now, of, (ReviewKind::Gone, &problem))
                    }
                    (true, None, false) | (false, None, true) | (false, Some(_), _) => Ok(()),
                }
            }
            TransferStatus::Failed | TransferStatus::Cancelled => {
                let is_late = |output: &SentOutput| {
                    output.transfer == Some(of.seq) && output.state == PaymentState::Confirmed
                };
                if facts.outputs.iter().any(is_late) {
                    let txid = of.txid.as_deref().unwrap_or_default();
                    let problem = format!(
                        "transaction {txid} is confirmed, although the {} is {}",
                        of.kind, of.status
                    );
                    open_arrival_review(tx, now, of, &problem)?;
                }
                Ok(())
            }
            TransferStatus::Requested
            | TransferStatus::Approved
            | TransferStatus::Processing
            | TransferStatus::Paid
            | TransferStatus::Rejected => Ok(()),
        }
    }

    /// Returns `true` if the transaction of a paid transfer is gone, and a person has not decided on this loss yet.
    pub(super) fn is_transaction_gone(
        &self,
        db: &Reader<'_>,
        of: &Transfer,
    ) -> Result<bool, Error> {
        let reviews = transfer_reviews::of_transfer(db, of.seq)?;
        let mut open = reviews.iter().filter(is_review_open);
        Ok(open.any(|review| review.kind == ReviewKind::Gone))
    }

    /// Refuses to fail a transfer that may have been sent.
    ///
    /// A transfer may fail if it never became `processing`, or if the signer signed nothing. It may also fail if its
    /// transaction is proved gone, or if the person sets `force`.
    ///
    /// # Errors
    ///
    /// `invalid_transition` that names `force`.
    pub(super) fn check_may_fail(
        &self,
        db: &Reader<'_>,
        of: &Transfer,
        is_forced: bool,
    ) -> Result<(), Error> {
        let signed_nothing =
            matches!(of.sending, Some(SendingState::Declined | SendingState::Retry))
                && of.txid.is_none();
        let was_handed_over = of.sending_progress.handed_over_at.is_some() && !signed_nothing;
        if is_forced
            || !was_handed_over
            || self.is_simulated(of.mode)
            || self.is_transaction_proved_gone(db, of)?
        {
            return Ok(());
        }
        let message = format!(
            "must be true: this {} was handed over and may have been sent. Look at its destination first, or detach its \
             transaction and attach the right one",
            of.kind
        );
        Err(Refusal::for_param(RefusalCode::InvalidTransition, "force", message).into())
    }

    /// Returns `true` if the attached transaction can never be confirmed. The transaction reverted, or another
    /// transaction used its inputs or its nonce, in a block that is final or too deep for a reorg.
    fn is_transaction_proved_gone(&self, db: &Reader<'_>, of: &Transfer) -> Result<bool, Error> {
        let chain = of.asset.chain;
        let Some(txid) = &of.txid else {
            return Ok(false);
        };
        let Some(known) = sent_transactions::by_txid(db, of.mode, chain, txid)? else {
            return Ok(false);
        };
        let is_mined = known.state == AttachedState::Mined;
        let height = match known.is_reverted {
            true => known.block_height,
            false => known.gone_height.filter(|_| !is_mined),
        };
        let last = final_height(db, chain)?;
        Ok(height.is_some_and(|height| height <= last))
    }

    /// Ends a review by the decision of a person: a reason, or an adjustment of the balance.
    pub(super) fn end_review(
        &self,
        tx: &Tx<'_>,
        now: Time,
        by: StepActor<'_>,
        of: &Transfer,
        request: &TransferStepRequest,
    ) -> Result<Transfer, Error> {
        let id = request.review.as_deref().unwrap_or_default();
        let reason =
            request.reason.as_deref().ok_or_else(|| Refusal::field("reason", "must be given"))?;
        let reviews = transfer_reviews::of_transfer(tx, of.seq)?;
        let open = reviews.iter().filter(is_review_open).find(|review| review.id == id);
        let missing = "must be the id of an open review of this transfer";
        let open = open.ok_or_else(|| Refusal::field("review", missing))?;
        let is_adjusted = request.action == TransferAction::Adjust;
        let is_own = |txid: &String| open.problem.contains(txid.as_str());
        let has_arrived = open.kind == ReviewKind::Arrived && of.txid.as_ref().is_some_and(is_own);
        if is_adjusted {
            book_review_adjustment(tx, now, of, (open.kind, reason))?;
        } else if open.kind == ReviewKind::Gone {
            let message = "a reason does not end the review of a transaction that disappeared: attach another one, or adjust the balance";
            return Err(
                Refusal::for_param(RefusalCode::InvalidTransition, "action", message).into()
            );
        } else if has_arrived {
            let message = "the transfer's own transaction has arrived, and a reason does not end such a review: adjust the balance";
            return Err(
                Refusal::for_param(RefusalCode::InvalidTransition, "action", message).into()
            );
        }
        transfer_reviews::end_review(tx, open.seq, reason, now)?;
        let detail = json!({
            "review": open.id, "kind": open.kind, "reason": reason, "adjusted": is_adjusted,
        });
        let verb = request.action.as_str();
        write_audit_entry(tx, now, by.actor_name(), verb, of, &detail)?;
        transfers::notify_transfer_change(tx, of);
        Ok(of.clone())
    }
}

/// Ends a review without a decision by a person, and writes the end to the audit log.
fn end_review_automatically(
    tx: &Tx<'_>,
    now: Time,
    of: &Transfer,
    review: &TransferReview,
    reason: &str,
) -> Result<(), Error> {
    transfer_reviews::end_review(tx, review.seq, reason, now)?;
    let detail = json!({ "review": review.id, "kind": review.kind, "reason": reason });
    write_audit_entry(tx, now, StepActor::Chain.actor_name(), "resolve", of, &detail)
}

/// Credits the amount of a transfer to the balance if its transaction is gone. Debits the amount if a transaction
/// appeared after the transfer had failed.
fn book_review_adjustment(
    tx: &Tx<'_>,
    now: Time,
    of: &Transfer,
    (kind, reason): (ReviewKind, &str),
) -> Result<(), Error> {
    let amount = match kind {
        ReviewKind::Gone => of.amount,
        ReviewKind::Arrived => of.amount.negated()?,
        ReviewKind::Overpaid | ReviewKind::BeyondReach => {
            let message = format!("a review of kind {kind} is ended by a reason: action resolve");
            return Err(
                Refusal::for_param(RefusalCode::InvalidTransition, "action", message).into()
            );
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

/// Returns the transfers of a mode that need a review, each with its problem. `of_chain` returns two values for a
/// chain: whether the chain is real, and whether the chain has a node.
pub fn list_transfers_to_review(
    db: &Reader<'_>,
    now: Time,
    mode: Mode,
    of_chain: impl Fn(Chain) -> (bool, bool),
) -> Result<Vec<(Transfer, String)>, Error> {
    let mut found = transfers::list_processing(db, mode)?;
    for seq in transfer_reviews::transfers_under_review(db, mode)? {
        if !found.iter().any(|transfer| transfer.seq == seq) {
            found.push(transfers::by_seq(db, seq)?);
        }
    }
    let mut to_review = Vec::new();
    for transfer in found {
        let facts = read_transfer_facts(db, now, &transfer, of_chain(transfer.asset.chain))?;
        let verdict = facts.verdict(&transfer);
        if verdict.state == OnChainState::NeedsReview {
            to_review.push((transfer, verdict.problem.unwrap_or_default()));
        }
    }
    Ok(to_review)
}

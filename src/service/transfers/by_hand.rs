//! Steps of transfers that an operator or the sandbox's API requests.
//!
//! Invariant: a step by hand uses the same code as all other steps, with its author in the audit log.

use super::StepActor;
use super::acts::record_entry;
use super::hold::hold_of_transfer;
use super::loading::load_destination_of;
use crate::domain::payment::simulated_txid;
use crate::domain::transfer::destination::checks::is_proved_gone;
use crate::domain::transfer::invalid_step;
use crate::domain::transfer::request::{parse_txid, parse_txid_on};
use crate::domain::{
    Refusal, RefusalCode, ReviewKind, SendingHold, SendingState, SettledBy, Settlement, Time,
    Transfer, TransferActKind, TransferAction, TransferKind, TransferStatus, TransferStep,
    TransferStepRequest, TxidSource, id,
};
use crate::render;
use crate::service::approval::{approval_step, sender_after_release};
use crate::service::idempotency::{IdempotentRequest, IdempotentResponse};
use crate::service::transfers::acts::{detach_transaction, dismiss_proposal, enter_transaction};
use crate::service::transfers::reviews::end_review;
use crate::service::transfers::simulated::simulate_transaction;
use crate::service::transfers::{apply_step, find};
use crate::service::{Error, Scope, Service, Step};
use crate::store::{Reader, transfer_acts, transfer_reviews};
use std::sync::Arc;

impl Service {
    /// Changes a transfer for an operator. Missing values are generated in simulated mode.
    ///
    /// # Errors
    /// `not_found`, `invalid_request`, `invalid_transition`.
    pub async fn apply_operator_step(
        self: &Arc<Self>,
        now: Time,
        actor: &str,
        kind: TransferKind,
        id: &str,
        change: TransferStepRequest,
        request: IdempotentRequest,
    ) -> Result<IdempotentResponse, Error> {
        if change.action == TransferAction::Approve {
            self.derive_upcoming_addresses()?;
        }
        let (actor, id) = (actor.to_owned(), id.to_owned());
        self.write(now, move |step| {
            let Step { service, tx, .. } = *step;
            let transfer = find(tx, kind, &id)?;
            request.run_once(step, Scope::new(transfer.account, transfer.mode), || {
                let actor = StepActor::Person(&actor);
                let after = apply_step_by_hand(step, actor, &transfer, change)?;
                let json = service.render_for_operator(tx, now, &after)?;
                Ok(IdempotentResponse::existing(json))
            })
        })
        .await
    }

    /// Performs a step that the sandbox's API requests.
    ///
    /// # Errors
    ///
    /// `not_found`, `invalid_request`, `invalid_transition`.
    pub async fn apply_sandbox_step(
        self: &Arc<Self>,
        now: Time,
        kind: TransferKind,
        id: &str,
        change: TransferStepRequest,
        request: IdempotentRequest,
    ) -> Result<IdempotentResponse, Error> {
        let id = id.to_owned();
        self.write(now, move |step| {
            let transfer = find(step.tx, kind, &id)?;
            request.run_once(step, Scope::new(transfer.account, transfer.mode), || {
                let after = apply_step_by_hand(step, StepActor::Sandbox, &transfer, change)?;
                Ok(IdempotentResponse::existing(render::transfer(&after)?))
            })
        })
        .await
    }

    /// Refuses to fail a transfer that may have been sent.
    ///
    /// A transfer may fail if it never became `processing`, or if the signer signed nothing. It may also fail if its
    /// transaction is proved gone, or if the person sets `force`.
    ///
    /// # Errors
    ///
    /// `invalid_transition` that names `force`.
    fn check_may_fail(
        &self,
        db: &Reader<'_>,
        now: Time,
        of: &Transfer,
        is_forced: bool,
    ) -> Result<(), Error> {
        let signed_nothing =
            matches!(of.sending, Some(SendingState::Declined | SendingState::Retry))
                && of.txid.is_none();
        let was_handed_over = of.sending_progress.handed_over_at.is_some() && !signed_nothing;
        if is_forced || !was_handed_over || self.is_simulated(of.mode) {
            return Ok(());
        }
        let loaded = load_destination_of(db, now, of)?;
        let mut transfers = loaded.facts.transfers.iter();
        let one = transfers.find(|one| one.seq() == of.seq);
        if let (Some(one), Some(txid)) = (one, &of.txid)
            && is_proved_gone(&loaded.facts, one, txid)
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
}

/// Performs the requested step.
///
/// While the signer sends a transfer, only the signer's result may change the transfer. Otherwise a person could
/// fail a transfer whose amount is being sent.
///
/// # Errors
///
/// `invalid_request`, `invalid_transition`.
pub(in crate::service) fn apply_step_by_hand(
    step: &Step<'_>,
    by: StepActor<'_>,
    of: &Transfer,
    request: TransferStepRequest,
) -> Result<Transfer, Error> {
    let Step { service, tx, now } = *step;
    if of.sending == Some(SendingState::Running) {
        let message = "a command is sending it now; wait until it has ended";
        return Err(Refusal::for_param(RefusalCode::InvalidTransition, "action", message).into());
    }
    let action = request.action;
    if of.status.after_action(action).is_some() {
        of.check_action(action)?;
    }
    if matches!(action, TransferAction::Reject | TransferAction::Cancel) {
        check_was_not_sent(tx, now, of)?;
    }
    let transition = match action {
        TransferAction::Pay => {
            return attach_entered_transaction(step, by, of, request);
        }
        TransferAction::Detach => return detach_transaction(step, by, of),
        TransferAction::Dismiss => return dismiss_proposal(step, by, of, &request),
        TransferAction::Resolve | TransferAction::Adjust => {
            return end_review(step, by, of, &request);
        }
        TransferAction::Chain => return simulate_transaction(step, by, of, &request),
        // The action is checked before the inputs of the step, so that an impossible step does not ask for
        // missing inputs.
        _ if of.status.after_action(action).is_none() => {
            return Err(invalid_step(of.kind, of.status, action).into());
        }
        TransferAction::Approve | TransferAction::Reassign => approval_step(step, of, &request)?,
        TransferAction::Process => TransferStep::Process(None),
        TransferAction::Fail => {
            service.check_may_fail(tx, now, of, request.force)?;
            if let Some((txid, from @ TxidSource::Chain)) = of.transaction() {
                // It stays the transaction of the transfer, whatever fits the next one.
                record_entry(step, of, &txid, from)?;
            }
            TransferStep::Fail(request.reason)
        }
        TransferAction::Reject => TransferStep::Reject(request.reason),
        TransferAction::Cancel => TransferStep::Cancel(request.reason),
        TransferAction::Release => {
            service.check_may_release(tx, of, request.unverified)?;
            TransferStep::Release(sender_after_release(step, of, &request)?)
        }
    };
    apply_step(step, by, of, transition)
}

/// Attaches the transaction that a person enters.
///
/// Settles the transfer at once if its chain is simulated or the person gives a reason. The transfer is also
/// settled at once if there is no node and the person accepts an unverified transaction.
fn attach_entered_transaction(
    step: &Step<'_>,
    by: StepActor<'_>,
    of: &Transfer,
    request: TransferStepRequest,
) -> Result<Transfer, Error> {
    let Step { service, tx, now } = *step;
    let is_reopened = of.status == TransferStatus::Paid && is_payment_gone(tx, of)?;
    if of.status != TransferStatus::Processing && !is_reopened {
        return Err(invalid_step(of.kind, of.status, request.action).into());
    }
    let chain = of.asset.chain;
    if service.is_simulated(of.mode) {
        let made_up = || simulated_txid(chain, &id::new(now).to_string());
        let given = request.txid.as_deref().map(parse_txid).transpose()?;
        let by_person = request.reason.is_some();
        let settlement = Settlement {
            txid: Some(given.or_else(|| of.txid.clone()).unwrap_or_else(made_up)),
            by: if by_person { SettledBy::Person } else { SettledBy::Unchecked },
            reason: request.reason,
        };
        return settle_by_hand(step, by, of, settlement);
    }
    let given = request.txid.as_deref();
    let given = given.map(|text| parse_txid_on(chain, text)).transpose()?;
    let missing = || Refusal::field("txid", "must be given: the transaction that sent it");
    if request.reason.is_some() && !is_reopened {
        let settlement = Settlement { txid: given, by: SettledBy::Person, reason: request.reason };
        return settle_by_hand(step, by, of, settlement);
    }
    let given = given.ok_or_else(missing)?;
    if service.live.has_node(chain) {
        return enter_transaction(step, by, of, &given, TxidSource::Person);
    }
    if !request.unverified {
        let problem = format!(
            "must be true: {chain} has no node, so the transaction cannot be checked, see --node"
        );
        return Err(Refusal::field("unverified", problem).into());
    }
    let settlement = Settlement { txid: Some(given), by: SettledBy::Unchecked, reason: None };
    settle_by_hand(step, by, of, settlement)
}

/// Settles a transfer without its chain.
fn settle_by_hand(
    step: &Step<'_>,
    by: StepActor<'_>,
    of: &Transfer,
    settlement: Settlement,
) -> Result<Transfer, Error> {
    let Step { tx, now, .. } = *step;
    if let Some(txid) = settlement.txid.as_deref().filter(|txid| of.txid.as_deref() != Some(*txid))
    {
        let (kind, source) = (TransferActKind::Entered, TxidSource::Person);
        transfer_acts::insert(tx, of.seq, kind, txid, source, now)?;
    }
    apply_step(step, by, of, TransferStep::Pay(settlement))
}

/// Returns `true` if the payment of a paid transfer is gone from its chain, and no person has decided on this loss yet.
fn is_payment_gone(db: &Reader<'_>, of: &Transfer) -> Result<bool, Error> {
    let reviews = transfer_reviews::of_transfer(db, of.seq)?;
    let mut open = reviews.iter().filter(|review| review.ended_at.is_none());
    Ok(open.any(|review| review.kind == ReviewKind::Gone))
}

/// Refuses to put back the amount of a transfer that may have been sent after the restored copy was made.
fn check_was_not_sent(db: &Reader<'_>, now: Time, of: &Transfer) -> Result<(), Error> {
    let hold = if of.released_at.is_some() { hold_of_transfer(db, now, of)? } else { None };
    match hold {
        Some(SendingHold::Decision(problem)) => {
            Err(Refusal::for_param(RefusalCode::InvalidTransition, "action", problem).into())
        }
        Some(SendingHold::Pause(_)) | None => Ok(()),
    }
}

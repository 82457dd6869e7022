//! Records what people and the signer do with the transactions of transfers: enter, detach, dismiss.

use super::loading::load_destination_of;
use super::save::insert_transaction;
use super::{StepActor, write_audit_entry};
use crate::domain::transfer::destination::checks::entry_problem;
use crate::domain::transfer::invalid_step;
use crate::domain::{
    EntryProblem, Refusal, RefusalCode, Transfer, TransferActKind, TransferAction, TransferStatus,
    TransferStepRequest, TxidSource,
};
use crate::service::transfers::destination::settle_destination_of;
use crate::service::{Error, Step};
use crate::store::{transfer_acts, transfer_proposals, transfers};
use serde_json::json;

const ALL_PROPOSALS: &str = "all";

/// Enters the transaction that sends a transfer, in place of its previous transaction, if any.
///
/// # Errors
///
/// `invalid_transition` if a person enters a transaction whose known outputs to the destination all count for other
/// transfers, or that was in a block before the request.
pub(in crate::service) fn enter_transaction(
    step: &Step<'_>,
    by: StepActor<'_>,
    of: &Transfer,
    txid: &str,
    from: TxidSource,
) -> Result<Transfer, Error> {
    let Step { tx, now, .. } = *step;
    if from == TxidSource::Person {
        check_entry(step, of, txid)?;
    }
    record_entry(step, of, txid, from)?;
    let mut after = of.clone();
    after.set_transaction(Some((txid.to_owned(), from)));
    after.clear_sending();
    transfers::update(tx, &after, of.status)?;
    let detail = json!({ "transaction": txid, "from": from, "before": of.txid });
    write_audit_entry(tx, now, by.actor_name(), "attach", &after, &detail)?;
    settle_destination_of(step, of)
}

/// Detaches the transaction of a transfer in status `processing`.
pub(super) fn detach_transaction(
    step: &Step<'_>,
    by: StepActor<'_>,
    of: &Transfer,
) -> Result<Transfer, Error> {
    let Step { tx, now, .. } = *step;
    let Some((txid, from)) = of.transaction() else {
        let message = format!("no transaction is attached to this {}", of.kind);
        return Err(Refusal::for_param(RefusalCode::InvalidTransition, "action", message).into());
    };
    if of.status != TransferStatus::Processing {
        return Err(invalid_step(of.kind, of.status, TransferAction::Detach).into());
    }
    let mut after = of.clone();
    after.set_transaction(None);
    transfers::update(tx, &after, of.status)?;
    // The entered transaction may have been replaced by the one that is shown.
    let acts = transfer_acts::of_transfer(tx, of.seq)?;
    let entered = acts.iter().rev().find(|act| act.kind == TransferActKind::Entered);
    let entered = entered.filter(|_| from != TxidSource::Chain).map(|act| act.txid.as_str());
    let kind = TransferActKind::Detached;
    for removed in std::iter::once(txid.as_str()).chain(entered.filter(|of| *of != txid)) {
        transfer_acts::insert(tx, of.seq, kind, removed, TxidSource::Person, now)?;
    }
    let detail = json!({ "transaction": txid });
    write_audit_entry(tx, now, by.actor_name(), "detach", &after, &detail)?;
    settle_destination_of(step, of)
}

/// Dismisses a transaction that was proposed for a transfer, or all of them.
pub(super) fn dismiss_proposal(
    step: &Step<'_>,
    by: StepActor<'_>,
    of: &Transfer,
    request: &TransferStepRequest,
) -> Result<Transfer, Error> {
    let Step { tx, now, .. } = *step;
    let wanted = request.txid.as_deref().unwrap_or_default();
    let canonical = of.asset.chain.canonical_txid(wanted);
    let proposed = transfer_proposals::of_transfer(tx, of.seq)?.into_iter();
    let mut dismissed: Vec<String> = proposed.map(|one| one.txid).collect();
    dismissed.retain(|txid| wanted == ALL_PROPOSALS || *txid == canonical);
    dismissed.sort_unstable();
    dismissed.dedup();
    if dismissed.is_empty() {
        let problem = "must be the transaction of a proposal of this transfer, or \"all\"";
        return Err(Refusal::field("txid", problem).into());
    }
    let (kind, source) = (TransferActKind::Dismissed, TxidSource::Person);
    for txid in &dismissed {
        transfer_acts::insert(tx, of.seq, kind, txid, source, now)?;
    }
    let detail = json!({ "transactions": dismissed });
    write_audit_entry(tx, now, by.actor_name(), "dismiss", of, &detail)?;
    transfers::notify_transfer_change(tx, of);
    settle_destination_of(step, of)
}

/// Records that a transaction was entered, and starts to ask nodes about it.
pub(super) fn record_entry(
    step: &Step<'_>,
    of: &Transfer,
    txid: &str,
    from: TxidSource,
) -> Result<(), Error> {
    let Step { tx, now, .. } = *step;
    transfer_acts::insert(tx, of.seq, TransferActKind::Entered, txid, from, now)?;
    insert_transaction(step, &load_destination_of(tx, now, of)?, txid)
}

/// Refuses a transaction that cannot have sent a transfer.
fn check_entry(step: &Step<'_>, of: &Transfer, txid: &str) -> Result<(), Error> {
    let Step { tx, now, .. } = *step;
    let mut loaded = load_destination_of(tx, now, of)?;
    loaded.add_frozen_outputs(tx, txid)?;
    let message = match entry_problem(&loaded.facts, of.seq, txid, now) {
        None => return Ok(()),
        Some(EntryProblem::Taken) => format!(
            "transaction {txid} has no output to {} that does not count for another transfer. Enter the transaction that sent \
             this one",
            of.to_address
        ),
        Some(EntryProblem::BeforeRequest) => format!(
            "transaction {txid} was in a block before this {} was requested. Enter the transaction that sent it, or give a \
             reason to mark it as paid",
            of.kind
        ),
    };
    Err(Refusal::for_param(RefusalCode::InvalidTransition, "txid", message).into())
}

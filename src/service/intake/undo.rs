//! Undoes the decision of a person about an unmatched payment.
//!
//! Invariant: a return or a dismissal can always be undone. An assignment can be undone until the payment is
//! confirmed, because ledger entries and events then depend on the assignment. After the undo, the payment is open
//! again.

use crate::domain::{
    AuditedAction, ObservationOwner, Refusal, RefusalCode, UnmatchedPayment, UnmatchedResolution,
};
use crate::service::settle::{SettleCause, settle_invoice};
use crate::service::{Error, Json, Step, audit_log};
use crate::store::{deposits, invoices, observation_owners, payments, quotes, unmatched_payments};
use serde_json::{Value, json};

/// Undoes the outcome of an unmatched payment.
///
/// # Errors
///
/// `not_found`. `invalid_transition` if the payment has no outcome, or if it was assigned and has been confirmed.
pub fn undo_outcome(step: &Step<'_>, actor: &str, id: &str) -> Result<Json, Error> {
    let Step { service, tx, now } = *step;
    let gone = || Refusal::not_found("unmatched payment");
    let unmatched = unmatched_payments::by_id(tx, id)?.ok_or_else(gone)?;
    let (account, from) = match unmatched.outcome {
        None => return Err(invalid_transition("it has no outcome that could be undone")),
        Some(UnmatchedResolution::Assigned) => remove_assigned_payment(step, &unmatched)?,
        Some(UnmatchedResolution::Returned | UnmatchedResolution::Dismissed) => (None, Value::Null),
    };
    unmatched_payments::reopen(tx, unmatched.seq)?;
    let detail = json!({
        "outcome": unmatched.outcome, "note": unmatched.note, "returnTxid": unmatched.return_txid, "from": from,
    });
    let action = AuditedAction::Undo.as_str();
    audit_log::record(tx, now, actor, action, account, Some(id), &detail)?;
    let reopened = unmatched_payments::by_id(tx, id)?.ok_or_else(gone)?;
    service.unmatched_payment(tx, now, &reopened)
}

/// Removes the payment or deposit that an assignment created. Returns its account and the detail for the audit
/// log.
fn remove_assigned_payment(
    step: &Step<'_>,
    unmatched: &UnmatchedPayment,
) -> Result<(Option<i64>, Value), Error> {
    let Step { tx, now, .. } = *step;
    match observation_owners::of_observation(tx, unmatched.observation)? {
        ObservationOwner::Payment(both) => {
            let (invoice, payment) = *both;
            if payment.was_confirmed {
                return Err(already_booked_error("the payment"));
            }
            payments::remove(tx, &payment)?;
            quotes::remove_unused(tx, payment.quote)?;
            let detail = json!({ "invoice": invoice.id, "payment": payment.id });
            let account = invoice.account;
            invoices::mark_assignment_undone(tx, invoice.seq, now)?;
            settle_invoice(step, invoice, SettleCause::Other)?;
            Ok((Some(account), detail))
        }
        ObservationOwner::Deposit(deposit) => {
            if deposit.was_confirmed {
                return Err(already_booked_error("the deposit"));
            }
            deposits::remove(tx, &deposit)?;
            let detail = json!({ "customer": deposit.customer_ref, "deposit": deposit.id });
            Ok((Some(deposit.account), detail))
        }
        ObservationOwner::Own(_)
        | ObservationOwner::Unmatched(_)
        | ObservationOwner::Destination(_) => {
            Err(Error::Failed(format!("unmatched payment {} was given to nobody", unmatched.id)))
        }
    }
}

fn already_booked_error(what: &str) -> Error {
    invalid_transition(&format!(
        "{what} that it has become has been confirmed: it is booked, and the merchant has been told; \
         an adjustment of the account's balance corrects what it booked"
    ))
}

fn invalid_transition(message: &str) -> Error {
    Refusal::new(RefusalCode::InvalidTransition, message).into()
}

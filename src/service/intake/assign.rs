//! Assigns an unmatched payment to an invoice or a customer that a person names.
//!
//! Invariant: the observation does not change. Its owner changes in one transaction with an entry in the audit log.
//! After the assignment, the payment is treated like any other payment or deposit.

use crate::domain::quote::coin_unavailable;
use crate::domain::{
    AuditedAction, ObservationOwner, PaymentState, Refusal, RefusalCode, StoredObservation, Time,
    UnmatchedPayment, UnmatchedResolution, id,
};
use crate::render::unmatched::assignment;
use crate::service::intake::deposit::{book_deposit, insert_seen_deposit};
use crate::service::intake::payment::{book_payment, record_payment};
use crate::service::quotes::quote_unrequested_coin;
use crate::service::settle::{SettleCause, settle_invoice};
use crate::service::{Error, Json, Step, audit_log};
use crate::store::{Tx, accounts, customers, invoices, observations, unmatched_payments};
use serde_json::json;

/// Recipient of the payment.
#[derive(Clone, Debug)]
pub enum Assignee {
    /// An invoice, by its ID.
    Invoice(String),
    /// A customer, by the account's ID and the merchant's reference.
    Customer(String, String),
}

struct Assignment {
    account: i64,
    owned: ObservationOwner,
}

/// Turns an unmatched payment into a payment of an invoice or a deposit of a customer. The payment keeps its
/// time, and is booked if it is confirmed.
///
/// # Errors
///
/// `not_found` if the recipient does not exist or has another mode than the payment. `invalid_transition` if the
/// payment is gone from its chain or already has an outcome. `invalid_request` if the payment is worth too little
/// or too much. `coin_unavailable` if the invoice has no quote of the coin and can get none, or if the coin has
/// no rate.
pub fn assign_unmatched_payment(
    step: &Step<'_>,
    actor: &str,
    id: &str,
    to: &Assignee,
) -> Result<Json, Error> {
    let Step { tx, now, .. } = *step;
    let gone = || Refusal::not_found("unmatched payment");
    let unmatched = unmatched_payments::by_id(tx, id)?.ok_or_else(gone)?;
    if unmatched.state == PaymentState::Dropped {
        let message = "its transaction disappeared from its chain, so it cannot be assigned";
        return Err(Refusal::new(RefusalCode::InvalidTransition, message).into());
    }
    if let Some(outcome) = unmatched.outcome {
        let message = format!("it has been {outcome}: undo that first");
        return Err(Refusal::new(RefusalCode::InvalidTransition, message).into());
    }
    let observed = observations::by_seq(tx, unmatched.observation)?;
    let assigned = UnmatchedResolution::Assigned;
    unmatched_payments::resolve(tx, unmatched.seq, assigned, None, None, now)?;
    let assigned = match to {
        Assignee::Invoice(invoice) => assign_to_invoice(step, &observed, invoice),
        Assignee::Customer(account, reference) => {
            assign_to_customer(step, &observed, account, reference)
        }
    };
    let assigned = assigned.map_err(|error| with_recipient_field(to, error))?;
    write_audit_entry(tx, now, actor, &unmatched, &assigned)?;
    let (payment, deposit) = match &assigned.owned {
        ObservationOwner::Payment(both) => (Some(&both.1.id), None),
        ObservationOwner::Deposit(deposit) => (None, Some(&deposit.id)),
        ObservationOwner::Own(_)
        | ObservationOwner::Unmatched(_)
        | ObservationOwner::Destination(_) => (None, None),
    };
    Ok(assignment(&unmatched, payment, deposit)?)
}

/// Assigns the payment to an invoice of the same mode.
fn assign_to_invoice(
    step: &Step<'_>,
    observed: &StoredObservation,
    invoice: &str,
) -> Result<Assignment, Error> {
    let Step { tx, .. } = *step;
    let seen = &observed.seen;
    let found = id::parse(invoice).map(|id| invoices::by_id(tx, &id));
    let found = found.transpose()?.flatten();
    let mut invoice = found
        .filter(|invoice| invoice.mode == seen.mode)
        .ok_or_else(|| Refusal::not_found("invoice"))?;
    let account = invoice.account;
    let quote = quote_unrequested_coin(step, &mut invoice, seen.asset, &seen.address)?;
    let recorded = record_payment(step, &invoice, &quote, observed.seq, seen, None)?;
    let payment = recorded
        .map_err(|_| Refusal::field("invoice", "takes no payment that is worth less than 0.01"))?;
    let owned = if observed.state == PaymentState::Confirmed {
        let (invoice, payment, _) = book_payment(step, invoice, payment, observed.state)?;
        (invoice, payment)
    } else {
        (settle_invoice(step, invoice, SettleCause::Other)?, payment)
    };
    let owned = ObservationOwner::Payment(Box::new(owned));
    Ok(Assignment { account, owned })
}

/// Assigns the payment to a customer of an account, in the same mode.
fn assign_to_customer(
    step: &Step<'_>,
    observed: &StoredObservation,
    account: &str,
    reference: &str,
) -> Result<Assignment, Error> {
    let Step { tx, .. } = *step;
    let seen = &observed.seen;
    let found = id::parse(account).map(|id| accounts::by_id(tx, &id));
    let found = found.transpose()?.flatten();
    let account = found.ok_or_else(|| Refusal::not_found("account"))?;
    let customer = customers::by_ref(tx, account.seq, seen.mode, reference)?
        .ok_or_else(|| Refusal::not_found("customer"))?;
    if seen.asset.chain.row().customer_family.is_none() {
        let problem =
            format!("cannot receive {}: customers have no address on its chain", seen.asset.id);
        return Err(Refusal::field("customer", problem).into());
    }
    let deposit = insert_seen_deposit(step, &customer, observed.seq, seen, None)?;
    let no_rate = |_| coin_unavailable(format!("{} has no rate", seen.asset.id));
    let deposit = deposit.map_err(no_rate)?;
    let owned = if observed.state == PaymentState::Confirmed {
        let confirmed = PaymentState::Confirmed;
        book_deposit(step, deposit, confirmed, observed.confirmed_at)?
    } else {
        ObservationOwner::Deposit(Box::new(deposit))
    };
    Ok(Assignment { account: account.seq, owned })
}

/// Names the request field `invoice` or `customer` in a refusal about the amount or the coin.
fn with_recipient_field(to: &Assignee, error: Error) -> Error {
    let name = match to {
        Assignee::Invoice(_) => "invoice",
        Assignee::Customer(..) => "customer",
    };
    match error {
        Error::Refused(refusal) if refusal.param.as_deref() == Some("amount") => {
            let problem = "takes no payment that is worth more than can be booked";
            Refusal::field(name, problem).into()
        }
        Error::Refused(refusal) if refusal.code == RefusalCode::CoinUnavailable => {
            Refusal::for_param(RefusalCode::CoinUnavailable, name, refusal.message).into()
        }
        Error::Refused(_) | Error::Failed(_) => error,
    }
}

fn write_audit_entry(
    tx: &Tx<'_>,
    now: Time,
    actor: &str,
    unmatched: &UnmatchedPayment,
    assigned: &Assignment,
) -> Result<(), Error> {
    let (id, kind, of) = match &assigned.owned {
        ObservationOwner::Payment(both) => (&both.1.id, "invoice", &both.0.id),
        ObservationOwner::Deposit(deposit) => (&deposit.id, "customer", &deposit.customer_ref),
        ObservationOwner::Own(_)
        | ObservationOwner::Unmatched(_)
        | ObservationOwner::Destination(_) => {
            return Err(Error::Failed("it was not assigned".to_owned()));
        }
    };
    let detail = json!({
        "unmatchedPayment": unmatched.id, "reason": unmatched.reason, "chain": unmatched.asset.chain, "txid": unmatched.txid, "position": unmatched.position, "to": { (kind): of },
    });
    let account = Some(assigned.account);
    let action = AuditedAction::Assign.as_str();
    audit_log::record(tx, now, actor, action, account, Some(id), &detail)
}

//! Undoing what a person made of a payment that matched nothing.
//!
//! What does not live here: giving it to somebody (`assign`). What always holds: what was paid back or dismissed can be undone
//! always; what was given to somebody until it has once been confirmed, as the ledger, the events and perhaps refunds and
//! payouts stand on it from then on. Afterwards the payment stands as it did before anybody looked at it.

use super::ObservationOwner;
use crate::domain::refusal::{Code, Refusal};
use crate::domain::time::Time;
use crate::domain::unmatched::{Resolution, Unmatched};
use crate::service::audit_log::{self, Entry};
use crate::service::settle::Cause;
use crate::service::{Error, Json, Service};
use crate::store::{Tx, deposits, payments, quotes, unmatched_payments};
use serde_json::{Value, json};

impl Service {
    /// Undoes what a person made of a payment that matched nothing.
    ///
    /// # Errors
    /// `not_found`; `invalid_transition` where nobody has made anything of it, or where other things stand on it: it was given
    /// to somebody and has been confirmed.
    pub fn undo_unmatched(
        &self,
        tx: &Tx<'_>,
        now: Time,
        actor: &str,
        id: &str,
    ) -> Result<Json, Error> {
        let gone = || Refusal::not_found("unmatched payment");
        let unmatched = unmatched_payments::by_id(tx, id)?.ok_or_else(gone)?;
        let (account, from) = match unmatched.outcome {
            None => return Err(refused("nothing has come of it that could be undone")),
            Some(Resolution::Assigned) => self.take_away(tx, now, &unmatched)?,
            Some(Resolution::Returned | Resolution::Dismissed) => (None, Value::Null),
        };
        unmatched_payments::reopen(tx, unmatched.seq)?;
        let detail = json!({
            "outcome": unmatched.outcome, "note": unmatched.note, "returnTxid": unmatched.return_txid, "from": from,
        });
        let noted = Entry {
            action: "unmatched_payment.undo",
            account,
            object: Some(id),
            detail: &detail,
        };
        audit_log::record(tx, now, actor, &noted)?;
        let reopened = unmatched_payments::by_id(tx, id)?.ok_or_else(gone)?;
        self.unmatched_shown(tx, now, &reopened)
    }

    /// Takes it from whom it was given to; the account, and who that was.
    fn take_away(
        &self,
        tx: &Tx<'_>,
        now: Time,
        unmatched: &Unmatched,
    ) -> Result<(Option<i64>, Value), Error> {
        match super::owner_of(tx, unmatched.observation)? {
            ObservationOwner::Payment(both) => {
                let (invoice, payment) = *both;
                if payment.was_confirmed {
                    return Err(booked("the payment"));
                }
                payments::remove(tx, &payment)?;
                quotes::remove_unused(tx, payment.quote)?;
                let detail = json!({ "invoice": invoice.id, "payment": payment.id });
                let account = invoice.account;
                self.settle(tx, now, invoice, Cause::Other)?;
                Ok((Some(account), detail))
            }
            ObservationOwner::Deposit(deposit) => {
                if deposit.was_confirmed {
                    return Err(booked("the deposit"));
                }
                deposits::remove(tx, &deposit)?;
                let detail = json!({ "customer": deposit.customer_ref, "deposit": deposit.id });
                Ok((Some(deposit.account), detail))
            }
            ObservationOwner::Own(_)
            | ObservationOwner::Unmatched(_)
            | ObservationOwner::Sent(_) => Err(Error::Failed(format!(
                "unmatched payment {} was given to nobody",
                unmatched.id
            ))),
        }
    }
}

/// 409: other things stand on it.
fn booked(what: &str) -> Error {
    refused(&format!(
        "{what} that it has become has been confirmed: it is booked, and the merchant has been told; \
         an adjustment of the account's balance corrects what it booked"
    ))
}

/// 409 `invalid_transition`.
fn refused(message: &str) -> Error {
    Refusal::new(Code::InvalidTransition, message).into()
}

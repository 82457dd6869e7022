//! The table `invoice_steps`: the history of an invoice, in order.
//!
//! Invariant: no row is changed. A row is deleted only if it is an earlier pick of a coin that is picked again before
//! anything else happens, so that an invoice has no more such rows than coins, or if an assigned payment is
//! unassigned.

use super::statement::{commands, rows};
use super::{StoreError, Tx};
use crate::domain::payment::PaymentState;
use crate::domain::status::InvoiceStatus;
use crate::domain::time::Time;
use crate::domain::timeline::{InvoiceChange, InvoiceStep};
use rusqlite::types::FromSqlError;

rows! {
    fn read(at, quote: Option<i64>, payment: Option<i64>, state: Option<PaymentState>, status: Option<InvoiceStatus>) -> InvoiceStep {
        let change = match (quote, payment.zip(state), status) {
            (Some(quote), ..) => InvoiceChange::Picked(quote),
            (None, Some((payment, state)), _) => InvoiceChange::Payment(payment, state),
            (None, None, Some(status)) => InvoiceChange::Status(status),
            (None, None, None) => return Err(FromSqlError::InvalidType.into()),
        };
        Ok(InvoiceStep { at, change })
    }

    /// Returns the history of an invoice, oldest first.
    pub fn of_invoice(db, invoice: i64) -> Vec<InvoiceStep> =
        select "from invoice_steps where invoice = :invoice order by seq";
}

commands! {
    /// Notes that a payment of an invoice came to a state.
    pub(super) fn payment(tx, invoice: i64, payment: i64, state: PaymentState, at: Time) =
        insert into invoice_steps { invoice, at, payment, state };

    /// Deletes the pick of a quote if only picks have happened since.
    fn remove_pick(tx, invoice: i64, quote: i64) =
        "delete from invoice_steps where invoice = :invoice and quote = :quote \
            and seq > ifnull((select max(seq) from invoice_steps where invoice = :invoice and quote is null), 0)";

    /// Notes the first pick of a coin, whose quote is new.
    pub fn picked_first(tx, invoice: i64, quote: i64, at: Time) = insert into invoice_steps { invoice, at, quote };

    /// Deletes the steps of a payment that is unassigned.
    pub(super) fn remove_payment(tx, payment: i64) = "delete from invoice_steps where payment = :payment";

    /// Deletes the steps of a quote that was made for an assigned payment.
    pub(super) fn remove_quote(tx, quote: i64) = "delete from invoice_steps where quote = :quote";

    /// Notes a new status.
    pub fn status(tx, invoice: i64, status: InvoiceStatus, at: Time) =
        insert into invoice_steps { invoice, at, status };
}

/// Notes the pick of a coin, in place of an earlier pick if only picks have happened since.
pub fn picked(tx: &Tx<'_>, invoice: i64, quote: i64, now: Time) -> Result<(), StoreError> {
    remove_pick(tx, invoice, quote)?;
    picked_first(tx, invoice, quote, now)
}

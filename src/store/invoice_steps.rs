//! The table `invoice_steps`: the history of an invoice, in order.
//!
//! Invariant: no row is changed, and a row is deleted in two cases only. If a coin is selected a second time, and all
//! steps since its first selection are selections, the first one is deleted. If the assignment of a payment is undone,
//! the steps of the payment and of its quote are deleted.

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
    /// Records that a payment of an invoice changed its state.
    pub(super) fn insert_payment_state(tx, invoice: i64, payment: i64, state: PaymentState, at: Time) =
        insert into invoice_steps { invoice, at, payment, state };

    /// Deletes the pick of a quote if only other picks were recorded after it.
    fn remove_pick(tx, invoice: i64, quote: i64) =
        "delete from invoice_steps where invoice = :invoice and quote = :quote \
            and seq > ifnull((select max(seq) from invoice_steps where invoice = :invoice and quote is null), 0)";

    /// Records the first pick of a coin, with its new quote.
    pub fn insert_pick(tx, invoice: i64, quote: i64, at: Time) = insert into invoice_steps { invoice, at, quote };

    /// Deletes the steps of a payment whose assignment was undone.
    pub(super) fn remove_of_payment(tx, payment: i64) = "delete from invoice_steps where payment = :payment";

    /// Deletes the steps of a quote that was made for an assigned payment.
    pub(super) fn remove_of_quote(tx, quote: i64) = "delete from invoice_steps where quote = :quote";

    /// Records a new status of an invoice.
    pub fn insert_status(tx, invoice: i64, status: InvoiceStatus, at: Time) =
        insert into invoice_steps { invoice, at, status };
}

/// Records the pick of a coin. Deletes an earlier pick of the coin if only other picks were recorded after it.
pub fn replace_pick(tx: &Tx<'_>, invoice: i64, quote: i64, now: Time) -> Result<(), StoreError> {
    remove_pick(tx, invoice, quote)?;
    insert_pick(tx, invoice, quote, now)
}

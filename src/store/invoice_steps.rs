//! The table `invoice_steps`: the history of an invoice, in order.
//!
//! Invariant: no row is changed, and a row is deleted in two cases only. If a coin is selected a second time, and all
//! steps since its first selection are selections, the first one is deleted. If the assignment of a payment is undone,
//! the steps of the payment and of its quote are deleted.

use super::statement::statements;
use super::{StoreError, Tx};
use crate::domain::{InvoiceChange, InvoiceStatus, InvoiceStep, PaymentState, Time};
use rusqlite::types::FromSqlError;

statements! {
    row read(at, quote: Option<i64>, payment: Option<i64>, state: Option<PaymentState>, status: Option<InvoiceStatus>) -> InvoiceStep {
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
        select "from invoice_steps where invoice = :invoice order by step";

    fn insert_row(
        tx, invoice: i64, at: Time, quote: Option<i64>, payment: Option<i64>, state: Option<PaymentState>,
        status: Option<InvoiceStatus>
    ) = "insert into invoice_steps (invoice, step, at, quote, payment, state, status) \
        values (:invoice, ifnull((select max(step) from invoice_steps where invoice = :invoice), 0) + 1, \
            :at, :quote, :payment, :state, :status)";

    /// Deletes the selection of a quote if only other selections were recorded after it.
    fn remove_pick(tx, invoice: i64, quote: i64) =
        "delete from invoice_steps where invoice = :invoice and quote = :quote \
            and step > ifnull((select max(step) from invoice_steps where invoice = :invoice and quote is null), 0)";

    /// Deletes the steps of a payment whose assignment was undone.
    pub(super) fn remove_of_payment(tx, invoice: i64, payment: i64) =
        "delete from invoice_steps where invoice = :invoice and payment = :payment";

    /// Deletes the steps of a quote that was made for an assigned payment.
    pub(super) fn remove_of_quote(tx, quote: i64) =
        "delete from invoice_steps where invoice = (select invoice from quotes where seq = :quote) and quote = :quote";
}

/// Records a change of an invoice.
pub fn insert(
    tx: &Tx<'_>,
    invoice: i64,
    at: Time,
    change: InvoiceChange,
) -> Result<(), StoreError> {
    let (mut quote, mut payment, mut state, mut status) = (None, None, None, None);
    match change {
        InvoiceChange::Picked(seq) => quote = Some(seq),
        InvoiceChange::Payment(seq, entered) => (payment, state) = (Some(seq), Some(entered)),
        InvoiceChange::Status(entered) => status = Some(entered),
    }
    insert_row(tx, invoice, at, quote, payment, state, status)
}

/// Records the selection of a coin. Deletes an earlier selection of the coin if only other selections were recorded
/// after it.
pub fn replace_pick(tx: &Tx<'_>, invoice: i64, quote: i64, now: Time) -> Result<(), StoreError> {
    remove_pick(tx, invoice, quote)?;
    insert(tx, invoice, now, InvoiceChange::Picked(quote))
}

//! The table `invoice_steps`: what happened to an invoice, in order.
//!
//! What always holds: no row is changed, and only two kinds of row are removed: a coin's earlier pick, when the
//! customer picks that coin again before anything else happens, so that a customer who keeps picking adds no more rows
//! than there are coins; and what a person gave to the invoice, when that is undone.

use super::statement::{commands, rows};
use super::{StoreError, Tx};
use crate::domain::payment::PaymentState;
use crate::domain::status::InvoiceStatus;
use crate::domain::time::Time;
use crate::domain::timeline::{InvoiceChange, InvoiceStep};
use rusqlite::named_params;
use rusqlite::types::FromSqlError;

rows! {
    fn read(
        at, quote: Option<i64>, payment: Option<i64>, state: Option<PaymentState>, status: Option<InvoiceStatus>,
    ) -> InvoiceStep {
        let change = match (quote, payment.zip(state), status) {
            (Some(quote), ..) => InvoiceChange::Picked(quote),
            (None, Some((payment, state)), _) => InvoiceChange::Payment(payment, state),
            (None, None, Some(status)) => InvoiceChange::Status(status),
            (None, None, None) => return Err(FromSqlError::InvalidType.into()),
        };
        Ok(InvoiceStep { at, change })
    }

    /// What happened to an invoice, oldest first.
    pub fn of_invoice(db, invoice: i64) -> Vec<InvoiceStep> =
        select "from invoice_steps where invoice = :invoice order by seq";
}

commands! {
    PAYMENT = "insert into invoice_steps (invoice, at, payment, state) values (:invoice, :at, :payment, :state)";

    /// The pick of a quote, where only picks have happened since.
    PICKED_BEFORE = "delete from invoice_steps where invoice = :invoice and quote = :quote \
        and seq > ifnull((select max(seq) from invoice_steps where invoice = :invoice and quote is null), 0)";

    /// A coin was picked that never was before: its quote is new.
    pub fn picked_first(tx, invoice: i64, quote: i64, now: Time) = insert into invoice_steps {
        invoice, at: now, quote,
    };

    /// Forgets a payment that was given to its invoice, as that is undone.
    pub(super) fn remove_payment(tx, payment: i64) = "delete from invoice_steps where payment = :payment";

    /// Forgets a quote that was made for such a payment.
    pub(super) fn remove_quote(tx, quote: i64) = "delete from invoice_steps where quote = :quote";

    /// The status changed.
    pub fn status(tx, invoice: i64, status: InvoiceStatus, now: Time) = insert into invoice_steps {
        invoice, at: now, status,
    };
}

/// A payment of an invoice came into a state.
pub(super) fn payment(
    tx: &Tx<'_>,
    (invoice, payment): (i64, i64),
    state: PaymentState,
    now: Time,
) -> Result<(), StoreError> {
    let params =
        named_params! { ":invoice": invoice, ":at": now, ":payment": payment, ":state": state };
    PAYMENT.run(tx, params)
}

/// A coin was picked. Where nothing but picks has happened since it was picked before, it was picked now only.
pub fn picked(tx: &Tx<'_>, invoice: i64, quote: i64, now: Time) -> Result<(), StoreError> {
    let before = named_params! { ":invoice": invoice, ":quote": quote };
    PICKED_BEFORE.run(tx, before)?;
    picked_first(tx, invoice, quote, now)
}

//! The table `invoice_steps`: what happened to an invoice, in its order.
//!
//! What always holds: nothing is changed, and nothing goes but a pick of a coin that was picked again before anything
//! else happened. So a customer who picks now this and now that adds no more rows than there are coins.

use super::row::Columns;
use super::{Reader, StoreError, Tx};
use crate::domain::payment::PaymentState;
use crate::domain::status::InvoiceStatus;
use crate::domain::time::Time;
use crate::domain::timeline::{Step, What};
use rusqlite::named_params;

/// A payment came into a state.
pub(super) fn payment(
    tx: &Tx<'_>,
    payment: i64,
    state: PaymentState,
    now: Time,
) -> Result<(), StoreError> {
    let params = named_params! { ":payment": payment, ":state": state, ":at": now };
    tx.run(include_str!("../../sql/invoice_steps/payment.sql"), params)
        .map(drop)
}

/// A coin was picked. Where nothing but picks has happened since it was picked before, it was picked now only.
pub fn picked(tx: &Tx<'_>, invoice: i64, quote: i64, now: Time) -> Result<(), StoreError> {
    let before = named_params! { ":invoice": invoice, ":quote": quote };
    tx.run(
        include_str!("../../sql/invoice_steps/picked_before.sql"),
        before,
    )?;
    let params = named_params! { ":invoice": invoice, ":quote": quote, ":at": now };
    tx.run(include_str!("../../sql/invoice_steps/picked.sql"), params)
        .map(drop)
}

/// The status changed.
pub fn status(
    tx: &Tx<'_>,
    invoice: i64,
    status: InvoiceStatus,
    now: Time,
) -> Result<(), StoreError> {
    let params = named_params! { ":invoice": invoice, ":status": status, ":at": now };
    tx.run(include_str!("../../sql/invoice_steps/status.sql"), params)
        .map(drop)
}

/// What happened to an invoice, oldest first.
pub fn of_invoice(db: &Reader<'_>, invoice: i64) -> Result<Vec<Step>, StoreError> {
    db.all(
        include_str!("../../sql/invoice_steps/of_invoice.sql"),
        named_params! { ":invoice": invoice },
        |row| {
            let mut next = Columns::of(row);
            let at = next.take()?;
            let quote: Option<i64> = next.take()?;
            let payment: Option<i64> = next.take()?;
            let state: Option<PaymentState> = next.take()?;
            let what = match (quote, payment.zip(state)) {
                (Some(quote), _) => What::Picked(quote),
                (None, Some((payment, state))) => What::Payment(payment, state),
                (None, None) => What::Status(next.take()?),
            };
            Ok(Step { at, what })
        },
    )
}

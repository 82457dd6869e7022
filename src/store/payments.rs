//! The table `payments`.
//!
//! What always holds: what a chain says of a payment stands in its observation, and is read from there.

use super::row::Columns;
use super::{Reader, StoreError, Tx, invoice_steps, observations};
use crate::domain::asset::Mode;
use crate::domain::money::{Cents, Currency};
use crate::domain::payment::{Payment, PaymentState};
use crate::domain::time::Time;
use rusqlite::{Row, named_params};

fn read(row: &Row<'_>) -> rusqlite::Result<Payment> {
    let mut next = Columns::of(row);
    Ok(Payment {
        seq: next.take()?,
        id: next.take()?,
        invoice: next.take()?,
        quote: next.take()?,
        observation: next.take()?,
        mode: next.take()?,
        asset: next.take()?,
        txid: next.take()?,
        position: next.take()?,
        amount: next.take()?,
        quoted: next.quoted()?,
        value: next.take()?,
        on_time: next.take()?,
        state: next.take()?,
        was_confirmed: next.take()?,
        seen_at: next.take()?,
        confirmed_at: next.take()?,
    })
}

/// Adds a payment that was just seen; its `seq`.
pub fn insert(tx: &Tx<'_>, payment: &Payment, now: Time) -> Result<i64, StoreError> {
    let params = named_params! {
        ":id": payment.id,
        ":invoice": payment.invoice,
        ":quote": payment.quote,
        ":observation": payment.observation,
        ":rate": payment.quoted.rate,
        ":rate_source": payment.quoted.source,
        ":rate_at": payment.quoted.at,
        ":value": payment.value,
        ":on_time": payment.on_time,
        ":seen_at": payment.seen_at,
        ":created_at": now,
    };
    let seq = tx.insert(include_str!("../../sql/payments/insert.sql"), params)?;
    invoice_steps::payment(tx, seq, PaymentState::Seen, now)?;
    Ok(seq)
}

/// Moves what was seen for a payment from one state to the next; it must still be in `before`.
pub fn update(
    tx: &Tx<'_>,
    payment: &Payment,
    state: PaymentState,
    now: Time,
) -> Result<(), StoreError> {
    observations::update(tx, payment.observation, payment.state, state, now)?;
    came_to(tx, payment, state, now)
}

/// Notes from when a payment counts that was never confirmed, whether it is in time, and what it is worth by that.
pub fn judge_again(tx: &Tx<'_>, payment: &Payment) -> Result<(), StoreError> {
    let params = named_params! {
        ":seq": payment.seq, ":seen_at": payment.seen_at, ":on_time": payment.on_time, ":rate": payment.quoted.rate,
        ":rate_source": payment.quoted.source, ":rate_at": payment.quoted.at, ":value": payment.value,
    };
    match tx.run(include_str!("../../sql/payments/judge_again.sql"), params)? {
        1 => Ok(()),
        _ => Err(StoreError::Failed(format!(
            "payment {} was confirmed before",
            payment.seq
        ))),
    }
}

/// Notes that a payment came to a state, in which what was seen for it is already.
pub fn came_to(
    tx: &Tx<'_>,
    payment: &Payment,
    state: PaymentState,
    now: Time,
) -> Result<(), StoreError> {
    if state == PaymentState::Confirmed && !payment.was_confirmed {
        let params = named_params! { ":seq": payment.seq };
        tx.run(include_str!("../../sql/payments/confirm.sql"), params)?;
    }
    invoice_steps::payment(tx, payment.seq, state, now)
}

/// The payments of an invoice, in the order they were recorded.
pub fn of_invoice(db: &Reader<'_>, invoice: i64) -> Result<Vec<Payment>, StoreError> {
    db.all(
        include_str!("../../sql/payments/of_invoice.sql"),
        named_params! { ":invoice": invoice },
        read,
    )
}

/// The payment with this id.
pub fn by_id(db: &Reader<'_>, id: &str) -> Result<Option<Payment>, StoreError> {
    db.first(
        include_str!("../../sql/payments/by_id.sql"),
        named_params! { ":id": id },
        read,
    )
}

/// The payment that an observation came to.
pub fn of_observation(db: &Reader<'_>, observation: i64) -> Result<Option<Payment>, StoreError> {
    db.first(
        include_str!("../../sql/payments/of_observation.sql"),
        named_params! { ":observation": observation },
        read,
    )
}

/// The values of payments seen and not confirmed, of an account's invoices in `detected`.
pub fn pending(
    db: &Reader<'_>,
    account: i64,
    mode: Mode,
) -> Result<Vec<(Currency, Cents)>, StoreError> {
    let params = named_params! { ":account": account, ":mode": mode };
    db.all(
        include_str!("../../sql/payments/pending.sql"),
        params,
        |row| {
            let mut next = Columns::of(row);
            Ok((next.take()?, next.take()?))
        },
    )
}

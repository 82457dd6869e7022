//! The table `payments`.

use super::row::Columns;
use super::{Reader, StoreError, Tx, invoice_steps};
use crate::domain::asset::{Chain, Mode};
use crate::domain::money::{Cents, Currency};
use crate::domain::payment::{Payment, PaymentState};
use crate::domain::time::Time;
use rusqlite::{Row, named_params};

/// Reads a row in the order of the table's columns.
fn read(row: &Row<'_>) -> rusqlite::Result<Payment> {
    let mut next = Columns::of(row);
    let (seq, id, invoice, quote, mode) = (
        next.take()?,
        next.take()?,
        next.take()?,
        next.take()?,
        next.take()?,
    );
    let _: Chain = next.take()?;
    Ok(Payment {
        seq,
        id,
        invoice,
        quote,
        mode,
        asset: next.take()?,
        txid: next.take()?,
        position: next.take()?,
        amount: next.take()?,
        rate: next.take()?,
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
        ":mode": payment.mode,
        ":chain": payment.asset.chain,
        ":asset": payment.asset.id,
        ":txid": payment.txid,
        ":position": payment.position,
        ":amount": payment.amount,
        ":rate": payment.rate,
        ":value": payment.value,
        ":on_time": payment.on_time,
        ":seen_at": payment.seen_at,
        ":created_at": now,
    };
    let seq = tx.insert(include_str!("../../sql/payments/insert.sql"), params)?;
    invoice_steps::payment(tx, seq, PaymentState::Seen, now)?;
    Ok(seq)
}

/// Moves a payment from one state to the next; it must still be in `before`.
pub fn update(
    tx: &Tx<'_>,
    seq: i64,
    before: PaymentState,
    state: PaymentState,
    now: Time,
) -> Result<(), StoreError> {
    let confirmed_at = (state == PaymentState::Confirmed).then_some(now);
    let params = named_params! { ":seq": seq, ":before": before, ":state": state, ":confirmed_at": confirmed_at };
    match tx.run(include_str!("../../sql/payments/update.sql"), params)? {
        1 => invoice_steps::payment(tx, seq, state, now),
        _ => Err(StoreError::Failed(format!("payment {seq} is not {before}"))),
    }
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

/// The payments that one transaction made, by position.
pub fn of_transaction(
    db: &Reader<'_>,
    mode: Mode,
    chain: Chain,
    txid: &str,
) -> Result<Vec<Payment>, StoreError> {
    let params = named_params! { ":mode": mode, ":chain": chain, ":txid": txid };
    db.all(
        include_str!("../../sql/payments/of_transaction.sql"),
        params,
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

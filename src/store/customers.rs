//! The table `customers`.

use super::row::Columns;
use super::{Reader, StoreError, Tx};
use crate::domain::asset::Mode;
use crate::domain::customer::Customer;
use crate::domain::time::Time;
use rusqlite::{Row, named_params};

fn read(row: &Row<'_>) -> rusqlite::Result<Customer> {
    let mut next = Columns::of(row);
    Ok(Customer {
        seq: next.take()?,
        account: next.take()?,
        mode: next.take()?,
        reference: next.take()?,
        created_at: next.take()?,
    })
}

/// Adds a customer.
pub fn insert(
    tx: &Tx<'_>,
    account: i64,
    mode: Mode,
    reference: &str,
    now: Time,
) -> Result<Customer, StoreError> {
    let params =
        named_params! { ":account": account, ":mode": mode, ":ref": reference, ":created_at": now };
    let seq = tx.insert(include_str!("../../sql/customers/insert.sql"), params)?;
    Ok(Customer {
        seq,
        account,
        mode,
        reference: reference.to_owned(),
        created_at: now,
    })
}

/// The account's customer with this reference.
pub fn by_ref(
    db: &Reader<'_>,
    account: i64,
    mode: Mode,
    reference: &str,
) -> Result<Option<Customer>, StoreError> {
    let params = named_params! { ":account": account, ":mode": mode, ":ref": reference };
    db.first(include_str!("../../sql/customers/by_ref.sql"), params, read)
}

/// The customer that another row refers to.
pub fn by_seq(db: &Reader<'_>, seq: i64) -> Result<Customer, StoreError> {
    let found = db.first(
        include_str!("../../sql/customers/by_seq.sql"),
        named_params! { ":seq": seq },
        read,
    )?;
    found.ok_or_else(|| StoreError::Failed(format!("customer {seq} is missing")))
}

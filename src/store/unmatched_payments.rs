//! The table `unmatched_payments`.

use super::row::Columns;
use super::{Reader, StoreError, Tx};
use crate::domain::time::Time;
use crate::domain::unmatched::{Unmatched, UnmatchedReason};
use rusqlite::{Row, named_params};

/// A payment that has just matched nothing.
pub struct NewUnmatched<'a> {
    /// The name outside the file.
    pub id: &'a str,
    /// What was seen, by its `seq`.
    pub observation: i64,
    /// Why it matched nothing.
    pub reason: UnmatchedReason,
    /// Whose address it is, where it is somebody's: the account, by its `seq`.
    pub account: Option<i64>,
    /// And the invoice, where it is one's.
    pub invoice: Option<i64>,
}

fn read(row: &Row<'_>) -> rusqlite::Result<Unmatched> {
    let mut next = Columns::of(row);
    Ok(Unmatched {
        seq: next.take()?,
        id: next.take()?,
        observation: next.take()?,
        state: next.take()?,
        mode: next.take()?,
        asset: next.take()?,
        txid: next.take()?,
        position: next.take()?,
        address: next.take()?,
        amount: next.take()?,
        reason: next.take()?,
        account_id: next.take()?,
        invoice_id: next.take()?,
        seen_at: next.take()?,
        resolved_at: next.take()?,
        note: next.take()?,
    })
}

/// Adds a payment that matched nothing.
pub fn insert(tx: &Tx<'_>, new: &NewUnmatched<'_>) -> Result<(), StoreError> {
    let params = named_params! {
        ":id": new.id,
        ":observation": new.observation,
        ":reason": new.reason,
        ":account": new.account,
        ":invoice": new.invoice,
    };
    let sql = include_str!("../../sql/unmatched_payments/insert.sql");
    tx.insert(sql, params).map(drop)
}

/// The payment with this id.
pub fn by_id(db: &Reader<'_>, id: &str) -> Result<Option<Unmatched>, StoreError> {
    db.first(
        include_str!("../../sql/unmatched_payments/by_id.sql"),
        named_params! { ":id": id },
        read,
    )
}

/// The payment that an observation came to, where it matched nothing.
pub fn of_observation(db: &Reader<'_>, observation: i64) -> Result<Option<Unmatched>, StoreError> {
    db.first(
        include_str!("../../sql/unmatched_payments/of_observation.sql"),
        named_params! { ":observation": observation },
        read,
    )
}

/// Those older than `before`, newest first; all, or only those nobody has looked at.
pub fn page(
    db: &Reader<'_>,
    only_open: bool,
    before: i64,
    limit: u32,
) -> Result<Vec<Unmatched>, StoreError> {
    let sql = if only_open {
        include_str!("../../sql/unmatched_payments/page_of_open.sql")
    } else {
        include_str!("../../sql/unmatched_payments/page.sql")
    };
    db.all(
        sql,
        named_params! { ":before": before, ":limit": limit },
        read,
    )
}

/// Notes what looking at it came to; when it was looked at first stays. False where there is no such payment.
pub fn resolve(tx: &Tx<'_>, id: &str, note: &str, now: Time) -> Result<bool, StoreError> {
    let changed = tx.run(
        include_str!("../../sql/unmatched_payments/resolve.sql"),
        named_params! { ":id": id, ":note": note, ":now": now },
    )?;
    Ok(changed == 1)
}

/// Removes a payment that has come to be somebody's.
pub fn remove(tx: &Tx<'_>, seq: i64) -> Result<(), StoreError> {
    let sql = include_str!("../../sql/unmatched_payments/remove.sql");
    tx.run(sql, named_params! { ":seq": seq }).map(drop)
}

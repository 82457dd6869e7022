//! Counts over several tables: what is open, what waits for a person, which endpoints fail.
//!
//! What does not live here: the rows themselves, which are each table's. What always holds: nothing is written, and
//! what has a mode is counted in one mode only.

use super::row::Columns;
use super::{Reader, StoreError};
use crate::domain::asset::Mode;
use crate::domain::status::InvoiceStatus;
use crate::domain::time::Time;
use crate::domain::transfer::{TransferKind, TransferStatus};
use rusqlite::{Params, Row, named_params};
use serde::Serialize;

/// An endpoint that has not taken what it was sent last.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FailingEndpoint {
    /// Its id.
    pub id: String,
    /// Where it is.
    pub url: String,
    /// When the first attempt failed after the last event that it took.
    pub failing_since: Time,
    /// How many attempts have failed since then.
    pub failed_attempts: i64,
    /// When the last of them began.
    pub last_attempt_at: Time,
    /// What that was answered with; nothing where there was no answer.
    pub last_status: Option<u16>,
    /// Why there was no answer; nothing where there was one.
    pub last_error: Option<String>,
}

/// How many invoices of an account wait for a payment, or for its confirmation, by status; those of none are left out.
pub fn open_invoices(
    db: &Reader<'_>,
    account: i64,
    mode: Mode,
) -> Result<Vec<(InvoiceStatus, i64)>, StoreError> {
    db.all(
        include_str!("../../sql/summary/open_invoices.sql"),
        named_params! { ":account": account, ":mode": mode },
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
}

/// How many invoices of an account were made since then, by status; those of none are left out.
pub fn recent_invoices(
    db: &Reader<'_>,
    account: i64,
    mode: Mode,
    since: Time,
) -> Result<Vec<(InvoiceStatus, i64)>, StoreError> {
    db.all(
        include_str!("../../sql/summary/recent_invoices.sql"),
        named_params! { ":account": account, ":mode": mode, ":since": since },
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
}

/// How many payouts or refunds are open, by status; of this account, or of all. Those of none are left out.
pub fn open_transfers(
    db: &Reader<'_>,
    account: Option<i64>,
    mode: Mode,
    kind: TransferKind,
) -> Result<Vec<(TransferStatus, i64)>, StoreError> {
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    match account {
        Some(account) => db.all(
            include_str!("../../sql/summary/open_transfers.sql"),
            named_params! { ":account": account, ":mode": mode, ":kind": kind },
            read,
        ),
        None => db.all(
            include_str!("../../sql/summary/open_transfers_of_all.sql"),
            named_params! { ":mode": mode, ":kind": kind },
            read,
        ),
    }
}

/// The endpoints of an account that fail, of those that are told of this mode, oldest first.
pub fn failing_endpoints(
    db: &Reader<'_>,
    account: i64,
    mode: Mode,
) -> Result<Vec<FailingEndpoint>, StoreError> {
    db.all(
        include_str!("../../sql/summary/failing_endpoints.sql"),
        named_params! { ":account": account, ":mode": mode },
        |row| {
            let mut next = Columns::of(row);
            Ok(FailingEndpoint {
                id: next.take()?,
                url: next.take()?,
                failing_since: next.take()?,
                failed_attempts: next.take()?,
                last_attempt_at: next.take()?,
                last_status: next.take()?,
                last_error: next.take()?,
            })
        },
    )
}

/// How many endpoints of all accounts fail, of those that are told of this mode.
pub fn count_failing_endpoints(db: &Reader<'_>, mode: Mode) -> Result<i64, StoreError> {
    let sql = include_str!("../../sql/summary/count_failing_endpoints.sql");
    count(db, sql, named_params! { ":mode": mode })
}

/// How many accounts wait for approval.
pub fn pending_accounts(db: &Reader<'_>) -> Result<i64, StoreError> {
    let sql = include_str!("../../sql/summary/pending_accounts.sql");
    count(db, sql, [])
}

/// Of how many payouts and refunds nobody knows whether they were sent.
pub fn unknown_transfers(db: &Reader<'_>, mode: Mode) -> Result<i64, StoreError> {
    let sql = include_str!("../../sql/summary/unknown_transfers.sql");
    count(db, sql, named_params! { ":mode": mode })
}

/// How many servers are to be made or to be removed, and nobody has begun.
pub fn waiting_servers(db: &Reader<'_>) -> Result<i64, StoreError> {
    let sql = include_str!("../../sql/summary/waiting_servers.sql");
    count(db, sql, [])
}

/// Of how many servers nobody knows whether they were made or removed.
pub fn unknown_servers(db: &Reader<'_>) -> Result<i64, StoreError> {
    let sql = include_str!("../../sql/summary/unknown_servers.sql");
    count(db, sql, [])
}

/// How many payments matched nothing and were not yet looked at.
pub fn unmatched_payments(db: &Reader<'_>, mode: Mode) -> Result<i64, StoreError> {
    let sql = include_str!("../../sql/summary/unmatched_payments.sql");
    count(db, sql, named_params! { ":mode": mode })
}

/// The one number that a statement answers.
fn count(db: &Reader<'_>, sql: &str, params: impl Params) -> Result<i64, StoreError> {
    Ok(db.first(sql, params, |row| row.get(0))?.unwrap_or(0))
}

//! The table `audit_log`: who did what. Rows are only added.

use super::row::Columns;
use super::{Reader, StoreError, Tx};
use crate::domain::time::Time;
use rusqlite::{Row, named_params};

/// Something that somebody did.
pub struct NewEntry<'a> {
    /// The user's email, or what else acted.
    pub actor: &'a str,
    /// What was done, like `account.approve`.
    pub action: &'a str,
    /// Whose account it concerns, where it is one's.
    pub account: Option<i64>,
    /// What it was done to.
    pub object_id: Option<&'a str>,
    /// JSON object without secrets.
    pub detail: &'a str,
}

/// Something that was done, as it was noted.
pub struct Entry {
    /// Order of insertion.
    pub seq: i64,
    /// When.
    pub at: Time,
    /// The user's email, or what else acted.
    pub actor: String,
    /// What was done.
    pub action: String,
    /// The id of the account it concerns, where it is one's.
    pub account: Option<String>,
    /// What it was done to.
    pub object_id: Option<String>,
    /// JSON object without secrets.
    pub detail: String,
}

fn read(row: &Row<'_>) -> rusqlite::Result<Entry> {
    let mut next = Columns::of(row);
    Ok(Entry {
        seq: next.take()?,
        at: next.take()?,
        actor: next.take()?,
        action: next.take()?,
        account: next.take()?,
        object_id: next.take()?,
        detail: next.take()?,
    })
}

/// What was done before the entry with this `seq`, newest first; only to this account where one is named.
pub fn page(
    db: &Reader<'_>,
    account: Option<i64>,
    before: i64,
    limit: u32,
) -> Result<Vec<Entry>, StoreError> {
    match account {
        Some(account) => db.all(
            include_str!("../../sql/audit_log/page_of_account.sql"),
            named_params! { ":account": account, ":before": before, ":limit": limit },
            read,
        ),
        None => db.all(
            include_str!("../../sql/audit_log/page.sql"),
            named_params! { ":before": before, ":limit": limit },
            read,
        ),
    }
}

/// Adds an entry.
pub fn insert(tx: &Tx<'_>, entry: &NewEntry<'_>, now: Time) -> Result<(), StoreError> {
    let params = named_params! {
        ":at": now,
        ":actor": entry.actor,
        ":action": entry.action,
        ":account": entry.account,
        ":object_id": entry.object_id,
        ":detail": entry.detail,
    };
    tx.run(include_str!("../../sql/audit_log/insert.sql"), params)
        .map(drop)
}

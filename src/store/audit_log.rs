//! The table `audit_log`: who did what. Rows are only added.

use super::{StoreError, Tx};
use crate::domain::time::Time;
use rusqlite::named_params;

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

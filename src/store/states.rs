//! Hashes of values whose changes are recorded in the audit log: accounts, keys, users, wallets, pools, payout
//! addresses, settings, and the terms of payouts and refunds.
//!
//! Invariant: a transaction that changes such a value adds the new hash to the audit log. The hash does not cover
//! fields that change by normal use. These are the last use of a key, the next index of a wallet and the owner of an
//! address.

mod pending;
mod values;

pub(super) use pending::PendingChanges;
pub use values::{ValueKind, ValueState, each_value, pool_counts_outside_ranges, pool_hash};

use super::audit_log::{self, NewAuditEntry};
use super::statement::statements;
use super::{Reader, StoreError};
use crate::domain::{AuditedAction, HashLink, Time};
use rusqlite::Connection;
use serde_json::{Map, Value};

statements! {
    /// Returns the newest time in the database file. Audit log entries that contain only hashes get this time.
    fn newest_time(conn) -> Option<(at: Time)> =
        "select max(last_tick_at, ifnull((select at from audit_log order by seq desc limit 1), 0), \
            ifnull((select created_at from accounts order by seq desc limit 1), 0)) as at from file";

    /// Passes every recorded hash to `each`, oldest first, with the name of its value. The hash is `None` if the value
    /// was removed.
    pub fn for_each_recorded_hash(db) -> each (name: String, link: Option<String>) =
        "select j.key as name, j.value as link \
            from audit_log l, json_each(l.states) j where l.states is not null order by l.seq";

    fn pool_ends(db) -> Vec<(pool: String, first: i64, last: i64)> =
        "select pool, min(seq) as first, max(seq) as last from pool_addresses group by pool order by pool";
}

/// Returns the name under which the audit log records an import of pool addresses. `first` and `last` are the `seq`
/// of the first and last imported address.
pub fn pool_import_name(pool: &str, first: i64, last: i64) -> String {
    format!("pool {pool} {first}-{last}")
}

/// Parses a [`pool_import_name`] into the pool and the `seq` of the first and last address.
pub fn parse_pool_import_name(name: &str) -> Option<(&str, i64, i64)> {
    let (pool, range) = name.strip_prefix("pool ")?.rsplit_once(' ')?;
    let (first, last) = range.split_once('-')?;
    Some((pool, first.parse().ok()?, last.parse().ok()?))
}

/// Inserts an audit log entry that contains only hashes.
pub(super) fn insert_hash_entry(
    conn: &Connection,
    actor: &str,
    states: &str,
) -> rusqlite::Result<()> {
    let entry = NewAuditEntry {
        actor,
        action: AuditedAction::Note.as_str(),
        account: None,
        object_id: None,
        detail: "{}",
    };
    let at = newest_time(conn)?.unwrap_or(Time(0));
    audit_log::insert_on_conn(conn, &entry, Some(states), at).map(drop)
}

/// Converts hashes to the JSON that an audit log entry stores.
fn hashes_to_json(states: impl IntoIterator<Item = (String, Option<HashLink>)>) -> String {
    let value = |link: Option<HashLink>| link.map_or(Value::Null, |link| link.to_string().into());
    let states = states.into_iter();
    let states: Map<_, _> = states.map(|(name, link)| (name, value(link))).collect();
    Value::Object(states).to_string()
}

/// Returns the hashes of the values that a restore may change: of all wallets, and of the pool addresses that it
/// added.
pub(super) fn hashes_after_restore(conn: &Connection) -> Result<String, StoreError> {
    let db = Reader::new(conn);
    let mut states = Vec::new();
    each_value(&db, ValueKind::Wallet, |state| {
        states.push((state.name, Some(state.link)));
    })?;
    let mut known: Vec<(String, i64)> = Vec::new();
    for_each_recorded_hash(&db, |(name, _)| {
        if let Some((pool, _, last)) = parse_pool_import_name(&name) {
            known.push((pool.to_owned(), last));
        }
    })?;
    for (pool, _, last) in pool_ends(&db)? {
        let ends = known.iter().filter(|(of, _)| *of == pool);
        let first = ends.map(|(_, last)| *last).max().unwrap_or(0).saturating_add(1);
        if first <= last {
            let link = pool_hash(&db, &pool, first, last)?;
            states.push((pool_import_name(&pool, first, last), Some(link)));
        }
    }
    Ok(hashes_to_json(states))
}

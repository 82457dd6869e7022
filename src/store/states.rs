//! Hashes of values whose changes are in the audit log: accounts, keys, users, wallets, pools, payout addresses,
//! settings.
//!
//! Invariant: a transaction that changes such a value adds its hash to the audit log. A hash leaves out fields that
//! change by use: the last use of a key, the next index of a wallet, the owner of an address.

mod pending;
mod values;

pub(super) use pending::Pending;
pub use values::{ValueKind, ValueState, each, of_pool, pool_counts};

use super::audit_log::{self, NewEntry};
use super::statement::values;
use super::{Reader, StoreError};
use crate::domain::history::HashLink;
use crate::domain::time::Time;
use rusqlite::Connection;
use serde_json::{Map, Value};

/// Action of an audit log row that only has hashes.
pub const NOTE: &str = "state.note";

values! {
    /// The newest time in the file, for rows that only have hashes.
    NEWEST(at: Time) = "select max(last_tick_at, ifnull((select at from audit_log order by seq desc limit 1), 0), \
        ifnull((select created_at from accounts order by seq desc limit 1), 0)) as at from file";
    NOTED(name: String, link: Option<String>) = "select j.key as name, j.value as link \
        from audit_log l, json_each(l.states) j where l.states is not null order by l.seq";
    POOL_ENDS(pool: String, first: i64, last: i64) =
        "select pool, min(seq) as first, max(seq) as last from pool_addresses group by pool order by pool";
}

/// Passes every noted hash to `each`, oldest first: the name of the value, and its hash or `None` if it was removed.
pub fn noted(
    db: &Reader<'_>,
    mut each: impl FnMut(String, Option<String>),
) -> Result<(), StoreError> {
    NOTED.each(db, &[], |(name, link)| each(name, link))
}

/// Returns the name of addresses of a pool that were imported together, by the `seq` of the first and of the last.
pub fn pool_name(pool: &str, first: i64, last: i64) -> String {
    format!("pool {pool} {first}-{last}")
}

/// Parses a [`pool_name`].
pub fn pool_of(name: &str) -> Option<(&str, i64, i64)> {
    let (pool, range) = name.strip_prefix("pool ")?.rsplit_once(' ')?;
    let (first, last) = range.split_once('-')?;
    Some((pool, first.parse().ok()?, last.parse().ok()?))
}

/// Adds an audit log row that only has hashes.
pub(super) fn note(conn: &Connection, actor: &str, states: &str) -> rusqlite::Result<()> {
    let entry = NewEntry {
        actor,
        action: NOTE,
        account: None,
        object_id: None,
        detail: "{}",
    };
    let at = NEWEST.first_on(conn, &[])?.unwrap_or(Time(0));
    audit_log::insert_on(conn, &entry, Some(states), at)
}

/// Returns hashes as the JSON of an audit log row.
fn text(states: impl IntoIterator<Item = (String, Option<HashLink>)>) -> String {
    let value = |link: Option<HashLink>| link.map_or(Value::Null, |link| link.to_string().into());
    let states = states.into_iter();
    let states: Map<_, _> = states.map(|(name, link)| (name, value(link))).collect();
    Value::Object(states).to_string()
}

/// Notes each value of a file without hashes, in a row of its own.
pub(super) fn begin(conn: &Connection) -> Result<(), StoreError> {
    let db = Reader::new(conn);
    let mut states = Vec::new();
    for &kind in ValueKind::ALL {
        each(&db, kind, |state| {
            states.push((state.name, Some(state.link)));
        })?;
    }
    for (pool, first, last) in POOL_ENDS.all(&db, &[])? {
        let link = of_pool(&db, &pool, first, last)?;
        states.push((pool_name(&pool, first, last), Some(link)));
    }
    for state in states {
        note(conn, "upgrade", &text([state]))?;
    }
    Ok(())
}

/// Returns the hashes of the values that a restore changes: all wallets, and the pool addresses that it has added.
pub(super) fn of_restored(conn: &Connection) -> Result<String, StoreError> {
    let db = Reader::new(conn);
    let mut states = Vec::new();
    each(&db, ValueKind::Wallet, |state| {
        states.push((state.name, Some(state.link)));
    })?;
    let mut known: Vec<(String, i64)> = Vec::new();
    noted(&db, |name, _| {
        if let Some((pool, _, last)) = pool_of(&name) {
            known.push((pool.to_owned(), last));
        }
    })?;
    for (pool, _, last) in POOL_ENDS.all(&db, &[])? {
        let ends = known.iter().filter(|(of, _)| *of == pool);
        let first = ends
            .map(|(_, last)| *last)
            .max()
            .unwrap_or(0)
            .saturating_add(1);
        if first <= last {
            let link = of_pool(&db, &pool, first, last)?;
            states.push((pool_name(&pool, first, last), Some(link)));
        }
    }
    Ok(text(states))
}

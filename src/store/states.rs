//! Hashes of values whose changes are in the audit log: accounts, keys, users, wallets, pools, payout addresses, settings.
//!
//! Invariant: whoever changes such a value notes it in its transaction, and the audit log has its hash at the commit. A
//! hash leaves out what changes by use: when a key was used last, the next index of a wallet, the owner of an address.

mod pending;
mod values;

pub(super) use pending::Pending;
pub use values::{State, ValueKind, each, of_pool, pool_counts};

use super::audit_log::{self, NewEntry};
use super::statement::values;
use super::{Reader, StoreError};
use crate::domain::history::HashLink;
use crate::domain::time::Time;
use rusqlite::Connection;
use serde_json::{Map, Value};

/// Action of a row of the audit log that only keeps hashes.
pub const NOTE: &str = "state.note";

values! {
    /// The newest time that the file knows: a transaction that only keeps hashes has none of its own.
    NEWEST(at: Time) = "select max(last_tick_at, ifnull((select at from audit_log order by seq desc limit 1), 0), \
        ifnull((select created_at from accounts order by seq desc limit 1), 0)) as at from file";
    NOTED(name: String, link: Option<String>) = "select j.key as name, j.value as link \
        from audit_log l, json_each(l.states) j where l.states is not null order by l.seq";
    POOL_ENDS(pool: String, first: i64, last: i64) =
        "select pool, min(seq) as first, max(seq) as last from pool_addresses group by pool order by pool";
}

/// Hands over every hash that was noted, oldest first: the name of the value and its hash, `None` where it was removed.
pub fn noted(
    db: &Reader<'_>,
    mut each: impl FnMut(String, Option<String>),
) -> Result<(), StoreError> {
    NOTED.each(db, &[], |(name, link)| each(name, link))
}

/// Name of the addresses of a pool that were imported together, by the `seq` of the first and of the last.
pub fn pool_name(pool: &str, first: i64, last: i64) -> String {
    format!("pool {pool} {first}-{last}")
}

/// Reads [`pool_name`] back.
pub fn pool_of(name: &str) -> Option<(&str, i64, i64)> {
    let (pool, range) = name.strip_prefix("pool ")?.rsplit_once(' ')?;
    let (first, last) = range.split_once('-')?;
    Some((pool, first.parse().ok()?, last.parse().ok()?))
}

/// Adds a row that only keeps hashes.
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

/// Hashes as a row of the audit log keeps them.
fn text(states: impl IntoIterator<Item = (String, Option<HashLink>)>) -> String {
    let value = |link: Option<HashLink>| link.map_or(Value::Null, |link| link.to_string().into());
    let states = states.into_iter();
    let states: Map<_, _> = states.map(|(name, link)| (name, value(link))).collect();
    Value::Object(states).to_string()
}

/// A reader of a connection that no server uses.
const fn reader(conn: &Connection) -> Reader<'_> {
    Reader {
        conn,
        health: None,
        memo: None,
    }
}

/// Notes each value of a file of before the hashes, a row for each.
pub(super) fn begin(conn: &Connection) -> Result<(), StoreError> {
    let db = reader(conn);
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

/// Hashes of what a restore changes: every wallet, and the addresses of pools that it has added.
pub(super) fn of_restored(conn: &Connection) -> Result<String, StoreError> {
    let db = reader(conn);
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

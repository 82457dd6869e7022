//! The table `known_clients`: the clients by which users have signed in, each by a SHA-256.

use super::statement::{commands, values};
use super::{Reader, StoreError, Tx};
use rusqlite::named_params;

values! {
    HAS(seq: i64) = "select seq from known_clients where client = :client";
}

commands! {
    INSERT = "insert or replace into known_clients (user, client) values (:user, :client)";
    KEEP_NEWEST = "delete from known_clients where user = :user and seq not in \
        (select seq from known_clients where user = :user order by seq desc limit :limit)";
}

/// Returns `true` if a client is known.
pub fn has(db: &Reader<'_>, client: &[u8; 32]) -> Result<bool, StoreError> {
    let found = HAS.first(db, named_params! { ":client": client })?;
    Ok(found.is_some())
}

/// Adds a client as the newest of a user, and keeps the newest `limit` of the user's clients.
pub fn add(tx: &Tx<'_>, user: i64, client: &[u8; 32], limit: u32) -> Result<(), StoreError> {
    INSERT.run(tx, named_params! { ":user": user, ":client": client })?;
    KEEP_NEWEST
        .run(tx, named_params! { ":user": user, ":limit": limit })
        .map(drop)
}

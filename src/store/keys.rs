//! The table `keys`.

use super::row::Columns;
use super::{Reader, StoreError, Tx};
use crate::domain::apikey::KeyClass;
use crate::domain::asset::Mode;
use crate::domain::time::Time;
use rusqlite::{Row, named_params};

/// What a presented key is found to be.
#[derive(Clone, Debug)]
pub struct Key {
    /// The name outside the file.
    pub id: String,
    /// Whose it is.
    pub account: i64,
    /// What it opens.
    pub class: KeyClass,
    /// Live or test.
    pub mode: Mode,
    /// When it was used last, to the minute.
    pub last_used_at: Option<Time>,
    /// When it stops working, where it was rolled.
    pub expires_at: Option<Time>,
}

/// A key as the operator sees it.
#[derive(Clone, Debug)]
pub struct KeyRow {
    /// The name outside the file.
    pub id: String,
    /// Whose it is.
    pub account: i64,
    /// What it opens.
    pub class: KeyClass,
    /// Live or test.
    pub mode: Mode,
    /// Its last four characters.
    pub last4: String,
    /// When it was made.
    pub created_at: Time,
    /// When it was used last.
    pub last_used_at: Option<Time>,
    /// When it was revoked.
    pub revoked_at: Option<Time>,
    /// When it stops working, where it was rolled.
    pub expires_at: Option<Time>,
}

/// A key to be stored.
pub struct NewKey<'a> {
    /// The name outside the file.
    pub id: &'a str,
    /// Whose it is.
    pub account: i64,
    /// What it opens.
    pub class: KeyClass,
    /// Live or test.
    pub mode: Mode,
    /// SHA-256 of its text.
    pub hash: &'a [u8; 32],
    /// Its last four characters.
    pub last4: &'a str,
    /// When it was made.
    pub created_at: Time,
}

fn read(row: &Row<'_>) -> rusqlite::Result<KeyRow> {
    let mut next = Columns::of(row);
    Ok(KeyRow {
        id: next.take()?,
        account: next.take()?,
        class: next.take()?,
        mode: next.take()?,
        last4: next.take()?,
        created_at: next.take()?,
        last_used_at: next.take()?,
        revoked_at: next.take()?,
        expires_at: next.take()?,
    })
}

/// The key with this hash, unless revoked; it may have expired.
pub fn by_hash(db: &Reader<'_>, hash: &[u8; 32]) -> Result<Option<Key>, StoreError> {
    db.first(
        include_str!("../../sql/keys/by_hash.sql"),
        named_params! { ":hash": hash },
        |row| {
            let mut next = Columns::of(row);
            Ok(Key {
                id: next.take()?,
                account: next.take()?,
                class: next.take()?,
                mode: next.take()?,
                last_used_at: next.take()?,
                expires_at: next.take()?,
            })
        },
    )
}

/// Every key, oldest first.
pub fn all(db: &Reader<'_>) -> Result<Vec<KeyRow>, StoreError> {
    db.all(include_str!("../../sql/keys/all.sql"), [], read)
}

/// The keys of an account, oldest first.
pub fn of_account(db: &Reader<'_>, account: i64) -> Result<Vec<KeyRow>, StoreError> {
    db.all(
        include_str!("../../sql/keys/of_account.sql"),
        named_params! { ":account": account },
        read,
    )
}

/// The key with this id, be it revoked.
pub fn by_id(db: &Reader<'_>, id: &str) -> Result<Option<KeyRow>, StoreError> {
    db.first(
        include_str!("../../sql/keys/by_id.sql"),
        named_params! { ":id": id },
        read,
    )
}

/// Was there ever a key with this hash?
pub fn exists(db: &Reader<'_>, hash: &[u8; 32]) -> Result<bool, StoreError> {
    let found = db.first(
        include_str!("../../sql/keys/exists.sql"),
        named_params! { ":hash": hash },
        |row| row.get(0),
    )?;
    Ok(found.unwrap_or(false))
}

/// How many keys of an account work now.
pub fn count_in_use(db: &Reader<'_>, account: i64, now: Time) -> Result<i64, StoreError> {
    let params = named_params! { ":account": account, ":now": now };
    let found = db.first(
        include_str!("../../sql/keys/count_in_use.sql"),
        params,
        |row| row.get(0),
    )?;
    Ok(found.unwrap_or(0))
}

/// Adds a key.
pub fn insert(tx: &Tx<'_>, key: &NewKey<'_>) -> Result<(), StoreError> {
    tx.note(|changes| changes.keys = true);
    let params = named_params! {
        ":id": key.id,
        ":account": key.account,
        ":class": key.class,
        ":mode": key.mode,
        ":hash": key.hash,
        ":last4": key.last4,
        ":created_at": key.created_at,
    };
    tx.run(include_str!("../../sql/keys/insert.sql"), params)
        .map(drop)
}

/// Notes that a key was used.
pub fn touch(tx: &Tx<'_>, id: &str, now: Time) -> Result<(), StoreError> {
    tx.run(
        include_str!("../../sql/keys/touch.sql"),
        named_params! { ":id": id, ":now": now },
    )
    .map(drop)
}

/// Revokes a key; false where there is no such key in use.
pub fn revoke(tx: &Tx<'_>, id: &str, now: Time) -> Result<bool, StoreError> {
    tx.note(|changes| changes.keys = true);
    tx.run(
        include_str!("../../sql/keys/revoke.sql"),
        named_params! { ":id": id, ":now": now },
    )
    .map(|rows| rows == 1)
}

/// Lets a key work until then and no longer; false where there is no such key in use, or its end is set already.
pub fn expire(tx: &Tx<'_>, id: &str, expires_at: Time) -> Result<bool, StoreError> {
    tx.note(|changes| changes.keys = true);
    tx.run(
        include_str!("../../sql/keys/expire.sql"),
        named_params! { ":id": id, ":expires_at": expires_at },
    )
    .map(|rows| rows == 1)
}

//! The table `sessions`: who is signed in. A session is found by the SHA-256 of its cookie.

use super::users::read;
use super::{Reader, StoreError, Tx};
use crate::domain::time::Time;
use crate::domain::user::User;
use rusqlite::named_params;

/// Begins a session; `password_at` is real time.
pub fn insert(
    tx: &Tx<'_>,
    hash: &[u8; 32],
    user: i64,
    now: Time,
    expires_at: Time,
    password_at: Time,
) -> Result<(), StoreError> {
    let params = named_params! {
        ":hash": hash, ":user": user, ":created_at": now, ":expires_at": expires_at, ":password_at": password_at,
    };
    tx.run(include_str!("../../sql/sessions/insert.sql"), params)
        .map(drop)
}

/// Who is signed in by this cookie, and when the password was given last, by real time.
pub fn user(
    db: &Reader<'_>,
    hash: &[u8; 32],
    now: Time,
) -> Result<Option<(User, Time)>, StoreError> {
    let params = named_params! { ":hash": hash, ":now": now };
    db.first(include_str!("../../sql/sessions/user.sql"), params, |row| {
        Ok((read(row)?, row.get("password_at")?))
    })
}

/// Notes that the user has given the password again, by real time; false where the session has ended.
pub fn confirm(
    tx: &Tx<'_>,
    hash: &[u8; 32],
    user: i64,
    password_at: Time,
) -> Result<bool, StoreError> {
    let params = named_params! { ":hash": hash, ":user": user, ":password_at": password_at };
    tx.run(include_str!("../../sql/sessions/confirm.sql"), params)
        .map(|rows| rows == 1)
}

/// Ends a session.
pub fn delete(tx: &Tx<'_>, hash: &[u8; 32]) -> Result<(), StoreError> {
    tx.run(
        include_str!("../../sql/sessions/delete.sql"),
        named_params! { ":hash": hash },
    )
    .map(drop)
}

/// Ends every session of a user.
pub fn delete_of_user(tx: &Tx<'_>, user: i64) -> Result<(), StoreError> {
    tx.run(
        include_str!("../../sql/sessions/delete_of_user.sql"),
        named_params! { ":user": user },
    )
    .map(drop)
}

/// Removes sessions that have ended.
pub fn prune(tx: &Tx<'_>, now: Time) -> Result<usize, StoreError> {
    tx.run(
        include_str!("../../sql/sessions/prune.sql"),
        named_params! { ":now": now },
    )
}

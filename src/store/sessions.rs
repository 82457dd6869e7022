//! The table `sessions`: who is signed in. A session is found by the SHA-256 of its cookie.

use super::statement::{commands, rows};
use super::{Reader, StoreError, Tx};
use crate::domain::time::Time;
use crate::domain::user::User;
use rusqlite::named_params;

rows! {
    fn read(
        u.seq, u.id, u.email, u.role, u.account, u.created_at, u.disabled_at, u.second_factor_at, s.password_at,
    ) -> (User, Time) {
        Ok((User { seq, id, email, role, account, created_at, disabled_at, second_factor_at }, password_at))
    }
    USER = select "from sessions s join users u on u.seq = s.user \
        where s.hash = :hash and s.expires_at > :now and u.disabled_at is null";
}

commands! {
    INSERT = "insert into sessions (hash, user, created_at, expires_at, password_at) \
        values (:hash, :user, :created_at, :expires_at, :password_at)";
    CONFIRM = "update sessions set password_at = :password_at where hash = :hash and user = :user";
    DELETE = "delete from sessions where hash = :hash";
    DELETE_OF_USER = "delete from sessions where user = :user";
    DELETE_OTHERS = "delete from sessions where user = :user and hash <> :hash";
    PRUNE = "delete from sessions where expires_at <= :now";
}

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
    INSERT.run(tx, params).map(drop)
}

/// Who is signed in by this cookie, and when the password was given last, by real time.
pub fn user(
    db: &Reader<'_>,
    hash: &[u8; 32],
    now: Time,
) -> Result<Option<(User, Time)>, StoreError> {
    let params = named_params! { ":hash": hash, ":now": now };
    USER.first(db, params)
}

/// Notes that the user has given the password again, by real time; false where the session has ended.
pub fn confirm(
    tx: &Tx<'_>,
    hash: &[u8; 32],
    user: i64,
    password_at: Time,
) -> Result<bool, StoreError> {
    let params = named_params! { ":hash": hash, ":user": user, ":password_at": password_at };
    CONFIRM.run(tx, params).map(|rows| rows == 1)
}

/// Ends a session.
pub fn delete(tx: &Tx<'_>, hash: &[u8; 32]) -> Result<(), StoreError> {
    DELETE.run(tx, named_params! { ":hash": hash }).map(drop)
}

/// Ends every session of a user.
pub fn delete_of_user(tx: &Tx<'_>, user: i64) -> Result<(), StoreError> {
    DELETE_OF_USER
        .run(tx, named_params! { ":user": user })
        .map(drop)
}

/// Ends every session of a user but this one.
pub fn delete_others(tx: &Tx<'_>, user: i64, hash: &[u8; 32]) -> Result<(), StoreError> {
    let params = named_params! { ":user": user, ":hash": hash };
    DELETE_OTHERS.run(tx, params).map(drop)
}

/// Removes sessions that have ended.
pub fn prune(tx: &Tx<'_>, now: Time) -> Result<usize, StoreError> {
    PRUNE.run(tx, named_params! { ":now": now })
}

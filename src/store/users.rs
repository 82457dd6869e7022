//! The table `users`.

use super::row::Columns;
use super::{Reader, StoreError, Tx};
use crate::domain::time::Time;
use crate::domain::user::User;
use rusqlite::{Row, named_params};

/// Reads the seven columns that every query here begins with.
pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<User> {
    let mut next = Columns::of(row);
    Ok(User {
        seq: next.take()?,
        id: next.take()?,
        email: next.take()?,
        role: next.take()?,
        account: next.take()?,
        created_at: next.take()?,
        disabled_at: next.take()?,
    })
}

/// Adds a user; its `seq`.
pub fn insert(tx: &Tx<'_>, user: &User, password_hash: &str) -> Result<i64, StoreError> {
    let params = named_params! {
        ":id": user.id,
        ":email": user.email,
        ":password_hash": password_hash,
        ":role": user.role,
        ":account": user.account,
        ":created_at": user.created_at,
    };
    tx.insert(include_str!("../../sql/users/insert.sql"), params)
}

/// Every user, oldest first.
pub fn all(db: &Reader<'_>) -> Result<Vec<User>, StoreError> {
    db.all(include_str!("../../sql/users/all.sql"), [], read)
}

/// The user with this id.
pub fn by_id(db: &Reader<'_>, id: &str) -> Result<Option<User>, StoreError> {
    db.first(
        include_str!("../../sql/users/by_id.sql"),
        named_params! { ":id": id },
        read,
    )
}

/// The user with this email, in whatever case it is written, and the hash of the password.
pub fn by_email(db: &Reader<'_>, email: &str) -> Result<Option<(User, String)>, StoreError> {
    db.first(
        include_str!("../../sql/users/by_email.sql"),
        named_params! { ":email": email },
        |row| Ok((read(row)?, row.get("password_hash")?)),
    )
}

/// Changes the password.
pub fn set_password(tx: &Tx<'_>, seq: i64, password_hash: &str) -> Result<(), StoreError> {
    let params = named_params! { ":seq": seq, ":password_hash": password_hash };
    tx.run(include_str!("../../sql/users/set_password.sql"), params)
        .map(drop)
}

/// Lets a user in again, or no longer.
pub fn set_disabled(tx: &Tx<'_>, seq: i64, since: Option<Time>) -> Result<(), StoreError> {
    let params = named_params! { ":seq": seq, ":disabled_at": since };
    tx.run(include_str!("../../sql/users/set_disabled.sql"), params)
        .map(drop)
}

/// Is there an operator who can sign in?
pub fn has_operator(db: &Reader<'_>) -> Result<bool, StoreError> {
    let found = db.first(
        include_str!("../../sql/users/has_operator.sql"),
        [],
        |row| row.get(0),
    )?;
    Ok(found.unwrap_or(false))
}

//! The table `recovery_codes`: what stands in for a lost authenticator app. A code is found by its SHA-256.

use super::statement::{commands, values};
use super::{Reader, StoreError, Tx};
use rusqlite::named_params;

values! {
    COUNT(left: i64) = "select count(*) as left from recovery_codes where user = :user";
}

commands! {
    INSERT = "insert into recovery_codes (hash, user) values (:hash, :user)";
    USE = "delete from recovery_codes where hash = :hash and user = :user";
    DELETE_OF_USER = "delete from recovery_codes where user = :user";
}

/// Adds one.
pub fn insert(tx: &Tx<'_>, user: i64, hash: &[u8; 32]) -> Result<(), StoreError> {
    let params = named_params! { ":hash": hash, ":user": user };
    INSERT.run(tx, params).map(drop)
}

/// Uses one up; false where it is none of the user's that is left.
pub fn take(tx: &Tx<'_>, user: i64, hash: &[u8; 32]) -> Result<bool, StoreError> {
    let params = named_params! { ":hash": hash, ":user": user };
    USE.run(tx, params).map(|rows| rows == 1)
}

/// How many of a user's are left.
pub fn left(db: &Reader<'_>, user: i64) -> Result<i64, StoreError> {
    COUNT.only(db, named_params! { ":user": user })
}

/// Removes all of a user's.
pub fn delete_of_user(tx: &Tx<'_>, user: i64) -> Result<(), StoreError> {
    DELETE_OF_USER
        .run(tx, named_params! { ":user": user })
        .map(drop)
}

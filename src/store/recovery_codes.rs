//! The table `recovery_codes`: codes that replace a lost authenticator app. A code is found by its SHA-256.

use super::statement::{commands, values};

values! {
    /// Returns the number of unused codes of a user.
    pub fn count_left(db, user: i64) -> (left: i64) = "select count(*) as left from recovery_codes where user = :user";
}

commands! {
    /// Inserts a code of a user.
    pub fn insert(tx, user: i64, hash: &[u8; 32]) = insert into recovery_codes { hash, user };

    /// Uses a code. Returns `false` if it is no unused code of the user.
    pub fn take(tx, user: i64, hash: &[u8; 32]) -> bool =
        "delete from recovery_codes where hash = :hash and user = :user";

    /// Deletes all codes of a user.
    pub fn delete_of_user(tx, user: i64) = "delete from recovery_codes where user = :user";
}

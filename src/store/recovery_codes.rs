//! The table `recovery_codes`: what stands in for a lost authenticator app. A code is found by its SHA-256.

use super::statement::{commands, values};

values! {
    /// How many of a user's are left.
    pub fn left(db, user: i64) -> (left: i64) = "select count(*) as left from recovery_codes where user = :user";
}

commands! {
    /// Adds one.
    pub fn insert(tx, user: i64, hash: &[u8; 32]) = "insert into recovery_codes (hash, user) values (:hash, :user)";

    /// Uses one up; false where it is none of the user's that is left.
    pub fn take(tx, user: i64, hash: &[u8; 32]) -> bool =
        "delete from recovery_codes where hash = :hash and user = :user";

    /// Removes all of a user's.
    pub fn delete_of_user(tx, user: i64) = "delete from recovery_codes where user = :user";
}

//! The table `recovery_codes`: codes with which users sign in without their authenticator app. Only the SHA-256 of a
//! code is stored.

use super::statement::statements;

statements! {
    /// Returns the number of unused codes of a user.
    pub fn count_unused(db, user: i64) -> (left: i64) = "select count(*) as left from recovery_codes where user = :user";

    /// Inserts the hash of a user's code.
    pub fn insert(tx, user: i64, hash: &[u8; 32]) = insert into recovery_codes { hash, user };

    /// Uses up a code. Returns `false` if the user has no such unused code.
    pub fn use_code(tx, user: i64, hash: &[u8; 32]) -> bool =
        "delete from recovery_codes where hash = :hash and user = :user";

    /// Deletes all codes of a user.
    pub fn delete_of_user(tx, user: i64) = "delete from recovery_codes where user = :user";
}

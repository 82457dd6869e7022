//! The table `sessions`: sessions of signed-in users, identified by the SHA-256 of the session cookie.

use super::statement::statements;
use crate::domain::{Time, User};

statements! {
    row read(
        u.seq, u.id, u.email, u.role, u.account, u.created_at, u.disabled_at, u.second_factor_at, s.password_at,
    ) -> (User, Time) {
        Ok((User { seq, id, email, role, account, created_at, disabled_at, second_factor_at }, password_at))
    }

    /// Returns the user of a session, and the real time of the last password check.
    pub fn find_user(db, hash: &[u8; 32], now: Time) -> Option<(User, Time)> =
        select "from sessions s join users u on u.seq = s.user \
            where s.hash = :hash and s.expires_at > :now and u.disabled_at is null";

    /// Inserts a session. `password_at` is the real time of the password check.
    pub fn insert(tx, hash: &[u8; 32], user: i64, created_at: Time, expires_at: Time, password_at: Time) =
        insert into sessions { hash, user, created_at, expires_at, password_at };

    /// Stores the real time of another password check. Returns `false` if the session has ended.
    pub fn save_password_check(tx, hash: &[u8; 32], user: i64, password_at: Time) -> bool =
        "update sessions set password_at = :password_at where hash = :hash and user = :user";

    /// Ends a session.
    pub fn delete(tx, hash: &[u8; 32]) = "delete from sessions where hash = :hash";

    /// Ends every session of a user.
    pub fn delete_of_user(tx, user: i64) = "delete from sessions where user = :user";

    /// Ends all sessions of a user except this one.
    pub fn delete_others(tx, user: i64, hash: &[u8; 32]) =
        "delete from sessions where user = :user and hash <> :hash";

    /// Deletes expired sessions and returns their number.
    pub fn prune(tx, now: Time) -> usize = "delete from sessions where expires_at <= :now";
}

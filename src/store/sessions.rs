//! The table `sessions`: who is signed in. A session is found by the SHA-256 of its cookie.

use super::statement::{commands, rows};
use crate::domain::time::Time;
use crate::domain::user::User;

rows! {
    fn read(
        u.seq, u.id, u.email, u.role, u.account, u.created_at, u.disabled_at, u.second_factor_at, s.password_at,
    ) -> (User, Time) {
        Ok((User { seq, id, email, role, account, created_at, disabled_at, second_factor_at }, password_at))
    }

    /// Who is signed in by this cookie, and when the password was given last, by real time.
    pub fn user(db, hash: &[u8; 32], now: Time) -> Option<(User, Time)> =
        select "from sessions s join users u on u.seq = s.user \
            where s.hash = :hash and s.expires_at > :now and u.disabled_at is null";
}

commands! {
    /// Begins a session; `password_at` is real time.
    pub fn insert(tx, hash: &[u8; 32], user: i64, now: Time, expires_at: Time, password_at: Time) = insert into sessions {
        hash, user, created_at: now, expires_at, password_at,
    };

    /// Notes that the user has given the password again, by real time; false where the session has ended.
    pub fn confirm(tx, hash: &[u8; 32], user: i64, password_at: Time) -> bool =
        "update sessions set password_at = :password_at where hash = :hash and user = :user";

    /// Ends a session.
    pub fn delete(tx, hash: &[u8; 32]) = "delete from sessions where hash = :hash";

    /// Ends every session of a user.
    pub fn delete_of_user(tx, user: i64) = "delete from sessions where user = :user";

    /// Ends every session of a user but this one.
    pub fn delete_others(tx, user: i64, hash: &[u8; 32]) =
        "delete from sessions where user = :user and hash <> :hash";

    /// Removes sessions that have ended.
    pub fn prune(tx, now: Time) -> usize = "delete from sessions where expires_at <= :now";
}

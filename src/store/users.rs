//! The table `users`: people who sign in.

use super::statement::statements;
use super::states::ValueKind;
use super::{StoreError, Tx};
use crate::domain::{Time, User};

statements! {
    row read(seq, id, email, role, account, created_at, disabled_at, second_factor_at) -> User {
        Ok(User { seq, id, email, role, account, created_at, disabled_at, second_factor_at })
    }

    /// Returns every user, oldest first.
    pub fn all(db) -> Vec<User> = select "from users order by seq";

    /// Returns the user with this id.
    pub fn by_id(db, id: &str) -> Option<User> = select "from users where id = :id";

    row read_user_with_hash(
        seq, id, email, role, account, created_at, disabled_at, second_factor_at, password_hash,
    ) -> (User, String) {
        Ok((User { seq, id, email, role, account, created_at, disabled_at, second_factor_at }, password_hash))
    }

    /// Returns the user with this email, and the user's password hash. The email's case does not matter.
    pub fn by_email(db, email: &str) -> Option<(User, String)> = select "from users where email = :email";

    /// Returns `true` if at least one operator is not disabled.
    pub fn has_operator(db) -> (found: bool) =
        "select exists (select 1 from users where role = 'operator' and disabled_at is null) as found";

    /// Returns the secret of a user's second factor, even if its setup is not finished.
    pub fn second_factor_secret(db, seq: i64) -> Option<(second_factor_secret: [u8; 20])> =
        "select second_factor_secret from users \
            where seq = :seq and second_factor_secret is not null";

    fn insert_row(tx, user: &User, password_hash: &str) -> i64 = insert into users {
        id: user.id, email: user.email, password_hash, role: user.role, account: user.account,
        created_at: user.created_at,
    };

    /// Changes the password hash of a user.
    pub fn set_password(tx, seq: i64, password_hash: &str) =
        "update users set password_hash = :password_hash where seq = :seq"
        noting { tx.note_value_change(ValueKind::User, seq); };

    /// Disables a user. `None` enables the user again.
    pub fn set_disabled(tx, seq: i64, since: Option<Time>) =
        "update users set disabled_at = :since where seq = :seq"
        noting { tx.note_value_change(ValueKind::User, seq); };

    /// Starts the setup of a second factor. An unfinished setup is replaced. Returns `false` if a second factor is on.
    pub fn begin_second_factor_setup(tx, seq: i64, secret: &[u8; 20]) -> bool =
        "update users set second_factor_secret = :secret where seq = :seq and second_factor_at is null"
        noting { tx.note_value_change(ValueKind::User, seq); };

    /// Turns the second factor on. Returns `false` if no setup was begun.
    pub fn turn_second_factor_on(tx, seq: i64, at: Time) -> bool =
        "update users set second_factor_at = :at \
            where seq = :seq and second_factor_at is null and second_factor_secret is not null"
        noting { tx.note_value_change(ValueKind::User, seq); };

    /// Turns the second factor off, and deletes its secret.
    pub fn turn_second_factor_off(tx, seq: i64) =
        "update users set second_factor_secret = null, second_factor_at = null where seq = :seq"
        noting { tx.note_value_change(ValueKind::User, seq); };
}

/// Inserts a user and returns its `seq`.
pub fn insert(tx: &Tx<'_>, user: &User, password_hash: &str) -> Result<i64, StoreError> {
    let seq = insert_row(tx, user, password_hash)?;
    tx.note_value_change(ValueKind::User, seq);
    Ok(seq)
}

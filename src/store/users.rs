//! The table `users`.

use super::statement::{commands, rows, values};
use super::states::ValueKind;
use super::{StoreError, Tx};
use crate::domain::time::Time;
use crate::domain::user::User;
use rusqlite::named_params;

rows! {
    fn read(seq, id, email, role, account, created_at, disabled_at, second_factor_at) -> User {
        Ok(User { seq, id, email, role, account, created_at, disabled_at, second_factor_at })
    }

    /// Every user, oldest first.
    pub fn all(db) -> Vec<User> = select "from users order by seq";

    /// The user with this id.
    pub fn by_id(db, id: &str) -> Option<User> = select "from users where id = :id";
}

rows! {
    fn read_with_hash(
        seq, id, email, role, account, created_at, disabled_at, second_factor_at, password_hash,
    ) -> (User, String) {
        Ok((User { seq, id, email, role, account, created_at, disabled_at, second_factor_at }, password_hash))
    }

    /// The user with this email, in whatever case it is written, and the hash of the password.
    pub fn by_email(db, email: &str) -> Option<(User, String)> = select "from users where email = :email";
}

values! {
    /// Is there an operator who can sign in?
    pub fn has_operator(db) -> (found: bool) =
        "select exists (select 1 from users where role = 'operator' and disabled_at is null) as found";

    /// What the user's authenticator app knows, too; also where the second factor was only begun.
    pub fn second_factor(db, seq: i64) -> Option<(second_factor_secret: [u8; 20])> =
        "select second_factor_secret from users \
            where seq = :seq and second_factor_secret is not null";
}

commands! {
    INSERT = "insert into users (id, email, password_hash, role, account, created_at) \
        values (:id, :email, :password_hash, :role, :account, :created_at)";
    SET_PASSWORD = "update users set password_hash = :password_hash where seq = :seq";
    SET_DISABLED = "update users set disabled_at = :disabled_at where seq = :seq";
    BEGIN_SECOND_FACTOR = "update users set second_factor_secret = :second_factor_secret \
        where seq = :seq and second_factor_at is null";
    TURN_SECOND_FACTOR_ON = "update users set second_factor_at = :at \
        where seq = :seq and second_factor_at is null and second_factor_secret is not null";
    END_SECOND_FACTOR = "update users set second_factor_secret = null, second_factor_at = null where seq = :seq";
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
    let seq = INSERT.insert(tx, params)?;
    tx.changes_value(ValueKind::User, seq);
    Ok(seq)
}

/// Changes the password.
pub fn set_password(tx: &Tx<'_>, seq: i64, password_hash: &str) -> Result<(), StoreError> {
    let params = named_params! { ":seq": seq, ":password_hash": password_hash };
    tx.changes_value(ValueKind::User, seq);
    SET_PASSWORD.run(tx, params)
}

/// Lets a user sign in again, or no longer.
pub fn set_disabled(tx: &Tx<'_>, seq: i64, since: Option<Time>) -> Result<(), StoreError> {
    let params = named_params! { ":seq": seq, ":disabled_at": since };
    tx.changes_value(ValueKind::User, seq);
    SET_DISABLED.run(tx, params)
}

/// Begins a second factor, in place of one that was only begun; false where it is asked for already.
pub fn begin_second_factor(tx: &Tx<'_>, seq: i64, secret: &[u8; 20]) -> Result<bool, StoreError> {
    let params = named_params! { ":seq": seq, ":second_factor_secret": secret };
    tx.changes_value(ValueKind::User, seq);
    BEGIN_SECOND_FACTOR.changes(tx, params)
}

/// From now on the second factor is asked for. False where there is none that was only begun.
pub fn turn_second_factor_on(tx: &Tx<'_>, seq: i64, at: Time) -> Result<bool, StoreError> {
    let params = named_params! { ":seq": seq, ":at": at };
    tx.changes_value(ValueKind::User, seq);
    TURN_SECOND_FACTOR_ON.changes(tx, params)
}

/// Forgets the second factor, also where it was only begun.
pub fn end_second_factor(tx: &Tx<'_>, seq: i64) -> Result<(), StoreError> {
    tx.changes_value(ValueKind::User, seq);
    END_SECOND_FACTOR.run(tx, named_params! { ":seq": seq })
}

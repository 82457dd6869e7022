//! The table `users`.

use super::statement::{commands, rows, values};
use super::{Reader, StoreError, Tx};
use crate::domain::time::Time;
use crate::domain::user::User;
use rusqlite::named_params;

rows! {
    fn read(seq, id, email, role, account, created_at, disabled_at) -> User {
        Ok(User { seq, id, email, role, account, created_at, disabled_at })
    }
    ALL = select "from users order by seq";
    BY_ID = select "from users where id = :id";
}

rows! {
    fn read_with_hash(seq, id, email, role, account, created_at, disabled_at, password_hash) -> (User, String) {
        Ok((User { seq, id, email, role, account, created_at, disabled_at }, password_hash))
    }
    BY_EMAIL = select "from users where email = :email";
}

values! {
    HAS_OPERATOR(found: bool) =
        "select exists (select 1 from users where role = 'operator' and disabled_at is null) as found";
}

commands! {
    INSERT = "insert into users (id, email, password_hash, role, account, created_at) \
        values (:id, :email, :password_hash, :role, :account, :created_at)";
    SET_PASSWORD = "update users set password_hash = :password_hash where seq = :seq";
    SET_DISABLED = "update users set disabled_at = :disabled_at where seq = :seq";
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
    INSERT.insert(tx, params)
}

/// Every user, oldest first.
pub fn all(db: &Reader<'_>) -> Result<Vec<User>, StoreError> {
    ALL.all(db, &[])
}

/// The user with this id.
pub fn by_id(db: &Reader<'_>, id: &str) -> Result<Option<User>, StoreError> {
    BY_ID.first(db, named_params! { ":id": id })
}

/// The user with this email, in whatever case it is written, and the hash of the password.
pub fn by_email(db: &Reader<'_>, email: &str) -> Result<Option<(User, String)>, StoreError> {
    BY_EMAIL.first(db, named_params! { ":email": email })
}

/// Changes the password.
pub fn set_password(tx: &Tx<'_>, seq: i64, password_hash: &str) -> Result<(), StoreError> {
    let params = named_params! { ":seq": seq, ":password_hash": password_hash };
    SET_PASSWORD.run(tx, params).map(drop)
}

/// Lets a user sign in again, or no longer.
pub fn set_disabled(tx: &Tx<'_>, seq: i64, since: Option<Time>) -> Result<(), StoreError> {
    let params = named_params! { ":seq": seq, ":disabled_at": since };
    SET_DISABLED.run(tx, params).map(drop)
}

/// Is there an operator who can sign in?
pub fn has_operator(db: &Reader<'_>) -> Result<bool, StoreError> {
    HAS_OPERATOR.only(db, &[])
}

//! The table `reseller_tokens`.

use super::statement::{commands, rows, values};
use super::{Reader, StoreError, Tx};
use crate::domain::time::Time;
use rusqlite::named_params;

/// What a presented token is found to be.
#[derive(Clone, Debug)]
pub struct Token {
    /// The name outside the file.
    pub id: String,
    /// Whose it is.
    pub account: i64,
    /// When it was used last, to the minute.
    pub last_used_at: Option<Time>,
}

/// A token as people see it.
#[derive(Clone, Debug)]
pub struct TokenRow {
    /// The name outside the file.
    pub id: String,
    /// Whose it is.
    pub account: i64,
    /// Its last four characters.
    pub last4: String,
    /// When it was made.
    pub created_at: Time,
    /// When it was used last, to the minute.
    pub last_used_at: Option<Time>,
    /// When it was revoked.
    pub revoked_at: Option<Time>,
}

rows! {
    fn read(id, account, last4, created_at, last_used_at, revoked_at) -> TokenRow {
        Ok(TokenRow { id, account, last4, created_at, last_used_at, revoked_at })
    }
    OF_ACCOUNT = select "from reseller_tokens where account = :account order by rowid";
    BY_ID = select "from reseller_tokens where id = :id and account = :account";
}

rows! {
    fn read_found(id, account, last_used_at) -> Token {
        Ok(Token { id, account, last_used_at })
    }
    BY_HASH = select "from reseller_tokens where hash = :hash and revoked_at is null";
}

values! {
    COUNT_IN_USE(count: i64) =
        "select count(*) as count from reseller_tokens where account = :account and revoked_at is null";
}

commands! {
    INSERT = "insert into reseller_tokens (id, account, hash, last4, created_at) \
        values (:id, :account, :hash, :last4, :created_at)";
    TOUCH = "update reseller_tokens set last_used_at = :now \
        where id = :id and (last_used_at is null or last_used_at < :now)";
    REVOKE = "update reseller_tokens set revoked_at = :now where id = :id and account = :account and revoked_at is null";
}

/// The token with this hash, unless revoked.
pub fn by_hash(db: &Reader<'_>, hash: &[u8; 32]) -> Result<Option<Token>, StoreError> {
    BY_HASH.first(db, named_params! { ":hash": hash })
}

/// How many tokens of an account work now.
pub fn count_in_use(db: &Reader<'_>, account: i64) -> Result<i64, StoreError> {
    let params = named_params! { ":account": account };
    COUNT_IN_USE.only(db, params)
}

/// Adds a token.
pub fn insert(
    tx: &Tx<'_>,
    id: &str,
    account: i64,
    hash: &[u8; 32],
    last4: &str,
    now: Time,
) -> Result<(), StoreError> {
    let params = named_params! {
        ":id": id, ":account": account, ":hash": hash, ":last4": last4, ":created_at": now,
    };
    INSERT.run(tx, params).map(drop)
}

/// Notes that a token was used.
pub fn touch(tx: &Tx<'_>, id: &str, now: Time) -> Result<(), StoreError> {
    TOUCH
        .run(tx, named_params! { ":id": id, ":now": now })
        .map(drop)
}

/// The tokens of an account, oldest first, the revoked ones too.
pub fn of_account(db: &Reader<'_>, account: i64) -> Result<Vec<TokenRow>, StoreError> {
    OF_ACCOUNT.all(db, named_params! { ":account": account })
}

/// The token of an account with this id, be it revoked.
pub fn by_id(db: &Reader<'_>, account: i64, id: &str) -> Result<Option<TokenRow>, StoreError> {
    BY_ID.first(db, named_params! { ":account": account, ":id": id })
}

/// Revokes a token of an account; false where there is no such token in use.
pub fn revoke(tx: &Tx<'_>, account: i64, id: &str, now: Time) -> Result<bool, StoreError> {
    REVOKE
        .run(
            tx,
            named_params! { ":account": account, ":id": id, ":now": now },
        )
        .map(|rows| rows == 1)
}

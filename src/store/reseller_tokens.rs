//! The table `reseller_tokens`.

use super::row::Columns;
use super::{Reader, StoreError, Tx};
use crate::domain::time::Time;
use rusqlite::{Row, named_params};

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

fn read(row: &Row<'_>) -> rusqlite::Result<TokenRow> {
    let mut next = Columns::of(row);
    Ok(TokenRow {
        id: next.take()?,
        account: next.take()?,
        last4: next.take()?,
        created_at: next.take()?,
        last_used_at: next.take()?,
        revoked_at: next.take()?,
    })
}

/// The token with this hash, unless revoked.
pub fn by_hash(db: &Reader<'_>, hash: &[u8; 32]) -> Result<Option<Token>, StoreError> {
    db.first(
        include_str!("../../sql/reseller_tokens/by_hash.sql"),
        named_params! { ":hash": hash },
        |row| {
            let mut next = Columns::of(row);
            Ok(Token {
                id: next.take()?,
                account: next.take()?,
                last_used_at: next.take()?,
            })
        },
    )
}

/// How many tokens of an account work now.
pub fn count_in_use(db: &Reader<'_>, account: i64) -> Result<i64, StoreError> {
    let params = named_params! { ":account": account };
    let found = db.first(
        include_str!("../../sql/reseller_tokens/count_in_use.sql"),
        params,
        |row| row.get(0),
    )?;
    Ok(found.unwrap_or(0))
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
    tx.run(include_str!("../../sql/reseller_tokens/insert.sql"), params)
        .map(drop)
}

/// Notes that a token was used.
pub fn touch(tx: &Tx<'_>, id: &str, now: Time) -> Result<(), StoreError> {
    tx.run(
        include_str!("../../sql/reseller_tokens/touch.sql"),
        named_params! { ":id": id, ":now": now },
    )
    .map(drop)
}

/// The tokens of an account, oldest first, the revoked ones too.
pub fn of_account(db: &Reader<'_>, account: i64) -> Result<Vec<TokenRow>, StoreError> {
    db.all(
        include_str!("../../sql/reseller_tokens/of_account.sql"),
        named_params! { ":account": account },
        read,
    )
}

/// The token of an account with this id, be it revoked.
pub fn by_id(db: &Reader<'_>, account: i64, id: &str) -> Result<Option<TokenRow>, StoreError> {
    db.first(
        include_str!("../../sql/reseller_tokens/by_id.sql"),
        named_params! { ":account": account, ":id": id },
        read,
    )
}

/// Revokes a token of an account; false where there is no such token in use.
pub fn revoke(tx: &Tx<'_>, account: i64, id: &str, now: Time) -> Result<bool, StoreError> {
    tx.run(
        include_str!("../../sql/reseller_tokens/revoke.sql"),
        named_params! { ":account": account, ":id": id, ":now": now },
    )
    .map(|rows| rows == 1)
}

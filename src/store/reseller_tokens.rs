//! The table `reseller_tokens`.

use super::row::Columns;
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

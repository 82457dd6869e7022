//! The table `reseller_tokens`.

use super::statement::{commands, rows, values};
use crate::domain::time::Time;

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

    /// The tokens of an account, oldest first, the revoked ones too.
    pub fn of_account(db, account: i64) -> Vec<TokenRow> =
        select "from reseller_tokens where account = :account order by rowid";

    /// The token of an account with this id, be it revoked.
    pub fn by_id(db, account: i64, id: &str) -> Option<TokenRow> =
        select "from reseller_tokens where id = :id and account = :account";
}

rows! {
    fn read_found(id, account, last_used_at) -> Token {
        Ok(Token { id, account, last_used_at })
    }

    /// The token with this hash, unless revoked.
    pub fn by_hash(db, hash: &[u8; 32]) -> Option<Token> =
        select "from reseller_tokens where hash = :hash and revoked_at is null";
}

values! {
    /// How many tokens of an account work now.
    pub fn count_in_use(db, account: i64) -> (count: i64) =
        "select count(*) as count from reseller_tokens where account = :account and revoked_at is null";
}

commands! {
    /// Adds a token.
    pub fn insert(tx, id: &str, account: i64, hash: &[u8; 32], last4: &str, now: Time) = insert into reseller_tokens {
        id, account, hash, last4, created_at: now,
    };

    /// Notes that a token was used.
    pub fn touch(tx, id: &str, now: Time) =
        "update reseller_tokens set last_used_at = :now \
            where id = :id and (last_used_at is null or last_used_at < :now)";

    /// Revokes a token of an account; false where there is no such token in use.
    pub fn revoke(tx, account: i64, id: &str, now: Time) -> bool =
        "update reseller_tokens set revoked_at = :now where id = :id and account = :account and revoked_at is null";
}

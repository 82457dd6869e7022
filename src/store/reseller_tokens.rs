//! The table `reseller_tokens`: API tokens of resellers.

use super::statement::statements;
use crate::domain::Time;

/// A reseller token, as needed for authenticating a request.
#[derive(Clone, Debug)]
pub struct ResellerToken {
    /// Id of the token.
    pub id: String,
    /// Account, by its `seq`.
    pub account: i64,
    /// Time of the last use, to the minute.
    pub last_used_at: Option<Time>,
}

/// A reseller token as users see it.
#[derive(Clone, Debug)]
pub struct TokenRow {
    /// Id of the token.
    pub id: String,
    /// Account, by its `seq`.
    pub account: i64,
    /// Last four characters of the token.
    pub last4: String,
    /// Time of creation.
    pub created_at: Time,
    /// Time of the last use, to the minute.
    pub last_used_at: Option<Time>,
    /// Time at which the token was revoked; `None` if the token was not revoked.
    pub revoked_at: Option<Time>,
}

statements! {
    row read(id, account, last4, created_at, last_used_at, revoked_at) -> TokenRow {
        Ok(TokenRow { id, account, last4, created_at, last_used_at, revoked_at })
    }

    /// Returns the tokens of an account, oldest first, even revoked ones.
    pub fn of_account(db, account: i64) -> Vec<TokenRow> =
        select "from reseller_tokens where account = :account order by rowid";

    /// Returns the token of an account with this id, even a revoked one.
    pub fn by_id(db, account: i64, id: &str) -> Option<TokenRow> =
        select "from reseller_tokens where id = :id and account = :account";

    row read_reseller_token(id, account, last_used_at) -> ResellerToken {
        Ok(ResellerToken { id, account, last_used_at })
    }

    /// Returns the token with this hash; `None` if it is revoked.
    pub fn by_hash(db, hash: &[u8; 32]) -> Option<ResellerToken> =
        select "from reseller_tokens where hash = :hash and revoked_at is null";

    /// Returns the number of tokens of an account that are not revoked.
    pub fn count_usable_tokens(db, account: i64) -> (count: i64) =
        "select count(*) as count from reseller_tokens where account = :account and revoked_at is null";

    /// Inserts a token.
    pub fn insert(tx, id: &str, account: i64, hash: &[u8; 32], last4: &str, now: Time) = insert into reseller_tokens {
        id, account, hash, last4, created_at: now,
    };

    /// Saves the time at which a token was last used.
    pub fn save_last_used_at(tx, id: &str, now: Time) =
        "update reseller_tokens set last_used_at = :now \
            where id = :id and (last_used_at is null or last_used_at < :now)";

    /// Revokes a token of an account. Returns `false` if the account has no token with this id, or the token is
    /// revoked already.
    pub fn revoke(tx, account: i64, id: &str, now: Time) -> bool =
        "update reseller_tokens set revoked_at = :now where id = :id and account = :account and revoked_at is null";
}

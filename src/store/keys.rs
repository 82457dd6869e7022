//! The table `keys`: API keys.

use super::statement::statements;
use crate::domain::{KeyClass, Mode, Time};

/// An API key, as needed for authenticating a request.
#[derive(Clone, Debug)]
pub struct ApiKey {
    /// Id of the key.
    pub id: String,
    /// Account, by its `seq`.
    pub account: i64,
    /// Class of the key: secret, public or legacy.
    pub class: KeyClass,
    /// Live or test.
    pub mode: Mode,
    /// Time of the last use, to the minute.
    pub last_used_at: Option<Time>,
    /// Time at which a replaced key stops working; `None` for a key that was not replaced.
    pub expires_at: Option<Time>,
}

/// An API key as the operator sees it.
#[derive(Clone, Debug)]
pub struct KeyRow {
    /// Id of the key.
    pub id: String,
    /// Account, by its `seq`.
    pub account: i64,
    /// Class of the key: secret, public or legacy.
    pub class: KeyClass,
    /// Live or test.
    pub mode: Mode,
    /// Last four characters of the key.
    pub last4: String,
    /// Time of creation.
    pub created_at: Time,
    /// Time of the last use, to the minute.
    pub last_used_at: Option<Time>,
    /// Time at which the key was revoked; `None` if the key was not revoked.
    pub revoked_at: Option<Time>,
    /// Time at which a replaced key stops working; `None` for a key that was not replaced.
    pub expires_at: Option<Time>,
}

/// An API key to be inserted.
pub struct NewKey<'a> {
    /// Id of the key.
    pub id: &'a str,
    /// Account, by its `seq`.
    pub account: i64,
    /// Class of the key: secret, public or legacy.
    pub class: KeyClass,
    /// Live or test.
    pub mode: Mode,
    /// SHA-256 of the key.
    pub hash: &'a [u8; 32],
    /// Last four characters of the key.
    pub last4: &'a str,
    /// Time of creation.
    pub created_at: Time,
}

statements! {
    row read(id, account, class, mode, last4, created_at, last_used_at, revoked_at, expires_at) -> KeyRow {
        Ok(KeyRow { id, account, class, mode, last4, created_at, last_used_at, revoked_at, expires_at })
    }

    /// Returns every key, oldest first.
    pub fn all(db) -> Vec<KeyRow> = select "from keys order by rowid";

    /// Returns the keys of an account, oldest first.
    pub fn of_account(db, account: i64) -> Vec<KeyRow> = select "from keys where account = :account order by rowid";

    /// Returns the key with this id, even a revoked one.
    pub fn by_id(db, id: &str) -> Option<KeyRow> = select "from keys where id = :id";

    row read_api_key(id, account, class, mode, last_used_at, expires_at) -> ApiKey {
        Ok(ApiKey { id, account, class, mode, last_used_at, expires_at })
    }

    /// Returns the key with this hash, which may have expired; `None` for a revoked key.
    pub fn by_hash(db, hash: &[u8; 32]) -> Option<ApiKey> = select "from keys where hash = :hash and revoked_at is null";

    /// Returns `true` if a key with this hash exists, even a revoked one.
    pub fn exists(db, hash: &[u8; 32]) -> (found: bool) =
        "select exists (select 1 from keys where hash = :hash) as found";

    /// Returns `true` if live invoices can be created: an active account has a live key that is neither revoked nor
    /// expired, or an active payment link in live mode.
    pub fn takes_live_payments(db, now: Time) -> (found: bool) =
        "select exists (select 1 from keys k join accounts a on a.seq = k.account \
            where a.status = 'active' and k.mode = 'live' and k.revoked_at is null \
            and ifnull(k.expires_at, :now + 1) > :now) \
            or exists (select 1 from payment_links l join accounts a on a.seq = l.account \
            where a.status = 'active' and l.mode = 'live' and l.active = 1) as found";

    /// Returns the number of keys of an account that are neither revoked nor expired.
    pub fn count_usable_keys(db, account: i64, now: Time) -> (count: i64) =
        "select count(*) as count from keys \
            where account = :account and revoked_at is null and (expires_at is null or expires_at > :now)";

    /// Inserts a key.
    pub fn insert(tx, key: &NewKey<'_>) = insert into keys {
        id: key.id, account: key.account, class: key.class, mode: key.mode, hash: key.hash, last4: key.last4,
        created_at: key.created_at,
    } noting {
        tx.record_change(|changes| changes.keys = true);
        tx.note_key_change(key.id);
    };

    /// Saves the time at which a key was last used.
    pub fn save_last_used_at(tx, id: &str, now: Time) =
        "update keys set last_used_at = :now where id = :id and (last_used_at is null or last_used_at < :now)";

    /// Revokes a key. Returns `false` if there is no key with this id, or the key is revoked already.
    pub fn revoke(tx, id: &str, now: Time) -> bool =
        "update keys set revoked_at = :now where id = :id and revoked_at is null"
        noting {
            tx.record_change(|changes| changes.keys = true);
            tx.note_key_change(id);
        };

    /// Sets the expiry of a key. Returns `false` if there is no key with this id, or the key is revoked or has an expiry.
    pub fn set_expiry(tx, id: &str, expires_at: Time) -> bool =
        "update keys set expires_at = :expires_at where id = :id and revoked_at is null and expires_at is null"
        noting {
            tx.record_change(|changes| changes.keys = true);
            tx.note_key_change(id);
        };
}

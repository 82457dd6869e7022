//! The table `keys`.

use super::statement::{commands, rows, values};
use super::{StoreError, Tx};
use crate::domain::apikey::KeyClass;
use crate::domain::asset::Mode;
use crate::domain::time::Time;
use rusqlite::named_params;

/// What a presented key is found to be.
#[derive(Clone, Debug)]
pub struct Key {
    /// The name outside the file.
    pub id: String,
    /// Whose it is.
    pub account: i64,
    /// What it opens.
    pub class: KeyClass,
    /// Live or test.
    pub mode: Mode,
    /// When it was used last, to the minute.
    pub last_used_at: Option<Time>,
    /// When it stops working, where it was rolled.
    pub expires_at: Option<Time>,
}

/// A key as the operator sees it.
#[derive(Clone, Debug)]
pub struct KeyRow {
    /// The name outside the file.
    pub id: String,
    /// Whose it is.
    pub account: i64,
    /// What it opens.
    pub class: KeyClass,
    /// Live or test.
    pub mode: Mode,
    /// Its last four characters.
    pub last4: String,
    /// When it was made.
    pub created_at: Time,
    /// When it was used last.
    pub last_used_at: Option<Time>,
    /// When it was revoked.
    pub revoked_at: Option<Time>,
    /// When it stops working, where it was rolled.
    pub expires_at: Option<Time>,
}

/// A key to be stored.
pub struct NewKey<'a> {
    /// The name outside the file.
    pub id: &'a str,
    /// Whose it is.
    pub account: i64,
    /// What it opens.
    pub class: KeyClass,
    /// Live or test.
    pub mode: Mode,
    /// SHA-256 of its text.
    pub hash: &'a [u8; 32],
    /// Its last four characters.
    pub last4: &'a str,
    /// When it was made.
    pub created_at: Time,
}

rows! {
    fn read(id, account, class, mode, last4, created_at, last_used_at, revoked_at, expires_at) -> KeyRow {
        Ok(KeyRow { id, account, class, mode, last4, created_at, last_used_at, revoked_at, expires_at })
    }

    /// Every key, oldest first.
    pub fn all(db) -> Vec<KeyRow> = select "from keys order by rowid";

    /// The keys of an account, oldest first.
    pub fn of_account(db, account: i64) -> Vec<KeyRow> = select "from keys where account = :account order by rowid";

    /// The key with this id, be it revoked.
    pub fn by_id(db, id: &str) -> Option<KeyRow> = select "from keys where id = :id";
}

rows! {
    fn read_found(id, account, class, mode, last_used_at, expires_at) -> Key {
        Ok(Key { id, account, class, mode, last_used_at, expires_at })
    }

    /// The key with this hash, unless revoked; it may have expired.
    pub fn by_hash(db, hash: &[u8; 32]) -> Option<Key> = select "from keys where hash = :hash and revoked_at is null";
}

values! {
    /// Was there ever a key with this hash?
    pub fn exists(db, hash: &[u8; 32]) -> (found: bool) =
        "select exists (select 1 from keys where hash = :hash) as found";

    /// Has an active account a key of live mode that works?
    pub fn any_live(db, now: Time) -> (found: bool) =
        "select exists (select 1 from keys k join accounts a on a.seq = k.account \
            where a.status = 'active' and k.mode = 'live' and k.revoked_at is null and ifnull(k.expires_at, :now + \
            1) > :now) \
            as found";

    /// How many keys of an account work now.
    pub fn count_in_use(db, account: i64, now: Time) -> (count: i64) =
        "select count(*) as count from keys \
            where account = :account and revoked_at is null and (expires_at is null or expires_at > :now)";
}

commands! {
    INSERT = "insert into keys (id, account, class, mode, hash, last4, created_at) \
        values (:id, :account, :class, :mode, :hash, :last4, :created_at)";

    /// Notes that a key was used.
    pub fn touch(tx, id: &str, now: Time) =
        "update keys set last_used_at = :now where id = :id and (last_used_at is null or last_used_at < :now)";

    REVOKE = "update keys set revoked_at = :now where id = :id and revoked_at is null";

    EXPIRE = "update keys set expires_at = :expires_at where id = :id and revoked_at is null and expires_at is null";
}

/// Adds a key.
pub fn insert(tx: &Tx<'_>, key: &NewKey<'_>) -> Result<(), StoreError> {
    tx.note(|changes| changes.keys = true);
    let params = named_params! {
        ":id": key.id,
        ":account": key.account,
        ":class": key.class,
        ":mode": key.mode,
        ":hash": key.hash,
        ":last4": key.last4,
        ":created_at": key.created_at,
    };
    tx.changes_key(key.id);
    INSERT.run(tx, params)
}

/// Revokes a key; false where there is no such key in use.
pub fn revoke(tx: &Tx<'_>, id: &str, now: Time) -> Result<bool, StoreError> {
    tx.note(|changes| changes.keys = true);
    tx.changes_key(id);
    REVOKE.changes(tx, named_params! { ":id": id, ":now": now })
}

/// Lets a key work until then and no longer; false where there is no such key in use, or its end is set already.
pub fn expire(tx: &Tx<'_>, id: &str, expires_at: Time) -> Result<bool, StoreError> {
    tx.note(|changes| changes.keys = true);
    tx.changes_key(id);
    EXPIRE.changes(tx, named_params! { ":id": id, ":expires_at": expires_at })
}

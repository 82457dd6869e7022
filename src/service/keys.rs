//! API keys: creates, imports, rolls and revokes them.
//!
//! Invariant: the text of a key is returned once, when the key is created. It is neither stored nor logged.

use super::{Error, audit_log, random_bytes};
use crate::domain::published_keys::is_sandbox_key;
use crate::domain::{KeyClass, Mode, Refusal, RefusalCode, Time, apikey, id};
use crate::render::keys::KeyView;
use crate::store::keys::{self, KeyRow};
use crate::store::{FileKind, Reader, Tx};
use serde_json::json;

/// Default time for which a rolled key remains valid, in seconds: a day.
pub const OVERLAP_SECONDS_DEFAULT: i64 = 86_400;
/// Longest time for which a rolled key remains valid, in seconds: a week.
pub const OVERLAP_SECONDS_MAX: i64 = 604_800;

/// Largest number of valid keys of an account.
pub const KEYS_MAX: i64 = 100;

/// A new API key, with its text.
pub struct CreatedKey {
    /// ID of the key.
    pub id: String,
    /// Class of the key: secret, public or legacy.
    pub class: KeyClass,
    /// Mode of the key.
    pub mode: Mode,
    /// Text of the key, which is not stored.
    pub text: String,
}

/// Refuses to create another key if the account has too many keys.
fn check_key_limit(tx: &Tx<'_>, account: i64, now: Time) -> Result<(), Error> {
    if keys::count_usable_keys(tx, account, now)? < KEYS_MAX {
        return Ok(());
    }
    let message = format!(
        "the account has {KEYS_MAX} active keys, the maximum; revoke one first, or roll one with overlapSeconds 0"
    );
    Err(Refusal::new(RefusalCode::InvalidRequest, message).into())
}

/// Stores a random key. Returns its id and its text.
fn insert_random_key(
    tx: &Tx<'_>,
    account: i64,
    class: KeyClass,
    mode: Mode,
    now: Time,
) -> Result<(String, String), Error> {
    let text = random_key(|random| apikey::generate_key(class, mode, random))?;
    let id = insert_key(tx, account, class, mode, &text, now)?;
    Ok((id, text))
}

pub(crate) fn random_key(
    make: impl FnOnce(&mut dyn FnMut() -> u8) -> String,
) -> Result<String, Error> {
    let mut pool = random_bytes::<128>()?.into_iter();
    let mut exhausted = false;
    let text = make(&mut || {
        pool.next().unwrap_or_else(|| {
            exhausted = true;
            0
        })
    });
    if exhausted {
        return Err(Error::Failed("randomness ran out".to_owned()));
    }
    Ok(text)
}

/// Stores a key with a given text. Returns the id of the key.
///
/// # Errors
///
/// [`Error::Failed`] if the file fails or the key already exists.
pub fn insert_key(
    tx: &Tx<'_>,
    account: i64,
    class: KeyClass,
    mode: Mode,
    text: &str,
    now: Time,
) -> Result<String, Error> {
    let id = id::new(now).to_string();
    let (hash, last4) = (apikey::hash_key(text), apikey::last4(text));
    let key =
        keys::NewKey { id: &id, account, class, mode, hash: &hash, last4: &last4, created_at: now };
    keys::insert(tx, &key)?;
    Ok(id)
}

/// Returns every key, oldest first.
pub fn list(db: &Reader<'_>) -> Result<Vec<KeyRow>, Error> {
    Ok(keys::all(db)?)
}

/// Creates a key.
///
/// # Errors
/// `invalid_request` if the account has too many keys.
pub fn create(
    tx: &Tx<'_>,
    actor: &str,
    account: i64,
    class: KeyClass,
    mode: Mode,
    now: Time,
) -> Result<CreatedKey, Error> {
    check_key_limit(tx, account, now)?;
    let (id, text) = insert_random_key(tx, account, class, mode, now)?;
    let detail = json!({ "class": class, "mode": mode });
    audit_log::record(tx, now, actor, "key.create", Some(account), Some(&id), &detail)?;
    Ok(CreatedKey { id, class, mode, text })
}

/// Imports a key in the legacy format and returns its ID.
///
/// # Errors
/// `invalid_request` if the format is wrong, the key is too short or exists, or the account has too many keys.
pub fn import(
    tx: &Tx<'_>,
    kind: FileKind,
    actor: &str,
    account: i64,
    mode: Mode,
    text: &str,
    now: Time,
) -> Result<String, Error> {
    let refused = |problem: &str| Refusal::field("import", problem);
    let is_public = kind == FileKind::Production && is_sandbox_key(text);
    if is_public || !apikey::is_importable_legacy_key(text) {
        let problem = "must be <id>.<secret> of ASCII letters, digits, - and _, its secret of 16 characters or more";
        return Err(refused(problem).into());
    }
    if keys::exists(tx, &apikey::hash_key(text))? {
        return Err(refused("is a key already").into());
    }
    check_key_limit(tx, account, now)?;
    let id = insert_key(tx, account, KeyClass::Legacy, mode, text, now)?;
    let detail = json!({ "class": KeyClass::Legacy, "mode": mode });
    audit_log::record(tx, now, actor, "key.import", Some(account), Some(&id), &detail)?;
    Ok(id)
}

/// Returns the valid key with this ID. With `account`, the key must belong to this account.
///
/// # Errors
///
/// `not_found`.
pub fn find_valid(tx: &Tx<'_>, account: Option<i64>, id: &str, now: Time) -> Result<KeyRow, Error> {
    let key = keys::by_id(tx, id)?.filter(|key| {
        key.revoked_at.is_none()
            && key.expires_at.is_none_or(|end| now < end)
            && account.is_none_or(|account| account == key.account)
    });
    key.ok_or_else(|| Refusal::not_found("key").into())
}

/// Creates the successor of a key. The old key remains valid for `overlap_seconds`.
///
/// # Errors
/// `invalid_transition` if the key was already rolled. `invalid_request` if the old key stays valid and the account
/// has too many keys.
pub fn roll(
    tx: &Tx<'_>,
    actor: &str,
    old: &KeyRow,
    overlap_seconds: i64,
    now: Time,
) -> Result<CreatedKey, Error> {
    let expires_at = now.plus_ms(overlap_seconds.saturating_mul(1000));
    let ended = if overlap_seconds == 0 {
        keys::revoke(tx, &old.id, now)?
    } else {
        keys::set_expiry(tx, &old.id, expires_at)?
    };
    if !ended {
        let message = "the key was rolled already; roll its successor";
        return Err(Refusal::new(RefusalCode::InvalidTransition, message).into());
    }
    check_key_limit(tx, old.account, now)?;
    let (id, text) = insert_random_key(tx, old.account, old.class, old.mode, now)?;
    let detail = json!({ "successor": id, "overlapSeconds": overlap_seconds });
    let (account, of) = (Some(old.account), Some(old.id.as_str()));
    audit_log::record(tx, now, actor, "key.roll", account, of, &detail)?;
    Ok(CreatedKey { id, class: old.class, mode: old.mode, text })
}

/// Revokes the key with this ID. With `account`, the key must belong to this account.
///
/// # Errors
///
/// `not_found` if no such key is valid.
pub fn revoke(
    tx: &Tx<'_>,
    actor: &str,
    account: Option<i64>,
    id: &str,
    now: Time,
) -> Result<(), Error> {
    let key = find_valid(tx, account, id, now)?;
    if !keys::revoke(tx, &key.id, now)? {
        return Err(Refusal::not_found("key").into());
    }
    let (account, of) = (Some(key.account), Some(key.id.as_str()));
    audit_log::record(tx, now, actor, "key.revoke", account, of, &json!({}))
}

/// Returns the fields of a key for the response.
pub fn key_view(key: &KeyRow) -> KeyView<'_> {
    KeyView {
        id: &key.id,
        class: key.class,
        mode: key.mode,
        last4: &key.last4,
        created_at: key.created_at,
        last_used_at: key.last_used_at,
        expires_at: key.expires_at,
        revoked_at: key.revoked_at,
    }
}

//! API keys: authenticates callers by key, and creates and revokes keys.
//!
//! Invariant: only this module creates a [`Caller`], and only from an existing key. Only `service` creates a
//! [`Scope`].

pub mod issuing;

use super::{Error, Service, random_bytes};
use crate::domain::apikey::{self, KeyClass};
use crate::domain::asset::Mode;
use crate::domain::id;
use crate::domain::refusal::{Refusal, RefusalCode};
use crate::domain::time::{MINUTE_MS, Time};
use crate::store::{FileKind, Reader, Tx, keys};
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// Account and mode whose data a request may access: the account and mode of an API key, or those that a signed-in
/// user views.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope {
    account: i64,
    mode: Mode,
}

impl Scope {
    /// Returns the scope of this account and mode. The caller must have checked the permission.
    pub(super) fn new(account: i64, mode: Mode) -> Scope {
        Scope { account, mode }
    }

    /// Returns the `seq` of the account.
    pub(crate) fn account(&self) -> i64 {
        self.account
    }

    /// Returns the mode.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Returns the quota owner for requests by API key: the account, whose keys share one quota.
    pub fn quota_owner(&self) -> QuotaOwner {
        QuotaOwner::Keys { account: self.account }
    }
}

/// Party whose requests share one quota of a limited resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QuotaOwner {
    /// All API keys of an account.
    Keys {
        /// `seq` of the account.
        account: i64,
    },
    /// All users of an account.
    Users {
        /// `seq` of the account.
        account: i64,
    },
    /// One operator.
    Operator {
        /// `seq` of the user.
        user: i64,
    },
}

/// A caller, authenticated by an API key.
#[derive(Clone, Debug)]
pub struct Caller {
    scope: Scope,
    class: KeyClass,
    key: String,
}

impl Deref for Caller {
    type Target = Scope;

    fn deref(&self) -> &Scope {
        &self.scope
    }
}

impl Caller {
    /// Returns the class of the key: secret, public or legacy.
    pub fn class(&self) -> KeyClass {
        self.class
    }

    /// Returns the id of the key. Each key has a separate rate limit.
    pub fn key_id(&self) -> &str {
        &self.key
    }
}

/// An entry of the cache of API keys.
#[derive(Clone)]
pub struct CachedKey {
    caller: Arc<Caller>,
    /// Time at which a rolled key expires. A cached key must not be used after this time.
    expires_at: Option<Time>,
    /// Time of the last recorded use of the key, in Unix milliseconds.
    touched_at: Arc<AtomicI64>,
}

/// Returns 401 `unauthorized`.
pub fn unauthorized(message: &str) -> Refusal {
    Refusal::new(RefusalCode::Unauthorized, message)
}

impl Service {
    /// Returns the caller for the text of a key.
    ///
    /// # Errors
    ///
    /// `unauthorized` if the key is unknown or revoked. A checksum detects a typing error without a read of the file.
    pub fn authenticate(self: &Arc<Self>, now: Time, text: &str) -> Result<Arc<Caller>, Error> {
        if self.kind == FileKind::Production && !apikey::is_plausible_key(text) {
            return Err(unauthorized("the API key is mistyped: its checksum does not match").into());
        }
        let hash = apikey::hash_key(text);
        let known = match self.caches.keys.get(&hash) {
            Ok(known) => known,
            Err(generation) => {
                let key = self.read(|db| Ok(keys::by_hash(db, &hash)?))?;
                let key = key.ok_or_else(|| unauthorized("the API key is unknown or revoked"))?;
                let touched_at = key.last_used_at.map_or(0, |at| at.0);
                let caller = Caller {
                    scope: Scope::new(key.account, key.mode),
                    class: key.class,
                    key: key.id,
                };
                let known = CachedKey {
                    caller: Arc::new(caller),
                    expires_at: key.expires_at,
                    touched_at: Arc::new(AtomicI64::new(touched_at)),
                };
                self.caches.keys.put(hash, known.clone(), generation);
                known
            }
        };
        if known.expires_at.is_some_and(|end| now >= end) {
            return Err(unauthorized("the API key was rolled and its time is up").into());
        }
        let touched = Time(known.touched_at.load(Ordering::Relaxed));
        if now.since_ms(touched) >= MINUTE_MS {
            known.touched_at.store(now.0, Ordering::Relaxed);
            let id = known.caller.key.clone();
            // The request does not wait for this write, and succeeds even if the write fails.
            let told = self
                .write_detached(now, move |step| Ok(keys::save_last_used_at(step.tx, &id, now)?));
            if let Err(error) = told {
                log::debug!("last use of a key not recorded: error={error}");
            }
        }
        Ok(known.caller)
    }
}

/// Creates a key and returns its text, which is shown once and not stored.
///
/// # Errors
///
/// [`Error::Failed`] if the system has no random bytes or the file fails.
pub fn create(
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

/// Returns the text of a key, generated from random bytes.
///
/// # Errors
///
/// [`Error::Failed`] if the system does not provide enough random bytes.
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
pub fn list(db: &Reader<'_>) -> Result<Vec<keys::KeyRow>, Error> {
    Ok(keys::all(db)?)
}

/// Revokes a key.
///
/// # Errors
///
/// `not_found` if there is no such active key.
pub fn revoke(tx: &Tx<'_>, id: &str, now: Time) -> Result<(), Error> {
    if keys::revoke(tx, id, now)? { Ok(()) } else { Err(Refusal::not_found("key").into()) }
}

//! Callers: authenticates each by its API key.
//!
//! Invariant: only this module creates a [`Caller`], and only from an existing key. Only `service` creates a
//! [`Scope`].

use super::{Error, Service};
use crate::domain::time::MINUTE_MS;
use crate::domain::{KeyClass, Mode, Refusal, RefusalCode, Time, apikey};
use crate::store::{FileKind, keys};
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

/// Requester of an invoice or a payout.
#[derive(Clone, Copy, Debug)]
pub enum Requester<'a> {
    /// A signed-in user, by email.
    Person(&'a str),
    /// An API key, by its id.
    Key(&'a str),
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

//! Who is calling: keys, and what they open.
//!
//! What lives here: telling a caller by the key, making and revoking keys. What always holds: only this file makes
//! a [`Caller`], and only from a key that exists; only `service` makes a [`Scope`].

use super::{Error, Service, random};
use crate::domain::apikey::{self, KeyClass};
use crate::domain::asset::Mode;
use crate::domain::id;
use crate::domain::refusal::{Code, Refusal};
use crate::domain::time::{MINUTE_MS, Time};
use crate::store::{Kind, Reader, Tx, keys};
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// Whose data is meant, and of which mode: of a key's account, of the account that somebody who is signed in looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope {
    account: i64,
    mode: Mode,
}

impl Scope {
    /// The data of this account in this mode: for who has shown a right to it.
    pub(super) fn of(account: i64, mode: Mode) -> Scope {
        Scope { account, mode }
    }

    /// Whose data is meant.
    pub(crate) fn account(&self) -> i64 {
        self.account
    }

    /// Which mode's data is meant.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Whose share of what is scarce is used: the account's, whichever of its keys asks.
    pub fn asker(&self) -> Asker {
        Asker::Keys {
            account: self.account,
        }
    }
}

/// Whose share of what is scarce is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Asker {
    /// That of an account's keys.
    Keys {
        /// Which account.
        account: i64,
    },
    /// That of an account's users.
    Users {
        /// Which account.
        account: i64,
    },
    /// That of one operator.
    Operator {
        /// Which user.
        user: i64,
    },
}

/// Who is calling, told by the key.
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
    /// What the key opens.
    pub fn class(&self) -> KeyClass {
        self.class
    }

    /// The id of the key, for limits.
    pub fn key(&self) -> &str {
        &self.key
    }
}

/// A key that was looked up.
#[derive(Clone)]
pub struct Known {
    caller: Arc<Caller>,
    /// When it stops working, where it was rolled: a copy must not outlive it.
    expires_at: Option<Time>,
    /// When the file was last told that the key is in use.
    touched_at: Arc<AtomicI64>,
}

/// 401 `unauthorized`.
pub fn unauthorized(message: &str) -> Refusal {
    Refusal::new(Code::Unauthorized, message)
}

impl Service {
    /// The caller behind a key's text.
    ///
    /// # Errors
    /// `unauthorized` where it is unknown or revoked; a typing error is told without asking the file.
    pub fn authenticate(self: &Arc<Self>, now: Time, text: &str) -> Result<Arc<Caller>, Error> {
        if self.kind == Kind::Production && !apikey::is_plausible(text) {
            return Err(
                unauthorized("the API key is mistyped: its checksum does not match").into(),
            );
        }
        let hash = apikey::hash(text);
        let known = match self.caches.keys.get(&hash) {
            Ok(known) => known,
            Err(generation) => {
                let key = self.read(|db| Ok(keys::by_hash(db, &hash)?))?;
                let key = key.ok_or_else(|| unauthorized("the API key is unknown or revoked"))?;
                let touched_at = key.last_used_at.map_or(0, |at| at.0);
                let caller = Caller {
                    scope: Scope::of(key.account, key.mode),
                    class: key.class,
                    key: key.id,
                };
                let known = Known {
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
            // No request waits for this, and none fails by it.
            let told = self.write_unheard(move |_, tx| Ok(keys::touch(tx, &id, now)?));
            if let Err(error) = told {
                log::debug!("the last use of a key was not recorded: {error}");
            }
        }
        Ok(known.caller)
    }
}

/// Makes a key and returns its text, which is shown once and not kept.
///
/// # Errors
/// [`Error::Failed`] where there is no randomness or the file fails.
pub fn create(
    tx: &Tx<'_>,
    account: i64,
    class: KeyClass,
    mode: Mode,
    now: Time,
) -> Result<(String, String), Error> {
    let text = from_chance(|random| apikey::generate(class, mode, random))?;
    let id = keep(tx, account, class, mode, &text, now)?;
    Ok((id, text))
}

/// A text that is made from random bytes.
///
/// # Errors
/// [`Error::Failed`] where there is no randomness, or not enough.
pub(crate) fn from_chance(
    make: impl FnOnce(&mut dyn FnMut() -> u8) -> String,
) -> Result<String, Error> {
    let mut pool = random::<128>()?.into_iter();
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

/// Stores a key whose text is given; its id.
///
/// # Errors
/// [`Error::Failed`] where the file fails, also where the key exists already.
pub fn keep(
    tx: &Tx<'_>,
    account: i64,
    class: KeyClass,
    mode: Mode,
    text: &str,
    now: Time,
) -> Result<String, Error> {
    let id = id::new(now).to_string();
    let (hash, last4) = (apikey::hash(text), apikey::last4(text));
    let key = keys::NewKey {
        id: &id,
        account,
        class,
        mode,
        hash: &hash,
        last4: &last4,
        created_at: now,
    };
    keys::insert(tx, &key)?;
    Ok(id)
}

/// Every key, oldest first.
pub fn list(db: &Reader<'_>) -> Result<Vec<keys::KeyRow>, Error> {
    Ok(keys::all(db)?)
}

/// Revokes a key.
///
/// # Errors
/// `not_found` where there is no such key in use.
pub fn revoke(tx: &Tx<'_>, id: &str, now: Time) -> Result<(), Error> {
    if keys::revoke(tx, id, now)? {
        Ok(())
    } else {
        Err(Refusal::not_found("key").into())
    }
}

//! The use cases: each takes `now`, each writes in one transaction.
//!
//! What lives here: what a request or a worker wants done, in the words of the interface. What does not: HTTP,
//! time, statements. What always holds: every query carries the caller's account and mode, so nobody reads by mistake what
//! belongs to somebody else.
//!
//! Each use case fails with [`Error::Failed`] where the file fails; under `# Errors` stands what else it fails with.

pub mod accounts;
pub mod activity;
pub(crate) mod approval;
pub mod audit;
pub mod audit_log;
pub mod backup;
mod cache;
pub mod chains;
pub mod checkout;
pub mod clock;
pub mod customers;
pub mod deposits;
mod error;
pub mod events;
mod faults;
pub mod idempotency;
pub mod intake;
pub mod invoices;
pub mod keys;
pub mod links;
pub mod operator;
pub mod payments;
pub mod payouts;
pub mod pools;
mod quotes;
mod rates;
pub mod refunds;
pub mod reseller;
pub mod sandbox;
pub mod sending;
pub mod servers;
mod settle;
mod stock;
#[cfg(test)]
pub(crate) mod tests;
pub mod transfers;
mod upcoming;
pub mod webhooks;

pub use error::Error;
pub use faults::Faults;
pub use keys::{Asker, Caller, Scope};
pub use operator::members::Member;

use crate::domain::account::Account;
use crate::domain::progress::Progress;
use crate::domain::render::Links;
use crate::domain::server::order::ServerLimits;
use crate::domain::time::DAY_MS;
use crate::store::accounts as accounts_table;
use crate::store::file::{self, FileRow};
use crate::store::{Changes, Durability, Kind, Opening, Reader, Refusing, Store, StoreError, Tx};
use chains::live::Live;
use serde_json::value::RawValue;
use std::sync::Arc;

/// A rendered resource.
pub type Json = Box<RawValue>;

/// Says why a url may not be called by webhooks, or nothing where it may.
pub type WebhookCheck = Box<dyn Fn(&str) -> Result<(), String> + Send + Sync>;

/// What the use cases share.
pub struct Service {
    store: Store,
    links: Links,
    kind: Kind,
    webhook_check: WebhookCheck,
    server_limits: ServerLimits,
    caches: Arc<Caches>,
    faults: faults::FaultSwitches,
    stock: stock::Stock,
    upcoming: upcoming::Upcoming,
    live: Live,
    activity: Option<Arc<activity::Activity>>,
    /// How often an invoice was recomputed.
    #[cfg(test)]
    pub(crate) recomputed: std::sync::atomic::AtomicUsize,
}

/// Copies of what the file holds, for reading without asking it.
#[derive(Default)]
pub struct Caches {
    keys: cache::Cache<[u8; 32], keys::Known>,
    accounts: cache::Cache<i64, Arc<Account>>,
    invoices: cache::Cache<String, invoices::Rendered>,
}

impl Caches {
    /// Drops what a commit made stale.
    pub fn forget(&self, changes: &Changes) {
        if changes.everything {
            self.keys.clear();
            self.accounts.clear();
            self.invoices.clear();
            return;
        }
        if changes.accounts {
            self.accounts.clear();
        }
        if changes.keys {
            self.keys.clear();
        }
        self.invoices.remove(&changes.invoices);
    }
}

impl Service {
    /// Puts the use cases on top of an open file.
    pub fn new(
        store: Store,
        links: Links,
        kind: Kind,
        webhook_check: WebhookCheck,
        server_limits: ServerLimits,
        caches: Arc<Caches>,
        live: Live,
    ) -> Service {
        Service {
            store,
            links,
            kind,
            webhook_check,
            server_limits,
            caches,
            faults: faults::FaultSwitches::default(),
            stock: stock::Stock::default(),
            upcoming: upcoming::Upcoming::default(),
            live,
            activity: None,
            #[cfg(test)]
            recomputed: std::sync::atomic::AtomicUsize::default(),
        }
    }

    /// Returns the kind of the file.
    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// A short read.
    pub(crate) fn read<T>(
        &self,
        work: impl FnOnce(&Reader<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.store.read(work)
    }

    /// A short read of several things that belong together, as they stand at one moment.
    pub(crate) fn read_at_one_moment<T>(
        &self,
        work: impl FnOnce(&Reader<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.store.read_at_one_moment(work)
    }

    /// An account as it was a moment ago: for what can be prepared before the transaction, which asks again.
    fn recent_account(&self, seq: i64) -> Result<Arc<Account>, Error> {
        match self.caches.accounts.get(&seq) {
            Ok(account) => Ok(account),
            Err(generation) => {
                let account = Arc::new(self.read(|db| Ok(accounts_table::by_seq(db, seq)?))?);
                self.caches
                    .accounts
                    .put(seq, Arc::clone(&account), generation);
                Ok(account)
            }
        }
    }

    /// One transaction.
    pub(crate) async fn write<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Service, &Tx<'_>) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let service = Arc::clone(self);
        self.store.write(move |tx| work(&service, tx)).await
    }

    /// One transaction that may be done again where what it did was taken back: for what is written often.
    async fn write_repeatable<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl Fn(&Service, &Tx<'_>) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let service = Arc::clone(self);
        let repeatable = move |tx: &Tx<'_>| work(&service, tx);
        self.store.write_repeatable(repeatable).await
    }

    /// One transaction that nobody waits for: for what may be lost.
    fn write_unheard(
        self: &Arc<Self>,
        work: impl FnOnce(&Service, &Tx<'_>) -> Result<(), Error> + Send + 'static,
    ) -> Result<(), Error> {
        let service = Arc::clone(self);
        self.store.write_unheard(move |tx| work(&service, tx))
    }

    /// One transaction, for a thread that may wait.
    fn write_and_wait<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Service, &Tx<'_>) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let service = Arc::clone(self);
        self.store.write_and_wait(move |tx| work(&service, tx))
    }

    /// Jobs that wait for the writer.
    pub fn writes_waiting(&self) -> usize {
        self.store.waiting()
    }

    /// Size of the write-ahead log's file, in bytes.
    pub fn log_bytes(&self) -> u64 {
        self.store.log_bytes()
    }

    /// Returns `true` while another program holds the database locked.
    pub fn is_locked(&self) -> bool {
        self.store.refusing() == Some(Refusing::Locked)
    }

    /// Are writes taken in?
    ///
    /// # Errors
    /// [`Error::Refused`] where they are not: the disk is full or has failed, which the log says.
    pub fn check_writes(&self) -> Result<(), Error> {
        self.store
            .refusing()
            .map_or(Ok(()), |why| Err(StoreError::Refusing(why).into()))
    }

    /// Can the file be read? Afterwards there is a connection to read with.
    ///
    /// # Errors
    /// Why not.
    pub fn check_file(&self) -> Result<(), Error> {
        self.read(|db| file::load(db).map(drop).map_err(Error::from))
    }
}

/// Random bytes from the system.
///
/// # Errors
/// The system has none to give.
pub fn random<const N: usize>() -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)
        .map_err(|error| Error::Failed(format!("no randomness: {error}")))?;
    Ok(bytes)
}

/// Time that a secret signs beside its successor.
pub const BOTH_SIGN_MS: i64 = DAY_MS;

/// The text of a new secret: `whsec_` or another prefix and 32 random bytes, base64.
///
/// # Errors
/// As [`random`].
pub fn new_secret(prefix: &str) -> Result<String, Error> {
    Ok(format!(
        "{prefix}{}",
        crate::domain::signature::base64(&random::<32>()?)
    ))
}

/// The file was begun by this kind of server, or is begun now; then `fill` puts into it what belongs there at every
/// start. It is under way when this returns, and what this returns waits for it.
///
/// # Errors
/// A text for a person where the file is of the other kind: nothing is put into it.
pub fn begin_file(
    store: &Store,
    kind: Kind,
    fill: impl FnOnce(&Tx<'_>, &FileRow) -> Result<(), Error> + Send + 'static,
) -> Result<impl FnOnce() -> Result<FileRow, Error>, Error> {
    let secret = random::<32>()?;
    store.begin_write(move |tx| {
        let mut row = file::load(tx)?;
        if row.is_none() {
            file::insert(tx, kind, &secret)?;
            row = file::load(tx)?;
        }
        let row = row.ok_or_else(|| Error::Failed("the file's row is missing".to_owned()))?;
        if row.kind != kind {
            let made = row.kind;
            return Err(Error::Failed(format!(
                "the file was made by a {made} server; a {kind} server does not open it"
            )));
        }
        fill(tx, &row)?;
        Ok(row)
    })
}

/// Opens a file of this kind, or of any, beside whoever else has it open; where there is none, makes it for production if `create`.
///
/// # Errors
/// A text for a person where that cannot be done.
pub fn open_beside(
    path: &std::path::Path,
    kind: Option<Kind>,
    create: bool,
    tell: fn(Progress<'_>),
) -> Result<Store, Error> {
    let opening = Opening {
        path: path.to_owned(),
        kind,
        durability: Durability::Full,
        create,
        exclusive: false,
        tell,
    };
    let store = Store::open(&opening, Box::new(|_| {}))?;
    if store
        .read(|db| file::load(db).map_err(Error::from))?
        .is_none()
    {
        begin_file(&store, kind.unwrap_or(Kind::Production), |_, _| Ok(()))?()?;
    }
    Ok(store)
}

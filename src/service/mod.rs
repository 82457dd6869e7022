//! The use cases: requests and jobs of workers, in the terms of the API.
//!
//! Invariant: each use case receives `now`, and writes in one transaction. Each query contains the caller's account
//! and mode, so no caller reads another account by mistake.
//!
//! HTTP, the clock and SQL statements are in other modules.
//!
//! Each use case returns [`Error::Failed`] if the file fails. `# Errors` lists only the other errors.

pub mod accounts;
pub mod activity;
mod adjustments;
pub(crate) mod approval;
pub mod audit;
pub mod audit_log;
pub mod backup;
mod cache;
pub mod callers;
pub mod certificate;
pub mod chains;
pub mod checkout;
pub mod clock;
mod confirmations;
pub mod customers;
pub mod deposits;
mod derived_addresses;
mod destination_check;
pub mod endpoints;
mod error;
pub mod events;
mod faults;
pub mod followed;
pub mod idempotency;
pub mod intake;
pub mod invoices;
pub mod keys;
pub mod links;
mod lookups;
pub mod mail;
mod matches;
mod observations;
pub mod page;
pub mod payouts;
pub mod pools;
mod pruning;
mod quotes;
mod rates;
pub mod refunds;
pub mod reseller;
pub mod sandbox;
pub mod sending;
pub mod servers;
mod settle;
pub mod simulated_payments;
mod step;

mod summary;
#[cfg(test)]
pub(crate) mod tests;
pub mod transfers;

pub mod users;
pub mod wallets;
pub mod webhooks;

pub use callers::{Caller, QuotaOwner, Requester, Scope};
pub use error::Error;
pub use faults::Faults;
pub use step::Step;
pub use users::members::Member;

use crate::domain::time::DAY_MS;
use crate::domain::{Account, Progress, ServerLimits, Time};
use crate::render::LinkBuilder;
use crate::store::file::{self, FileRow};
use crate::store::{
    Changes, Durability, FileKind, Reader, Store, StoreError, StoreOptions, Tx, WriteRefusal,
    accounts as accounts_table,
};
use followed::LiveMode;
use serde_json::value::RawValue;
use std::sync::Arc;

/// A resource rendered as JSON.
pub type Json = Box<RawValue>;

/// Function that checks a webhook URL. Returns the reason if the URL must not be called.
pub type WebhookCheck = Box<dyn Fn(&str) -> Result<(), String> + Send + Sync>;

/// Size of the write-ahead log (WAL), in bytes, above which `coffer doctor` and the server's log show a warning. The
/// WAL grows so large only if a read never ends or Litestream no longer copies.
pub const WAL_BYTES_WARNED: u64 = 256 * 1024 * 1024;

/// State that the use cases share.
pub struct Service {
    store: Store,
    links: LinkBuilder,
    kind: FileKind,
    webhook_check: WebhookCheck,
    server_limits: ServerLimits,
    caches: Arc<Caches>,
    faults: faults::FaultSwitches,
    clock_moves: webhooks::clock_moves::ClockMoves,
    stock: derived_addresses::AddressStock,
    upcoming: destination_check::UpcomingAddresses,
    live: LiveMode,
    activity: Option<Arc<activity::Activity>>,
    /// State of the certificate. `None` if the server has none of its own.
    certificate: Option<Arc<certificate::CertificateWatch>>,
    /// Settings of e-mail. `None` if no mail server is set.
    mail: Option<mail::MailIdentity>,
    /// Number of times that invoices were recomputed, of all invoices together.
    #[cfg(test)]
    pub(crate) recomputed: std::sync::atomic::AtomicUsize,
}

/// Caches of rows of the file, which save reads.
#[derive(Default)]
pub struct Caches {
    keys: cache::Cache<[u8; 32], callers::CachedKey>,
    accounts: cache::Cache<i64, Arc<Account>>,
    invoices: cache::Cache<String, invoices::RenderedInvoice>,
}

impl Caches {
    /// Removes the entries that a commit made stale.
    pub fn invalidate(&self, changes: &Changes) {
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
    /// Creates the service on an open file.
    pub fn new(
        store: Store,
        links: LinkBuilder,
        kind: FileKind,
        webhook_check: WebhookCheck,
        server_limits: ServerLimits,
        caches: Arc<Caches>,
        live: LiveMode,
    ) -> Service {
        Service {
            store,
            links,
            kind,
            webhook_check,
            server_limits,
            caches,
            faults: faults::FaultSwitches::default(),
            clock_moves: webhooks::clock_moves::ClockMoves::default(),
            stock: derived_addresses::AddressStock::default(),
            upcoming: destination_check::UpcomingAddresses::default(),
            live,
            activity: None,
            certificate: None,
            mail: None,
            #[cfg(test)]
            recomputed: std::sync::atomic::AtomicUsize::default(),
        }
    }

    /// Makes the state of the server's own certificate part of the summary and of metrics.
    pub fn with_certificate(self, watch: Option<Arc<certificate::CertificateWatch>>) -> Service {
        Service { certificate: watch, ..self }
    }

    /// Returns the state of the server's own certificate.
    pub(crate) fn certificate(&self) -> Option<&Arc<certificate::CertificateWatch>> {
        self.certificate.as_ref()
    }

    pub(crate) fn file_kind(&self) -> FileKind {
        self.kind
    }

    /// Performs a short read.
    pub(crate) fn read<T>(
        &self,
        work: impl FnOnce(&Reader<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.store.read(work)
    }

    /// Performs several short reads on one snapshot.
    pub(crate) fn read_snapshot<T>(
        &self,
        work: impl FnOnce(&Reader<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.store.read_snapshot(work)
    }

    /// Returns a recent copy of an account, for work before a transaction. The transaction reads the account again.
    fn cached_account(&self, seq: i64) -> Result<Arc<Account>, Error> {
        match self.caches.accounts.get(&seq) {
            Ok(account) => Ok(account),
            Err(generation) => {
                let account = Arc::new(self.read(|db| Ok(accounts_table::by_seq(db, seq)?))?);
                self.caches.accounts.put(seq, Arc::clone(&account), generation);
                Ok(account)
            }
        }
    }

    /// Runs `work` in one transaction.
    pub(crate) async fn write<T: Send + 'static>(
        self: &Arc<Self>,
        now: Time,
        work: impl FnOnce(&Step<'_>) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let service = Arc::clone(self);
        self.store.write(move |tx| work(&Step { service: &service, tx, now })).await
    }

    /// Runs `work` in one transaction, and again if the transaction is rolled back. For frequent writes.
    async fn write_repeatable<T: Send + 'static>(
        self: &Arc<Self>,
        now: Time,
        work: impl Fn(&Step<'_>) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let service = Arc::clone(self);
        let repeatable = move |tx: &Tx<'_>| work(&Step { service: &service, tx, now });
        self.store.write_repeatable(repeatable).await
    }

    /// Runs `work` in one transaction without waiting for the result. For writes that may be lost.
    fn write_detached(
        self: &Arc<Self>,
        now: Time,
        work: impl FnOnce(&Step<'_>) -> Result<(), Error> + Send + 'static,
    ) -> Result<(), Error> {
        let service = Arc::clone(self);
        self.store.write_detached(move |tx| work(&Step { service: &service, tx, now }))
    }

    /// Runs `work` in one transaction, and blocks the thread until the transaction ends.
    fn write_and_wait<T: Send + 'static>(
        self: &Arc<Self>,
        now: Time,
        work: impl FnOnce(&Step<'_>) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let service = Arc::clone(self);
        self.store.write_and_wait(move |tx| work(&Step { service: &service, tx, now }))
    }

    /// Returns the number of jobs that wait for the writer.
    pub fn waiting_write_count(&self) -> usize {
        self.store.waiting_count()
    }

    /// Returns the size of the write-ahead log file, in bytes.
    pub fn wal_bytes(&self) -> u64 {
        self.store.wal_bytes()
    }

    /// Returns `true` while another program holds the database locked.
    pub fn is_locked(&self) -> bool {
        self.store.refusal() == Some(WriteRefusal::Locked)
    }

    /// Checks that writes are accepted.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] if the disk is full or has failed, or the file is damaged. The log has the reason.
    pub fn check_writes(&self) -> Result<(), Error> {
        self.store.refusal().map_or(Ok(()), |why| Err(StoreError::Refusing(why).into()))
    }

    /// Returns `true` if the file was found to be damaged.
    pub fn is_damaged(&self) -> bool {
        self.store.refusal() == Some(WriteRefusal::FileDamaged)
    }

    /// Checks that the file can be read, and opens a read connection.
    ///
    /// # Errors
    ///
    /// The reason why the file cannot be read.
    pub fn check_file(&self) -> Result<(), Error> {
        self.read(|db| file::read_file_row(db).map(drop).map_err(Error::from))
    }
}

/// Returns random bytes from the system.
///
/// # Errors
///
/// [`Error::Failed`] if the system provides no random bytes.
pub fn random_bytes<const N: usize>() -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)
        .map_err(|error| Error::Failed(format!("no randomness: {error}")))?;
    Ok(bytes)
}

/// Time for which a replaced secret still signs together with the new secret, in milliseconds.
pub const SECRET_OVERLAP_MS: i64 = DAY_MS;

/// Returns the text of a new secret: the prefix, for example `whsec_`, and 32 random bytes in base64.
///
/// # Errors
///
/// As [`random_bytes`].
pub fn new_secret(prefix: &str) -> Result<String, Error> {
    Ok(format!("{prefix}{}", crate::domain::signature::base64(&random_bytes::<32>()?)))
}

/// Starts a transaction that initializes a file for this kind of server. `fill` adds the data that each start
/// requires.
///
/// Returns a function that waits for the end of the transaction.
///
/// # Errors
///
/// A message for the operator if the file belongs to the other kind of server. The file then stays unchanged.
pub fn init_file(
    store: &Store,
    kind: FileKind,
    fill: impl FnOnce(&Tx<'_>, &FileRow) -> Result<(), Error> + Send + 'static,
) -> Result<impl FnOnce() -> Result<FileRow, Error>, Error> {
    let secret = random_bytes::<32>()?;
    store.begin_write(move |tx| {
        let mut row = file::read_file_row(tx)?;
        if row.is_none() {
            file::insert(tx, kind, &secret)?;
            row = file::read_file_row(tx)?;
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

/// Opens a file that other processes may have open. `kind` is the required kind, or `None` for any.
///
/// If there is no file and `create` is set, creates one, for production by default.
///
/// # Errors
///
/// A message for the operator if the file cannot be opened.
pub fn open_shared(
    path: &std::path::Path,
    kind: Option<FileKind>,
    create: bool,
    tell: fn(Progress<'_>),
) -> Result<Store, Error> {
    let opening = StoreOptions {
        path: path.to_owned(),
        kind,
        durability: Durability::Full,
        create,
        exclusive: false,
        tell,
    };
    let store = Store::open(&opening, Box::new(|_| {}))?;
    if store.read(|db| file::read_file_row(db).map_err(Error::from))?.is_none() {
        init_file(&store, kind.unwrap_or(FileKind::Production), |_, _| Ok(()))?()?;
    }
    Ok(store)
}

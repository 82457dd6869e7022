//! The SQLite file: one writer, many readers, and a module for each table.
//!
//! Functions fail with a [`StoreError`] if SQLite or the disk fails.
//! Invariant: a row is written only through [`Tx`], which only the writer creates. No write is answered before its
//! commit.

pub mod accounts;
pub mod addresses;
pub mod audit;
pub mod audit_log;
pub mod backup;
pub mod balances;
pub mod booking;
pub mod chain_blocks;
pub mod chain_cursors;
pub mod chain_nodes;
pub mod chains;
pub mod claims;
pub mod coins_off;
pub mod confirmation_tiers;
mod connection;
pub mod customers;
mod damage;
pub mod deliveries;
pub mod delivery_pages;
pub mod deposits;
pub mod destinations;
pub mod doctor;
pub mod endpoints;
pub mod error;
pub mod events;
pub mod exports;
pub mod file;
mod foreign_log;
mod health;
pub mod history;
pub mod idempotency;
mod identity;
mod integrity;
pub mod invoice_steps;
pub mod invoices;
pub mod keys;
pub mod known_clients;
pub mod ledger;
pub mod left_behind;
mod lock;
mod lock_holder;
pub mod mail_alarms;
pub mod mail_cursor;
pub mod mail_messages;
pub mod mail_preferences;
pub mod matches;
mod memo;
mod migrate;
pub mod mount;
pub mod network_fees;
pub mod observation_owners;
pub mod observations;
pub mod observations_on_chain;
pub mod open;
pub mod own_transfers;
pub mod page;
pub mod paths;
pub mod payment_links;
pub mod payments;
pub mod payout_addresses;
pub mod pool_addresses;
pub mod private_copy;
pub mod pruned_deliveries;
pub mod quotes;
pub mod rate_figures;
pub mod rate_sources;
pub mod rates_known;
mod readers;
pub mod receipts;
pub mod recovery_codes;
pub mod rescans;
pub mod reseller_tokens;
pub mod restored_logs;
pub mod room;
mod row;
pub mod sales_by_hour;
mod same_file;
pub mod sent_transactions;
pub mod servers;
pub mod sessions;
pub mod set_aside;
mod source;
mod statement;
pub mod states;
pub mod summary;
pub mod transfer_acts;
pub mod transfer_proposals;
pub mod transfer_reviews;
pub mod transfers;
pub mod unexplained;
pub mod unmatched_payments;
pub mod used_steps;
pub mod users;
pub mod wallets;
mod writer;

pub use error::StoreError;
pub use health::WriteRefusal;
pub use identity::refuse_unreleased_file;
pub use open::{Durability, FileKind, StoreOptions, read_only};
pub use page::PageBounds;
pub use same_file::ReopenableFile;
pub use source::read_any_version;
pub use writer::{Changes, Touched, Tx};

use health::{Health, ReportedErrors};
use memo::WriterCache;
use rusqlite::Connection;
use std::sync::Arc;
use tokio::sync::oneshot::{self, error::RecvError};

/// A function that the writer calls after each commit, before it answers the writes of the batch.
pub type OnCommit = Box<dyn Fn(&Changes) + Send + Sync>;

/// A connection for reading.
pub struct Reader<'c> {
    conn: &'c Connection,
    /// Errors of this connection that change the health of the store.
    reported: ReportedErrors<'c>,
    /// The writer's cache; `None` unless this is the writer's connection.
    memo: Option<&'c WriterCache>,
}

impl<'c> Reader<'c> {
    /// Creates a reader for a connection outside a store.
    const fn new(conn: &'c Connection) -> Reader<'c> {
        Reader { conn, reported: ReportedErrors::None, memo: None }
    }

    /// Creates a reader for a connection of the pool.
    const fn pooled(conn: &'c Connection, health: &'c Health) -> Reader<'c> {
        Reader { conn, reported: ReportedErrors::Damage(health), memo: None }
    }
}

impl Reader<'_> {
    /// Runs `work` in one read transaction, so that all its statements read the same snapshot.
    fn run_on_snapshot<T, E: From<StoreError>>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, E>,
    ) -> Result<T, E> {
        // Dropping the transaction ends it. A read has nothing to commit.
        let _transaction = self.conn.unchecked_transaction().map_err(StoreError::from)?;
        work(self)
    }

    /// Returns the file of this connection, so that more connections to the file can be opened.
    ///
    /// # Errors
    /// [`StoreError`] if the database has no file.
    pub fn reopenable_file(&self) -> Result<ReopenableFile, StoreError> {
        let path = self.conn.path().filter(|path| !path.is_empty());
        let nameless = || StoreError::Failed("a database without a file".to_owned());
        Ok(ReopenableFile::new(path.ok_or_else(nameless)?.as_ref()))
    }

    /// Runs `work` on the connection. An error may make the store refuse writes.
    fn run_on_conn<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        work(self.conn).map_err(|error| self.reported.report(error))
    }
}

/// An open database file. Clones share it.
#[derive(Clone)]
pub struct Store {
    shared: Arc<StoreState>,
}

/// The state that all clones of a [`Store`] share. The last clone closes the file.
struct StoreState {
    readers: readers::Readers,
    writer: writer::Writer,
    log: std::path::PathBuf,
}

impl Store {
    /// Runs `work` on the calling thread, without waiting for a connection. On a runtime thread, `work` may read only
    /// one row or one page.
    ///
    /// # Errors
    /// The error of `work`, or [`StoreError`] if the file cannot be opened.
    pub fn read<T, E: From<StoreError>>(
        &self,
        work: impl FnOnce(&Reader<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.shared.readers.read(work)
    }

    /// Runs `work` like [`Store::read`], with one snapshot for all its statements.
    ///
    /// # Errors
    /// The errors of [`Store::read`].
    pub fn read_snapshot<T, E: From<StoreError>>(
        &self,
        work: impl FnOnce(&Reader<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.shared.readers.read(|db| db.run_on_snapshot(work))
    }

    /// Runs `work` in the writer's next transaction, and returns its result after the commit.
    ///
    /// An error of `work` rolls back only the rows that `work` wrote.
    ///
    /// # Errors
    /// The error of `work`, or [`StoreError`] if the transaction fails.
    pub async fn write<T, E>(
        &self,
        work: impl FnOnce(&Tx<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        received_answer(self.submit_unrepeatable(work)?.await)
    }

    /// Writes like [`Store::write`], but may run `work` twice.
    ///
    /// If another write of the same batch fails, the rows of this write may be rolled back, and `work` runs again.
    /// Such a write needs no savepoint of its own, so frequent writes use this function.
    ///
    /// # Errors
    /// The errors of [`Store::write`].
    pub async fn write_repeatable<T, E>(
        &self,
        work: impl Fn(&Tx<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        received_answer(self.shared.writer.submit(true, work)?.await)
    }

    /// Writes like [`Store::write`], and blocks the calling thread.
    ///
    /// # Errors
    /// The errors of [`Store::write`].
    pub fn write_and_wait<T, E>(
        &self,
        work: impl FnOnce(&Tx<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        received_answer(self.submit_unrepeatable(work)?.blocking_recv())
    }

    /// Submits a write like [`Store::write`], and returns a function that blocks until the result is known.
    ///
    /// # Errors
    /// [`StoreError::Overloaded`] or [`StoreError::Refusing`] if the write is not accepted.
    pub fn begin_write<T, E>(
        &self,
        work: impl FnOnce(&Tx<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<impl FnOnce() -> Result<T, E>, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let submitted = self.submit_unrepeatable(work)?;
        Ok(|| received_answer(submitted.blocking_recv()))
    }

    /// Submits a write like [`Store::write`], without waiting for its result.
    ///
    /// # Errors
    /// [`StoreError::Overloaded`] or [`StoreError::Refusing`] if the write is not accepted.
    pub fn write_detached<E>(
        &self,
        work: impl FnOnce(&Tx<'_>) -> Result<(), E> + Send + 'static,
    ) -> Result<(), E>
    where
        E: From<StoreError> + Send + 'static,
    {
        drop(self.submit_unrepeatable(work)?);
        Ok(())
    }

    /// Queues work that must not run a second time.
    fn submit_unrepeatable<T, E>(
        &self,
        work: impl FnOnce(&Tx<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<oneshot::Receiver<Result<T, E>>, StoreError>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let mut work = Some(work);
        let once = move |tx: &Tx<'_>| match work.take() {
            Some(work) => work(tx),
            None => Err(StoreError::Failed("a write was to run twice".to_owned()).into()),
        };
        self.shared.writer.submit(false, once)
    }

    /// Returns the reason why writes are refused; `None` if they are accepted.
    pub fn refusal(&self) -> Option<WriteRefusal> {
        self.shared.writer.health.refusal()
    }

    /// Returns the size of the write-ahead log, in bytes; 0 without a log.
    pub fn wal_bytes(&self) -> u64 {
        std::fs::metadata(&self.shared.log).map_or(0, |found| found.len())
    }

    /// Returns the number of jobs that wait for the writer.
    pub fn waiting_count(&self) -> usize {
        self.shared.writer.waiting_count()
    }
}

/// Returns the result of a job from the writer's answer. A missing answer means that the writer has stopped.
fn received_answer<T, E: From<StoreError>>(
    received: Result<Result<T, E>, RecvError>,
) -> Result<T, E> {
    received.unwrap_or_else(|_| Err(StoreError::writer_stopped_error().into()))
}

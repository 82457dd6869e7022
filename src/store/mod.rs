//! SQLite, and nowhere else: one file, one writer, many readers.
//!
//! Each function fails with a [`StoreError`] where SQLite or the disk does, which no function says again.
//!
//! What lives here: opening the file, the writer, the readers, and one module for each table. What does not:
//! what a change means (`service`). What always holds: a row is written only through [`Tx`], which only the
//! writer can make, and no write is answered before it is committed.

pub mod accounts;
pub mod addresses;
pub mod audit;
pub mod audit_log;
pub mod backup;
pub mod balances;
pub mod chain_blocks;
pub mod chain_cursors;
pub mod chains;
pub mod claims;
pub mod coins_off;
pub mod confirmation_tiers;
pub mod customers;
pub mod deliveries;
pub mod delivery_pages;
pub mod deposits;
pub mod doctor;
pub mod endpoints;
pub mod error;
pub mod events;
pub mod exports;
pub mod file;
mod health;
pub mod history;
pub mod idempotency;
mod identity;
pub mod invoice_steps;
pub mod invoices;
pub mod keys;
pub mod known_clients;
pub mod ledger;
pub mod left_behind;
mod lock;
mod lock_holder;
mod memo;
mod migrate;
pub mod network_fees;
pub mod observations;
pub mod observations_on_chain;
pub mod open;
pub mod own_transfers;
pub mod payment_links;
pub mod payments;
pub mod payout_addresses;
pub mod pool_addresses;
pub mod quotes;
pub mod rate_figures;
pub mod rate_sources;
pub mod rates_known;
pub mod read_backs;
mod readers;
pub mod recovery_codes;
pub mod rescans;
pub mod reseller_tokens;
mod room;
mod row;
mod same_file;
pub mod sent_outputs;
pub mod sent_transactions;
pub mod servers;
pub mod sessions;
mod source;
mod statement;
pub mod states;
pub mod summary;
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
pub use health::Refusing;
pub use open::{Durability, Kind, Opening, read_only};
pub use same_file::SameFile;
pub use source::read_any;
pub use writer::{Changes, Touched, Tx, WriteError};

use health::Health;
use memo::Memo;
use rusqlite::Connection;
use std::sync::Arc;

/// What is told of each commit: the writer calls it before it answers.
pub type OnCommit = Box<dyn Fn(&Changes) + Send + Sync>;

/// A connection that can be read from.
pub struct Reader<'c> {
    conn: &'c Connection,
    /// The writer's, to be told of a disk that fails.
    health: Option<&'c Health>,
    /// The writer's.
    memo: Option<&'c Memo>,
}

impl Reader<'_> {
    /// Reads several things as they stand at one moment, whatever is committed meanwhile.
    fn at_one_moment<T, E: From<StoreError>>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, E>,
    ) -> Result<T, E> {
        // Dropping it ends it, and there is nothing to commit.
        let _moment = self
            .conn
            .unchecked_transaction()
            .map_err(StoreError::from)?;
        work(self)
    }

    /// The file that is read, for further connections to it.
    ///
    /// # Errors
    /// [`StoreError`] where it has no name.
    pub fn same_file(&self) -> Result<SameFile, StoreError> {
        let path = self.conn.path().filter(|path| !path.is_empty());
        let nameless = || StoreError::Failed("a database without a file".to_owned());
        Ok(SameFile::at(path.ok_or_else(nameless)?.as_ref()))
    }

    /// Asks the database; what goes wrong with the writer's disk is told to its health.
    fn told<T>(
        &self,
        ask: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        ask(self.conn).map_err(|error| {
            if let Some(health) = self.health {
                health.hear(&error);
            }
            StoreError::from(error)
        })
    }
}

/// The file, open.
#[derive(Clone)]
pub struct Store {
    shared: Arc<Shared>,
}

/// What every clone of a [`Store`] shares; the last one to go closes the file.
struct Shared {
    readers: readers::Readers,
    writer: writer::Writer,
    /// Path of the write-ahead log.
    log: std::path::PathBuf,
}

impl Store {
    /// Reads on the calling thread, which waits for nobody. On a thread of the runtime for short reads only: one row,
    /// one page.
    ///
    /// # Errors
    /// The closure's, or [`StoreError`] where the file cannot be opened.
    pub fn read<T, E: From<StoreError>>(
        &self,
        work: impl FnOnce(&Reader<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.shared.readers.read(work)
    }

    /// [`Store::read`] where several statements must tell of the same moment.
    ///
    /// # Errors
    /// As [`Store::read`].
    pub fn read_at_one_moment<T, E: From<StoreError>>(
        &self,
        work: impl FnOnce(&Reader<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.shared.readers.read(|db| db.at_one_moment(work))
    }

    /// Runs `work` in the writer's next transaction and answers once that is committed.
    ///
    /// An error of `work` takes back what it wrote and nothing else.
    ///
    /// # Errors
    /// The closure's, or [`StoreError`] where the transaction could not be made.
    pub async fn write<T, E>(
        &self,
        work: impl FnOnce(&Tx<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let answered = self.shared.writer.submit(work).map_err(E::from)?;
        answered
            .await
            .unwrap_or_else(|_| Err(WriteError::Store(StoreError::closed())))
            .map_err(WriteError::flatten)
    }

    /// [`Store::write`] of something that may be done twice, before anybody hears of it: where another write beside it
    /// fails, what it did may be taken back and done again. That spares it a savepoint of its own, so what is written
    /// often is written so.
    ///
    /// # Errors
    /// As [`Store::write`].
    pub async fn write_repeatable<T, E>(
        &self,
        work: impl Fn(&Tx<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let answered = self.shared.writer.submit_repeatable(work);
        answered
            .map_err(E::from)?
            .await
            .unwrap_or_else(|_| Err(WriteError::Store(StoreError::closed())))
            .map_err(WriteError::flatten)
    }

    /// [`Store::write`] for a thread that may wait.
    ///
    /// # Errors
    /// As [`Store::write`].
    pub fn write_and_wait<T, E>(
        &self,
        work: impl FnOnce(&Tx<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        self.begin_write(work)?()
    }

    /// [`Store::write`] for a thread that has something else to do meanwhile, and then calls what this returns, which
    /// waits.
    ///
    /// # Errors
    /// [`StoreError::Overloaded`] or [`StoreError::Refusing`] where it is not even begun.
    pub fn begin_write<T, E>(
        &self,
        work: impl FnOnce(&Tx<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<impl FnOnce() -> Result<T, E>, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let answered = self.shared.writer.submit(work).map_err(E::from)?;
        Ok(|| {
            answered
                .blocking_recv()
                .unwrap_or_else(|_| Err(WriteError::Store(StoreError::closed())))
                .map_err(WriteError::flatten)
        })
    }

    /// [`Store::write`] without waiting for its end.
    ///
    /// # Errors
    /// [`StoreError::Overloaded`] or [`StoreError::Refusing`] where it is not even begun.
    pub fn write_unheard<E>(
        &self,
        work: impl FnOnce(&Tx<'_>) -> Result<(), E> + Send + 'static,
    ) -> Result<(), E>
    where
        E: From<StoreError> + Send + 'static,
    {
        self.shared.writer.submit(work).map(drop).map_err(E::from)
    }

    /// Why no write is taken in, where none is.
    pub fn refusing(&self) -> Option<Refusing> {
        self.shared.writer.health().refusing()
    }

    /// Size of the write-ahead log's file, in bytes; 0 where there is none.
    pub fn log_bytes(&self) -> u64 {
        std::fs::metadata(&self.shared.log).map_or(0, |found| found.len())
    }

    /// Jobs waiting for the writer.
    pub fn waiting(&self) -> usize {
        self.shared.writer.waiting()
    }
}

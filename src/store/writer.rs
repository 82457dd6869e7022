//! The one writer: a thread that owns the write connection and commits writes in batches.
//!
//! The states of a job, which is one submitted write:
//!
//! ```text
//!                +-------- reset --------+   another job of its savepoint failed after it had written
//!                v                       |
//! submit --> pending -- run --+----> Ok(value) ------- commit --> answer(value)
//!                |            |          +------------ commit fails --> answer(store error)
//!                |            +----> Err(error) ---- rows are rolled back --> answer(error)
//!                +-- the batch ends before its run --> answer(store error)
//! ```
//!
//! Invariant: a job is answered after the commit of its batch, and a failed job rolls back its own rows only.

mod attempt;
mod batch;
mod deferred;
mod disk;
#[cfg(test)]
mod tests;

pub use deferred::Touched;
pub(super) use disk::LOG_BYTES_MAX;

use super::health::{Health, WriteRefusal};
use super::lock::{FilePlace, Lock};
use super::memo::WriterCache;
use super::states::PendingChanges;
use super::{OnCommit, Reader, StoreError};
use crate::domain::asset::Chain;
use crate::domain::{Mode, ResourceChange, ResourceKind};
use batch::{Job, SubmittedJob};
use rusqlite::Connection;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::oneshot;

/// Maximum number of waiting jobs. Further writes are refused as overloaded.
const WAITING_MAX: usize = 4096;
/// Maximum number of jobs in one transaction.
const BATCH_MAX: usize = 256;
/// Interval of the checks whether another process has written, and whether the file is in its place.
const FOREIGN_CHECK: Duration = Duration::from_millis(500);

/// The changes of a batch, for caches and workers.
///
/// They may include changes that were rolled back, but no committed change is missing.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Ids of changed invoices. New invoices are left out, because no cache has them.
    pub invoices: Vec<String>,
    /// Ids of new events.
    pub events: Vec<String>,
    /// Whether accounts or endpoints were changed or added.
    pub accounts: bool,
    /// Whether keys were created, revoked or expired.
    pub keys: bool,
    /// Whether payment links were created or changed.
    pub payment_links: bool,
    /// Whether deliveries became due.
    pub deliveries: bool,
    /// Whether messages became due, or the status of an object changed, which may make some due.
    pub mail: bool,
    /// Whether deadlines of invoices were added or moved.
    pub deadlines: bool,
    /// Whether servers were ordered or changed.
    pub servers: bool,
    /// Whether payouts or refunds were changed, or whether the signer may send them.
    pub transfers: bool,
    /// Live addresses that were handed out or imported. They are watched before anybody sees them.
    pub addresses: Vec<(Chain, String)>,
    /// Live chains on which payments are newly expected.
    pub expected: Vec<Chain>,
    /// Kinds of objects that changed, for operator pages.
    pub resources: HashSet<ResourceChange>,
    /// Whether anything may have changed: another process wrote, or the sandbox was reset.
    pub everything: bool,
}

/// A transaction of the writer.
pub struct Tx<'c> {
    reader: Reader<'c>,
    changes: &'c RefCell<Changes>,
    /// Flag of a job in a shared savepoint. The job sets the flag if it has to run again in its own savepoint.
    needs_own_savepoint: Option<&'c Cell<bool>>,
    /// Invoices and destinations that are settled at the end of the current work.
    deferred: deferred::DeferredObjects,
    /// Changed values whose hashes are not in the audit log yet.
    pub(super) pending: PendingChanges,
}

impl<'c> std::ops::Deref for Tx<'c> {
    type Target = Reader<'c>;

    fn deref(&self) -> &Reader<'c> {
        &self.reader
    }
}

impl Tx<'_> {
    /// Runs a script of several statements, and clears the cache.
    pub(super) fn run_script(&self, sql: &str) -> Result<(), StoreError> {
        self.note_account_change();
        self.reader.run_on_conn(|conn| conn.execute_batch(sql))
    }

    /// Records a change that [`OnCommit`] gets after the commit.
    pub(super) fn record_change(&self, change: impl FnOnce(&mut Changes)) {
        change(&mut self.changes.borrow_mut());
    }

    /// After the commit, tells operator pages that an object changed. Without `account`, only operators are told.
    pub fn note_resource_change(&self, account: Option<i64>, mode: Mode, kind: ResourceKind) {
        let change = ResourceChange { account, mode, kind };
        self.record_change(|changes| {
            changes.resources.insert(change);
        });
    }
}

/// The handle of the writer thread, which accepts jobs. Dropping it runs the waiting jobs and closes the connection.
pub(super) struct Writer {
    jobs: Option<Sender<Box<dyn Job>>>,
    waiting: Arc<AtomicUsize>,
    pub(super) health: Arc<Health>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the writer thread.
    pub(super) fn start(
        file: OpenFile,
        health: Arc<Health>,
        on_commit: OnCommit,
    ) -> Result<Writer, StoreError> {
        let (jobs, queue) = channel::<Box<dyn Job>>();
        let waiting = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&waiting);
        let heard = Arc::clone(&health);
        // Read before any cache is filled, so that every later write of another process is noticed.
        let data_version = data_version(&file.conn)?;
        let thread =
            std::thread::Builder::new().name("coffer-writer".to_owned()).spawn(move || {
                WriterThread {
                    file,
                    health: heard,
                    is_gone: Cell::new(false),
                    locked_checks: Cell::new(0),
                    on_commit,
                    waiting: counter,
                    data_version: Cell::new(data_version),
                    memo: WriterCache::default(),
                }
                .serve(&queue)
            })?;
        Ok(Writer { jobs: Some(jobs), waiting, health, thread: Some(thread) })
    }

    /// Queues a job. A repeatable job may share a savepoint.
    pub(super) fn submit<T, E>(
        &self,
        is_repeatable: bool,
        work: impl FnMut(&Tx<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<oneshot::Receiver<Result<T, E>>, StoreError>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        self.health.check_writable()?;
        let (answer, answered) = oneshot::channel();
        let jobs = self.jobs.as_ref().ok_or_else(StoreError::writer_stopped_error)?;
        // Waiting jobs are counted here, because a bounded channel would allocate memory for all of them at its
        // start.
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= WAITING_MAX {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            return Err(StoreError::Overloaded);
        }
        let job = SubmittedJob { work, is_repeatable, result: None, answer };
        jobs.send(Box::new(job)).map_err(|_| {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            StoreError::writer_stopped_error()
        })?;
        Ok(answered)
    }

    /// Returns the number of jobs in the queue.
    pub(super) fn waiting_count(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.jobs.take());
        // If a job owns the last clone of the store, this handle is dropped on the writer thread, which cannot join
        // itself.
        let ended =
            self.thread.take().filter(|thread| thread.thread().id() != std::thread::current().id());
        if ended.is_some_and(|thread| thread.join().is_err()) {
            log::error!("writer thread panicked");
        }
    }
}

/// The open file. Its fields are dropped in order, so the lock outlives the connection.
pub(super) struct OpenFile {
    pub(super) conn: Connection,
    pub(super) place: Arc<FilePlace>,
    /// Whether a server has opened the file. Only the writer of a server checkpoints the log.
    pub(super) alone: bool,
    pub(super) lock: Lock,
}

/// The state of the writer thread.
struct WriterThread {
    file: OpenFile,
    health: Arc<Health>,
    /// Whether a check has found that the file is not at its path.
    is_gone: Cell<bool>,
    /// Number of consecutive idle checks that found the database locked.
    locked_checks: Cell<u32>,
    on_commit: OnCommit,
    waiting: Arc<AtomicUsize>,
    data_version: Cell<i64>,
    memo: WriterCache,
}

impl WriterThread {
    /// Runs jobs until the handle is dropped, then checkpoints the log and closes the file.
    fn serve(self, queue: &Receiver<Box<dyn Job>>) {
        loop {
            let first = queue.recv_timeout(FOREIGN_CHECK);
            self.check_file_place();
            self.check_header();
            match first {
                Ok(first) => self.serve_batch(first, queue),
                Err(RecvTimeoutError::Timeout) => {
                    if self.notice_foreign_writes() {
                        self.checkpoint();
                    }
                    self.check_disk();
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        self.close();
    }

    /// Runs the waiting jobs as one batch, calls [`OnCommit`], and then answers the jobs.
    fn serve_batch(&self, first: Box<dyn Job>, queue: &Receiver<Box<dyn Job>>) {
        let mut batch = vec![first];
        while batch.len() < BATCH_MAX
            && let Ok(job) = queue.try_recv()
        {
            batch.push(job);
        }
        self.waiting.fetch_sub(batch.len(), Ordering::Relaxed);
        let changes = RefCell::new(Changes::default());
        let committed = self.run_batch(&mut batch, &changes);
        match &committed {
            Ok(()) => (self.on_commit)(&changes.borrow()),
            // The reason was logged when writes were first refused.
            Err(StoreError::Refusing(_)) => {}
            Err(error) => log::error!("transaction failed: writes={} error={error}", batch.len()),
        }
        for job in batch {
            job.answer(committed.clone());
        }
        self.checkpoint();
    }

    /// Runs a statement that begins or ends a transaction or savepoint.
    fn run_statement(&self, sql: &str) -> Result<(), StoreError> {
        let run = || self.file.conn.prepare_cached(sql)?.execute([]);
        run().map(drop).map_err(|error| {
            match WriteRefusal::from_error(&error) {
                Some(WriteRefusal::Locked) => self.refuse_locked_database(),
                Some(_) | None => self.health.refuse_after_error(&error),
            }
            self.health.refuse_after_damage(error)
        })
    }

    /// Returns `true` if another process, for example a command, has written since the last call. In this case,
    /// clears all caches.
    fn notice_foreign_writes(&self) -> bool {
        match data_version(&self.file.conn) {
            Ok(version) if self.data_version.replace(version) != version => {
                self.memo.clear();
                (self.on_commit)(&Changes { everything: true, ..Changes::default() });
                true
            }
            Ok(_) => false,
            Err(error) => {
                self.health.refuse_after_error(&error);
                log::warn!("data version not read: error={error}");
                false
            }
        }
    }
}

/// Returns a number that changes only when another connection commits.
fn data_version(conn: &Connection) -> rusqlite::Result<i64> {
    conn.prepare_cached("pragma data_version")?.query_row([], |row| row.get("data_version"))
}

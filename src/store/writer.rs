//! The one writer: a thread that owns the write connection and commits in groups.
//!
//! What lives here: the queue, the thread, and who is told after a commit. What does not: any statement of a table.
//! What always holds: a job is answered after its batch is committed, never before, and a job that fails takes back
//! its own rows and nobody else's.

mod attempt;
mod batch;
mod disk;
mod job;
mod put_off;
#[cfg(test)]
mod tests;

pub(super) use disk::LOG_BYTES_MAX;
pub use put_off::Touched;

use super::health::{Health, Refusing};
use super::lock::{Lock, Place};
use super::memo::Memo;
use super::states::Pending;
use super::{OnCommit, Reader, StoreError};
use crate::domain::asset::Chain;
use job::{Answer, Asked, Job, Once, Repeatable};
use rusqlite::Connection;
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::oneshot;

/// Jobs that may wait; past that a write is refused as overloaded.
const WAITING_MAX: usize = 4096;
/// Jobs in one transaction.
const BATCH_MAX: usize = 256;
/// How often the writer looks whether another process has written, or the file is no longer in its place.
const FOREIGN_CHECK: Duration = Duration::from_millis(500);

/// What a batch changed, for those who keep copies or wait for work.
///
/// It may say too much, where a job noted a change and then failed; never too little.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// The ids of invoices that are different; one that is new has not been read before.
    pub invoices: Vec<String>,
    /// The ids of events that were recorded.
    pub events: Vec<String>,
    /// Accounts or their endpoints are different, or there are more of them.
    pub accounts: bool,
    /// Keys were made, revoked or removed.
    pub keys: bool,
    /// Deliveries became due.
    pub deliveries: bool,
    /// Invoices can expire that could not, or were not there.
    pub deadlines: bool,
    /// Servers were ordered, or moved.
    pub servers: bool,
    /// Payouts or refunds were moved.
    pub transfers: bool,
    /// Live addresses that were handed out or imported: they are watched before anybody hears of them.
    pub addresses: Vec<(Chain, String)>,
    /// Live chains on which money is expected that may not have been before.
    pub expected: Vec<Chain>,
    /// Anything may be different: another process wrote, or everything was put back.
    pub everything: bool,
}

/// A transaction of the writer.
pub struct Tx<'c> {
    reader: Reader<'c>,
    changes: &'c RefCell<Changes>,
    /// Of a job that shares its savepoint: set where what it wrote has to be taken back, and it is to be done again in one
    /// of its own.
    again: Option<&'c Cell<bool>>,
    /// Invoices whose settling is put off.
    put_off: put_off::PutOff,
    /// Values that were changed and whose hashes the audit log does not keep yet.
    pub(super) pending: Pending,
}

impl<'c> std::ops::Deref for Tx<'c> {
    type Target = Reader<'c>;

    fn deref(&self) -> &Reader<'c> {
        &self.reader
    }
}

impl Tx<'_> {
    /// Runs a script of several statements, which may change anything.
    pub(super) fn script(&self, sql: &str) -> Result<(), StoreError> {
        self.changes_accounts();
        self.reader.told(|conn| conn.execute_batch(sql))
    }

    /// Notes what is different, for [`OnCommit`].
    pub(super) fn note(&self, change: impl FnOnce(&mut Changes)) {
        change(&mut self.changes.borrow_mut());
    }
}

/// Why a write did not happen.
pub enum WriteError<E> {
    /// The closure refused.
    Refused(E),
    /// The transaction failed.
    Store(StoreError),
}

impl<E: From<StoreError>> WriteError<E> {
    /// The closure's kind of error for both.
    pub fn flatten(self) -> E {
        match self {
            WriteError::Refused(error) => error,
            WriteError::Store(error) => E::from(error),
        }
    }
}

/// The handle that jobs are submitted through; dropping it finishes what waits and closes the connection.
pub(super) struct Writer {
    jobs: Option<Sender<Box<dyn Job>>>,
    waiting: Arc<AtomicUsize>,
    health: Arc<Health>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread on this file.
    pub(super) fn start(
        file: OpenFile,
        health: Arc<Health>,
        on_commit: OnCommit,
    ) -> Result<Writer, StoreError> {
        let (jobs, queue) = channel::<Box<dyn Job>>();
        let waiting = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&waiting);
        let heard = Arc::clone(&health);
        // Read before anybody can have copied anything, so that no later write of another goes unnoticed.
        let data_version = data_version(&file.conn)?;
        let thread = std::thread::Builder::new()
            .name("coffer-writer".to_owned())
            .spawn(move || {
                Thread {
                    file,
                    health: heard,
                    gone: Cell::new(false),
                    locked: Cell::new(0),
                    on_commit,
                    waiting: counter,
                    data_version: Cell::new(data_version),
                    memo: Memo::default(),
                }
                .serve(&queue)
            })?;
        Ok(Writer {
            jobs: Some(jobs),
            waiting,
            health,
            thread: Some(thread),
        })
    }

    /// Puts a job into the queue that is done once and never again.
    pub(super) fn submit<T, E>(
        &self,
        work: impl FnOnce(&Tx<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<oneshot::Receiver<Answer<T, E>>, StoreError>
    where
        T: Send + 'static,
        E: Send + 'static,
    {
        self.enqueue(|answer| Box::new(Asked::new(Once(Some(work)), answer)))
    }

    /// Puts a job into the queue that may be done again where what it did was taken back: it shares its savepoint.
    pub(super) fn submit_repeatable<T, E>(
        &self,
        work: impl Fn(&Tx<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<oneshot::Receiver<Answer<T, E>>, StoreError>
    where
        T: Send + 'static,
        E: Send + 'static,
    {
        self.enqueue(|answer| Box::new(Asked::new(Repeatable(work), answer)))
    }

    fn enqueue<A>(
        &self,
        job: impl FnOnce(oneshot::Sender<A>) -> Box<dyn Job>,
    ) -> Result<oneshot::Receiver<A>, StoreError> {
        self.health.check()?;
        let (answer, answered) = oneshot::channel();
        let jobs = self.jobs.as_ref().ok_or_else(StoreError::closed)?;
        // Counted here: a channel that refuses by itself has memory for all of them from its start.
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= WAITING_MAX {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            return Err(StoreError::Overloaded);
        }
        jobs.send(job(answer)).map_err(|_| {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            StoreError::closed()
        })?;
        Ok(answered)
    }

    /// Are writes taken in?
    pub(super) fn health(&self) -> &Health {
        &self.health
    }

    /// Jobs in the queue.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.jobs.take());
        // The last to let go may be the writer itself, by way of a job that owned a store: it cannot wait for itself.
        let ended = self
            .thread
            .take()
            .filter(|thread| thread.thread().id() != std::thread::current().id());
        if ended.is_some_and(|thread| thread.join().is_err()) {
            log::error!("the writer thread panicked");
        }
    }
}

/// The file to write to. Its parts are dropped from the first to the last: the lock outlives the connection.
pub(super) struct OpenFile {
    pub(super) conn: Connection,
    pub(super) place: Arc<Place>,
    /// Nobody else is to write, so the writer also moves the log into the file.
    pub(super) alone: bool,
    pub(super) _lock: Lock,
}

/// What the thread owns.
struct Thread {
    file: OpenFile,
    health: Arc<Health>,
    /// It has found that the file is no longer in its place.
    gone: Cell<bool>,
    /// Looks in a row, with nothing to do, that found the database locked.
    locked: Cell<u32>,
    on_commit: OnCommit,
    waiting: Arc<AtomicUsize>,
    data_version: Cell<i64>,
    memo: Memo,
}

impl Thread {
    /// Serves until every handle is gone, then moves the log into the file and closes it.
    fn serve(self, queue: &Receiver<Box<dyn Job>>) {
        loop {
            let first = queue.recv_timeout(FOREIGN_CHECK);
            self.look_for_file();
            match first {
                Ok(first) => self.serve_batch(first, queue),
                Err(RecvTimeoutError::Timeout) => {
                    if self.notice_foreign_writes() {
                        self.checkpoint();
                    }
                    self.look_at_disk();
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        self.close();
    }

    /// Takes what waits, runs it in one transaction, commits, tells, answers.
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
            // Why was said when it came to be so.
            Err(StoreError::Refusing(_)) => {}
            Err(error) => log::error!("a transaction of {} writes failed: {error}", batch.len()),
        }
        for job in batch {
            job.answer(committed.clone());
        }
        self.checkpoint();
    }

    /// Runs a statement of the transaction itself.
    fn statement(&self, sql: &str) -> Result<(), StoreError> {
        let run = || self.file.conn.prepare_cached(sql)?.execute([]);
        run().map(drop).map_err(|error| {
            match Refusing::of(&error) {
                Some(Refusing::Locked) => self.refuse_locked(),
                Some(_) | None => self.health.hear(&error),
            }
            StoreError::from(error)
        })
    }

    /// Commands may write beside a running server: a new version of the data drops every copy. True where there is one.
    fn notice_foreign_writes(&self) -> bool {
        match data_version(&self.file.conn) {
            Ok(version) if self.data_version.replace(version) != version => {
                self.memo.forget();
                (self.on_commit)(&Changes {
                    everything: true,
                    ..Changes::default()
                });
                true
            }
            Ok(_) => false,
            Err(error) => {
                self.health.hear(&error);
                log::warn!("the data version could not be read: {error}");
                false
            }
        }
    }
}

/// A number that other connections' commits move, and this one's do not.
fn data_version(conn: &Connection) -> rusqlite::Result<i64> {
    conn.prepare_cached("pragma data_version")?
        .query_row([], |row| row.get("data_version"))
}

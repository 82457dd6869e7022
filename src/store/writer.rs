//! The one writer: a thread that owns the write connection and commits in groups.
//!
//! What lives here: the queue, the batch, the savepoints, and what is told after a commit. What does not: any
//! statement of a table. What always holds: a job is answered after its batch is committed, never before, and a
//! job that fails takes back its own rows and nobody else's.

mod attempt;
mod disk;
#[cfg(test)]
mod tests;

pub(super) use disk::LOG_BYTES_MAX;

use super::health::Health;
use super::lock::{Lock, Place};
use super::{OnCommit, Reader, StoreError};
use rusqlite::Connection;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
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
    /// Anything may be different: another process wrote, or everything was put back.
    pub everything: bool,
}

/// A transaction of the writer.
pub struct Tx<'c> {
    reader: Reader<'c>,
    changes: &'c RefCell<Changes>,
}

impl<'c> std::ops::Deref for Tx<'c> {
    type Target = Reader<'c>;

    fn deref(&self) -> &Reader<'c> {
        &self.reader
    }
}

impl Tx<'_> {
    /// Runs one statement; the number of rows it changed.
    pub(super) fn run(
        &self,
        sql: &str,
        params: impl rusqlite::Params,
    ) -> Result<usize, StoreError> {
        self.reader
            .told(|conn| conn.prepare_cached(sql)?.execute(params))
    }

    /// Inserts one row; its `seq`.
    pub(super) fn insert(
        &self,
        sql: &str,
        params: impl rusqlite::Params,
    ) -> Result<i64, StoreError> {
        self.reader
            .told(|conn| conn.prepare_cached(sql)?.insert(params))
    }

    /// Runs a script of several statements.
    pub(super) fn script(&self, sql: &str) -> Result<(), StoreError> {
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

/// What a write answers.
type Answer<T, E> = Result<T, WriteError<E>>;
/// Answers one job, given how its batch ended.
type Finish = Box<dyn FnOnce(Result<(), StoreError>) + Send>;
/// One write, its types rubbed off: says whether to keep what it wrote, and how to answer it. It is not run where
/// there is no transaction for it.
type Job = Box<dyn FnOnce(Option<&Tx<'_>>) -> (bool, Finish) + Send>;

/// The handle that jobs are submitted through; dropping it finishes what waits and closes the connection.
pub(super) struct Writer {
    jobs: Option<SyncSender<Job>>,
    waiting: Arc<AtomicUsize>,
    health: Arc<Health>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread on this file.
    pub(super) fn start(file: OpenFile, on_commit: OnCommit) -> Result<Writer, StoreError> {
        let (jobs, queue) = sync_channel::<Job>(WAITING_MAX);
        let waiting = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&waiting);
        let health = Arc::new(Health::default());
        let heard = Arc::clone(&health);
        // Read before anybody can have copied anything, so that no later write of another goes unnoticed.
        let data_version = data_version(&file.conn)?;
        let thread = std::thread::Builder::new()
            .name("coffer-writer".to_owned())
            .spawn(move || {
                Thread {
                    file,
                    health: heard,
                    on_commit,
                    waiting: counter,
                    data_version,
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

    /// Puts a job into the queue.
    pub(super) fn submit<T, E>(
        &self,
        work: impl FnOnce(&Tx<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<oneshot::Receiver<Answer<T, E>>, StoreError>
    where
        T: Send + 'static,
        E: Send + 'static,
    {
        self.health.check()?;
        let (answer, answered) = oneshot::channel();
        let job: Job = Box::new(move |tx| {
            let outcome = tx.map(|tx| catch_unwind(AssertUnwindSafe(|| work(tx))));
            let keep = matches!(outcome, Some(Ok(Ok(_))));
            let finish = move |committed: Result<(), StoreError>| {
                let result = match outcome {
                    None => Err(WriteError::Store(
                        committed.err().unwrap_or_else(StoreError::closed),
                    )),
                    Some(Ok(Ok(value))) => committed.map(|()| value).map_err(WriteError::Store),
                    Some(Ok(Err(refusal))) => Err(WriteError::Refused(refusal)),
                    Some(Err(_)) => Err(WriteError::Store(StoreError::Failed(
                        "a write panicked".to_owned(),
                    ))),
                };
                // The asker may be gone; the write stands all the same.
                let _ = answer.send(result);
            };
            (keep, Box::new(finish))
        });
        let jobs = self.jobs.as_ref().ok_or_else(StoreError::closed)?;
        self.waiting.fetch_add(1, Ordering::Relaxed);
        jobs.try_send(job).map_err(|error| {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            match error {
                TrySendError::Full(_) => StoreError::Overloaded,
                TrySendError::Disconnected(_) => StoreError::closed(),
            }
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
    on_commit: OnCommit,
    waiting: Arc<AtomicUsize>,
    data_version: i64,
}

impl Thread {
    /// Serves until every handle is gone, then moves the log into the file and closes it.
    fn serve(mut self, queue: &Receiver<Job>) {
        loop {
            let first = queue.recv_timeout(FOREIGN_CHECK);
            self.look_for_file();
            self.notice_foreign_writes();
            match first {
                Ok(first) => self.serve_batch(first, queue),
                Err(RecvTimeoutError::Timeout) => self.look_at_disk(),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        self.close();
    }

    /// Takes what waits, runs it in one transaction, commits, tells, answers.
    fn serve_batch(&mut self, first: Job, queue: &Receiver<Job>) {
        let mut batch = vec![first];
        while batch.len() < BATCH_MAX
            && let Ok(job) = queue.try_recv()
        {
            batch.push(job);
        }
        self.waiting.fetch_sub(batch.len(), Ordering::Relaxed);
        let changes = RefCell::new(Changes::default());
        let mut finishes = Vec::with_capacity(batch.len());
        let committed = self.run_batch(batch, &changes, &mut finishes);
        match &committed {
            Ok(()) => (self.on_commit)(&changes.borrow()),
            // Why was said when it came to be so.
            Err(StoreError::Refusing(_)) => {}
            Err(error) => {
                log::error!("a transaction of {} writes failed: {error}", finishes.len());
            }
        }
        for finish in finishes {
            finish(committed.clone());
        }
        self.checkpoint();
    }

    /// One transaction around every job; alone in it, a job needs no savepoint.
    fn run_batch(
        &self,
        batch: Vec<Job>,
        changes: &RefCell<Changes>,
        finishes: &mut Vec<Finish>,
    ) -> Result<(), StoreError> {
        let begun = self
            .health
            .check()
            .and_then(|()| self.statement("begin immediate"));
        let alone = batch.len() == 1;
        let mut failed = begun.err();
        for job in batch {
            if failed.is_some() {
                // The transaction is gone: what is left is answered with its failure, not run.
                finishes.push(job(None).1);
                continue;
            }
            let mut kept = false;
            if let Err(error) = self.run_job(job, alone, changes, finishes, &mut kept) {
                failed = Some(error);
            } else if alone && !kept {
                return self.statement("rollback");
            }
        }
        let ended = match failed {
            None => self.statement("commit"),
            Some(error) => Err(error),
        };
        if ended.is_err() && !self.file.conn.is_autocommit() {
            self.statement("rollback")?;
        }
        ended
    }

    /// One job, in a savepoint unless it is alone.
    fn run_job(
        &self,
        job: Job,
        alone: bool,
        changes: &RefCell<Changes>,
        finishes: &mut Vec<Finish>,
        kept: &mut bool,
    ) -> Result<(), StoreError> {
        if !alone {
            self.statement("savepoint job")?;
        }
        let (keep, finish) = job(Some(&Tx {
            reader: Reader {
                conn: &self.file.conn,
                health: Some(&self.health),
            },
            changes,
        }));
        finishes.push(finish);
        *kept = keep;
        if self.file.conn.is_autocommit() {
            self.health.check()?;
            return Err(StoreError::Failed(
                "an error ended the transaction".to_owned(),
            ));
        }
        match (alone, keep) {
            (true, _) => Ok(()),
            (false, true) => self.statement("release job"),
            (false, false) => {
                self.statement("rollback to job")?;
                self.statement("release job")
            }
        }
    }

    /// Runs a statement of the transaction itself.
    fn statement(&self, sql: &str) -> Result<(), StoreError> {
        let run = || self.file.conn.prepare_cached(sql)?.execute([]);
        run().map(drop).map_err(|error| {
            self.health.hear(&error);
            StoreError::from(error)
        })
    }

    /// Commands may write beside a running server: a new version of the data drops every copy.
    fn notice_foreign_writes(&mut self) {
        match data_version(&self.file.conn) {
            Ok(version) => {
                let before = std::mem::replace(&mut self.data_version, version);
                if before != version {
                    (self.on_commit)(&Changes {
                        everything: true,
                        ..Changes::default()
                    });
                    self.checkpoint();
                }
            }
            Err(error) => {
                self.health.hear(&error);
                log::warn!("the data version could not be read: {error}");
            }
        }
    }
}

/// A number that other connections' commits move, and this one's do not.
fn data_version(conn: &Connection) -> rusqlite::Result<i64> {
    conn.prepare_cached("pragma data_version")?
        .query_row([], |row| row.get(0))
}

//! A batch: one transaction around its jobs. A job is one submitted write, and [`super`] shows its states.
//!
//! ```text
//! begin immediate
//! |  savepoint jobs        a run of repeatable jobs, or one other job
//! |  |  job job job
//! |  +- release            all are done, or failed without writing
//! |  +- rollback, release  one failed after it had written: reset all, then run each in a savepoint of its own
//! |  savepoint jobs        the next run
//! |  ...
//! +- commit                answer all
//! +- rollback              an error ended the transaction early: no further job runs
//! ```
//!
//! A batch of one job needs no savepoint: it is committed or rolled back as a whole.
//!
//! SQLite copies each page that changes after a savepoint, so repeatable jobs share one. A job rarely fails after it
//! has written. [`super::attempt`] opens no savepoint inside a shared one: SQLite keeps one list of changes and reads
//! it from its start whenever a savepoint ends.
//!
//! Invariant: a job may run more than once, and its answer is the result of the last run. A success is answered only
//! after the commit.

use super::{Changes, Reader, StoreError, Tx, WriterThread};
use crate::store::health::ReportedErrors;
use crate::store::states::PendingChanges;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use tokio::sync::oneshot;

type Batch = [Box<dyn Job>];

/// A submitted write, independent of the types of its result.
pub(super) trait Job: Send {
    /// Runs the job. Returns `true` if it succeeds.
    fn run(&mut self, tx: &Tx<'_>) -> bool;

    /// Returns `true` if the job may run again after its rows were rolled back.
    fn is_repeatable(&self) -> bool;

    /// Makes the job pending again, after its rows were rolled back.
    fn reset(&mut self);

    /// Sends the answer to the caller, after the end of the batch.
    fn answer(self: Box<Self>, committed: Result<(), StoreError>);
}

/// A submitted write: its work, the result of the last run, and the channel for the answer.
pub(super) struct SubmittedJob<W, T, E> {
    pub(super) work: W,
    pub(super) is_repeatable: bool,
    /// `None` while the job is pending.
    pub(super) result: Option<Result<T, E>>,
    pub(super) answer: oneshot::Sender<Result<T, E>>,
}

impl<W, T, E> Job for SubmittedJob<W, T, E>
where
    W: FnMut(&Tx<'_>) -> Result<T, E> + Send,
    T: Send,
    E: From<StoreError> + Send,
{
    fn run(&mut self, tx: &Tx<'_>) -> bool {
        let work = || {
            let value = (self.work)(tx)?;
            tx.insert_pending_hashes()?;
            Ok(value)
        };
        let panicked = |_| Err(StoreError::Failed("a write panicked".to_owned()).into());
        let result = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(panicked);
        self.result.insert(result).is_ok()
    }

    fn is_repeatable(&self) -> bool {
        self.is_repeatable
    }

    fn reset(&mut self) {
        self.result = None;
    }

    fn answer(self: Box<Self>, committed: Result<(), StoreError>) {
        let answer = match (self.result, committed) {
            (Some(Err(error)), _) => Err(error),
            (Some(Ok(_)) | None, Err(error)) => Err(error.into()),
            (Some(Ok(value)), Ok(())) => Ok(value),
            (None, Ok(())) => Err(StoreError::writer_stopped_error().into()),
        };
        // The caller may have gone away. The write is committed nevertheless.
        let _ = self.answer.send(answer);
    }
}

impl WriterThread {
    pub(super) fn run_batch(
        &self,
        batch: &mut Batch,
        changes: &RefCell<Changes>,
    ) -> Result<(), StoreError> {
        self.health.check_writable()?;
        self.run_statement("begin immediate")?;
        // No other process can write from here until the end of the transaction.
        self.notice_foreign_writes();
        self.locked_checks.set(0);
        let ended = match self.run_jobs(batch, changes) {
            // A job, or a read of another thread, may just have found that the file is damaged.
            Ok(true) if self.health.needs_restart() => self.health.check_writable(),
            Ok(true) => self.run_statement("commit"),
            Ok(false) => Ok(()),
            Err(error) => Err(error),
        };
        if ended.is_err() {
            self.memo.clear();
        }
        if !self.file.conn.is_autocommit() {
            self.memo.clear();
            self.run_statement("rollback")?;
        }
        // If the disk has just failed, this write returns the same error as later writes.
        ended.map_err(|error| self.health.check_writable().err().unwrap_or(error))
    }

    /// Runs every job. Returns `false` if there is nothing to commit.
    fn run_jobs(&self, batch: &mut Batch, changes: &RefCell<Changes>) -> Result<bool, StoreError> {
        if let [job] = batch {
            return self.run_job(job.as_mut(), changes, None);
        }
        for jobs in batch.chunk_by_mut(|one, next| one.is_repeatable() && next.is_repeatable()) {
            if !self.run_in_savepoint(jobs, changes)? {
                for job in jobs.iter_mut() {
                    job.reset();
                }
                for job in jobs {
                    self.run_in_savepoint(std::slice::from_mut(job), changes)?;
                }
            }
        }
        Ok(true)
    }

    /// Runs jobs in one savepoint. Returns `false` if each job has to run again in its own savepoint.
    fn run_in_savepoint(
        &self,
        jobs: &mut Batch,
        changes: &RefCell<Changes>,
    ) -> Result<bool, StoreError> {
        self.run_statement("savepoint jobs")?;
        let alone = jobs.len() == 1;
        let needs_own_savepoint = Cell::new(false);
        let shared = (!alone).then_some(&needs_own_savepoint);
        let mut rolls_back = false;
        for job in jobs {
            let before = self.file.conn.total_changes();
            let is_done = self.run_job(job.as_mut(), changes, shared)?;
            let has_written = alone || self.file.conn.total_changes() != before;
            rolls_back = (!is_done && has_written) || needs_own_savepoint.get();
            if rolls_back {
                break;
            }
        }
        if rolls_back {
            self.memo.clear();
            self.run_statement("rollback to jobs")?;
        }
        self.run_statement("release jobs")?;
        Ok(alone || !rolls_back)
    }

    /// Runs a job. Returns `true` if it succeeds. A job in a shared savepoint sets `needs_own_savepoint` if it must
    /// run again in its own savepoint.
    fn run_job(
        &self,
        job: &mut dyn Job,
        changes: &RefCell<Changes>,
        needs_own_savepoint: Option<&Cell<bool>>,
    ) -> Result<bool, StoreError> {
        let tx = Tx {
            reader: Reader {
                conn: &self.file.conn,
                reported: ReportedErrors::All(&self.health),
                memo: Some(&self.memo),
            },
            changes,
            needs_own_savepoint,
            deferred: RefCell::new(None),
            pending: PendingChanges::default(),
        };
        let is_done = job.run(&tx);
        if self.file.conn.is_autocommit() {
            self.health.check_writable()?;
        }
        tx.check_transaction_open()?;
        Ok(is_done)
    }
}

//! Running a batch: one transaction around every job, and savepoints where one may have to be taken back.
//!
//! A savepoint makes SQLite copy each page that is changed after it, so jobs that may be run again share one: where one
//! of them fails that has written something, all of them are taken back and run again, each in a savepoint of its own.
//! That happens seldom: what refuses mostly refuses before it writes. No savepoint is opened inside the one that is shared,
//! either (`attempt`): SQLite keeps what was changed in one list, and with each that ends it goes through that list from its
//! start.
//!
//! What always holds: a job that fails takes back its own rows and nobody else's.

use super::job::Job;
use super::{Changes, Reader, StoreError, Thread, Tx};
use crate::store::states::Pending;
use std::cell::{Cell, RefCell};

type Batch = [Box<dyn Job>];

impl Thread {
    /// One transaction around every job. Where it ends before its time, the jobs that are left are not run.
    pub(super) fn run_batch(
        &self,
        batch: &mut Batch,
        changes: &RefCell<Changes>,
    ) -> Result<(), StoreError> {
        self.health.check()?;
        self.statement("begin immediate")?;
        // From here on nobody else writes.
        self.notice_foreign_writes();
        self.locked.set(0);
        let ended = match self.run_jobs(batch, changes) {
            Ok(true) => self.statement("commit"),
            Ok(false) => Ok(()),
            Err(error) => Err(error),
        };
        if ended.is_err() {
            self.memo.forget();
        }
        if !self.file.conn.is_autocommit() {
            self.memo.forget();
            self.statement("rollback")?;
        }
        // A disk that failed now refuses this write as it refuses the next ones.
        ended.map_err(|error| self.health.check().err().unwrap_or(error))
    }

    /// Runs every job; false where there is nothing to commit. Alone, a job needs no savepoint.
    fn run_jobs(&self, batch: &mut Batch, changes: &RefCell<Changes>) -> Result<bool, StoreError> {
        if let [job] = batch {
            return self.run_job(job.as_mut(), changes, None);
        }
        for jobs in batch.chunk_by_mut(|one, next| one.is_repeatable() && next.is_repeatable()) {
            if !self.run_together(jobs, changes)? {
                for job in jobs.iter_mut() {
                    job.forget();
                }
                for job in jobs {
                    self.run_together(std::slice::from_mut(job), changes)?;
                }
            }
        }
        Ok(true)
    }

    /// Runs jobs in one savepoint. False: what they wrote was taken back, because one of several failed that had written
    /// something.
    fn run_together(
        &self,
        jobs: &mut Batch,
        changes: &RefCell<Changes>,
    ) -> Result<bool, StoreError> {
        self.statement("savepoint jobs")?;
        let alone = jobs.len() == 1;
        let again = Cell::new(false);
        let mut stands = true;
        for job in jobs {
            let before = self.file.conn.total_changes();
            let keep = self.run_job(job.as_mut(), changes, (!alone).then_some(&again))?;
            let has_failed = !keep && (alone || self.file.conn.total_changes() != before);
            if has_failed || again.get() {
                stands = false;
                break;
            }
        }
        if !stands {
            self.memo.forget();
            self.statement("rollback to jobs")?;
        }
        self.statement("release jobs")?;
        Ok(stands || alone)
    }

    /// One job, which sets `again` where it shares its savepoint and has to have one of its own; true: what it wrote is to be
    /// kept.
    fn run_job(
        &self,
        job: &mut dyn Job,
        changes: &RefCell<Changes>,
        again: Option<&Cell<bool>>,
    ) -> Result<bool, StoreError> {
        let keep = job.run(&Tx {
            reader: Reader {
                conn: &self.file.conn,
                health: Some(&self.health),
                memo: Some(&self.memo),
            },
            changes,
            again,
            put_off: RefCell::new(None),
            pending: Pending::default(),
        });
        if self.file.conn.is_autocommit() {
            self.health.check()?;
            return Err(StoreError::Failed(
                "an error ended the transaction".to_owned(),
            ));
        }
        Ok(keep)
    }
}

//! Disk work of the writer: checkpoints, and checks of free space and of the place of the file.
//!
//! Litestream copies a file by reading its log, and checkpoints the log itself. A checkpoint of ours between two of
//! its reads would damage the copy. So the log is left to Litestream until it is larger than Litestream would let it
//! grow. In that case Litestream does not run, and the whole log is truncated. Litestream notices this at its next
//! start.
//!
//! Invariant: after a disk failure nothing is checkpointed.

use super::WriterThread;
use crate::store::connection::WRITER_BUSY;
use crate::store::damage::header_problem;
use crate::store::health::WriteRefusal;
use crate::store::lock::PlaceState;
use crate::store::lock_holder;
use crate::store::paths::with_suffix;
use crate::store::statement::statements;
use rusqlite::config::DbConfig;
use std::path::Path;
use std::time::Duration;

/// Number of log pages at which the log is checkpointed.
const LOG_PAGES_MAX: i64 = 1000;
/// Number of log pages at which the writer truncates a log that is left to Litestream: 1 GiB of pages of the usual
/// size. A running Litestream checkpoints at 500 MB.
const LEFT_PAGES_MAX: i64 = if cfg!(test) { 4 } else { 256 } * 1024;
/// Maximum size of the WAL file, in bytes. A WAL that exceeds it because of a long read is truncated.
pub(in crate::store) const LOG_BYTES_MAX: u32 = 16 * 1024 * 1024;
/// Number of consecutive checks with a locked database after which writes are refused.
const LOCKED_TIMES: u32 = 2;
/// Changes a row and changes it back, so that the commit writes a page to the log.
const PROBE: &str = "begin immediate;
  update file set maintenance = 1 - maintenance;
  update file set maintenance = 1 - maintenance;
  commit";

statements! {
    /// Returns `true` if Litestream copies the file. Litestream creates the table at its first start and never removes it.
    fn has_litestream_table(conn) -> (found: bool) =
        "select exists (select 1 from sqlite_schema where name = '_litestream_lock') as found";
}

impl WriterThread {
    /// Checkpoints the log for the last time, unless the disk has failed or the database is locked.
    pub(super) fn close(&self) {
        // The log of a locked database is left to the next start.
        let is_locked = self.health.refusal() == Some(WriteRefusal::Locked);
        if self.file.alone && !self.health.needs_restart() && !is_locked {
            let moved = self.has_litestream().and_then(|is_copied| {
                if is_copied {
                    // Closing the file also checkpoints, unless another process has the file open.
                    return Ok(());
                }
                let conn = &self.file.conn;
                conn.execute_batch("pragma wal_checkpoint(truncate)")
            });
            if let Err(error) = moved {
                self.health.refuse_after_error(&error);
                log::warn!("last checkpoint failed: error={error}");
            }
        }
        if self.health.needs_restart() {
            // Without this option, closing the file would checkpoint to a failed disk. It would also remove the file
            // with the log's name, which may be another log by now.
            let config = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
            if let Err(error) = self.file.conn.set_db_config(config, true) {
                log::error!("write-ahead log not protected from checkpoints: error={error}");
            }
        }
    }

    /// Refuses writes if the file is not in its place, because a restart would not find later writes.
    pub(super) fn check_file_place(&self) {
        let found = self.file.place.current_state();
        if found == PlaceState::InPlace || self.is_gone.replace(true) {
            return;
        }
        let is_sound = self.health.refusal() != Some(WriteRefusal::DiskFailed);
        if found == PlaceState::Moved && self.file.alone && is_sound {
            // The log still belongs to the moved file, so a checkpoint copies its pages into that file.
            let moved = self.file.conn.execute_batch("pragma wal_checkpoint(truncate)");
            if let Err(error) = moved {
                log::warn!("last checkpoint failed: error={error}");
            }
        }
        self.health.refuse_moved_file();
    }

    /// Refuses writes if another file was written over the file. Opens nothing.
    pub(super) fn check_header(&self) {
        if self.file.alone
            && let Some(problem) = header_problem(&self.file.lock)
        {
            self.health.refuse_writes(WriteRefusal::FileDamaged, problem);
        }
    }

    /// Refuses writes from now on, because another program has locked the database. A command only logs this.
    pub(super) fn refuse_locked_database(&self) {
        if self.health.refusal().is_none() {
            let path = self.file.conn.path().map(Path::new);
            let holder = path.and_then(lock_holder::find_holder);
            let holder = holder.unwrap_or_else(|| "the system does not tell which".to_owned());
            if self.file.alone {
                self.health.refuse_writes(WriteRefusal::Locked, &holder);
            } else {
                // A refusal would never end: a command does not check whether the lock was released.
                log::error!("write refused: reason={} holder={holder}", WriteRefusal::Locked);
            }
        }
    }

    /// Checks while the writer is idle whether another program has locked the database or released its lock.
    fn check_lock(&self) {
        let refusing = self.health.refusal();
        if !self.file.alone || !matches!(refusing, None | Some(WriteRefusal::Locked)) {
            return;
        }
        match self.is_locked() {
            Ok(true) => {
                let times = self.locked_checks.get().saturating_add(1);
                self.locked_checks.set(times);
                if times >= LOCKED_TIMES {
                    self.refuse_locked_database();
                }
            }
            Ok(false) => {
                self.locked_checks.set(0);
                if refusing.is_some() {
                    self.health.accept_writes();
                }
            }
            Err(error) => self.health.refuse_after_error(&error),
        }
    }

    /// Returns `true` if another program has locked the database now.
    fn is_locked(&self) -> rusqlite::Result<bool> {
        self.file.conn.busy_timeout(Duration::ZERO)?;
        let taken = self.file.conn.execute_batch("begin immediate; rollback");
        self.file.conn.busy_timeout(WRITER_BUSY)?;
        match taken {
            Err(error) if WriteRefusal::from_error(&error) == Some(WriteRefusal::Locked) => {
                Ok(true)
            }
            taken => taken.map(|()| false),
        }
    }

    /// Checks after a full disk whether there is free space again.
    fn check_free_space(&self) {
        if self.health.refusal() != Some(WriteRefusal::DiskFull) {
            return;
        }
        match self.file.conn.execute_batch(PROBE) {
            Ok(()) => self.health.accept_writes(),
            Err(error) => self.health.refuse_after_error(&error),
        }
        if !self.file.conn.is_autocommit() {
            // A rollback that fails is noticed by the next check.
            let _ = self.file.conn.execute_batch("rollback");
        }
    }

    /// Checks locks and free space while the writer is idle. Truncates a log that grew because of a long read.
    pub(super) fn check_disk(&self) {
        self.check_lock();
        self.check_free_space();
        if self.may_checkpoint() && self.is_log_large() {
            let cut = self.has_litestream().and_then(|is_copied| match is_copied {
                true => Ok(false),
                false => self.truncate_wal(),
            });
            self.report_checkpoint_error(cut.map(drop));
        }
    }

    /// Returns `true` if Litestream copies the file. Nothing is committed between this check and a checkpoint.
    fn has_litestream(&self) -> rusqlite::Result<bool> {
        has_litestream_table(&self.file.conn)
    }

    /// Returns `true` if the log file exceeds its maximum size.
    fn is_log_large(&self) -> bool {
        let log = self.file.conn.path().map(|path| with_suffix(Path::new(path), "-wal"));
        log.and_then(|log| std::fs::metadata(log).ok())
            .is_some_and(|found| found.len() > u64::from(LOG_BYTES_MAX))
    }

    /// Checkpoints a log that has grown, as far as readers allow. Runs after each batch, and makes no system call
    /// while the log is short.
    pub(super) fn checkpoint(&self) {
        if !self.may_checkpoint() {
            return;
        }
        let moved =
            self.run_checkpoint("pragma wal_checkpoint(noop)").and_then(|(written, moved)| {
                if written < LOG_PAGES_MAX || moved == written {
                    Ok(())
                } else if self.has_litestream()? {
                    if written >= LEFT_PAGES_MAX && self.truncate_wal()? {
                        log::warn!(
                            "write-ahead log cut off, Litestream does not run: pages={written}"
                        );
                    }
                    Ok(())
                } else if self.is_log_large() {
                    self.truncate_wal().map(drop)
                } else {
                    self.run_checkpoint("pragma wal_checkpoint(passive)").map(drop)
                }
            });
        self.report_checkpoint_error(moved);
    }

    fn may_checkpoint(&self) -> bool {
        self.file.alone && self.health.refusal().is_none()
    }

    /// Checkpoints and truncates the log, without waiting for other users of the file. Returns `true` on success.
    fn truncate_wal(&self) -> rusqlite::Result<bool> {
        self.file.conn.busy_timeout(Duration::ZERO)?;
        let cut = self.run_checkpoint("pragma wal_checkpoint(truncate)");
        self.file.conn.busy_timeout(WRITER_BUSY)?;
        cut.map(|(left, _)| left == 0)
    }

    /// Runs a checkpoint statement. Returns the number of pages in the log, and how many of them are in the file.
    fn run_checkpoint(&self, checkpoint: &str) -> rusqlite::Result<(i64, i64)> {
        let mut statement = self.file.conn.prepare_cached(checkpoint)?;
        statement.query_row([], |row| Ok((row.get("log")?, row.get("checkpointed")?)))
    }

    fn report_checkpoint_error(&self, moved: rusqlite::Result<()>) {
        if let Err(error) = moved {
            self.health.refuse_after_error(&error);
            log::warn!("write-ahead log not checkpointed: error={error}");
        }
    }
}

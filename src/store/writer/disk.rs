//! What the writer does about the disk: it checkpoints the log into the file, finds out whether there is room
//! again, and checks that the file is still in its place.
//!
//! Where Litestream copies the file, that reads the log and checkpoints it: a log that somebody else has moved and begun
//! anew between two of its reads makes it miss what was in between, and its copy is damaged. So the log is left to it. Past
//! the point at which it would have done it, it does not run; then the log is cut off as a whole, which it notices when it
//! starts.
//!
//! What does not live here: whether writes are taken in (`health`). What always holds: after a disk has failed,
//! nothing is checkpointed.

use super::Thread;
use crate::store::health::Refusing;
use crate::store::lock::Found;
use crate::store::lock_holder;
use crate::store::open::{WRITER_BUSY, with_suffix};
use crate::store::statement::values;
use rusqlite::config::DbConfig;
use std::path::Path;
use std::time::Duration;

/// Pages in the log past which they are moved into the file.
const LOG_PAGES_MAX: i64 = 1000;
/// Pages in the log past which it is cut off although that is left to Litestream, which does it from 500 MB on at the latest:
/// so it no longer runs. 1 GiB of the usual pages.
const LEFT_PAGES_MAX: i64 = if cfg!(test) { 4 } else { 256 } * 1024;
/// How large the log's file may stay: one that a long read made grow beyond this is cut off.
pub(in crate::store) const LOG_BYTES_MAX: u32 = 16 * 1024 * 1024;
/// Looks in a row that find the database locked after which writes are refused.
const LOCKED_TIMES: u32 = 2;
/// Changes a row and takes the change back: to commit it, the log must take a page.
const PROBE: &str = "begin immediate;
  update file set maintenance = 1 - maintenance;
  update file set maintenance = 1 - maintenance;
  commit";

values! {
    /// Does Litestream copy the file? Its tables are made when it starts for the first time, and stay.
    IS_COPIED(found: bool) = "select exists (select 1 from sqlite_schema where name = '_litestream_lock') as found";
}

impl Thread {
    /// Moves the log into the file for the last time, unless the disk has failed.
    pub(super) fn close(&self) {
        // A locked database is left as it is: the next start finds the log.
        let is_locked = self.health.refusing() == Some(Refusing::Locked);
        if self.file.alone && !self.health.needs_restart() && !is_locked {
            let moved = self.is_copied().and_then(|is_copied| {
                if is_copied {
                    // Closing the file does it, where nobody else has it open.
                    return Ok(());
                }
                let conn = &self.file.conn;
                conn.execute_batch("pragma wal_checkpoint(truncate)")
            });
            if let Err(error) = moved {
                self.health.hear(&error);
                log::warn!("the last checkpoint failed: {error}");
            }
        }
        if self.health.needs_restart() {
            // Closing the file would do it once more, and trust a disk that has failed; and remove the log by a name
            // that another file's may have by now.
            let config = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
            if let Err(error) = self.file.conn.set_db_config(config, true) {
                log::error!(
                    "the write-ahead log cannot be kept from being checkpointed or removed: {error}"
                );
            }
        }
    }

    /// A file that is no longer in its place is not written to: a restart would not find what was acknowledged.
    pub(super) fn look_for_file(&self) {
        let found = self.file.place.look();
        if found == Found::InPlace || self.gone.replace(true) {
            return;
        }
        let is_sound = self.health.refusing() != Some(Refusing::DiskFailed);
        if found == Found::Moved && self.file.alone && is_sound {
            // The log is still ours: what is in it goes with the file, wherever that was moved to.
            let moved = self
                .file
                .conn
                .execute_batch("pragma wal_checkpoint(truncate)");
            if let Err(error) = moved {
                log::warn!("the last checkpoint failed: {error}");
            }
        }
        self.health.refuse_moved();
    }

    /// No write of a server is taken in from now on, as another program holds the database locked.
    pub(super) fn refuse_locked(&self) {
        if self.health.refusing().is_none() {
            let path = self.file.conn.path().map(Path::new);
            let holder = path.and_then(lock_holder::of);
            let holder = holder.unwrap_or_else(|| "the system does not tell which".to_owned());
            if self.file.alone {
                self.health.refuse(Refusing::Locked, &holder);
            } else {
                // A command writes once or twice, and nobody looks whether the lock is gone.
                log::error!("nothing was written: {} ({holder})", Refusing::Locked);
            }
        }
    }

    /// With nothing to do: is the database locked, so that a write would wait for long, or no longer?
    fn look_for_lock(&self) {
        let refusing = self.health.refusing();
        if !self.file.alone || !matches!(refusing, None | Some(Refusing::Locked)) {
            return;
        }
        match self.is_locked() {
            Ok(true) => {
                let times = self.locked.get().saturating_add(1);
                self.locked.set(times);
                if times >= LOCKED_TIMES {
                    self.refuse_locked();
                }
            }
            Ok(false) => {
                self.locked.set(0);
                if refusing.is_some() {
                    self.health.recovered();
                }
            }
            Err(error) => self.health.hear(&error),
        }
    }

    /// Returns `true` if another program holds the database locked at this moment.
    fn is_locked(&self) -> rusqlite::Result<bool> {
        self.file.conn.busy_timeout(Duration::ZERO)?;
        let taken = self.file.conn.execute_batch("begin immediate; rollback");
        self.file.conn.busy_timeout(WRITER_BUSY)?;
        match taken {
            Err(error) if Refusing::of(&error) == Some(Refusing::Locked) => Ok(true),
            taken => taken.map(|()| false),
        }
    }

    /// After a full disk: is there room again?
    fn look_for_room(&self) {
        if self.health.refusing() != Some(Refusing::DiskFull) {
            return;
        }
        match self.file.conn.execute_batch(PROBE) {
            Ok(()) => self.health.recovered(),
            Err(error) => self.health.hear(&error),
        }
        if !self.file.conn.is_autocommit() {
            // The next look finds out whether that helped.
            let _ = self.file.conn.execute_batch("rollback");
        }
    }

    /// With nothing to do: is there room again, and can the log be cut off that somebody who read for long made grow?
    pub(super) fn look_at_disk(&self) {
        self.look_for_lock();
        self.look_for_room();
        if self.may_checkpoint() && self.is_log_large() {
            let cut = self.is_copied().and_then(|is_copied| match is_copied {
                true => Ok(false),
                false => self.cut_log(),
            });
            self.tell_of(cut.map(drop));
        }
    }

    /// Does Litestream copy the file? Asked before the log is moved, and nothing is committed in between.
    fn is_copied(&self) -> rusqlite::Result<bool> {
        Ok(IS_COPIED.first_on(&self.file.conn, &[])? == Some(true))
    }

    /// Is the log's file larger than it may stay?
    fn is_log_large(&self) -> bool {
        let log = self
            .file
            .conn
            .path()
            .map(|path| with_suffix(Path::new(path), "-wal"));
        log.and_then(|log| std::fs::metadata(log).ok())
            .is_some_and(|found| found.len() > u64::from(LOG_BYTES_MAX))
    }

    /// After each batch, so it asks the system nothing while the log is short: moves the log into the file where it has
    /// grown, as far as those who read let it.
    pub(super) fn checkpoint(&self) {
        if !self.may_checkpoint() {
            return;
        }
        let moved = self
            .pages("pragma wal_checkpoint(noop)")
            .and_then(|(written, moved)| {
                if written < LOG_PAGES_MAX || moved == written {
                    Ok(())
                } else if self.is_copied()? {
                    if written >= LEFT_PAGES_MAX && self.cut_log()? {
                        log::warn!(
                            "the write-ahead log had {written} pages and was cut off: Litestream, which copies the file, does not run"
                        );
                    }
                    Ok(())
                } else if self.is_log_large() {
                    self.cut_log().map(drop)
                } else {
                    self.pages("pragma wal_checkpoint(passive)").map(drop)
                }
            });
        self.tell_of(moved);
    }

    fn may_checkpoint(&self) -> bool {
        self.file.alone && self.health.refusing().is_none()
    }

    /// Moves all of the log and cuts it off; true where it did. With the file's other users it has to be exclusive for a
    /// moment; it waits for none of them.
    fn cut_log(&self) -> rusqlite::Result<bool> {
        self.file.conn.busy_timeout(Duration::ZERO)?;
        let cut = self.pages("pragma wal_checkpoint(truncate)");
        self.file.conn.busy_timeout(WRITER_BUSY)?;
        cut.map(|(left, _)| left == 0)
    }

    /// Runs a checkpoint; how many pages the log has, and how many of them are in the file.
    fn pages(&self, checkpoint: &str) -> rusqlite::Result<(i64, i64)> {
        let mut statement = self.file.conn.prepare_cached(checkpoint)?;
        statement.query_row([], |row| Ok((row.get("log")?, row.get("checkpointed")?)))
    }

    fn tell_of(&self, moved: rusqlite::Result<()>) {
        if let Err(error) = moved {
            self.health.hear(&error);
            log::warn!("the write-ahead log was not checkpointed: {error}");
        }
    }
}

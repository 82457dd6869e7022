//! Backups: copies a file that may be in use, and prepares a copy for a restore.
//!
//! Invariant: a file gets its final name only when it is complete and synced. The name never refers to a mixture of
//! two files. A copy is in rollback mode, so that `foreign_log` recognizes a log that belongs to another file.

mod hold;
mod noting;
mod replaced;

pub use hold::{CopyChanges, NextIndex, WalletIndexChange};
pub use replaced::LaterTransfer;

use super::connection::configure;
use super::foreign_log::{find_foreign_log, keep_log, require_own_log};
use super::identity::{
    FileIdentity, identify, refuse_unreleased_file, schema_differences, unreleased_error,
};
use super::lock::{LOCK, Lock};
use super::migrate::MIGRATIONS;
use super::mount::require_mounted_folder;
use super::open::open_unshared;
use super::paths::{is_reserved_name, path_error, resolve_links, sync_folder, with_suffix};
use super::private_copy::copy_bytes;
use super::source::SourceFile;
use super::statement::statements;
use super::{FileKind, Reader, StoreError, room};
use crate::domain::progress::ignore_progress;
use crate::domain::{ProgressSink, Time};
use rusqlite::backup::StepResult;
use rusqlite::{Connection, ErrorCode, OpenFlags, Row};
use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Number of derivation indexes that a restore skips. A shop hands out fewer addresses between two backups, and a
/// wallet still finds the addresses after such a gap.
pub const GAP: u64 = 1000;

/// Maximum time to wait until another process ends its write.
const BUSY: Duration = Duration::from_secs(5);
/// Number of attempts that together take as long as [`BUSY`], with a pause of [`BUSY_PAUSE`] between them. For
/// operations in which SQLite itself does not wait.
const BUSY_TRIES: u32 = 5000;
/// Maximum time to wait until other readers of a file have finished, before the file is replaced.
const ALONE: Duration = Duration::from_secs(1);
/// Pause between two of the [`BUSY_TRIES`] attempts.
const BUSY_PAUSE: Duration = Duration::from_millis(1);

/// Suffixes of the files that SQLite creates beside a database.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

statements! {
    fn set_snapshot_time(conn, now: Time) = "update file set snapshot_at = :now";
}

/// A backup copy with a temporary name beside its destination. Dropping this value removes the copy unless the copy
/// has its final name.
pub struct BackupCopy {
    temporary: PathBuf,
    to: PathBuf,
    version: usize,
    kind: Option<FileKind>,
    /// Lock on the temporary name. It prevents another backup to this destination from removing this copy.
    _alone: Lock,
}

/// Copies a snapshot of a file, which may be in use, to a temporary name beside `to`. If the file cannot be read
/// directly, reads a copy in a temporary folder and passes a message to `tell`.
pub fn copy(from: &Path, to: &Path, tell: &mut ProgressSink<'_>) -> Result<BackupCopy, StoreError> {
    let source = SourceFile::open(from, tell)?;
    // The target of a symbolic link is replaced, not the link.
    let to = resolve_links(to);
    refuse_unreleased_file(&to)?;
    if is_reserved_name(&to) {
        let message = format!(
            "{} has a name that is kept for files beside a database: give the copy another one",
            to.display()
        );
        return Err(StoreError::Failed(message));
    }
    require_mounted_folder(&to)?;
    let temporary = with_suffix(&to, "-copying");
    let copy = BackupCopy {
        _alone: Lock::exclusive(&temporary)?,
        temporary,
        to,
        version: source.version,
        kind: source.kind,
    };
    // A process that was killed while copying may have left a copy with this name.
    copy.remove();
    let target = source.copy_to(&copy.temporary, tell);
    let closed = target.and_then(|target| close_in_rollback_mode(target, &copy.to));
    closed.map_err(|error| room::explain_disk_full(error, &copy.to, from, &copy.temporary))?;
    Ok(copy)
}

/// Switches a copy to rollback mode, in which it has no log beside it, and closes it.
fn close_in_rollback_mode(copy: Connection, to: &Path) -> Result<(), StoreError> {
    let mode = |row: &Row<'_>| row.get::<_, String>("journal_mode");
    let mode = copy.pragma_update_and_check(None, "journal_mode", "delete", mode)?;
    if mode != "delete" {
        let message = format!("{} was not copied: its journal mode stays {mode}", to.display());
        return Err(StoreError::Failed(message));
    }
    Ok(copy.close().map_err(|(_, error)| error)?)
}

/// Replaces the content of the file `used`, which may be in use, by the content of `from`, in one transaction. A
/// reader of `used` sees either the old or the new content.
///
/// # Errors
/// [`StoreError`] if one of the files cannot be opened, or other processes write to `used` for longer than a few
/// seconds.
pub fn overwrite(from: &Path, used: &Path) -> Result<(), StoreError> {
    let locks = [Lock::shared(from)?, Lock::shared(used)?];
    locks.iter().try_for_each(require_own_log)?;
    let source = Connection::open_with_flags(from, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let mut target = Connection::open_with_flags(used, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    target.busy_timeout(BUSY)?;
    let backup = rusqlite::backup::Backup::new(&source, &mut target)?;
    for _ in 0..BUSY_TRIES {
        match backup.step(-1)? {
            StepResult::Done => return Ok(()),
            // Another process writes. SQLite does not call its busy handler in this case.
            _ => std::thread::sleep(BUSY_PAUSE),
        }
    }
    let message = format!("{} is written to without a pause", used.display());
    Err(StoreError::Failed(message))
}

impl BackupCopy {
    /// Checks that this copy may replace the file at its destination. Fails for a database of another program, and
    /// for a file of another [`FileKind`]. A file that cannot be read may be replaced.
    pub fn check_may_replace(&self) -> Result<(), StoreError> {
        if !self.to.exists() {
            return Ok(());
        }
        let lock = Lock::shared(&self.to)?;
        if let Some(log) = find_foreign_log(&lock) {
            let log = log.display();
            log::warn!("file not examined: file={} log={log}", self.to.display());
            return Ok(());
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
        let found = Connection::open_with_flags(&self.to, flags).and_then(|conn| {
            configure(&conn)?;
            identify(&conn)
        });
        let refused = |why: &str| Err(StoreError::Failed(format!("{} {why}", self.to.display())));
        match found {
            Ok(FileIdentity::Foreign) => {
                refused("is a database of another program: it is not replaced")
            }
            Ok(FileIdentity::Unreleased) => Err(unreleased_error(&self.to)),
            Ok(FileIdentity::Ours(_, Some(there)))
                if self.kind.is_some_and(|kind| kind != there) =>
            {
                refused(&format!(
                    "belongs to a {there} server, and the copy does not: it is not replaced"
                ))
            }
            Ok(FileIdentity::Ours(..) | FileIdentity::Empty) => Ok(()),
            Err(error) => {
                log::warn!("file not examined: file={} error={error}", self.to.display());
                Ok(())
            }
        }
    }

    /// Upgrades the copy to the newest version. Fails if the schema of the copy is not the schema that the migrations
    /// create.
    pub fn bring_up_to_date(&self, tell: &mut ProgressSink<'_>) -> Result<(), StoreError> {
        let mut conn = Connection::open(&self.temporary)?;
        configure(&conn)?;
        if let Some(first) = schema_differences(&conn, self.version)?.first() {
            let message = format!("the copy has a schema of its own: {first}");
            return Err(StoreError::Failed(message));
        }
        MIGRATIONS.run(&mut conn, tell).map_err(|error| self.explain_disk_full(error))?;
        Ok(conn.close().map_err(|(_, error)| error)?)
    }

    /// Returns an error that names the disk if the disk is full, otherwise `error`.
    fn explain_disk_full(&self, error: StoreError) -> StoreError {
        let begun = with_suffix(&self.temporary, "-journal");
        room::explain_disk_full(error, &self.to, &self.temporary, &begun)
    }

    /// Stores the current time of the sandbox's clock in the copy.
    pub fn save_snapshot_time(&self, now: Time) -> Result<(), StoreError> {
        let conn = open_unshared(&self.temporary)?;
        set_snapshot_time(&conn, now)?;
        Ok(conn.close().map_err(|(_, error)| error)?)
    }

    /// Runs `work` on the copy, which may be of any version.
    ///
    /// # Errors
    /// The error of `work`, or [`StoreError`] if the copy cannot be read.
    pub fn read<T, E: From<StoreError>>(
        &self,
        work: impl FnOnce(&Reader<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        read_unshared_file(&self.temporary, work)
    }

    /// Gives the copy its final name and syncs the folder. With `replace`, the copy may replace an existing file,
    /// unless the file is in use.
    ///
    /// # Errors
    /// [`StoreError`] if the name is taken and may not be replaced, or the file is in use.
    pub fn put_in_place(self, replace: bool) -> Result<(), StoreError> {
        let named =
            |error: std::io::Error| StoreError::Failed(format!("{}: {error}", self.to.display()));
        File::open(&self.temporary).and_then(|file| file.sync_all()).map_err(named)?;
        if replace && self.to.exists() {
            let mut lock = Lock::exclusive(&self.to)?;
            lock.lock_file()?;
            self.check_may_replace()?;
            let owner = std::fs::metadata(&self.to).map_err(named)?;
            match find_foreign_log(&lock) {
                Some(log) => keep_log(&log)?,
                None => checkpoint_file(&self.to)?,
            }
            self.remove_logs().map_err(named)?;
            // The copy gets the owner of the replaced file, so that the server can open the copy. Only root may
            // change owners.
            let kept = chown(&self.temporary, Some(owner.uid()), Some(owner.gid()));
            if let Err(error) = kept {
                log::warn!("file owner changed: file={} error={error}", self.to.display());
            }
            std::fs::rename(&self.temporary, &self.to).map_err(named)?;
        } else {
            let left = BESIDE.iter().any(|suffix| with_suffix(&self.to, suffix).exists());
            if left {
                let _lock = Lock::exclusive(&self.to)?;
                if !self.to.exists() {
                    // The log may have the newest writes of a file that was moved.
                    keep_log(&with_suffix(&self.to, "-wal"))?;
                    self.remove_logs().map_err(named)?;
                }
            }
            // Unlike a rename, a hard link fails if the name is taken.
            std::fs::hard_link(&self.temporary, &self.to).map_err(named)?;
        }
        sync_folder(&self.to).map_err(named)
    }

    /// Writes the bytes of this copy into an empty file, and syncs it. `name` is the path of the file, for messages.
    /// Returns the number of bytes.
    pub fn write_into(
        &self,
        mut file: &File,
        name: &Path,
        tell: &mut ProgressSink<'_>,
    ) -> Result<u64, StoreError> {
        let copy = File::open(&self.temporary)?;
        let of = copy.metadata()?.len();
        let written = copy_bytes(copy, &mut file, of, tell);
        let synced = written.and_then(|bytes| file.sync_all().map(|()| bytes));
        synced.map_err(|error| match error.kind() {
            ErrorKind::StorageFull => {
                room::disk_full_error(name, of, file.metadata().map_or(0, |found| found.len()))
            }
            _ => path_error(name, error),
        })
    }

    /// Removes the write-ahead log of the replaced file, because SQLite would apply this log to the new file.
    fn remove_logs(&self) -> std::io::Result<()> {
        for suffix in BESIDE {
            match std::fs::remove_file(with_suffix(&self.to, suffix)) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                Ok(()) | Err(_) => {}
            }
        }
        Ok(())
    }

    fn remove(&self) {
        for suffix in [""].iter().chain(&BESIDE) {
            // The files may not exist.
            let _ = std::fs::remove_file(with_suffix(&self.temporary, suffix));
        }
    }
}

/// Runs `work` on a file that no other process uses.
fn read_unshared_file<T, E: From<StoreError>>(
    path: &Path,
    work: impl FnOnce(&Reader<'_>) -> Result<T, E>,
) -> Result<T, E> {
    let source = SourceFile::open(path, &mut ignore_progress)?;
    work(&Reader::new(&source.conn))
}

/// Checkpoints the log of a file before the file is replaced. If the power fails before the replacement, the file is
/// complete. Errors of a damaged file are only logged, as the file is replaced anyway.
///
/// # Errors
/// [`StoreError`] if another program has the file open, even one that does not use our locks.
fn checkpoint_file(path: &Path) -> Result<(), StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
    let written = Connection::open_with_flags(path, flags).and_then(|conn| {
        conn.busy_timeout(ALONE)?;
        // The first read of this connection takes an exclusive lock. This read fails if another program has the file
        // open.
        conn.pragma_update(None, "locking_mode", "exclusive")?;
        conn.pragma_query_value(None, "schema_version", |_| Ok(()))?;
        conn.pragma(None, "wal_checkpoint", "truncate", |_| Ok(()))
    });
    match written {
        Err(error)
            if matches!(
                error.sqlite_error_code(),
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
            ) =>
        {
            let message = format!("{} is in use by another program", path.display());
            Err(StoreError::Failed(message))
        }
        Err(error) => {
            log::warn!("file replaced unread: file={} error={error}", path.display());
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}

impl Drop for BackupCopy {
    fn drop(&mut self) {
        self.remove();
        // Dropping `_alone` afterwards releases the lock.
        let _ = std::fs::remove_file(with_suffix(&self.temporary, LOCK));
    }
}

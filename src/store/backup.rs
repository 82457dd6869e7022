//! Copies of a whole file: taking one while the file is in use, and preparing one to be restored.
//!
//! What lives here: copying, putting in place. What does not: what is wrong with a copy (`audit`). What always
//! holds: a file is complete and synced before it has its name, and the name never points at a mixture of two files.

mod hold;
mod noting;
mod replaced;

pub use hold::{Held, Moved, NextIndex};
pub use replaced::LaterTransfer;

use super::identity::{Identity, identify, strangers};
use super::lock::{LOCK, Lock, resolve};
use super::open::{is_beside, open_plain, prepare, sync_folder, with_suffix};
use super::source::Source;
use super::statement::commands;
use super::{Kind, Reader, StoreError, migrate, room};
use crate::domain::progress::{ProgressSink, ignore_progress};
use crate::domain::time::Time;
use rusqlite::backup::StepResult;
use rusqlite::{Connection, ErrorCode, OpenFlags, named_params};
use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How far every derivation index is moved: more than a shop hands out between two backups, and within what a wallet can
/// be told to scan.
pub const GAP: u64 = 1000;

/// How long another's write is waited for.
const BUSY: Duration = Duration::from_secs(5);
/// The same in tries, where SQLite does not wait by itself.
const BUSY_TRIES: u32 = 5000;
/// How long whoever reads a file that is to be replaced may take to end.
const ALONE: Duration = Duration::from_secs(1);
/// Between two of them.
const BUSY_PAUSE: Duration = Duration::from_millis(1);

/// Files that SQLite keeps beside one that is open, or has left there.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

commands! {
    STAMP = "update file set snapshot_at = :now";
}

/// A copy beside the place it is meant for; gone when dropped, unless it was put in place.
pub struct Copy {
    temporary: PathBuf,
    to: PathBuf,
    version: usize,
    kind: Option<Kind>,
    /// Else another copy to the same place would take this one for left behind.
    _alone: Lock,
}

/// Copies the file as it stands at one moment, beside `to`. It may be written to meanwhile. `tell` hears where the file
/// could be read by way of another copy only.
pub fn copy(from: &Path, to: &Path, tell: &mut ProgressSink<'_>) -> Result<Copy, StoreError> {
    let source = Source::open(from, tell)?;
    // Where a symbolic link leads is replaced, not the link.
    let to = resolve(to);
    if is_beside(&to) {
        let message = format!(
            "{} has a name that is kept for files beside a database: give the copy another one",
            to.display()
        );
        return Err(StoreError::Failed(message));
    }
    let temporary = with_suffix(&to, "-copying");
    let copy = Copy {
        _alone: Lock::exclusive(&temporary)?,
        temporary,
        to,
        version: source.version,
        kind: source.kind,
    };
    // What a copy that was killed has left.
    copy.remove();
    let target = source
        .copy_to(&copy.temporary, tell)
        .map_err(|error| room::named(error, &copy.to, from, &copy.temporary))?;
    target.close().map_err(|(_, error)| error)?;
    Ok(copy)
}

/// Puts what another file holds into one that is in use, in one transaction: whoever reads it sees the one or the other.
///
/// # Errors
/// [`StoreError`] where one of them cannot be opened, or the other is written to for longer than a few seconds.
pub fn overwrite(from: &Path, used: &Path) -> Result<(), StoreError> {
    let (_from, _used) = (Lock::beside(from)?, Lock::beside(used)?);
    let source = Connection::open_with_flags(from, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let mut target = Connection::open_with_flags(used, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    target.busy_timeout(BUSY)?;
    let backup = rusqlite::backup::Backup::new(&source, &mut target)?;
    for _ in 0..BUSY_TRIES {
        match backup.step(-1)? {
            StepResult::Done => return Ok(()),
            // Somebody writes: the handler that waits is not asked here.
            _ => std::thread::sleep(BUSY_PAUSE),
        }
    }
    let message = format!("{} is written to without a pause", used.display());
    Err(StoreError::Failed(message))
}

impl Copy {
    /// May what has the name be replaced by this copy? Not a database of another program, and not a sandbox's file by a
    /// production server's or the other way round. What cannot be read may.
    pub fn check_replaced(&self) -> Result<(), StoreError> {
        if !self.to.exists() {
            return Ok(());
        }
        let _lock = Lock::beside(&self.to)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
        let found = Connection::open_with_flags(&self.to, flags).and_then(|conn| {
            prepare(&conn)?;
            identify(&conn)
        });
        let refused = |why: &str| Err(StoreError::Failed(format!("{} {why}", self.to.display())));
        match found {
            Ok(Identity::Foreign) => {
                refused("is a database of another program: it is not replaced")
            }
            Ok(Identity::Ours(_, Some(there))) if self.kind.is_some_and(|kind| kind != there) => {
                refused(&format!(
                    "is a {there} server's, and the copy is not: it is not replaced"
                ))
            }
            Ok(Identity::Ours(..) | Identity::Empty) => Ok(()),
            Err(error) => {
                log::warn!("{} cannot be examined: {error}", self.to.display());
                Ok(())
            }
        }
    }

    /// Brings a copy of an older version up to date, if there is nothing in its schema that the migrations did not make.
    pub fn bring_up_to_date(&self, tell: &mut ProgressSink<'_>) -> Result<(), StoreError> {
        let mut conn = Connection::open(&self.temporary)?;
        prepare(&conn)?;
        if let Some(first) = strangers(&conn, self.version)?.first() {
            let message = format!("the copy has a schema of its own: {first}");
            return Err(StoreError::Failed(message));
        }
        migrate::migrate(&mut conn, tell).map_err(|error| self.named(error))?;
        Ok(conn.close().map_err(|(_, error)| error)?)
    }

    /// An error of a step after copying, which names a disk that is full.
    fn named(&self, error: StoreError) -> StoreError {
        let begun = with_suffix(&self.temporary, "-wal");
        room::named(error, &self.to, &self.temporary, &begun)
    }

    /// Writes into the copy when it was taken, by the clock of the sandbox.
    ///
    /// # Errors
    /// [`StoreError`] where it cannot be written.
    pub fn stamp(&self, now: Time) -> Result<(), StoreError> {
        let conn = open_plain(&self.temporary)?;
        let taken = named_params! { ":now": now };
        STAMP.execute(&conn, taken)?;
        Ok(conn.close().map_err(|(_, error)| error)?)
    }

    /// Reads the copy, of whatever version it is.
    ///
    /// # Errors
    /// The closure's, or [`StoreError`] where it cannot be read.
    pub fn read<T, E: From<StoreError>>(
        &self,
        work: impl FnOnce(&Reader<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let outcome = read(&self.temporary, work);
        for suffix in BESIDE {
            // What reading has made; what is not there needs no removing.
            let _ = std::fs::remove_file(with_suffix(&self.temporary, suffix));
        }
        outcome
    }

    /// Gives the copy its name, durably. With `replace` a file of that name, which nobody has open, is replaced.
    ///
    /// # Errors
    /// [`StoreError`] where the name is taken and may not be replaced, or where a server has it open.
    pub fn put_in_place(self, replace: bool) -> Result<(), StoreError> {
        let named =
            |error: std::io::Error| StoreError::Failed(format!("{}: {error}", self.to.display()));
        File::open(&self.temporary)
            .and_then(|file| file.sync_all())
            .map_err(named)?;
        if replace && self.to.exists() {
            let mut lock = Lock::exclusive(&self.to)?;
            lock.take_file()?;
            self.check_replaced()?;
            let owner = std::fs::metadata(&self.to).map_err(named)?;
            write_back(&self.to)?;
            self.remove_logs().map_err(named)?;
            // Whoever ran the server with it runs it with the copy; only root may give files away.
            let kept = chown(&self.temporary, Some(owner.uid()), Some(owner.gid()));
            if let Err(error) = kept {
                log::warn!("{} has another owner now: {error}", self.to.display());
            }
            std::fs::rename(&self.temporary, &self.to).map_err(named)?;
        } else {
            let left = BESIDE
                .iter()
                .any(|suffix| with_suffix(&self.to, suffix).exists());
            if left {
                let _lock = Lock::exclusive(&self.to)?;
                if !self.to.exists() {
                    self.remove_logs().map_err(named)?;
                }
            }
            // Unlike a rename this fails where the name is taken.
            std::fs::hard_link(&self.temporary, &self.to).map_err(named)?;
        }
        sync_folder(&self.to).map_err(named)
    }

    /// A log that another file of this name has left must not be read into the new one.
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
            // What is not there needs no removing.
            let _ = std::fs::remove_file(with_suffix(&self.temporary, suffix));
        }
    }
}

/// Reads a file that nobody else knows.
fn read<T, E: From<StoreError>>(
    path: &Path,
    work: impl FnOnce(&Reader<'_>) -> Result<T, E>,
) -> Result<T, E> {
    let source = Source::open(path, &mut ignore_progress)?;
    work(&Reader {
        conn: &source.conn,
        health: None,
        memo: None,
    })
}

/// Puts what is in a file's log into the file, so that it stays whole should the power fail before it is replaced. A file
/// that cannot be read is about to be replaced anyway.
///
/// # Errors
/// [`StoreError`] where another program has it open, also one that knows none of our locks.
fn write_back(path: &Path) -> Result<(), StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
    let written = Connection::open_with_flags(path, flags).and_then(|conn| {
        conn.busy_timeout(ALONE)?;
        // SQLite lets nobody else in from the first read on, or nobody is let in here.
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
            log::warn!("{} is replaced unread: {error}", path.display());
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        self.remove();
        // It is let go of after this; what is not there needs no removing.
        let _ = std::fs::remove_file(with_suffix(&self.temporary, LOCK));
    }
}

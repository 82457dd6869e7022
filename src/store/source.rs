//! Reads a file that SQLite may not be able to read directly: a file of an older version, or in a read-only folder.
//! Such a file is copied to a temporary folder, and the copy is read.
//!
//! Invariant: the file itself is not changed. Only this user can read the copy, which is removed after reading. If
//! the process is killed, a later process removes the copy.

use super::connection::{configure, create_views};
use super::damage::{damage_error, explain_damage, is_damage};
use super::foreign_log::require_own_log;
use super::identity::{identify, refuse_unreleased_file, require_coffer_file};
use super::lock::Lock;
use super::migrate::{MIGRATIONS, Migrations};
use super::paths::{create_private, require_existing, with_suffix};
use super::private_copy::copy_bytes;
use super::{FileKind, Reader, StoreError, left_behind, room};
use crate::domain::progress::to_count;
use crate::domain::{Progress, ProgressSink, Time, id};
use rusqlite::backup::StepResult;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::fs::{DirBuilder, File, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// A file that is open for reading. Its fields are dropped in order: first the connection, then the lock and the
/// folder.
pub(super) struct SourceFile {
    pub(super) conn: Connection,
    pub(super) version: usize,
    pub(super) kind: Option<FileKind>,
    migrations: Migrations,
    _lock: Option<Lock>,
    _folder: Option<CopyFolder>,
}

const PREFIX: &str = "coffer-copy-";
/// Name of a file in a temporary folder. The file is locked while the folder is in use.
const IN_USE: &str = "lock";
/// Number of pages that are copied between two progress reports: 1 MiB.
const STEP_PAGES: i32 = 256;

/// A temporary folder for one copy. Dropping it removes the folder.
struct CopyFolder {
    path: PathBuf,
    _in_use: File,
}

impl CopyFolder {
    fn new() -> Result<CopyFolder, StoreError> {
        // The name is random. If a folder with this name exists, it is not ours, and creating it fails.
        let folder = std::env::temp_dir();
        let path = folder.join(format!("{PREFIX}{}", id::new(Time(0))));
        let made = DirBuilder::new().mode(0o700).create(&path).and_then(|()| {
            let in_use = create_private(&path.join(IN_USE))?;
            in_use.lock()?;
            remove_leftover_folders(&folder, &in_use.metadata()?);
            Ok(in_use)
        });
        match made {
            Ok(in_use) => Ok(CopyFolder { path, _in_use: in_use }),
            Err(error) => {
                // Creating the folder may have failed.
                let _ = std::fs::remove_dir_all(&path);
                Err(StoreError::Failed(format!("{}: {error}", path.display())))
            }
        }
    }

    fn copy_path(&self) -> PathBuf {
        self.path.join("copy.db")
    }
}

impl Drop for CopyFolder {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.path) {
            log::warn!("file not removed: file={} error={error}", self.path.display());
        }
    }
}

/// Removes the folders of killed processes.
fn remove_leftover_folders(folder: &Path, ours: &Metadata) {
    let is_named_so = |name: &str| {
        let id = name.strip_prefix(PREFIX);
        id.is_some_and(|id| id::parse(id).as_deref() == Some(id))
    };
    for found in left_behind::find_own_files(folder, is_named_so) {
        if !found.metadata.is_dir() {
            continue;
        }
        for lock in left_behind::find_own_files(&found.path, |name| name == IN_USE) {
            if lock.metadata.is_file()
                && lock.is_older_than(ours)
                && let Ok(held) = File::open(&lock.path)
                && held.try_lock().is_ok()
            {
                // Another process may remove the folder at the same time.
                let _ = std::fs::remove_dir_all(&found.path);
            }
        }
    }
}

impl SourceFile {
    /// Opens a file for reading. If SQLite cannot write beside the file, opens a copy and passes a message to `tell`.
    ///
    /// # Errors
    /// [`StoreError`] with a message for the operator: the file does not exist, belongs to another program, or is
    /// newer than this program.
    pub(super) fn open(path: &Path, tell: &mut ProgressSink<'_>) -> Result<SourceFile, StoreError> {
        SourceFile::open_with(path, MIGRATIONS, tell)
    }

    /// Opens a file like [`SourceFile::open`], for an upgrade with these migrations.
    pub(super) fn open_with(
        path: &Path,
        migrations: Migrations,
        tell: &mut ProgressSink<'_>,
    ) -> Result<SourceFile, StoreError> {
        require_existing(path)?;
        refuse_unreleased_file(path)?;
        let lock = Lock::shared(path)?;
        require_own_log(&lock)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let opened = Connection::open_with_flags(path, flags).and_then(|conn| {
            configure(&conn)?;
            // At the first read SQLite opens the log.
            conn.pragma_query_value(None, "schema_version", |_| Ok(()))?;
            Ok(conn)
        });
        match opened {
            Ok(conn) => SourceFile::from_connection(conn, path, migrations, Some(lock), None),
            // While a server writes to the file, a copy of its bytes is not consistent.
            Err(error) if cannot_write_beside(&error) && !lock.is_held_by_server()? => {
                SourceFile::open_copy(path, migrations, &error, tell)
            }
            Err(error) if is_damage(&error) => Err(damage_error(path, &error)),
            Err(error) => {
                let message = format!("{}: {error}", path.display());
                Err(StoreError::Failed(message))
            }
        }
    }

    fn from_connection(
        conn: Connection,
        path: &Path,
        migrations: Migrations,
        lock: Option<Lock>,
        folder: Option<CopyFolder>,
    ) -> Result<SourceFile, StoreError> {
        // Created before the check, so that its fields are dropped in order even if the file does not belong to
        // Coffer.
        let mut source =
            SourceFile { conn, version: 0, kind: None, migrations, _lock: lock, _folder: folder };
        let identity = identify(&source.conn).map_err(StoreError::from);
        let identity = identity.map_err(|error| explain_damage(error, path))?;
        (source.version, source.kind) = require_coffer_file(identity, path, migrations)?;
        if source.version == migrations.newest() {
            create_views(&source.conn)?;
        }
        Ok(source)
    }

    /// Copies the file and its log byte by byte, and opens the copy. Nobody writes to the file, as its folder is
    /// read-only.
    fn open_copy(
        path: &Path,
        migrations: Migrations,
        why: &rusqlite::Error,
        tell: &mut ProgressSink<'_>,
    ) -> Result<SourceFile, StoreError> {
        let folder = CopyFolder::new()?;
        for suffix in ["", "-wal", "-journal"] {
            let to = with_suffix(&folder.copy_path(), suffix);
            copy_file(&with_suffix(path, suffix), &to, tell)?;
        }
        let conn =
            Connection::open_with_flags(folder.copy_path(), OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        configure(&conn)?;
        tell(Progress::Note(&format!(
            "{} cannot be read where it is ({why}): a copy in {} is read",
            path.display(),
            folder.path.display()
        )));
        SourceFile::from_connection(conn, path, migrations, None, Some(folder))
    }

    /// Returns the source itself, or an upgraded copy if the file is of an older version.
    pub(super) fn into_upgraded(
        self,
        path: &Path,
        tell: &mut ProgressSink<'_>,
    ) -> Result<SourceFile, StoreError> {
        let (version, migrations) = (self.version, self.migrations);
        if version == migrations.newest() {
            return Ok(self);
        }
        let folder = CopyFolder::new()?;
        tell(Progress::Note(&format!(
            "{} is of version {version}: a copy in {} is brought up to date and read",
            path.display(),
            folder.path.display()
        )));
        let copy = folder.copy_path();
        let log = with_suffix(&copy, "-wal");
        let named = |error, begun| room::explain_disk_full(error, &copy, path, begun);
        let mut conn = self.copy_to(&copy, tell).map_err(|error| named(error, &copy))?;
        configure(&conn)?;
        migrations.run(&mut conn, tell).map_err(|error| named(error, &log))?;
        SourceFile::from_connection(conn, path, migrations, None, Some(folder))
    }

    /// Copies a snapshot to a new file that only this user can read.
    ///
    /// # Errors
    /// [`StoreError`] if the copy cannot be written, or its name is taken.
    pub(super) fn copy_to(
        &self,
        to: &Path,
        tell: &mut ProgressSink<'_>,
    ) -> Result<Connection, StoreError> {
        let made = create_private(to).map(drop);
        made.map_err(|error| StoreError::Failed(format!("{}: {error}", to.display())))?;
        let mut target = Connection::open_with_flags(to, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        // All steps share one read transaction, so a writer neither waits for the copy nor restarts it.
        let moment = self.conn.unchecked_transaction()?;
        moment.pragma_query_value(None, "schema_version", |_| Ok(()))?;
        let backup = rusqlite::backup::Backup::new(&self.conn, &mut target)?;
        let ended = loop {
            let step = backup.step(STEP_PAGES)?;
            let at = backup.progress();
            let of = to_count(at.pagecount);
            let done = of.saturating_sub(to_count(at.remaining));
            let part = "pages copied";
            tell(Progress::Done { part, done, of });
            if step != StepResult::More {
                break step;
            }
        };
        drop(backup);
        drop(moment);
        if ended != StepResult::Done {
            let message = format!("{} was not copied: {ended:?}", to.display());
            return Err(StoreError::Failed(message));
        }
        Ok(target)
    }
}

/// Runs `work` on a snapshot of a file of this or an older version. A server may be using the file.
///
/// If the file cannot be read directly, reads a copy and passes a message to `tell`.
///
/// # Errors
/// The error of `work`, or [`StoreError`] with a message for the operator: the file does not exist, or is newer than
/// this program.
pub fn read_any_version<T, E: From<StoreError>>(
    path: &Path,
    tell: &mut ProgressSink<'_>,
    work: impl FnOnce(&Reader<'_>) -> Result<T, E>,
) -> Result<T, E> {
    let source = SourceFile::open(path, tell)?.into_upgraded(path, tell)?;
    let begun = source.conn.execute_batch("begin");
    begun.map_err(StoreError::from)?;
    work(&Reader::new(&source.conn))
}

/// Returns `true` if the error means that SQLite cannot create its files beside the database.
fn cannot_write_beside(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::SystemIoFailure)
    )
}

/// Copies a file if it exists. The descriptor releases no locks when it is closed, as this process has no other
/// connection to the file.
fn copy_file(from: &Path, to: &Path, tell: &mut ProgressSink<'_>) -> Result<(), StoreError> {
    let source = match File::open(from) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        opened => opened?,
    };
    let (mut target, of) = (create_private(to)?, source.metadata()?.len());
    copy_bytes(source, &mut target, of, tell)?;
    Ok(())
}

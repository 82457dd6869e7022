//! Reading a file that may not be readable in its place: one of an older version, or one beside which nothing can
//! be written.
//!
//! What lives here: the copy in a temporary folder that is read instead. What always holds: the file itself is not
//! changed; only this user can read the copy; the copy is removed after reading, also after a failure; and what a
//! killed process left is removed by the next.

use super::Kind;
use super::identity::{identify, require_ours};
use super::left_behind;
use super::lock::Lock;
use super::open::{create_private, prepare, with_suffix};
use super::{Reader, StoreError, migrate, room};
use crate::domain::id;
use crate::domain::progress::{Progress, ProgressSink, to_count};
use crate::domain::time::Time;
use rusqlite::backup::StepResult;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::fs::{DirBuilder, File, Metadata};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// A file that can be read. Its parts are dropped from the first to the last: the connection goes before what it is to.
pub(super) struct Source {
    pub(super) conn: Connection,
    pub(super) version: usize,
    pub(super) kind: Option<Kind>,
    _lock: Option<Lock>,
    _folder: Option<Folder>,
}

/// What the names of folders for copies begin with.
const PREFIX: &str = "coffer-copy-";
/// The file in such a folder that is locked while the folder is in use.
const IN_USE: &str = "lock";
/// Pages that are copied between two words about it: 1 MiB.
const STEP_PAGES: i32 = 256;
/// The same where bytes are copied.
const STEP_BYTES: u64 = 1 << 20;

/// A folder for one copy; dropping it removes it.
struct Folder {
    path: PathBuf,
    _in_use: File,
}

impl Folder {
    fn new() -> Result<Folder, StoreError> {
        // The name has random parts; where it is taken all the same, that folder is somebody else's.
        let folder = std::env::temp_dir();
        let path = folder.join(format!("{PREFIX}{}", id::new(Time(0))));
        let made = DirBuilder::new().mode(0o700).create(&path).and_then(|()| {
            let in_use = create_private(&path.join(IN_USE))?;
            in_use.lock()?;
            sweep(&folder, &in_use.metadata()?);
            Ok(in_use)
        });
        match made {
            Ok(in_use) => Ok(Folder {
                path,
                _in_use: in_use,
            }),
            Err(error) => {
                // What was not made needs no removing.
                let _ = std::fs::remove_dir_all(&path);
                Err(StoreError::Failed(format!("{}: {error}", path.display())))
            }
        }
    }

    /// Where the copy is.
    fn file(&self) -> PathBuf {
        self.path.join("copy.db")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.path) {
            log::warn!("{} was not removed: {error}", self.path.display());
        }
    }
}

/// Removes the folders that killed processes have left.
fn sweep(folder: &Path, ours: &Metadata) {
    let is_named_so = |name: &str| {
        let id = name.strip_prefix(PREFIX);
        id.is_some_and(|id| id::parse(id).as_deref() == Some(id))
    };
    for found in left_behind::own(folder, is_named_so) {
        if !found.metadata.is_dir() {
            continue;
        }
        for lock in left_behind::own(&found.path, |name| name == IN_USE) {
            if lock.metadata.is_file()
                && lock.is_older_than(ours)
                && let Ok(held) = File::open(&lock.path)
                && held.try_lock().is_ok()
            {
                // What cannot be removed stays.
                let _ = std::fs::remove_dir_all(&found.path);
            }
        }
    }
}

impl Source {
    /// Opens a file to read it: as it stands, or by way of a copy where SQLite could not write beside it. `tell` hears
    /// of a copy.
    ///
    /// # Errors
    /// [`StoreError`] with a text for a person: no such file, another program's, of a newer version.
    pub(super) fn open(path: &Path, tell: &mut ProgressSink<'_>) -> Result<Source, StoreError> {
        if !path.exists() {
            let message = format!("{} does not exist", path.display());
            return Err(StoreError::Failed(message));
        }
        let lock = Lock::beside(path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let opened = Connection::open_with_flags(path, flags).and_then(|conn| {
            prepare(&conn)?;
            // The first read, by which SQLite opens what it keeps beside the file.
            conn.pragma_query_value(None, "schema_version", |_| Ok(()))?;
            Ok(conn)
        });
        match opened {
            Ok(conn) => Source::of(conn, path, Some(lock), None),
            // Beside a server a copy of the bytes would be of more than one moment.
            Err(error) if needs_room(&error) && !lock.is_anothers()? => {
                Source::copied(path, &error, tell)
            }
            Err(error) => {
                let message = format!("{}: {error}", path.display());
                Err(StoreError::Failed(message))
            }
        }
    }

    /// A connection to a file, or to a copy of it.
    fn of(
        conn: Connection,
        path: &Path,
        lock: Option<Lock>,
        folder: Option<Folder>,
    ) -> Result<Source, StoreError> {
        // Made first, so that its parts are dropped in their order, also where this is no file of ours.
        let mut source = Source {
            conn,
            version: 0,
            kind: None,
            _lock: lock,
            _folder: folder,
        };
        (source.version, source.kind) = require_ours(identify(&source.conn)?, path)?;
        Ok(source)
    }

    /// Copies the file and its log byte by byte: nobody writes where nothing can be written.
    fn copied(
        path: &Path,
        why: &rusqlite::Error,
        tell: &mut ProgressSink<'_>,
    ) -> Result<Source, StoreError> {
        let folder = Folder::new()?;
        for suffix in ["", "-wal", "-journal"] {
            let to = with_suffix(&folder.file(), suffix);
            copy_file(&with_suffix(path, suffix), &to, tell)?;
        }
        let conn = Connection::open_with_flags(folder.file(), OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        prepare(&conn)?;
        tell(Progress::Note(&format!(
            "{} cannot be read where it is ({why}): a copy in {} is read",
            path.display(),
            folder.path.display()
        )));
        Source::of(conn, path, None, Some(folder))
    }

    /// The same, of the newest version: itself, or a copy of it that is brought up to date.
    ///
    /// # Errors
    /// [`StoreError`] where the copy cannot be made.
    pub(super) fn up_to_date(
        self,
        path: &Path,
        tell: &mut ProgressSink<'_>,
    ) -> Result<Source, StoreError> {
        let version = self.version;
        if version == migrate::NEWEST {
            return Ok(self);
        }
        let folder = Folder::new()?;
        tell(Progress::Note(&format!(
            "{} is of version {version}: a copy in {} is brought up to date and read",
            path.display(),
            folder.path.display()
        )));
        let copy = folder.file();
        let log = with_suffix(&copy, "-wal");
        let named = |error, begun| room::named(error, &copy, path, begun);
        let mut conn = self
            .copy_to(&copy, tell)
            .map_err(|error| named(error, &copy))?;
        prepare(&conn)?;
        migrate::migrate(&mut conn, tell).map_err(|error| named(error, &log))?;
        Source::of(conn, path, None, Some(folder))
    }

    /// Copies what there is at this moment into a new file, which nobody else may read.
    ///
    /// # Errors
    /// [`StoreError`] where it cannot be written, or the name is taken.
    pub(super) fn copy_to(
        &self,
        to: &Path,
        tell: &mut ProgressSink<'_>,
    ) -> Result<Connection, StoreError> {
        let made = create_private(to).map(drop);
        made.map_err(|error| StoreError::Failed(format!("{}: {error}", to.display())))?;
        let mut target = Connection::open_with_flags(to, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        // All steps read inside one transaction: a writer neither waits for them nor spoils them.
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

/// Reads a file as it stands at one moment, without the right to change anything, also beside a running server; what
/// cannot be read like that is read by way of a copy, of which `tell` hears.
///
/// # Errors
/// The closure's, or [`StoreError`] with a text for a person: no such file, or of a newer version.
pub fn read_any<T, E: From<StoreError>>(
    path: &Path,
    tell: &mut ProgressSink<'_>,
    work: impl FnOnce(&Reader<'_>) -> Result<T, E>,
) -> Result<T, E> {
    let source = Source::open(path, tell)?.up_to_date(path, tell)?;
    let begun = source.conn.execute_batch("begin");
    begun.map_err(StoreError::from)?;
    work(&Reader {
        conn: &source.conn,
        health: None,
        memo: None,
    })
}

/// Does SQLite need to write beside the file, and cannot?
fn needs_room(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::SystemIoFailure)
    )
}

/// Copies a file that may not be there. The descriptor is no database's that this process has open: that failed.
fn copy_file(from: &Path, to: &Path, tell: &mut ProgressSink<'_>) -> Result<(), StoreError> {
    let source = match File::open(from) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        opened => opened?,
    };
    let (mut target, of) = (create_private(to)?, source.metadata()?.len());
    let mut done = 0_u64;
    loop {
        let copied = std::io::copy(&mut (&source).take(STEP_BYTES), &mut target)?;
        if copied == 0 {
            return Ok(());
        }
        done = done.saturating_add(copied);
        let part = "bytes copied";
        tell(Progress::Done { part, done, of });
    }
}

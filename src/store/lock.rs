//! Whose a file is: the lock on the database file itself, and the one on the `-lock` file beside it that older programs
//! know; and whether a file is still where it was.
//!
//! What always holds: this process has at most one descriptor of its own on a database file, and closes it after SQLite's
//! last connection to it. Closing any descriptor of a file drops every POSIX lock that the process has on that file,
//! SQLite's too; so a database file is never opened only to look at it.

use super::StoreError;
use super::open::{create_private, with_suffix};
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::{File, Metadata, TryLockError};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What the name of a file's lock adds to it.
pub(super) const LOCK: &str = "-lock";
/// How often a lock is asked for: a process that is being started shares its parent's locks for a moment.
const TRIES: u32 = 25;
/// How long between two of these.
const PAUSE: Duration = Duration::from_millis(10);

/// Are `flock` and POSIX locks two things? Where they are one, a lock on the database file would keep SQLite out of it,
/// and the one beside it has to do.
const APART: bool = cfg!(target_os = "linux");

/// Which file it is, whatever it is called: device and inode.
type FileId = (u64, u64);

/// The database files that this process has open, each once. POSIX locks are the whole process's, so this is too.
static OPEN: Mutex<BTreeMap<FileId, Descriptor>> = Mutex::new(BTreeMap::new());

/// The one descriptor of a database file.
struct Descriptor {
    file: File,
    users: usize,
    /// Does somebody in this process hold the file for itself?
    locked: bool,
}

/// A use of that descriptor.
struct Held {
    id: FileId,
    locked: bool,
}

/// A file that this process may use, alone or beside others. It must outlive the connections to that file.
pub(super) struct Lock {
    path: PathBuf,
    // Let go of before the files beside it: whoever finds this one locked finds those locked too.
    file: Option<Held>,
    _beside: Vec<File>,
}

impl Lock {
    /// Keeps every other server off this name. Where there is a file already, [`Lock::take_file`] comes next.
    ///
    /// # Errors
    /// [`StoreError`] where another has it.
    pub(super) fn exclusive(path: &Path) -> Result<Lock, StoreError> {
        let resolved = resolve(path);
        let mut names = vec![with_suffix(&resolved, LOCK)];
        if is_link(path) {
            // An older program that was given this name has locked beside the name.
            names.push(with_suffix(path, LOCK));
        }
        let beside = names.iter().map(|name| lock_beside(name, path));
        Ok(Lock {
            _beside: beside.collect::<Result<_, _>>()?,
            path: resolved,
            file: None,
        })
    }

    /// Keeps every other server off the file itself, whatever name they know it by.
    ///
    /// # Errors
    /// [`StoreError`] where another has it, or there is none.
    pub(super) fn take_file(&mut self) -> Result<(), StoreError> {
        for attempt in 0..TRIES {
            if attempt > 0 {
                std::thread::sleep(PAUSE);
            }
            if self.ask_for_file()? {
                return Ok(());
            }
        }
        Err(in_use(&self.path))
    }

    /// Asks once for the file itself; false where another has it.
    fn ask_for_file(&mut self) -> Result<bool, StoreError> {
        let mut held = Held::of(&self.path)?;
        // It may have been replaced between opening and locking it.
        let is_ours = held.lock()? && id_at(&self.path)? == Some(held.id);
        if is_ours {
            self.file = Some(held);
        }
        Ok(is_ours)
    }

    /// Keeps every server off a database of which these files are there; nothing where a server has it. Asks once, makes
    /// nothing, and opens none but these.
    ///
    /// # Errors
    /// [`StoreError`] where one of them cannot be opened.
    pub(super) fn of_left_behind(
        path: &Path,
        files: &[PathBuf],
    ) -> Result<Option<Lock>, StoreError> {
        let is_there = |path: &PathBuf| files.contains(path);
        let mut lock = Lock {
            path: path.to_owned(),
            file: None,
            _beside: Vec::new(),
        };
        let name = with_suffix(path, LOCK);
        if is_there(&name) {
            let file = open_beside(&name)?;
            if !ask_for(&file, &name)? {
                return Ok(None);
            }
            lock._beside.push(file);
        } else if !APART {
            return Ok(None);
        }
        let is_free = !is_there(&lock.path) || lock.ask_for_file()?;
        Ok(is_free.then_some(lock))
    }

    /// Uses a file beside a server that may have it open, if it does so under the same name.
    ///
    /// # Errors
    /// [`StoreError`] where a server has it open under another name: SQLite would keep a log for each of the names.
    pub(super) fn beside(path: &Path) -> Result<Lock, StoreError> {
        let path = resolve(path);
        let held = Held::of(&path)?;
        let lock = Lock {
            file: Some(held),
            path,
            _beside: Vec::new(),
        };
        for attempt in 0..TRIES {
            if attempt > 0 {
                std::thread::sleep(PAUSE);
            }
            if !lock.is_anothers()? || is_locked_beside(&lock.path)? {
                return Ok(lock);
            }
        }
        let message = format!(
            "{} is in use by another coffer, under another name or without its -lock file: use the name that it uses",
            lock.path.display()
        );
        Err(StoreError::Failed(message))
    }

    /// Has a server the file? Asked for a moment only, which a server that starts waits out.
    pub(super) fn is_anothers(&self) -> Result<bool, StoreError> {
        let open = open_files();
        let Some(descriptor) = self.file.as_ref().and_then(|held| open.get(&held.id)) else {
            return Ok(false);
        };
        if descriptor.locked {
            return Ok(true);
        }
        if !APART {
            return Ok(false);
        }
        let is_anothers = is_locked(&descriptor.file)?;
        descriptor.file.unlock()?;
        Ok(is_anothers)
    }
}

impl Held {
    /// Opens the file, unless this process has it open.
    fn of(path: &Path) -> Result<Held, StoreError> {
        let failed = |error| of_path(path, error);
        let found = std::fs::metadata(path).map_err(failed)?;
        if !found.is_file() {
            let message = format!("{} is not a file", path.display());
            return Err(StoreError::Failed(message));
        }
        let mut open = open_files();
        let mut id = id_of(&found);
        if !open.contains_key(&id) {
            let file = File::open(path).map_err(failed)?;
            id = id_of(&file.metadata().map_err(failed)?);
            match open.entry(id) {
                Entry::Vacant(free) => {
                    free.insert(Descriptor {
                        file,
                        users: 0,
                        locked: false,
                    });
                }
                // Replaced this moment by one that is in use here: closing this descriptor would drop SQLite's locks.
                Entry::Occupied(_) => std::mem::forget(file),
            }
        }
        if let Some(descriptor) = open.get_mut(&id) {
            descriptor.users = descriptor.users.saturating_add(1);
        }
        Ok(Held { id, locked: false })
    }

    /// Asks for the file for this use alone; false where another has it.
    fn lock(&mut self) -> Result<bool, StoreError> {
        let mut open = open_files();
        let Some(descriptor) = open.get_mut(&self.id).filter(|one| !one.locked) else {
            return Ok(false);
        };
        let locked = if APART {
            descriptor.file.try_lock()
        } else {
            Ok(())
        };
        match locked {
            Ok(()) => {
                (descriptor.locked, self.locked) = (true, true);
                Ok(true)
            }
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error.into()),
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut open = open_files();
        let Some(descriptor) = open.get_mut(&self.id) else {
            return;
        };
        descriptor.users = descriptor.users.saturating_sub(1);
        if self.locked {
            descriptor.locked = false;
            // Else the system lets go of it when the descriptor is closed.
            let _ = descriptor.file.unlock();
        }
        if descriptor.users == 0 {
            open.remove(&self.id);
        }
    }
}

/// The files of one that is open, and where they were when it was opened.
pub(super) struct Place {
    database: (PathBuf, FileId),
    beside: Vec<(PathBuf, FileId)>,
}

/// What has become of an open file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// It is where it was.
    InPlace,
    /// It has another name now, or none; what SQLite keeps beside it is where it was.
    Moved,
    /// What SQLite keeps beside it was moved, removed or replaced.
    Torn,
}

impl Place {
    /// Where `path` leads now, and what SQLite keeps beside the file by its own name, for the connection to it.
    ///
    /// # Errors
    /// [`StoreError`] where there is nothing at `path`.
    pub(super) fn of(path: &Path, conn: &Connection) -> Result<Place, StoreError> {
        // The first read, by which SQLite makes what it keeps there.
        conn.pragma_query_value(None, "schema_version", |_| Ok(()))?;
        let database = conn.path().map_or(path, Path::new);
        let id = id_at(path)?.ok_or_else(|| of_path(path, ErrorKind::NotFound.into()))?;
        let mut beside = Vec::new();
        for suffix in ["-wal", "-shm"] {
            let name = with_suffix(database, suffix);
            if let Some(id) = id_at(&name)? {
                beside.push((name, id));
            }
        }
        Ok(Place {
            database: (path.to_owned(), id),
            beside,
        })
    }

    /// Looks, without opening anything. What cannot be looked at counts as being there.
    pub(super) fn look(&self) -> Found {
        let is_there =
            |(path, id): &(PathBuf, FileId)| id_at(path).map_or(true, |now| now == Some(*id));
        if !self.beside.iter().all(is_there) {
            Found::Torn
        } else if !is_there(&self.database) {
            Found::Moved
        } else {
            Found::InPlace
        }
    }
}

/// What stands in the way of locking or finding a file, with its name.
fn of_path(path: &Path, error: std::io::Error) -> StoreError {
    StoreError::Failed(format!("{}: {error}", path.display()))
}

fn in_use(path: &Path) -> StoreError {
    StoreError::Failed(format!("{} is in use by another coffer", path.display()))
}

fn open_files() -> MutexGuard<'static, BTreeMap<FileId, Descriptor>> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn id_of(metadata: &Metadata) -> FileId {
    (metadata.dev(), metadata.ino())
}

/// Which file has this name; nothing: none.
fn id_at(path: &Path) -> Result<Option<FileId>, StoreError> {
    match std::fs::metadata(path) {
        Ok(found) => Ok(Some(id_of(&found))),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(of_path(path, error)),
    }
}

/// Is the name a symbolic link?
fn is_link(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink())
}

/// The name that a file has itself, where a symbolic link leads to it; a name that leads nowhere as it stands.
pub(super) fn resolve(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Holds the file next to one that says a server is at work; the system lets go of it when the process ends.
fn lock_beside(name: &Path, path: &Path) -> Result<File, StoreError> {
    for attempt in 0..TRIES {
        if attempt > 0 {
            std::thread::sleep(PAUSE);
        }
        let file = match create_private(name) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => open_beside(name)?,
            made => made.map_err(|error| of_path(name, error))?,
        };
        if ask_for(&file, name)? {
            return Ok(file);
        }
    }
    Err(in_use(path))
}

fn open_beside(name: &Path) -> Result<File, StoreError> {
    let opened = File::options().read(true).write(true).open(name);
    opened.map_err(|error| of_path(name, error))
}

/// Asks once for the file next to one; false where another has it.
fn ask_for(file: &File, name: &Path) -> Result<bool, StoreError> {
    let failed = |error| of_path(name, error);
    match file.try_lock() {
        // Whoever had it may have removed it: then another can make and lock a new one.
        Ok(()) => Ok(id_at(name)? == Some(id_of(&file.metadata().map_err(failed)?))),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}

/// Does a server hold the file next to this one?
fn is_locked_beside(path: &Path) -> Result<bool, StoreError> {
    match File::open(with_suffix(path, LOCK)) {
        Ok(file) => is_locked(&file),
        Err(error) => match error.kind() {
            ErrorKind::NotFound => Ok(false),
            // Another user's server has made it.
            ErrorKind::PermissionDenied => Ok(true),
            _ => Err(of_path(path, error)),
        },
    }
}

/// Has another descriptor a lock on this file that keeps others off? Where not, this one has a shared one now.
fn is_locked(file: &File) -> Result<bool, StoreError> {
    match file.try_lock_shared() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(error.into()),
    }
}

//! Locks on the database file itself, and on the `-lock` file beside it, which older programs know; and checks that a
//! file is in its place.
//!
//! Invariant: this process has at most one descriptor of its own on a database file, and closes it after SQLite's last
//! connection. Closing any descriptor of a file drops all POSIX locks of the process on it, also those of SQLite. So a
//! database file is never opened only to examine it.

use super::StoreError;
use super::paths::{create_private, with_suffix};
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::{File, Metadata, TryLockError};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Suffix of the name of a `-lock` file.
pub(super) const LOCK: &str = "-lock";
/// Number of attempts to take a lock. A starting process shares its parent's locks for a moment.
const TRIES: u32 = 25;
/// Pause between two attempts.
const PAUSE: Duration = Duration::from_millis(10);

/// Whether `flock` and POSIX locks are independent. If not, a lock on the database file would lock SQLite out, and
/// only the `-lock` file is locked.
const HAS_SEPARATE_LOCKS: bool = cfg!(target_os = "linux");

/// Identity of a file, independent of its name: device and inode.
type FileId = (u64, u64);

/// The database files that this process has open. It is global because POSIX locks belong to the process.
static OPEN: Mutex<BTreeMap<FileId, Descriptor>> = Mutex::new(BTreeMap::new());

/// The descriptor of a database file.
struct Descriptor {
    file: File,
    users: usize,
    /// Whether a user in this process has locked the file.
    locked: bool,
}

/// A use of a [`Descriptor`].
struct DescriptorUse {
    id: FileId,
    locked: bool,
}

/// The permission to use a file, alone or beside others. It must outlive the connections to the file.
pub(super) struct Lock {
    path: PathBuf,
    // Released before the files beside it: while this one is locked, those are locked too.
    file: Option<DescriptorUse>,
    _beside: Vec<File>,
}

impl Lock {
    /// Locks a name against other servers. If the file exists, [`Lock::take_file`] comes next.
    ///
    /// # Errors
    /// [`StoreError`] if another process has locked it.
    pub(super) fn exclusive(path: &Path) -> Result<Lock, StoreError> {
        let resolved = resolve(path);
        let mut names = vec![with_suffix(&resolved, LOCK)];
        if is_link(path) {
            // An older program locks beside the link.
            names.push(with_suffix(path, LOCK));
        }
        let beside = names.iter().map(|name| lock_beside(name, path));
        Ok(Lock {
            _beside: beside.collect::<Result<_, _>>()?,
            path: resolved,
            file: None,
        })
    }

    /// Locks the file itself against other servers, under whatever name they open it.
    ///
    /// # Errors
    /// [`StoreError`] if another process has locked it, or it does not exist.
    pub(super) fn take_file(&mut self) -> Result<(), StoreError> {
        for attempt in 0..TRIES {
            if attempt > 0 {
                std::thread::sleep(PAUSE);
            }
            if self.try_take_file()? {
                return Ok(());
            }
        }
        Err(in_use(&self.path))
    }

    /// Tries once to lock the file itself. Returns `false` if another process has locked it.
    fn try_take_file(&mut self) -> Result<bool, StoreError> {
        let mut held = DescriptorUse::open(&self.path)?;
        // The file may have been replaced between opening and locking.
        let is_ours = held.lock()? && id_at(&self.path)? == Some(held.id);
        if is_ours {
            self.file = Some(held);
        }
        Ok(is_ours)
    }

    /// Locks a left database whose existing files are `files`; `None` if a server uses it. Tries once, creates no
    /// file, and opens no other.
    ///
    /// # Errors
    /// [`StoreError`] if one of them cannot be opened.
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
            if !try_lock_beside(&file, &name)? {
                return Ok(None);
            }
            lock._beside.push(file);
        } else if !HAS_SEPARATE_LOCKS {
            return Ok(None);
        }
        let is_free = !is_there(&lock.path) || lock.try_take_file()?;
        Ok(is_free.then_some(lock))
    }

    /// Uses a file beside a server that may have it open under the same name.
    ///
    /// # Errors
    /// [`StoreError`] if a server has it open under another name: SQLite would keep a log for each name.
    pub(super) fn beside(path: &Path) -> Result<Lock, StoreError> {
        let path = resolve(path);
        let held = DescriptorUse::open(&path)?;
        let lock = Lock {
            file: Some(held),
            path,
            _beside: Vec::new(),
        };
        for attempt in 0..TRIES {
            if attempt > 0 {
                std::thread::sleep(PAUSE);
            }
            if !lock.is_server_file()? || is_locked_beside(&lock.path)? {
                return Ok(lock);
            }
        }
        let message = format!(
            "{} is in use by another coffer, under another name or without its -lock file: use the name that it uses",
            lock.path.display()
        );
        Err(StoreError::Failed(message))
    }

    /// Returns `true` if a server has locked the file. Holds a shared lock for a moment, which a starting server waits
    /// out.
    pub(super) fn is_server_file(&self) -> Result<bool, StoreError> {
        let open = open_files();
        let Some(descriptor) = self.file.as_ref().and_then(|held| open.get(&held.id)) else {
            return Ok(false);
        };
        if descriptor.locked {
            return Ok(true);
        }
        if !HAS_SEPARATE_LOCKS {
            return Ok(false);
        }
        let is_server_file = is_locked(&descriptor.file)?;
        descriptor.file.unlock()?;
        Ok(is_server_file)
    }
}

impl DescriptorUse {
    /// Opens the file unless this process has it open.
    fn open(path: &Path) -> Result<DescriptorUse, StoreError> {
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
                // The file was just replaced by one that is in use here. Closing this descriptor would drop SQLite's
                // locks.
                Entry::Occupied(_) => std::mem::forget(file),
            }
        }
        if let Some(descriptor) = open.get_mut(&id) {
            descriptor.users = descriptor.users.saturating_add(1);
        }
        Ok(DescriptorUse { id, locked: false })
    }

    /// Tries to lock the file for this use. Returns `false` if another use or process has locked it.
    fn lock(&mut self) -> Result<bool, StoreError> {
        let mut open = open_files();
        let Some(descriptor) = open.get_mut(&self.id).filter(|one| !one.locked) else {
            return Ok(false);
        };
        let locked = if HAS_SEPARATE_LOCKS {
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

impl Drop for DescriptorUse {
    fn drop(&mut self) {
        let mut open = open_files();
        let Some(descriptor) = open.get_mut(&self.id) else {
            return;
        };
        descriptor.users = descriptor.users.saturating_sub(1);
        if self.locked {
            descriptor.locked = false;
            // If this fails, closing the descriptor releases the lock.
            let _ = descriptor.file.unlock();
        }
        if descriptor.users == 0 {
            open.remove(&self.id);
        }
    }
}

/// The paths and identities of an open file and of its log, from when it was opened.
pub(super) struct FilePlace {
    database: (PathBuf, FileId),
    beside: Vec<(PathBuf, FileId)>,
}

/// The present place of an open file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FoundPlace {
    /// The file and its log are in their places.
    InPlace,
    /// The file was moved or removed. Its log is in its place.
    Moved,
    /// The log was moved, removed or replaced.
    Torn,
}

impl FilePlace {
    /// Returns the place of the file at `path`, and of the log that SQLite keeps for this connection.
    ///
    /// # Errors
    /// [`StoreError`] if there is no file at `path`.
    pub(super) fn locate(path: &Path, conn: &Connection) -> Result<FilePlace, StoreError> {
        // The first read makes SQLite create the log.
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
        Ok(FilePlace {
            database: (path.to_owned(), id),
            beside,
        })
    }

    /// Compares the present place, without opening a file. A file that cannot be examined counts as in its place.
    pub(super) fn look(&self) -> FoundPlace {
        let is_there =
            |(path, id): &(PathBuf, FileId)| id_at(path).map_or(true, |now| now == Some(*id));
        if !self.beside.iter().all(is_there) {
            FoundPlace::Torn
        } else if !is_there(&self.database) {
            FoundPlace::Moved
        } else {
            FoundPlace::InPlace
        }
    }
}

/// Returns an error about a file, with its name.
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

/// Returns the identity of the file with this name; `None` if there is none.
fn id_at(path: &Path) -> Result<Option<FileId>, StoreError> {
    match std::fs::metadata(path) {
        Ok(found) => Ok(Some(id_of(&found))),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(of_path(path, error)),
    }
}

/// Returns `true` for a symbolic link.
fn is_link(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink())
}

/// Resolves symbolic links. Returns the name itself if there is no file.
pub(super) fn resolve(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Creates and locks a `-lock` file. The system releases the lock when the process ends.
fn lock_beside(name: &Path, path: &Path) -> Result<File, StoreError> {
    for attempt in 0..TRIES {
        if attempt > 0 {
            std::thread::sleep(PAUSE);
        }
        let file = match create_private(name) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => open_beside(name)?,
            made => made.map_err(|error| of_path(name, error))?,
        };
        if try_lock_beside(&file, name)? {
            return Ok(file);
        }
    }
    Err(in_use(path))
}

fn open_beside(name: &Path) -> Result<File, StoreError> {
    let opened = File::options().read(true).write(true).open(name);
    opened.map_err(|error| of_path(name, error))
}

/// Tries once to lock a `-lock` file. Returns `false` if another process has locked it.
fn try_lock_beside(file: &File, name: &Path) -> Result<bool, StoreError> {
    let failed = |error| of_path(name, error);
    match file.try_lock() {
        // The previous owner may have removed the file. Then another process can create and lock a new one.
        Ok(()) => Ok(id_at(name)? == Some(id_of(&file.metadata().map_err(failed)?))),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}

/// Returns `true` if a server has locked the `-lock` file.
fn is_locked_beside(path: &Path) -> Result<bool, StoreError> {
    match File::open(with_suffix(path, LOCK)) {
        Ok(file) => is_locked(&file),
        Err(error) => match error.kind() {
            ErrorKind::NotFound => Ok(false),
            // The server of another user has created it.
            ErrorKind::PermissionDenied => Ok(true),
            _ => Err(of_path(path, error)),
        },
    }
}

/// Returns `true` if another descriptor has an exclusive lock on this file. If not, this one has a shared lock now.
fn is_locked(file: &File) -> Result<bool, StoreError> {
    match file.try_lock_shared() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(error.into()),
    }
}

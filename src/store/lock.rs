//! Locks on the database file and on the `-lock` file beside it. Also checks that a file is in its place.
//!
//! The lock on the database file applies to every name of the file. The lock on the `-lock` file shows which name the
//! server uses, and exists before a new database file.
//!
//! Invariant: this process has at most one descriptor of its own for a database file, and closes it after SQLite's
//! last connection. Closing any descriptor of a file releases all POSIX locks of the process on that file, including
//! those of SQLite. So a database file is never opened only to examine it.

use super::StoreError;
use super::paths::{create_private, path_error, resolve_links, with_suffix};
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::{File, Metadata, TryLockError};
use std::io::ErrorKind;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub(super) const LOCK: &str = "-lock";
/// Number of attempts to take a lock. A process that was just started shares the locks of its parent for a moment.
const TRIES: u32 = 25;
/// Pause between two attempts to take a lock.
const PAUSE: Duration = Duration::from_millis(10);

/// Whether `flock` locks and POSIX locks are independent. If they are not, a lock on the database file would exclude
/// SQLite, so only the `-lock` file is locked.
const HAS_SEPARATE_LOCKS: bool = cfg!(target_os = "linux");

/// Device and inode of a file, which stay the same if the file is renamed.
type FileId = (u64, u64);

/// Database files that this process has open. The map is global because POSIX locks belong to the process.
static DESCRIPTORS: Mutex<BTreeMap<FileId, Descriptor>> = Mutex::new(BTreeMap::new());

/// The descriptor of a database file that all uses in this process share, with the number of the uses.
struct Descriptor {
    file: File,
    users: usize,
    /// Whether one of the uses has an exclusive lock on the file.
    locked: bool,
}

/// One use of a [`Descriptor`]. Dropping the last use closes the descriptor.
struct DescriptorUse {
    id: FileId,
    locked: bool,
}

/// Permission to use a file, alone or together with other processes. The permission must outlive all connections to
/// the file.
pub(super) struct Lock {
    path: PathBuf,
    // Declared before `_beside`, and so dropped first: the `-lock` file must stay locked as long as the database
    // file.
    file: Option<DescriptorUse>,
    /// The locked `-lock` file; `None` for a shared lock.
    _beside: Option<File>,
}

impl Lock {
    /// Locks the `-lock` file against other servers. If the database exists, the caller must call [`Lock::lock_file`]
    /// next.
    ///
    /// # Errors
    /// [`StoreError`] if another process has locked the `-lock` file.
    pub(super) fn exclusive(path: &Path) -> Result<Lock, StoreError> {
        let resolved = resolve_links(path);
        let beside = take_lock_file(&with_suffix(&resolved, LOCK), path)?;
        Ok(Lock { _beside: Some(beside), path: resolved, file: None })
    }

    /// Locks the database file against other servers, even those that open it under another name.
    ///
    /// # Errors
    /// [`StoreError`] if another process has locked the file, or the file does not exist.
    pub(super) fn lock_file(&mut self) -> Result<(), StoreError> {
        for attempt in 0..TRIES {
            if attempt > 0 {
                std::thread::sleep(PAUSE);
            }
            if self.try_lock_file()? {
                return Ok(());
            }
        }
        Err(in_use_error(&self.path))
    }

    /// Tries once to lock the database file. Returns `false` if another process has locked it.
    fn try_lock_file(&mut self) -> Result<bool, StoreError> {
        let mut held = DescriptorUse::open(&self.path)?;
        // The file may have been replaced after it was opened.
        let is_ours = held.try_lock()? && file_id_at(&self.path)? == Some(held.id);
        if is_ours {
            self.file = Some(held);
        }
        Ok(is_ours)
    }

    /// Locks a leftover database, of which only the files `files` exist. Returns `None` if a server uses the
    /// database. Tries once, and neither creates nor opens other files.
    pub(super) fn lock_leftover_database(
        path: &Path,
        files: &[PathBuf],
    ) -> Result<Option<Lock>, StoreError> {
        let is_there = |path: &PathBuf| files.contains(path);
        let mut lock = Lock { path: path.to_owned(), file: None, _beside: None };
        let name = with_suffix(path, LOCK);
        if is_there(&name) {
            let file = open_lock_file(&name)?;
            if !try_take_lock_file(&file, &name)? {
                return Ok(None);
            }
            lock._beside = Some(file);
        } else if !HAS_SEPARATE_LOCKS {
            return Ok(None);
        }
        let is_free = !is_there(&lock.path) || lock.try_lock_file()?;
        Ok(is_free.then_some(lock))
    }

    /// Returns a lock that lets this process use a file, even while a server uses the file.
    ///
    /// # Errors
    /// [`StoreError`] if a server uses the file under another name, because SQLite would keep a log for each name.
    pub(super) fn shared(path: &Path) -> Result<Lock, StoreError> {
        let path = resolve_links(path);
        let held = DescriptorUse::open(&path)?;
        let lock = Lock { file: Some(held), path, _beside: None };
        for attempt in 0..TRIES {
            if attempt > 0 {
                std::thread::sleep(PAUSE);
            }
            if !lock.is_held_by_server()? || is_lock_file_locked(&lock.path)? {
                return Ok(lock);
            }
        }
        let message = format!(
            "{} is in use by another coffer, under another name or without its -lock file: use the name that it uses",
            lock.path.display()
        );
        Err(StoreError::Failed(message))
    }

    /// Returns the path of the database, without symbolic links.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads bytes of the database file. Returns `None` if the file is shorter, or this lock is not on the file.
    pub(super) fn read_bytes<const N: usize>(&self, offset: u64) -> Option<[u8; N]> {
        let open = descriptors();
        let descriptor = self.file.as_ref().and_then(|held| open.get(&held.id))?;
        let mut bytes = [0; N];
        descriptor.file.read_exact_at(&mut bytes, offset).ok()?;
        Some(bytes)
    }

    /// Returns `true` if a server has locked the file. During the check the file has a shared lock for a moment. A
    /// starting server waits until this lock is released.
    pub(super) fn is_held_by_server(&self) -> Result<bool, StoreError> {
        let open = descriptors();
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
    /// Opens a descriptor of the file, or shares the descriptor that this process has already.
    fn open(path: &Path) -> Result<DescriptorUse, StoreError> {
        let failed = |error| path_error(path, error);
        let found = std::fs::metadata(path).map_err(failed)?;
        if !found.is_file() {
            let message = format!("{} is not a file", path.display());
            return Err(StoreError::Failed(message));
        }
        let mut open = descriptors();
        let mut id = file_id(&found);
        if !open.contains_key(&id) {
            let file = File::open(path).map_err(failed)?;
            id = file_id(&file.metadata().map_err(failed)?);
            match open.entry(id) {
                Entry::Vacant(free) => {
                    free.insert(Descriptor { file, users: 0, locked: false });
                }
                // The new descriptor is of a file that is already open in this process, because the path was just
                // replaced. Closing the new descriptor would release SQLite's locks.
                Entry::Occupied(_) => std::mem::forget(file),
            }
        }
        if let Some(descriptor) = open.get_mut(&id) {
            descriptor.users = descriptor.users.saturating_add(1);
        }
        Ok(DescriptorUse { id, locked: false })
    }

    /// Tries once to lock the file for this use. Returns `false` if another use or process has locked it.
    fn try_lock(&mut self) -> Result<bool, StoreError> {
        let mut open = descriptors();
        let Some(descriptor) = open.get_mut(&self.id).filter(|one| !one.locked) else {
            return Ok(false);
        };
        let locked = if HAS_SEPARATE_LOCKS { descriptor.file.try_lock() } else { Ok(()) };
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
        let mut open = descriptors();
        let Some(descriptor) = open.get_mut(&self.id) else {
            return;
        };
        descriptor.users = descriptor.users.saturating_sub(1);
        if self.locked {
            descriptor.locked = false;
            // If unlocking fails, closing the descriptor releases the lock.
            let _ = descriptor.file.unlock();
        }
        if descriptor.users == 0 {
            open.remove(&self.id);
        }
    }
}

/// Paths and identities of an open database file and its log, as they were when the file was opened.
pub(super) struct FilePlace {
    database: (PathBuf, FileId),
    beside: Vec<(PathBuf, FileId)>,
}

/// Whether an open database file and its log are still at their paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PlaceState {
    /// Both the file and its log are at their paths.
    InPlace,
    /// The file was moved or removed. Its log is still at its path.
    Moved,
    /// The log was moved, removed or replaced.
    Torn,
}

impl FilePlace {
    /// Returns the paths and identities of the file at `path`, and of the log that SQLite uses for this connection.
    ///
    /// # Errors
    /// [`StoreError`] if there is no file at `path`.
    pub(super) fn locate(path: &Path, conn: &Connection) -> Result<FilePlace, StoreError> {
        // SQLite creates the log at the first read.
        conn.pragma_query_value(None, "schema_version", |_| Ok(()))?;
        let database = conn.path().map_or(path, Path::new);
        let id = file_id_at(path)?.ok_or_else(|| path_error(path, ErrorKind::NotFound.into()))?;
        let mut beside = Vec::new();
        for suffix in ["-wal", "-shm"] {
            let name = with_suffix(database, suffix);
            if let Some(id) = file_id_at(&name)? {
                beside.push((name, id));
            }
        }
        Ok(FilePlace { database: (path.to_owned(), id), beside })
    }

    /// Compares the files that are now at the paths with the open files. Opens no file. A file that cannot be
    /// examined counts as in its place.
    pub(super) fn current_state(&self) -> PlaceState {
        let is_there =
            |(path, id): &(PathBuf, FileId)| file_id_at(path).map_or(true, |now| now == Some(*id));
        if !self.beside.iter().all(is_there) {
            PlaceState::Torn
        } else if !is_there(&self.database) {
            PlaceState::Moved
        } else {
            PlaceState::InPlace
        }
    }
}

fn in_use_error(path: &Path) -> StoreError {
    StoreError::Failed(format!("{} is in use by another coffer", path.display()))
}

fn descriptors() -> MutexGuard<'static, BTreeMap<FileId, Descriptor>> {
    DESCRIPTORS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn file_id(metadata: &Metadata) -> FileId {
    (metadata.dev(), metadata.ino())
}

/// Returns the identity of the file at this path; `None` without a file.
fn file_id_at(path: &Path) -> Result<Option<FileId>, StoreError> {
    match std::fs::metadata(path) {
        Ok(found) => Ok(Some(file_id(&found))),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(path_error(path, error)),
    }
}

/// Locks a `-lock` file, and creates it if necessary. The system releases the lock when the process ends.
fn take_lock_file(name: &Path, path: &Path) -> Result<File, StoreError> {
    for attempt in 0..TRIES {
        if attempt > 0 {
            std::thread::sleep(PAUSE);
        }
        let file = match create_private(name) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => open_lock_file(name)?,
            made => made.map_err(|error| path_error(name, error))?,
        };
        if try_take_lock_file(&file, name)? {
            return Ok(file);
        }
    }
    Err(in_use_error(path))
}

fn open_lock_file(name: &Path) -> Result<File, StoreError> {
    let opened = File::options().read(true).write(true).open(name);
    opened.map_err(|error| path_error(name, error))
}

/// Tries once to lock a `-lock` file. Returns `false` if another process has locked it.
fn try_take_lock_file(file: &File, name: &Path) -> Result<bool, StoreError> {
    let failed = |error| path_error(name, error);
    match file.try_lock() {
        // The previous holder may have removed the file, and another process may have created a new one.
        Ok(()) => Ok(file_id_at(name)? == Some(file_id(&file.metadata().map_err(failed)?))),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}

fn is_lock_file_locked(path: &Path) -> Result<bool, StoreError> {
    match File::open(with_suffix(path, LOCK)) {
        Ok(file) => is_locked(&file),
        Err(error) => match error.kind() {
            ErrorKind::NotFound => Ok(false),
            // A server of another user has created the file.
            ErrorKind::PermissionDenied => Ok(true),
            _ => Err(path_error(path, error)),
        },
    }
}

/// Returns `true` if another descriptor has an exclusive lock. Otherwise this descriptor gets a shared lock.
fn is_locked(file: &File) -> Result<bool, StoreError> {
    match file.try_lock_shared() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(error.into()),
    }
}

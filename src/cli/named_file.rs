//! Files that root names for a command that runs as the owner of the database.
//!
//! Root opens a file that the owner may not open, and passes its descriptor as standard input. Invariant: root follows
//! no link of another user, and writes only into a file that it has created.

use crate::config::passed_path;
use crate::service::Error;
use crate::store::paths::{describe_io_error, is_reserved_name};
use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, RenameFlags, Stat, fstat, fstatfs, linkat, openat,
    readlinkat, renameat_with, statat, unlinkat,
};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::{File, TryLockError};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

/// Type of the file system of `/proc` (`PROC_SUPER_MAGIC` of `linux/magic.h`). Its links lead to open files.
const PROC: u32 = 0x9fa0;
/// Maximum number of links in one path, as in Linux.
const LINKS_MAX: u32 = 40;
/// Permission bits of one class of users.
const READ: u32 = 4;
const WRITE: u32 = 2;
const SEARCH: u32 = 1;
/// Suffix of a file that is not complete.
const COPYING: &str = "-copying";
const LOGS: [&str; 2] = ["-wal", "-journal"];
const ROOT: u32 = 0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileUse {
    /// A database to read. It must be a file without a log.
    Database,
    /// A text to read, which may come from a pipe.
    Text,
    Create,
}

/// The user whom a command becomes.
#[derive(Clone, Copy)]
pub(super) struct FileUser {
    pub(super) uid: u32,
    pub(super) gid: u32,
}

impl FileUser {
    /// Returns `true` if the mode of a file gives the user these permissions.
    fn may(self, found: &Stat, bits: u32) -> bool {
        let class = match (found.st_uid == self.uid, found.st_gid == self.gid) {
            (true, _) => 6,
            (false, true) => 3,
            (false, false) => 0,
        };
        (found.st_mode >> class) & bits == bits
    }
}

pub(super) enum PassedFile {
    Read(File),
    New(NewFile),
}

/// A new file of root's with a temporary name. Dropping it removes it, unless it has its final name.
pub(super) struct NewFile {
    path: PathBuf,
    folder: OwnedFd,
    name: OsString,
    temporary: OsString,
    file: File,
}

/// A path that was followed up to its last component.
struct FollowedPath {
    folder: OwnedFd,
    name: OsString,
    /// State of the file; `None` if it does not exist.
    found: Option<Stat>,
    /// Whether the user may search every folder of the path.
    is_reachable: bool,
    /// Whether the last component is a link in `/proc`, which leads to an open file.
    is_open_file: bool,
}

/// Opens a file as root for a user who may not open it. Returns `None` if that user opens the file.
///
/// # Errors
/// A message if the file does not exist or cannot be passed.
pub(super) fn open_as_root(
    path: &Path,
    usage: FileUse,
    user: FileUser,
) -> Result<Option<PassedFile>, Error> {
    let failed = |error: Errno| Error::Failed(describe_io_error(path, &error.into()));
    let followed = match follow(path, user, usage != FileUse::Create) {
        // On a file system of another machine, the user may have more permissions than root.
        Err(Errno::ACCESS | Errno::PERM) => return Ok(None),
        Err(Errno::NOENT) if usage != FileUse::Create => None,
        followed => match followed.map_err(failed)? {
            None => return Ok(None),
            followed => followed,
        },
    };
    if usage == FileUse::Create {
        return match followed {
            Some(followed) => create(path, followed, user).map(|new| new.map(PassedFile::New)),
            None => Ok(None),
        };
    }
    let followed = followed.filter(|followed| followed.found.is_some());
    let Some(FollowedPath { folder, name, found: Some(found), is_reachable, is_open_file }) =
        followed
    else {
        return Err(Error::Failed(format!("{} does not exist", path.display())));
    };
    if is_reachable && !is_open_file && user.may(&found, READ) {
        return Ok(None);
    }
    let mut flags = OFlags::RDONLY | OFlags::NOCTTY | OFlags::CLOEXEC;
    if !is_open_file {
        flags |= OFlags::NOFOLLOW;
    }
    if usage == FileUse::Database {
        // A pipe without a writer is not waited for.
        flags |= OFlags::NONBLOCK;
        require_no_log(path, &folder, &name)?;
    }
    let file = openat(&folder, &name, flags, Mode::empty()).map_err(failed)?;
    let found = fstat(&file).map_err(failed)?;
    let is_file = FileType::from_raw_mode(found.st_mode) == FileType::RegularFile;
    if usage == FileUse::Database && !is_file {
        return Err(Error::Failed(format!("{} is not a file", path.display())));
    }
    Ok(Some(PassedFile::Read(file.into())))
}

/// Follows a path as root. Returns `None` at a link of another user, who could have led it anywhere. `follows_last` also
/// follows a link at the end.
fn follow(path: &Path, user: FileUser, follows_last: bool) -> Result<Option<FollowedPath>, Errno> {
    let mut folder = open_start(path)?;
    let mut rest = Vec::new();
    push_components(&mut rest, path);
    let (mut is_reachable, mut links) = (true, 0_u32);
    loop {
        let name = rest.pop().ok_or(Errno::ISDIR)?;
        let is_last = rest.is_empty();
        is_reachable &= user.may(&fstat(&folder)?, SEARCH);
        let found = match statat(&folder, &name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) if is_last => None,
            found => Some(found?),
        };
        let link = found.filter(|found| FileType::from_raw_mode(found.st_mode).is_symlink());
        let link = link.filter(|_| !is_last || follows_last);
        let is_open_file = is_last && link.is_some() && is_proc(&folder)?;
        match link {
            Some(link) if link.st_uid != ROOT => return Ok(None),
            Some(_) if !is_open_file => {
                links = links.saturating_add(1);
                if links > LINKS_MAX {
                    return Err(Errno::LOOP);
                }
                let target = readlinkat(&folder, &name, Vec::new())?;
                let target = PathBuf::from(OsString::from_vec(target.into_bytes()));
                if target.is_absolute() {
                    folder = open_start(&target)?;
                }
                push_components(&mut rest, &target);
            }
            _ if is_last => {
                return Ok(Some(FollowedPath { folder, name, found, is_reachable, is_open_file }));
            }
            _ => folder = open_folder(&folder, &name)?,
        }
    }
}

/// Pushes the components of a path, the last one first.
fn push_components(rest: &mut Vec<OsString>, path: &Path) {
    let components = path.components().rev();
    let named = components
        .filter(|component| matches!(component, Component::Normal(_) | Component::ParentDir));
    rest.extend(named.map(|component| component.as_os_str().to_owned()));
}

/// Opens the folder at which a path starts.
fn open_start(path: &Path) -> Result<OwnedFd, Errno> {
    open_folder(CWD, OsStr::new(if path.is_absolute() { "/" } else { "." }))
}

/// Opens a folder for following a path. Fails at a link.
fn open_folder(folder: impl AsFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(folder, name, flags, Mode::empty())
}

fn is_proc(folder: &OwnedFd) -> Result<bool, Errno> {
    Ok(u32::try_from(fstatfs(folder)?.f_type) == Ok(PROC))
}

/// Fails if a database has a log, without which its bytes are not complete.
fn require_no_log(path: &Path, folder: &OwnedFd, name: &OsStr) -> Result<(), Error> {
    for suffix in LOGS {
        let log = with_end(name, suffix);
        if statat(folder, &log, AtFlags::empty()).is_ok_and(|found| found.st_size > 0) {
            let path = path.display();
            return Err(Error::Failed(format!(
                "{path} has a log beside it, {path}{suffix}: it is in use, or was copied without `coffer backup`. Make a \
                 copy of it with `coffer backup --file {path}`, and restore that"
            )));
        }
    }
    Ok(())
}

fn with_end(name: &OsStr, suffix: &str) -> OsString {
    let mut name = name.to_owned();
    name.push(suffix);
    name
}

/// Creates a file in a folder in which the user may not. Returns `None` if the user may.
fn create(path: &Path, to: FollowedPath, user: FileUser) -> Result<Option<NewFile>, Error> {
    let failed = |error: Errno| Error::Failed(describe_io_error(path, &error.into()));
    let FollowedPath { folder, name, found, is_reachable, .. } = to;
    if is_reachable && user.may(&fstat(&folder).map_err(failed)?, WRITE | SEARCH) {
        return Ok(None);
    }
    let refused = |why: &str| Err(Error::Failed(format!("{} {why}", path.display())));
    if is_reserved_name(path) {
        return refused(
            "has a name that is kept for files beside a database: give the copy another one",
        );
    }
    if found.is_some() {
        return refused(
            "exists already, and --force replaces no file of root's: remove it, or name another",
        );
    }
    let temporary = with_end(&name, COPYING);
    let file = match create_locked(&folder, &temporary) {
        Err(Errno::EXIST) => {
            remove_leftover(&folder, &temporary).map_err(failed)?;
            create_locked(&folder, &temporary)
        }
        created => created,
    };
    let file = file.map_err(failed)?;
    Ok(Some(NewFile { path: path.to_owned(), folder, name, temporary, file }))
}

/// Creates a file that only root may read, and locks it. The lock lasts as long as a process has the file open.
fn create_locked(folder: &OwnedFd, name: &OsStr) -> Result<File, Errno> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = File::from(openat(folder, name, flags, Mode::RUSR | Mode::WUSR)?);
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(Errno::EXIST),
        // A file system without locks has none to respect.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(file),
    }
}

/// Removes the file of a backup that was killed.
///
/// # Errors
/// [`Errno::EXIST`] if the file is not root's, or a backup is writing it.
fn remove_leftover(folder: &OwnedFd, name: &OsStr) -> Result<(), Errno> {
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(openat(folder, name, flags, Mode::empty())?);
    let found = fstat(&file)?;
    let is_file = FileType::from_raw_mode(found.st_mode) == FileType::RegularFile;
    if !is_file || found.st_uid != ROOT || matches!(file.try_lock(), Err(TryLockError::WouldBlock))
    {
        return Err(Errno::EXIST);
    }
    unlinkat(folder, name, AtFlags::empty())
}

impl NewFile {
    pub(super) fn descriptor(&self) -> Result<File, Error> {
        let copy = self.file.try_clone();
        copy.map_err(|error| Error::Failed(describe_io_error(&self.path, &error)))
    }

    /// Gives the complete file its final name, unless there is a file with this name.
    ///
    /// # Errors
    /// The name is taken, or the folder cannot be written.
    pub(super) fn finish(self) -> Result<(), Error> {
        let NewFile { folder, name, temporary, .. } = &self;
        let linked = match linkat(folder, temporary, folder, name, AtFlags::empty()) {
            // A file system without hard links may still support such a rename.
            Err(error) if error != Errno::EXIST => {
                renameat_with(folder, temporary, folder, name, RenameFlags::NOREPLACE)
            }
            linked => linked,
        };
        let synced = linked.and_then(|()| {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            rustix::fs::fsync(openat(folder, ".", flags, Mode::empty())?)
        });
        synced.map_err(|error| Error::Failed(describe_io_error(&self.path, &error.into())))
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        // After a rename the file has no temporary name.
        let _ = unlinkat(&self.folder, &self.temporary, AtFlags::empty());
    }
}

/// Returns the file that root has opened for this path; `None` if this process opens it.
pub(super) fn passed_file(path: &Path) -> std::io::Result<Option<File>> {
    if passed_path().as_deref() != Some(path) {
        return Ok(None);
    }
    let descriptor = std::io::stdin().as_fd().try_clone_to_owned()?;
    Ok(Some(descriptor.into()))
}

/// Opens a file for reading, or returns the file that root has opened for this path.
pub(super) fn open_named(path: &Path) -> Result<File, String> {
    let opened = passed_file(path).and_then(|passed| passed.map_or_else(|| File::open(path), Ok));
    opened.map_err(|error| describe_io_error(path, &error))
}

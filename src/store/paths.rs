//! Names of the files beside a database, and creation of private files.

use super::StoreError;
use rustix::process::geteuid;
use std::fs::{File, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// File mode of every new file: only its owner may read and write it.
const PRIVATE: u32 = 0o600;

/// List of the users of this machine (passwd(5)).
const USERS: &str = "/etc/passwd";

/// Suffixes of the files beside a database: files of SQLite, the lock file, and a copy in progress.
const BESIDE: [&str; 5] = ["-wal", "-shm", "-journal", "-lock", "-copying"];

/// Creates a file that only its owner may read and write, whatever the umask. SQLite gives its log the same mode.
pub(super) fn create_private(path: &Path) -> std::io::Result<File> {
    let mut options = File::options();
    let options = options.read(true).write(true).create_new(true);
    let file = options.mode(PRIVATE).open(path)?;
    file.set_permissions(Permissions::from_mode(PRIVATE))?;
    Ok(file)
}

pub(super) fn path_error(path: &Path, error: std::io::Error) -> StoreError {
    StoreError::Failed(describe_io_error(path, &error))
}

/// Returns the message of an error that names the file. If permission is missing, the message names the user.
pub fn describe_io_error(path: &Path, error: &std::io::Error) -> String {
    let path = path.display();
    match error.kind() {
        ErrorKind::PermissionDenied => format!("{path}: {error} for user {}", user_name()),
        _ => format!("{path}: {error}"),
    }
}

/// Returns the name of this process's user; the number if `/etc/passwd` has no name.
fn user_name() -> String {
    let id = geteuid().as_raw().to_string();
    let users = std::fs::read_to_string(USERS).unwrap_or_default();
    let named = users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let (name, of) = (fields.next()?, fields.nth(1)?);
        (of == id).then(|| name.to_owned())
    });
    named.unwrap_or(id)
}

/// Fails unless there is something at the path that this user may see.
pub(super) fn require_existing(path: &Path) -> Result<(), StoreError> {
    match std::fs::metadata(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Err(StoreError::Failed(format!("{} does not exist", path.display())))
        }
        Err(error) => Err(path_error(path, error)),
    }
}

pub(super) fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

pub(super) fn sync_folder(path: &Path) -> std::io::Result<()> {
    File::open(folder_of(path))?.sync_all()
}

/// Returns `true` if the path ends with a suffix of the files beside a database. SQLite might take such a file for
/// its log.
pub fn is_reserved_name(path: &Path) -> bool {
    let name = path.as_os_str().as_encoded_bytes();
    BESIDE.iter().any(|end| name.ends_with(end.as_bytes()))
}

/// Resolves symbolic links. Returns `path` unchanged if there is no file.
pub fn resolve_links(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Returns the path with a suffix.
pub fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

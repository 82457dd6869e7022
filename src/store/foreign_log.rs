//! Recognizes a write-ahead log that belongs to another file than the database beside it.
//!
//! [`super::backup`] leaves its copies in rollback mode, in which a database has no write-ahead log. If such a copy was
//! put over a file in use, the log of that file is still there, and SQLite would apply it to the copy.

use super::StoreError;
use super::lock::Lock;
use super::paths::{path_error, with_suffix};
use std::path::{Path, PathBuf};

/// Offset of the write version and the read version in the header (<https://sqlite.org/fileformat2.html>, section 1.3).
const VERSIONS_OFFSET: u64 = 18;
/// Version of a file in rollback mode. In WAL mode both versions are 2.
const ROLLBACK: u8 = 1;
/// Maximum number of logs that are kept beside one file.
const KEPT_MAX: u32 = 100;

/// Fails if the log beside a database belongs to another file. Called before SQLite opens the database.
pub(super) fn require_own_log(lock: &Lock) -> Result<(), StoreError> {
    match find_foreign_log(lock) {
        None => Ok(()),
        Some(log) => {
            let (problem, mend) = explain(lock.path(), &log);
            Err(StoreError::Failed(format!("{problem}. Nothing was changed. To mend it, {mend}")))
        }
    }
}

/// Returns the log beside a database if it belongs to another file.
pub(super) fn find_foreign_log(lock: &Lock) -> Option<PathBuf> {
    let log = with_suffix(lock.path(), "-wal");
    // The first start of a server switches the file to WAL mode before it writes to the log. So the log is looked at
    // before the header.
    (has_content(&log) && is_in_rollback_mode(lock) && has_content(&log)).then_some(log)
}

/// Returns `true` if the header of a database says that it has no write-ahead log.
pub(super) fn is_in_rollback_mode(lock: &Lock) -> bool {
    let versions = lock.read_bytes::<2>(VERSIONS_OFFSET);
    versions.is_some_and(|versions| versions.contains(&ROLLBACK))
}

fn has_content(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.len() > 0)
}

/// Returns the problem, and what to do about it.
pub(super) fn explain(file: &Path, log: &Path) -> (String, String) {
    let shm = with_suffix(file, "-shm");
    let [file, log, shm] = [file, log, &shm].map(Path::display);
    let problem = format!(
        "{file} is a copy that was put over another file, whose log is still beside it: {log}. SQLite would mix the two"
    );
    let mend = format!(
        "stop the server. To go back to a backup, run `coffer restore BACKUP --file {file} --force`, so that nothing is \
         paid or handed out twice. If the copy is the newest state, as after a move to this machine, run `mv {log} \
         {log}.old && rm -f {shm}`. If you still have the file that was there before, put it back"
    );
    (problem, mend)
}

/// Renames a log that belongs to another file, because it may have the newest writes of that file. An empty log is
/// left.
pub(super) fn keep_log(log: &Path) -> Result<(), StoreError> {
    if !has_content(log) {
        return Ok(());
    }
    let mut names = (0..KEPT_MAX).map(|number| with_suffix(log, &format!("-kept{number}")));
    let free = names.find(|name| std::fs::symlink_metadata(name).is_err());
    let kept = free.ok_or_else(|| path_error(log, std::io::ErrorKind::AlreadyExists.into()))?;
    std::fs::rename(log, &kept).map_err(|error| path_error(log, error))?;
    log::warn!("log of another file kept: file={}", kept.display());
    Ok(())
}

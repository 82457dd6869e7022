//! Finds damage of a file: in its header, and in its pages.

use super::connection::{READ_ONLY, configure};
use super::health::WriteRefusal;
use super::lock::Lock;
use super::statement::statements;
use super::{StoreError, foreign_log};
use rusqlite::Connection;
use std::path::Path;

/// First bytes of every database.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

statements! {
    /// Checks all pages and rows, but not whether each index has every row.
    fn quick_check(conn) -> Option<(quick_check: String)> = "select quick_check from pragma_quick_check";
}

/// Returns the reason why the header of a file is not that of a database in WAL mode, which a server uses.
pub(super) fn header_problem(lock: &Lock) -> Option<&'static str> {
    match lock.read_bytes(0) {
        None => Some("it is shorter than a header"),
        Some(bytes) if bytes != *MAGIC => Some("its header was overwritten"),
        Some(_) if foreign_log::is_in_rollback_mode(lock) => Some("a copy was put over it"),
        Some(_) => None,
    }
}

/// Returns the error of a file that cannot be opened because it is damaged.
pub(super) fn damage_error(path: &Path, error: &rusqlite::Error) -> StoreError {
    StoreError::Failed(format!(
        "{}: {error}. It is damaged, or not a file of coffer's. To mend it, {}",
        path.display(),
        mend(path)
    ))
}

/// Replaces the error of a damaged file by one that names the file.
pub(super) fn explain_damage(error: StoreError, path: &Path) -> StoreError {
    match error {
        StoreError::Damaged(cause) => {
            let problem = format!("{} is damaged ({cause})", path.display());
            StoreError::Failed(format!("{problem}. To mend it, {}", mend(path)))
        }
        error => error,
    }
}

/// Returns what to do about a damaged file.
pub(super) fn mend(path: &Path) -> String {
    let path = path.display();
    format!(
        "stop the server and go back to a backup: `coffer restore BACKUP --file {path} --force`"
    )
}

/// Reads the whole file. Returns the first damage that is found; `None` also if the file cannot be opened for another
/// reason.
pub(super) fn find_damage(lock: &Lock) -> Option<String> {
    let opened = Connection::open_with_flags(lock.path(), READ_ONLY);
    let found = opened.and_then(|conn| {
        configure(&conn)?;
        quick_check(&conn)
    });
    match found {
        Ok(found) => found.filter(|found| found != "ok"),
        Err(error) => is_damage(&error).then(|| error.to_string()),
    }
}

pub(super) fn is_damage(error: &rusqlite::Error) -> bool {
    WriteRefusal::from_error(error) == Some(WriteRefusal::FileDamaged)
}

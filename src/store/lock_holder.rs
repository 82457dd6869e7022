//! The write lock of another program: waits for its release, and finds the process that holds it.
//!
//! The lock is byte 120 of the `-shm` file (<https://sqlite.org/walformat.html>, section 2.3). Linux lists the locks
//! of all processes in `/proc/locks`.

use super::StoreError;
use super::connection::{BUSY_TIMEOUT, WRITER_BUSY};
use super::health::WriteRefusal;
use super::paths::with_suffix;
use crate::domain::Progress;
use rusqlite::{Connection, Row};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Byte of the `-shm` file that a writer locks.
const WRITE_LOCK: u64 = 120;

/// Waits until no other program has locked the database.
pub(super) fn wait_until_unlocked(
    conn: &Connection,
    path: &Path,
    tell: fn(Progress<'_>),
) -> Result<(), StoreError> {
    let locked = || conn.execute_batch("begin immediate; rollback");
    // Errors other than a locked database are ignored here, because the first write reports them.
    let _ = retry_while_locked(conn, path, tell, locked)?;
    Ok(())
}

/// Switches a copy, which is in rollback mode, to WAL mode. Waits until no other program reads it.
pub(super) fn switch_to_wal(
    conn: &Connection,
    path: &Path,
    tell: fn(Progress<'_>),
) -> Result<(), StoreError> {
    let switch = || {
        let is_wal = |row: &Row<'_>| Ok(row.get::<_, String>("journal_mode")? == "wal");
        conn.pragma_update_and_check(None, "journal_mode", "wal", is_wal)
    };
    if retry_while_locked(conn, path, tell, switch)?? {
        return Ok(());
    }
    let message = format!(
        "{}: SQLite cannot keep a write-ahead log on this file system: put the file on a local disk",
        path.display()
    );
    Err(StoreError::Failed(message))
}

/// Runs `work` until it does not fail because of a locked database. Passes one message to `tell`, which names the
/// program that holds the lock.
fn retry_while_locked<T>(
    conn: &Connection,
    path: &Path,
    tell: fn(Progress<'_>),
    work: impl Fn() -> rusqlite::Result<T>,
) -> Result<rusqlite::Result<T>, StoreError> {
    conn.busy_timeout(WRITER_BUSY)?;
    let mut is_told = false;
    loop {
        match work() {
            Err(error) if WriteRefusal::from_error(&error) == Some(WriteRefusal::Locked) => {
                let holder = find_holder(path);
                let holder = holder.unwrap_or_else(|| "another program".to_owned());
                let note = format!(
                    "{} is locked by {holder}: the start waits until that has ended its transaction",
                    path.display()
                );
                if !is_told {
                    tell(Progress::Note(&note));
                    is_told = true;
                }
            }
            done => {
                conn.busy_timeout(BUSY_TIMEOUT)?;
                return Ok(done);
            }
        }
    }
}

/// Returns the process that holds the lock, for example `process 812 (sqlite3)`; `None` if the system does not list
/// it.
pub(super) fn find_holder(database: &Path) -> Option<String> {
    let inode = std::fs::metadata(with_suffix(database, "-shm")).ok()?.ino();
    let locks = std::fs::read_to_string("/proc/locks").ok()?;
    let ours = std::fs::read_link("/proc/self").ok()?;
    let ours: u32 = ours.to_str()?.parse().ok()?;
    let process = locks
        .lines()
        .find_map(|line| parse_writer_pid(line, inode).filter(|process| *process != ours))?;
    let name = std::fs::read_to_string(format!("/proc/{process}/comm")).ok();
    Some(match name {
        Some(name) => format!("process {process} ({})", name.trim()),
        None => format!("process {process}"),
    })
}

/// Returns the process id in a line of `/proc/locks` if the line is a write lock on the file with this inode. A line
/// looks like `1: POSIX  ADVISORY  WRITE 812 fd:01:131 120 120`.
fn parse_writer_pid(line: &str, inode: u64) -> Option<u32> {
    let fields: Vec<_> = line.split_whitespace().collect();
    let [_, "POSIX", _, "WRITE", process, file, first, last] = fields[..] else {
        return None;
    };
    let is_file = file.rsplit(':').next()?.parse() == Ok(inode);
    let locked = first.parse().ok()?..=last.parse().ok()?;
    let process = process.parse().ok()?;
    // The id 0 stands for a process of another container.
    (is_file && process > 0 && locked.contains(&WRITE_LOCK)).then_some(process)
}

#[cfg(test)]
mod tests {
    use super::parse_writer_pid;

    #[test]
    fn only_a_write_lock_on_the_file_is_parsed() {
        let line = |holder: &str| format!("3: POSIX  ADVISORY  {holder}");
        for (holder, found) in [
            ("WRITE 812 fd:01:131 120 120", Some(812)),
            ("WRITE 812 fd:01:131 120 127", Some(812)),
            ("READ  812 fd:01:131 120 120", None),
            ("WRITE 812 fd:01:132 120 120", None),
            ("WRITE 812 fd:01:131 123 123", None),
            ("WRITE 812 fd:01:131 0 EOF", None),
            ("WRITE 0 fd:01:131 120 120", None),
        ] {
            assert_eq!(parse_writer_pid(&line(holder), 131), found, "{holder}");
        }
        assert_eq!(
            parse_writer_pid("3: -> POSIX  ADVISORY  WRITE 812 fd:01:131 120 120", 131),
            None
        );
    }
}

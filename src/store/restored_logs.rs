//! The table `restored_logs`: how far the hash chains went in a restored copy and in the file that it replaced.

use super::statement::statements;
use crate::domain::{ChainedLog, LogHead, Time};
use rusqlite::Connection;

/// A log of this file at a restore.
pub struct RestoredLog {
    /// Time of the restore, in Unix milliseconds.
    pub at: Time,
    /// Last row of the log in the copy, by its `seq`.
    pub copy_seq: i64,
    /// Last row of the log in the replaced file, by its `seq`; `None` if the file could not be read.
    pub replaced_seq: Option<i64>,
}

statements! {
    row read(l.at, r.copy_seq, r.replaced_seq) -> RestoredLog {
        Ok(RestoredLog { at, copy_seq, replaced_seq })
    }

    /// Returns a log at each restore, oldest first.
    pub fn of_log(db, log: ChainedLog) -> Vec<RestoredLog> =
        select "from restored_logs r join audit_log l on l.seq = r.entry where r.log = :log order by r.entry";

    fn insert(conn, entry: i64, copy: &LogHead, replaced_seq: Option<i64>) = insert into restored_logs {
        entry, log: copy.log, copy_seq: copy.seq, replaced_seq,
    };
}

/// Inserts the logs of a restore. `entry` is the audit log entry about the restore, by its `seq`.
pub(super) fn insert_on_conn(
    conn: &Connection,
    entry: i64,
    copy: &[LogHead],
    replaced: &[LogHead],
) -> rusqlite::Result<()> {
    for head in copy {
        let replaced = replaced.iter().find(|replaced| replaced.log == head.log);
        insert(conn, entry, head, replaced.map(|replaced| replaced.seq))?;
    }
    Ok(())
}

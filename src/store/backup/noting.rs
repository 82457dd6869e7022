//! Writes the audit log entry of a restore into the copy, and reads the heads of the replaced file's hash chains.

use super::BackupCopy;
use crate::domain::{LogHead, Time};
use crate::store::audit_log::{self, NewAuditEntry};
use crate::store::connection::configure;
use crate::store::foreign_log::find_foreign_log;
use crate::store::lock::Lock;
use crate::store::open::open_unshared;
use crate::store::{StoreError, history, mail_cursor, restored_logs, states};
use rusqlite::{Connection, OpenFlags};

impl BackupCopy {
    /// Returns the heads of the hash chains of the file that will be replaced; an empty list if they cannot be read.
    ///
    /// # Errors
    /// [`StoreError`] if a server uses the file.
    pub fn heads_of_replaced_logs(&self) -> Result<Vec<LogHead>, StoreError> {
        if !self.to.exists() {
            return Ok(Vec::new());
        }
        let lock = Lock::shared(&self.to)?;
        if find_foreign_log(&lock).is_some() {
            return Ok(Vec::new());
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
        let found = Connection::open_with_flags(&self.to, flags).and_then(|conn| {
            configure(&conn)?;
            history::log_heads_on_conn(&conn)
        });
        // A damaged file and an empty file have no readable hash chains.
        Ok(found.unwrap_or_default())
    }

    /// Adds the entry about the restore to the audit log of the copy, with hashes of the values that the restore has
    /// changed. Also stores how far the logs of the copy and of the replaced file went.
    pub fn add_audit_entry(
        &self,
        entry: &NewAuditEntry<'_>,
        of_copy: &[LogHead],
        replaced: &[LogHead],
        now: Time,
    ) -> Result<(), StoreError> {
        let mut conn = open_unshared(&self.temporary)?;
        let tx = conn.transaction()?;
        let states = states::hashes_after_restore(&tx)?;
        let entry = audit_log::insert_on_conn(&tx, entry, Some(&states), now)?;
        restored_logs::insert_on_conn(&tx, entry, of_copy, replaced)?;
        // The file that the copy replaces may have sent messages about the copy's events.
        mail_cursor::remove_on_conn(&tx)?;
        tx.commit()?;
        Ok(conn.close().map_err(|(_, error)| error)?)
    }
}

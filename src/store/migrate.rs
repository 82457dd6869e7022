//! The schema and its migrations.
//!
//! Invariant: `user_version` is the version of a file. An upgrade runs completely or not at all, and a file of a
//! newer version is not changed.

mod template;
#[cfg(test)]
mod tests;

pub(super) use template::{APPLICATION_ID, template};

use super::StoreError;
use super::connection::create_views;
use super::integrity::{Violation, foreign_keys};
use crate::domain::progress::to_count;
use crate::domain::{Progress, ProgressSink};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode};

/// Migrations, oldest first. The first one creates the schema of version 1, and each further one makes the next
/// version.
#[derive(Clone, Copy)]
pub(super) struct Migrations(&'static [&'static str]);

/// The migrations of this program.
///
/// From the first release on, this list is append-only: a change of the schema is a new file
/// `sql/migrations/NNNN_name.sql` at its end, and no listed file changes. Before, `sql/schema.sql` itself changes.
pub(super) const MIGRATIONS: Migrations = Migrations(&[include_str!("../../sql/schema.sql")]);

impl Migrations {
    /// Returns the newest version of the schema.
    pub(super) const fn newest(self) -> usize {
        self.0.len()
    }

    /// Upgrades a file to the newest version, in one transaction. A reference to a missing row, or a damaged file,
    /// rolls back the transaction. Reports the progress of each step to `tell`, unless the file is up to date.
    pub(super) fn run(
        self,
        conn: &mut Connection,
        tell: &mut ProgressSink<'_>,
    ) -> Result<(), StoreError> {
        let version = user_version(conn)?;
        self.require_known(version)?;
        if version == self.newest() {
            return Ok(create_views(conn)?);
        }
        // A migration may recreate a referenced table, so foreign keys are checked only at the end. The pragma
        // `foreign_keys` cannot be changed inside a transaction (<https://sqlite.org/lang_altertable.html>, procedure
        // of 12 steps).
        let enforced: bool =
            conn.pragma_query_value(None, "foreign_keys", |row| row.get("foreign_keys"))?;
        conn.pragma_update(None, "foreign_keys", false)?;
        // A migration may change a CHECK in the schema table, which SQLite protects by default. It may also rename a
        // table, for which SQLite reads the views of the file.
        let protection = [
            (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
        ];
        for (config, on) in protection {
            conn.set_db_config(config, !on)?;
        }
        let migrated = self.run_in_transaction(conn, tell);
        for (config, on) in protection {
            conn.set_db_config(config, on)?;
        }
        conn.pragma_update(None, "foreign_keys", enforced)?;
        migrated?;
        Ok(create_views(conn)?)
    }

    /// Runs the missing migrations in one transaction.
    fn run_in_transaction(
        self,
        conn: &mut Connection,
        tell: &mut ProgressSink<'_>,
    ) -> Result<(), StoreError> {
        let tx = conn.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        // The version is read again, as another process may have upgraded the file.
        let version = user_version(&tx)?;
        self.require_known(version)?;
        // The final checks count as one step.
        let of = to_count(self.newest().saturating_sub(version)).saturating_add(1);
        let part = "upgrade steps made";
        for (done, migration) in (0..).zip(self.0.iter().skip(version)) {
            tell(Progress::Done { part, done, of });
            tx.execute_batch(migration).map_err(explain_edited_row)?;
        }
        let done = of.saturating_sub(1);
        tell(Progress::Done { part, done, of });
        check_file(&tx)?;
        tx.pragma_update(None, "user_version", i64::try_from(self.newest()).unwrap_or(i64::MAX))?;
        tx.commit()?;
        tell(Progress::Done { part, done: of, of });
        Ok(())
    }

    /// Creates the empty schema of a version.
    pub(super) fn create(self, conn: &Connection, version: usize) -> rusqlite::Result<()> {
        let mut migrations = self.0.iter().take(version);
        migrations.try_for_each(|migration| conn.execute_batch(migration))
    }

    /// Fails if a version is newer than this program. An older version is accepted.
    pub(super) fn require_known(self, version: usize) -> Result<(), StoreError> {
        let newest = self.newest();
        if version <= newest {
            return Ok(());
        }
        let message = format!(
            "the file is of version {version}, this program knows only {newest}: use a newer coffer"
        );
        Err(StoreError::Failed(message))
    }

    /// Fails unless a file is of the newest version. For readers, which cannot upgrade the file.
    pub(super) fn require_newest(self, conn: &Connection) -> Result<(), StoreError> {
        let version = user_version(conn)?;
        self.require_known(version)?;
        let newest = self.newest();
        if version == newest {
            return Ok(create_views(conn)?);
        }
        let message =
            format!("the file is of version {version}, and only {newest} can be read here");
        Err(StoreError::Failed(message))
    }
}

/// Returns the error for a row that a migration refuses, which only another program can have written. Any other error is
/// returned as it is.
fn explain_edited_row(error: rusqlite::Error) -> StoreError {
    match error.sqlite_error_code() {
        Some(ErrorCode::ConstraintViolation | ErrorCode::Unknown) => StoreError::Failed(format!(
            "the file was left as it was: it has a row that coffer does not write ({error}). Restore a backup, or go on \
             with the version before"
        )),
        _ => error.into(),
    }
}

/// Checks the references of a file, and its pages, rows and indexes against the schema.
///
/// # Errors
/// [`StoreError`] with the first problem.
fn check_file(conn: &Connection) -> Result<(), StoreError> {
    let broken: Option<Violation> = foreign_keys().get(conn, &[])?;
    if let Some((about, _, should)) = broken {
        return Err(StoreError::Failed(format!(
            "the file was left as it was: {about} refers to {should}, which does not exist"
        )));
    }
    let found: String =
        conn.pragma_query_value(None, "integrity_check", |row| row.get("integrity_check"))?;
    if found == "ok" {
        return Ok(());
    }
    Err(StoreError::Failed(format!(
        "the file was left as it was: it is damaged ({found}). Restore a backup, or go on with the version before"
    )))
}

/// Returns the version of a file.
fn user_version(conn: &Connection) -> Result<usize, StoreError> {
    let version: i64 =
        conn.pragma_query_value(None, "user_version", |row| row.get("user_version"))?;
    usize::try_from(version).map_err(|_| {
        StoreError::Failed(format!("the file has version {version}: not one of coffer's"))
    })
}

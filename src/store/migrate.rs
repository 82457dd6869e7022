//! The schema and its history.
//!
//! What lives here: the numbered migrations and the ready-made file that they add up to. What always holds: a file
//! is at the version in its `user_version`, a migration runs whole or not at all, and a newer file is not touched.

use super::StoreError;
use rusqlite::Connection;

/// Every migration, oldest first; its place is its version.
const MIGRATIONS: [&str; 3] = [
    include_str!("../../sql/migrations/0001_initial.sql"),
    include_str!("../../sql/migrations/0002_out_and_operators.sql"),
    include_str!("../../sql/migrations/0003_repairs.sql"),
];

/// What the migrations add up to, as a file: a new file is a copy of it, which is much faster than the statements.
pub(super) const TEMPLATE: &[u8] = include_bytes!("../../sql/template.db");

/// Brings a file up to the newest version, in one transaction.
pub(super) fn migrate(conn: &mut Connection) -> Result<(), StoreError> {
    let version = user_version(conn)?;
    require_known(version)?;
    if version == NEWEST {
        return Ok(());
    }
    let tx = conn.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    for migration in MIGRATIONS.iter().skip(version) {
        tx.execute_batch(migration)?;
    }
    tx.pragma_update(
        None,
        "user_version",
        i64::try_from(NEWEST).unwrap_or(i64::MAX),
    )?;
    Ok(tx.commit()?)
}

/// The version of a file that is up to date.
pub(super) const NEWEST: usize = MIGRATIONS.len();

/// This program knows files of this version, though it may be an older one.
pub(super) fn require_known(version: usize) -> Result<(), StoreError> {
    if version <= NEWEST {
        return Ok(());
    }
    let message = format!(
        "the file is of version {version}, this program knows only {NEWEST}: use a newer coffer"
    );
    Err(StoreError::Failed(message))
}

/// Makes an empty file of an older version, or of the newest.
pub(super) fn replay(conn: &Connection, version: usize) -> rusqlite::Result<()> {
    let mut migrations = MIGRATIONS.iter().take(version);
    migrations.try_for_each(|migration| conn.execute_batch(migration))
}

/// The file is of the newest version: for those who read only and cannot bring it up to date.
pub(super) fn require_newest(conn: &Connection) -> Result<(), StoreError> {
    let version = user_version(conn)?;
    require_known(version)?;
    if version == NEWEST {
        return Ok(());
    }
    let message = format!("the file is of version {version}, and only {NEWEST} can be read here");
    Err(StoreError::Failed(message))
}

/// The version a file is at.
fn user_version(conn: &Connection) -> Result<usize, StoreError> {
    let version: i64 = conn.pragma_query_value(None, "user_version", |row| row.get(0))?;
    usize::try_from(version).map_err(|_| {
        StoreError::Failed(format!(
            "the file has version {version}: not one of coffer's"
        ))
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{MIGRATIONS, migrate, user_version};
    use rusqlite::Connection;

    #[test]
    fn a_file_is_brought_up_to_date_once() {
        let mut conn = Connection::open_in_memory().unwrap();
        for _ in 0..2 {
            migrate(&mut conn).unwrap();
            assert_eq!(user_version(&conn).unwrap(), MIGRATIONS.len());
        }
    }

    #[test]
    fn a_newer_file_is_refused() {
        let mut conn = Connection::open_in_memory().unwrap();
        conn.pragma_update(None, "user_version", 999).unwrap();
        assert!(
            migrate(&mut conn)
                .unwrap_err()
                .to_string()
                .contains("newer coffer")
        );
    }
}

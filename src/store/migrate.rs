//! The schema and its history.
//!
//! What lives here: the numbered migrations and the ready-made file that they add up to. What always holds: a file
//! is at the version in its `user_version`, a migration runs whole or not at all, and a newer file is not touched.

use super::StoreError;
use rusqlite::Connection;

/// Every migration, oldest first; its place is its version.
const MIGRATIONS: [&str; 1] = [include_str!("../../sql/migrations/0001_initial.sql")];

/// What the migrations add up to, as a file: a new file is a copy of it, which is much faster than the statements.
pub(super) const TEMPLATE: &[u8] = include_bytes!("../../sql/template.db");

/// Brings a file up to the newest version, in one transaction.
pub(super) fn migrate(conn: &mut Connection) -> Result<(), StoreError> {
    let newest = MIGRATIONS.len();
    let version = user_version(conn)?;
    if version == newest {
        return Ok(());
    }
    if version > newest {
        return Err(StoreError::Failed(format!(
            "the file is of version {version}, this program knows only {newest}: use a newer coffer"
        )));
    }
    let tx = conn.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    for migration in MIGRATIONS.iter().skip(version) {
        tx.execute_batch(migration)?;
    }
    tx.pragma_update(
        None,
        "user_version",
        i64::try_from(newest).unwrap_or(i64::MAX),
    )?;
    Ok(tx.commit()?)
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
#[expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]
mod tests {
    use super::{MIGRATIONS, TEMPLATE, migrate, user_version};
    use rusqlite::Connection;
    use std::path::Path;

    /// Every object of a schema, as it was declared.
    fn schema(conn: &Connection) -> Vec<(String, Option<String>)> {
        let mut rows = conn
            .prepare("select name, sql from sqlite_schema order by name")
            .unwrap();
        rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap()
    }

    /// A fresh file made by the migrations alone.
    fn migrated(path: &Path) -> Connection {
        let mut conn = Connection::open(path).unwrap();
        conn.pragma_update(None, "journal_mode", "wal").unwrap();
        migrate(&mut conn).unwrap();
        conn
    }

    #[test]
    fn the_template_is_what_the_migrations_add_up_to() {
        let dir = std::env::temp_dir().join(format!("coffer-template-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let made = migrated(&dir.join("made.db"));
        if std::env::var_os("COFFER_BLESS").is_some() {
            made.execute_batch("pragma wal_checkpoint(truncate)")
                .unwrap();
            std::fs::copy(
                dir.join("made.db"),
                concat!(env!("CARGO_MANIFEST_DIR"), "/sql/template.db"),
            )
            .unwrap();
        } else {
            std::fs::write(dir.join("template.db"), TEMPLATE).unwrap();
            let template = Connection::open(dir.join("template.db")).unwrap();
            assert_eq!(
                schema(&template),
                schema(&made),
                "run the tests once with COFFER_BLESS=1 to make sql/template.db anew"
            );
            assert_eq!(user_version(&template).unwrap(), MIGRATIONS.len());
        }
        std::fs::remove_dir_all(dir).unwrap();
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

    #[test]
    fn every_statement_prepares_against_the_fresh_schema() {
        let mut conn = Connection::open_in_memory().unwrap();
        migrate(&mut conn).unwrap();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("sql");
        let mut prepared = 0;
        for table in std::fs::read_dir(root)
            .unwrap()
            .map(|entry| entry.unwrap().path())
        {
            if !table.is_dir() || table.ends_with("migrations") {
                continue;
            }
            for file in std::fs::read_dir(table)
                .unwrap()
                .map(|entry| entry.unwrap().path())
            {
                let sql = std::fs::read_to_string(&file).unwrap();
                for statement in sql.split_inclusive(";\n") {
                    conn.prepare(statement)
                        .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
                    prepared += 1;
                }
            }
        }
        assert!(prepared > 60, "only {prepared} statements were found");
    }
}

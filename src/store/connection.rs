//! Opens and configures connections to a file.

use super::StoreError;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use std::path::Path;
use std::time::Duration;

/// Maximum time for which a write of a server waits for a write of another process.
pub(super) const WRITER_BUSY: Duration = Duration::from_secs(1);

/// Maximum time for which any other statement waits for a write of another process.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Flags of a read-only connection. Only one thread at a time uses the connection.
pub(super) const READ_ONLY: OpenFlags =
    OpenFlags::SQLITE_OPEN_READ_ONLY.union(OpenFlags::SQLITE_OPEN_NO_MUTEX);

/// Maximum number of bytes of the file that each connection maps into memory.
const MMAP_BYTES_MAX: i64 = 1 << 28;

/// Configures a connection. Disables the triggers and views in the file, because another program can have added them.
pub(super) fn configure(conn: &Connection) -> rusqlite::Result<()> {
    conn.busy_timeout(BUSY_TIMEOUT)?;
    conn.set_prepared_statement_cache_capacity(128);
    // Without this option the planner uses the value of a bound `limit`, and SQLite prepares the statement again for
    // every execution.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    for (config, on) in [
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
    ] {
        conn.set_db_config(config, on)?;
    }
    conn.pragma_update(None, "mmap_size", MMAP_BYTES_MAX)?;
    conn.pragma_update(None, "temp_store", "memory")
}

/// Creates the view of the newest schema, which only this connection sees. The views in the file are disabled.
pub(super) fn create_views(conn: &Connection) -> rusqlite::Result<()> {
    conn.execute_batch(include_str!("../../sql/views.sql"))
}

pub(super) fn open_writer(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags)?;
    configure(&conn)?;
    Ok(conn)
}

pub(super) fn open_reader(path: &Path) -> Result<Connection, StoreError> {
    let conn = Connection::open_with_flags(path, READ_ONLY)?;
    configure(&conn)?;
    create_views(&conn)?;
    Ok(conn)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use crate::domain::progress::ignore_progress;
    use crate::store::migrate::MIGRATIONS;
    use crate::store::statement::statements;
    use rusqlite::Connection;

    statements! {
        fn views_of_file(conn) -> Vec<(sql: String)> =
            "select sql from main.sqlite_schema where type = 'view' order by name";

        fn views_of_connection(conn) -> Vec<(sql: String)> =
            "select sql from temp.sqlite_schema where type = 'view' order by name";
    }

    #[test]
    fn view_of_a_connection_is_that_of_the_file() {
        let mut conn = Connection::open_in_memory().unwrap();
        MIGRATIONS.run(&mut conn, &mut ignore_progress).unwrap();
        let of_file = views_of_file(&conn).unwrap();
        assert_eq!(of_file.len(), 1);
        assert_eq!(views_of_connection(&conn).unwrap(), of_file);
    }
}

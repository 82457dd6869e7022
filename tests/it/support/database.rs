//! SQL on the database of a test, on separate connections. The server may run meanwhile.

use super::Shop;
use super::scratch::path_text;
use rusqlite::Connection;
use rusqlite::types::FromSql;
use std::path::Path;
use std::time::Duration;

/// Opens a connection that waits while the server writes.
#[track_caller]
pub fn open_database(file: &Path) -> Connection {
    let conn = Connection::open(file).unwrap();
    conn.busy_timeout(Duration::from_secs(10)).unwrap();
    conn
}

/// Executes SQL statements.
#[track_caller]
pub fn execute_sql(file: &Path, statements: &str) {
    open_database(file).execute_batch(statements).unwrap();
}

/// Returns the single value of a query.
#[track_caller]
pub fn query_value<T: FromSql>(file: &Path, query: &str) -> T {
    open_database(file).query_row(query, [], |row| row.get(0)).unwrap()
}

/// Returns the first column of a query, as texts.
#[track_caller]
pub fn text_column(file: &Path, query: &str) -> Vec<String> {
    let conn = open_database(file);
    let mut rows = conn.prepare(query).unwrap();
    let rows = rows.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

/// Writes a copy of a database that has no WAL.
#[track_caller]
pub fn copy_database(file: &Path, copy: &Path) {
    open_database(file).execute("vacuum into ?1", [path_text(copy)]).unwrap();
}

impl Shop {
    /// Executes SQL statements on a separate connection to the database.
    #[track_caller]
    pub fn execute_sql(&self, statements: &str) {
        execute_sql(self.file(), statements);
    }

    /// Returns the single text of an SQL query on a separate connection to the database.
    #[track_caller]
    pub fn query_text(&self, query: &str) -> String {
        query_value(self.file(), query)
    }
}

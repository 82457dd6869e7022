//! Statements: their types, and the macro that declares them.
//!
//! A short statement is a text beside its callers. A long statement is a file in `sql/`. Invariant: the macro
//! `statements` also defines a test of each statement. The test prepares the statement against the schema of a new
//! file. The columns must be those of the statement's reader, in order, so that a row can be read by position.

mod macros;
mod parameters;
mod text;

use super::{Reader, StoreError, Tx};
pub(super) use macros::{
    connection, define, outcome, returning, statements, tested, text_of, value,
};
pub(super) use parameters::Names;
use rusqlite::types::ToSql;
use rusqlite::{CachedStatement, Connection, Error, Row, Rows};
pub(super) use text::{last, one_or_tuple, query, read, reader, text};

/// Parameters by name, as [`rusqlite::named_params`] makes them.
pub(super) type Params<'p> = &'p [(&'p str, &'p dyn ToSql)];

/// Converts a number of rows to the type of a `limit` parameter.
pub(super) fn sql_limit(rows: usize) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}

/// Returns a prepared statement with bound parameters. Each connection prepares a statement only once.
fn prepare_bound<'c>(
    conn: &'c Connection,
    sql: &str,
    names: &Names,
    params: Params<'_>,
) -> rusqlite::Result<CachedStatement<'c>> {
    let mut statement = conn.prepare_cached(sql)?;
    if params.len() != names.count() {
        return Err(Error::InvalidParameterCount(params.len(), names.count()));
    }
    for (place, (name, value)) in params.iter().enumerate() {
        let number = names.number(sql, name, place);
        let number = number.ok_or_else(|| Error::InvalidParameterName((*name).to_owned()))?;
        statement.raw_bind_parameter(number, value)?;
    }
    Ok(statement)
}

/// A connection that a statement can run on.
pub(super) trait StatementConnection {
    /// Error of a statement.
    type Error;

    /// Returns the error of a statement that did not find or change its row.
    fn row_error(message: String) -> Self::Error;

    /// Runs `work` on the connection. An error may make a store refuse writes.
    fn run_work<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, Self::Error>;
}

impl StatementConnection for Reader<'_> {
    type Error = StoreError;

    fn row_error(message: String) -> StoreError {
        StoreError::Failed(message)
    }

    fn run_work<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        self.run_on_conn(work)
    }
}

impl StatementConnection for Tx<'_> {
    type Error = StoreError;

    fn row_error(message: String) -> StoreError {
        StoreError::Failed(message)
    }

    fn run_work<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        self.run_on_conn(work)
    }
}

impl StatementConnection for Connection {
    type Error = Error;

    fn row_error(_: String) -> Error {
        Error::QueryReturnedNoRows
    }

    fn run_work<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        work(self)
    }
}

/// A connection that a statement may write to.
pub(super) trait WriteConnection: StatementConnection {}

impl WriteConnection for Tx<'_> {}
impl WriteConnection for Connection {}

/// Result of a command.
pub(super) trait CommandResult: Sized {
    /// Returns the result of a command that has just changed this number of rows.
    fn after_command(conn: &Connection, rows: usize) -> rusqlite::Result<Self>;
}

impl CommandResult for () {
    fn after_command(_: &Connection, _: usize) -> rusqlite::Result<()> {
        Ok(())
    }
}

impl CommandResult for usize {
    fn after_command(_: &Connection, rows: usize) -> rusqlite::Result<usize> {
        Ok(rows)
    }
}

impl CommandResult for bool {
    fn after_command(_: &Connection, rows: usize) -> rusqlite::Result<bool> {
        Ok(rows > 0)
    }
}

/// The `seq` of the inserted row.
impl CommandResult for i64 {
    fn after_command(conn: &Connection, rows: usize) -> rusqlite::Result<i64> {
        match rows {
            1 => Ok(conn.last_insert_rowid()),
            rows => Err(Error::StatementChangedRows(rows)),
        }
    }
}

/// The `seq` of the inserted row; `None` if the row existed already.
impl CommandResult for Option<i64> {
    fn after_command(conn: &Connection, rows: usize) -> rusqlite::Result<Option<i64>> {
        Ok((rows == 1).then(|| conn.last_insert_rowid()))
    }
}

/// A statement that returns no rows.
pub(super) struct Statement {
    sql: &'static str,
    names: &'static Names,
}

impl Statement {
    /// Creates a statement. Use the macro `statements` instead, which also tests the statement.
    pub(super) const fn new(sql: &'static str, names: &'static Names) -> Statement {
        Statement { sql, names }
    }

    /// Runs the statement.
    pub(super) fn run<C: WriteConnection, T: CommandResult>(
        &self,
        conn: &C,
        params: Params<'_>,
    ) -> Result<T, C::Error> {
        conn.run_work(|conn| {
            let rows = prepare_bound(conn, self.sql, self.names, params)?.raw_execute()?;
            T::after_command(conn, rows)
        })
    }

    /// Runs the statement. Fails with the message `otherwise` unless it changes exactly one row.
    pub(super) fn require<C: WriteConnection>(
        &self,
        conn: &C,
        params: Params<'_>,
        otherwise: impl FnOnce() -> String,
    ) -> Result<(), C::Error> {
        match self.run(conn, params)? {
            1_usize => Ok(()),
            _ => Err(C::row_error(otherwise())),
        }
    }
}

/// Result of a query with rows of the type `T`: every row, or the first one.
pub(super) trait QueryResult<T>: Sized {
    /// Reads the rows.
    fn from_rows(rows: Rows<'_>, read: ReadRow<T>) -> rusqlite::Result<Self>;
}

impl<T> QueryResult<T> for Vec<T> {
    fn from_rows(rows: Rows<'_>, read: ReadRow<T>) -> rusqlite::Result<Vec<T>> {
        rows.mapped(read).collect()
    }
}

impl<T> QueryResult<T> for Option<T> {
    fn from_rows(mut rows: Rows<'_>, read: ReadRow<T>) -> rusqlite::Result<Option<T>> {
        rows.next()?.map(read).transpose()
    }
}

/// A function that reads a row.
type ReadRow<T> = fn(&Row<'_>) -> rusqlite::Result<T>;

/// A statement that returns rows of the type `T`.
pub(super) struct Query<T> {
    sql: &'static str,
    names: &'static Names,
    read: ReadRow<T>,
}

impl<T> Query<T> {
    /// Creates a query. Use the macro `statements` instead, which also tests the query.
    pub(super) const fn new(
        sql: &'static str,
        names: &'static Names,
        read: ReadRow<T>,
    ) -> Query<T> {
        Query { sql, names, read }
    }

    /// Returns the SQL text.
    pub(super) const fn sql(&self) -> &'static str {
        self.sql
    }

    /// Returns every row, or the first one if there is one.
    pub(super) fn get<C: StatementConnection, R: QueryResult<T>>(
        &self,
        conn: &C,
        params: Params<'_>,
    ) -> Result<R, C::Error> {
        conn.run_work(|conn| {
            let mut statement = prepare_bound(conn, self.sql, self.names, params)?;
            R::from_rows(statement.raw_query(), self.read)
        })
    }

    /// Returns the row of a query that always returns one.
    ///
    /// # Errors
    /// [`StoreError`] if the query returns no row.
    pub(super) fn only<C: StatementConnection>(
        &self,
        conn: &C,
        params: Params<'_>,
    ) -> Result<T, C::Error> {
        self.require(conn, params, || format!("there is no row: {}", self.sql))
    }

    /// Returns the first row. Fails with the message `otherwise` if there is none.
    pub(super) fn require<C: StatementConnection>(
        &self,
        conn: &C,
        params: Params<'_>,
        otherwise: impl FnOnce() -> String,
    ) -> Result<T, C::Error> {
        let row: Option<T> = self.get(conn, params)?;
        row.ok_or_else(|| C::row_error(otherwise()))
    }

    /// Passes every row to `work`, one at a time. For results that may not fit in memory.
    pub(super) fn each<C: StatementConnection>(
        &self,
        conn: &C,
        params: Params<'_>,
        mut work: impl FnMut(T),
    ) -> Result<(), C::Error> {
        conn.run_work(|conn| {
            let mut statement = prepare_bound(conn, self.sql, self.names, params)?;
            let mut rows = statement.raw_query();
            while let Some(row) = rows.next()? {
                work((self.read)(row)?);
            }
            Ok(())
        })
    }

    /// Returns the first `limit` rows for which `fits` returns `true`. Reads no further rows.
    ///
    /// # Errors
    /// [`StoreError`] of the query or of `fits`.
    pub(super) fn first_matching(
        &self,
        db: &Reader<'_>,
        params: Params<'_>,
        limit: usize,
        fits: impl Fn(&T) -> Result<bool, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        db.run_on_conn(|conn| {
            let mut statement = prepare_bound(conn, self.sql, self.names, params)?;
            let mut rows = statement.raw_query();
            let mut found = Vec::new();
            while found.len() < limit
                && let Some(row) = rows.next()?
            {
                let row = (self.read)(row)?;
                match fits(&row) {
                    Ok(true) => found.push(row),
                    Ok(false) => {}
                    Err(error) => return Ok(Err(error)),
                }
            }
            Ok(Ok(found))
        })?
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(super) use tests::check;

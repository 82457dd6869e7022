//! Statements: their types, and the macros that define them.
//!
//! A short statement is a text beside its callers. A long statement is a file in `sql/`. Invariant: each macro also
//! defines a test of each statement. The test prepares the statement against the schema of a new file. The columns
//! must be those of the statement's reader, in order, so that a row can be read by position.

mod functions;
mod macros;
mod parameters;
mod text;

use super::{Reader, StoreError, Tx};
#[cfg(test)]
pub(super) use functions::param_names;
pub(super) use functions::{
    command_function, params, query_function, result, row_function, run, tested, tested_function,
    tuple_reader, value, value_function,
};
pub(super) use macros::{commands, queries, rows, values};
pub(super) use parameters::Names;
use rusqlite::types::ToSql;
use rusqlite::{CachedStatement, Connection, Error, Row};
pub(super) use text::{bind, bind_all, insert, listed, listed_one, made, one_or_tuple, text};
#[cfg(test)]
pub(super) use text::{name, names};

/// Parameters by name, as [`rusqlite::named_params`] makes them.
pub(super) type Params<'p> = &'p [(&'p str, &'p dyn ToSql)];

/// Fails with the message `otherwise` unless exactly one row was changed.
pub(super) fn require_one(
    rows: usize,
    otherwise: impl FnOnce() -> String,
) -> Result<(), StoreError> {
    match rows {
        1 => Ok(()),
        _ => Err(StoreError::Failed(otherwise())),
    }
}

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

/// A statement that returns no rows.
pub(super) struct Statement {
    sql: &'static str,
    names: &'static Names,
}

impl Statement {
    /// Creates a statement. Use the macro `commands` instead, which also tests the statement.
    pub(super) const fn new(sql: &'static str, names: &'static Names) -> Statement {
        Statement { sql, names }
    }

    /// Returns the SQL text.
    #[cfg(test)]
    pub(super) const fn sql(&self) -> &'static str {
        self.sql
    }

    /// Runs the statement in a transaction of the writer.
    pub(super) fn run(&self, tx: &Tx<'_>, params: Params<'_>) -> Result<(), StoreError> {
        self.count(tx, params).map(drop)
    }

    /// Runs the statement and returns the number of rows that it changed.
    pub(super) fn count(&self, tx: &Tx<'_>, params: Params<'_>) -> Result<usize, StoreError> {
        tx.run_on_conn(|conn| self.execute(conn, params))
    }

    /// Runs the statement and returns `true` if it changed any row.
    pub(super) fn changes(&self, tx: &Tx<'_>, params: Params<'_>) -> Result<bool, StoreError> {
        self.count(tx, params).map(|rows| rows > 0)
    }

    /// Runs a statement that inserts one row, and returns the `seq` of this row.
    ///
    /// # Errors
    /// [`StoreError`] if not exactly one row is inserted.
    pub(super) fn insert(&self, tx: &Tx<'_>, params: Params<'_>) -> Result<i64, StoreError> {
        tx.run_on_conn(|conn| match self.execute(conn, params)? {
            1 => Ok(conn.last_insert_rowid()),
            rows => Err(Error::StatementChangedRows(rows)),
        })
    }

    /// Runs a statement that inserts one row unless it exists. Returns the `seq` of the new row; `None` if the row
    /// exists.
    pub(super) fn insert_if_absent(
        &self,
        tx: &Tx<'_>,
        params: Params<'_>,
    ) -> Result<Option<i64>, StoreError> {
        tx.run_on_conn(|conn| {
            let rows = self.execute(conn, params)?;
            Ok((rows == 1).then(|| conn.last_insert_rowid()))
        })
    }

    /// Runs the statement and returns the number of rows that it changed. An error does not change the health of the
    /// store.
    pub(super) fn execute(&self, conn: &Connection, params: Params<'_>) -> rusqlite::Result<usize> {
        prepare_bound(conn, self.sql, self.names, params)?.raw_execute()
    }
}

/// A statement that returns rows of the type `T`.
pub(super) struct Query<T> {
    sql: &'static str,
    names: &'static Names,
    read: fn(&Row<'_>) -> rusqlite::Result<T>,
}

impl<T> Query<T> {
    /// Creates a query. Use `rows`, `values` or `exports` instead, which also test the query.
    pub(super) const fn new(
        sql: &'static str,
        names: &'static Names,
        read: fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Query<T> {
        Query { sql, names, read }
    }

    /// Returns the SQL text.
    pub(super) const fn sql(&self) -> &'static str {
        self.sql
    }

    /// Returns the first row; `None` without rows.
    pub(super) fn first(
        &self,
        db: &Reader<'_>,
        params: Params<'_>,
    ) -> Result<Option<T>, StoreError> {
        db.run_on_conn(|conn| self.first_on_conn(conn, params))
    }

    /// Returns the row of a query that always returns one.
    ///
    /// # Errors
    /// [`StoreError`] if the query returns no row.
    pub(super) fn only(&self, db: &Reader<'_>, params: Params<'_>) -> Result<T, StoreError> {
        let row = self.first(db, params)?;
        row.ok_or_else(|| StoreError::Failed(format!("there is no row: {}", self.sql)))
    }

    /// Returns every row.
    pub(super) fn all(&self, db: &Reader<'_>, params: Params<'_>) -> Result<Vec<T>, StoreError> {
        db.run_on_conn(|conn| self.all_on_conn(conn, params))
    }

    /// Passes every row to `work`, one at a time. For results that may not fit in memory.
    pub(super) fn each(
        &self,
        db: &Reader<'_>,
        params: Params<'_>,
        mut work: impl FnMut(T),
    ) -> Result<(), StoreError> {
        db.run_on_conn(|conn| {
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

    /// Returns the first row. An error does not change the health of the store.
    pub(super) fn first_on_conn(
        &self,
        conn: &Connection,
        params: Params<'_>,
    ) -> rusqlite::Result<Option<T>> {
        let mut statement = prepare_bound(conn, self.sql, self.names, params)?;
        let mut rows = statement.raw_query();
        rows.next()?.map(self.read).transpose()
    }

    /// Returns every row. An error does not change the health of the store.
    pub(super) fn all_on_conn(
        &self,
        conn: &Connection,
        params: Params<'_>,
    ) -> rusqlite::Result<Vec<T>> {
        let mut statement = prepare_bound(conn, self.sql, self.names, params)?;
        statement.raw_query().mapped(self.read).collect()
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(super) use tests::{check, check_function};

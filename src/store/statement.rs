//! Statements, and what ties the values of a row to names.
//!
//! What lives here: the types of a statement and the macros that make them. What does not: any statement. One of up to
//! three lines stands as text beside the functions that use it, a longer one is a file in `sql/`. What always holds: each
//! macro makes a test with each statement. SQLite prepares it against the schema of a new file, and the names of its
//! columns are those that its reader is written with, in their order. So values are read one after the other, without a
//! look at the names, and each is still the one that was named.

mod functions;
mod macros;
mod parameters;
mod text;

use super::{Reader, StoreError, Tx};
pub(super) use functions::*;
pub(super) use macros::*;
pub(super) use parameters::Names;
use rusqlite::types::ToSql;
use rusqlite::{CachedStatement, Connection, Error, Row};
pub(super) use text::*;

/// Values, each with the name of its parameter: what [`rusqlite::named_params`] makes.
pub(super) type Params<'p> = &'p [(&'p str, &'p dyn ToSql)];

/// Returns a number of rows as a parameter.
pub(super) fn sql_limit(rows: usize) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}

/// A statement, prepared once for each connection, with its values.
fn bound<'c>(
    conn: &'c Connection,
    sql: &str,
    names: &Names,
    params: Params<'_>,
) -> rusqlite::Result<CachedStatement<'c>> {
    let mut statement = conn.prepare_cached(sql)?;
    if params.is_empty() && names.count() > 0 {
        return Err(Error::InvalidParameterCount(0, names.count()));
    }
    for (place, (name, value)) in params.iter().enumerate() {
        let number = names.number(sql, name, place);
        let number = number.ok_or_else(|| Error::InvalidParameterName((*name).to_owned()))?;
        statement.raw_bind_parameter(number, value)?;
    }
    Ok(statement)
}

/// A statement that answers no rows.
pub(super) struct Statement {
    sql: &'static str,
    names: &'static Names,
}

impl Statement {
    /// For [`commands`] only, which tests it.
    pub(super) const fn new(sql: &'static str, names: &'static Names) -> Statement {
        Statement { sql, names }
    }

    /// Its text.
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
        tx.told(|conn| self.execute(conn, params))
    }

    /// Runs the statement and returns `true` if it changed a row.
    pub(super) fn changes(&self, tx: &Tx<'_>, params: Params<'_>) -> Result<bool, StoreError> {
        self.count(tx, params).map(|rows| rows > 0)
    }

    /// Runs a statement that has to change one row.
    ///
    /// # Errors
    /// [`StoreError`] with the message of `otherwise` if it changes none, or several.
    pub(super) fn change_one(
        &self,
        tx: &Tx<'_>,
        params: Params<'_>,
        otherwise: impl FnOnce() -> String,
    ) -> Result<(), StoreError> {
        match self.count(tx, params)? {
            1 => Ok(()),
            _ => Err(StoreError::Failed(otherwise())),
        }
    }

    /// Runs a statement that inserts one row, and returns the `seq` of that row.
    ///
    /// # Errors
    /// [`StoreError`] if it inserts none, or several.
    pub(super) fn insert(&self, tx: &Tx<'_>, params: Params<'_>) -> Result<i64, StoreError> {
        tx.told(|conn| match self.execute(conn, params)? {
            1 => Ok(conn.last_insert_rowid()),
            rows => Err(Error::StatementChangedRows(rows)),
        })
    }

    /// Runs a statement that inserts one row unless the row exists, and returns the `seq` of a new row.
    pub(super) fn insert_unless_there(
        &self,
        tx: &Tx<'_>,
        params: Params<'_>,
    ) -> Result<Option<i64>, StoreError> {
        tx.told(|conn| {
            let rows = self.execute(conn, params)?;
            Ok((rows == 1).then(|| conn.last_insert_rowid()))
        })
    }

    /// Runs the statement on a connection that no server uses, and returns the number of rows that it changed.
    pub(super) fn execute(&self, conn: &Connection, params: Params<'_>) -> rusqlite::Result<usize> {
        bound(conn, self.sql, self.names, params)?.raw_execute()
    }
}

/// A statement that answers rows, each read as a `T`.
pub(super) struct Query<T> {
    sql: &'static str,
    names: &'static Names,
    read: fn(&Row<'_>) -> rusqlite::Result<T>,
}

impl<T> Query<T> {
    /// For those only who test it: [`rows`], [`values`] and `exports`.
    pub(super) const fn new(
        sql: &'static str,
        names: &'static Names,
        read: fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Query<T> {
        Query { sql, names, read }
    }

    /// Its text.
    pub(super) const fn sql(&self) -> &'static str {
        self.sql
    }

    /// The first row, if there is one.
    pub(super) fn first(
        &self,
        db: &Reader<'_>,
        params: Params<'_>,
    ) -> Result<Option<T>, StoreError> {
        db.told(|conn| self.first_on(conn, params))
    }

    /// The first row of a statement that always answers one.
    ///
    /// # Errors
    /// [`StoreError`] where there is none.
    pub(super) fn only(&self, db: &Reader<'_>, params: Params<'_>) -> Result<T, StoreError> {
        let row = self.first(db, params)?;
        row.ok_or_else(|| StoreError::Failed(format!("there is no row: {}", self.sql)))
    }

    /// Every row.
    pub(super) fn all(&self, db: &Reader<'_>, params: Params<'_>) -> Result<Vec<T>, StoreError> {
        db.told(|conn| self.all_on(conn, params))
    }

    /// Every row, one at a time: for more of them than memory should hold.
    pub(super) fn each(
        &self,
        db: &Reader<'_>,
        params: Params<'_>,
        mut work: impl FnMut(T),
    ) -> Result<(), StoreError> {
        db.told(|conn| {
            let mut statement = bound(conn, self.sql, self.names, params)?;
            let mut rows = statement.raw_query();
            while let Some(row) = rows.next()? {
                work((self.read)(row)?);
            }
            Ok(())
        })
    }

    /// The first rows that fit, so many at most; none behind them is read.
    ///
    /// # Errors
    /// [`StoreError`] also where `fits` fails.
    pub(super) fn first_that(
        &self,
        db: &Reader<'_>,
        params: Params<'_>,
        limit: usize,
        fits: impl Fn(&T) -> Result<bool, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        db.told(|conn| {
            let mut statement = bound(conn, self.sql, self.names, params)?;
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

    /// The first row, by a connection that no server uses.
    pub(super) fn first_on(
        &self,
        conn: &Connection,
        params: Params<'_>,
    ) -> rusqlite::Result<Option<T>> {
        let mut statement = bound(conn, self.sql, self.names, params)?;
        let mut rows = statement.raw_query();
        rows.next()?.map(self.read).transpose()
    }

    /// Every row, by a connection that no server uses.
    pub(super) fn all_on(&self, conn: &Connection, params: Params<'_>) -> rusqlite::Result<Vec<T>> {
        let mut statement = bound(conn, self.sql, self.names, params)?;
        statement.raw_query().mapped(self.read).collect()
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(super) use tests::{check, check_function};

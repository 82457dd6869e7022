//! Statements, and what ties the values of a row to names.
//!
//! What lives here: the types of a statement and the macros that make them. What does not: any statement. One of up to
//! three lines stands as text beside the functions that use it, a longer one is a file in `sql/`. What always holds: each
//! macro makes a test with each statement. SQLite prepares it against the schema of a new file, and the names of its
//! columns are those that its reader is written with, in their order. So values are read one after the other, without a
//! look at the names, and each is still the one that was named.

mod parameters;

use super::{Reader, StoreError, Tx};
pub(super) use parameters::Names;
use rusqlite::types::ToSql;
use rusqlite::{CachedStatement, Connection, Error, Row};

/// Values, each with the name of its parameter: what [`rusqlite::named_params`] makes.
pub(super) type Params<'p> = &'p [(&'p str, &'p dyn ToSql)];

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

    /// Runs it in a transaction of the writer; the number of rows it changed.
    pub(super) fn run(&self, tx: &Tx<'_>, params: Params<'_>) -> Result<usize, StoreError> {
        tx.told(|conn| self.execute(conn, params))
    }

    /// Runs it where it inserts one row; the `seq` of that row.
    ///
    /// # Errors
    /// [`StoreError`] where it inserted none, or several.
    pub(super) fn insert(&self, tx: &Tx<'_>, params: Params<'_>) -> Result<i64, StoreError> {
        tx.told(|conn| match self.execute(conn, params)? {
            1 => Ok(conn.last_insert_rowid()),
            rows => Err(Error::StatementChangedRows(rows)),
        })
    }

    /// Runs it where it inserts one row, or finds it there already; the `seq` of the row where it was not.
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

    /// Runs it on a connection that no server uses; the number of rows it changed.
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

/// Statements that answer no rows: `NAME = "…";`, or `NAME = file "sql/…";` for a longer one.
macro_rules! commands {
    ($($(#[$about:meta])* $name:ident = $($file:ident)? $text:literal;)+) => { $(
        $(#[$about])*
        pub(super) const $name: $crate::store::statement::Statement =
            $crate::store::statement::made!(Statement, $crate::store::statement::text!($($file)? $text));
        $crate::store::statement::tested!($name, &[]);
    )+ };
}

/// Queries of a few columns, which answer a tuple of them, or the value itself where there is one: `NAME(column: Type) = "…";`,
/// or `NAME(column: Type) = file "sql/…";` for a longer one. The text names its columns so, too.
macro_rules! values {
    ($($(#[$about:meta])* $name:ident($($column:ident: $type:ty),+) = $($file:ident)? $text:literal;)+) => { $(
        $(#[$about])*
        pub(super) const $name: $crate::store::statement::Query<$crate::store::statement::one_or_tuple!($($type),+)> = {
            fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<$crate::store::statement::one_or_tuple!($($type),+)> {
                let mut next = $crate::store::row::Columns::of(row);
                $(let $column: $type = next.take()?;)+
                Ok(($($column),+))
            }
            $crate::store::statement::made!(Query, $crate::store::statement::text!($($file)? $text), read)
        };
        $crate::store::statement::tested!($name, &[$(stringify!($column)),+]);
    )+ };
}

/// A reader with its queries. The reader names its columns once, each as SQL and Rust both call it: `column`, `table.column`,
/// or `name = "expression"`; its body finds their values under these names. A query is what follows such a list
/// (`NAME = select "from …";`), or has the list itself (`NAME = whole "select …";`, or `NAME = file "sql/…";`).
macro_rules! rows {
    (
        $(#[$doc:meta])* $sight:vis fn $read:ident $columns:tt -> $row:ty $body:block
        $($(#[$about:meta])* $name:ident = $kind:ident $text:literal;)+
    ) => {
        $(#[$doc])*
        $sight fn $read(row: &rusqlite::Row<'_>) -> rusqlite::Result<$row> {
            let mut next = $crate::store::row::Columns::of(row);
            $crate::store::statement::bind_all!(next $columns);
            $body
        }
        $(
            $(#[$about])*
            pub(super) const $name: $crate::store::statement::Query<$row> = $crate::store::statement::made!(
                Query,
                $crate::store::statement::text!($kind $columns $text),
                $read
            );
            $crate::store::statement::tested!($name, $crate::store::statement::names!($columns));
        )+
    };
}

/// A statement of a text, with the names in it.
macro_rules! made {
    ($kind:ident, $text:expr $(, $read:expr)?) => {
        $crate::store::statement::$kind::new(
            $text,
            const { &$crate::store::statement::Names::of($text) }
            $(, $read)?
        )
    };
}

/// The type of what a row of these columns is read as.
macro_rules! one_or_tuple {
    ($type:ty) => {
        $type
    };
    ($($type:ty),+) => {
        ($($type),+)
    };
}

/// The text of a statement.
macro_rules! text {
    ($text:literal) => {
        $text
    };
    (file $text:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/", $text))
    };
    (whole $columns:tt $text:literal) => {
        $text
    };
    (file $columns:tt $text:literal) => {
        $crate::store::statement::text!(file $text)
    };
    (select $columns:tt $text:literal) => {
        concat!("select ", $crate::store::statement::listed!($columns), " ", $text)
    };
}

/// Columns as they are asked for.
macro_rules! listed {
    (
        ($first:ident $(.$first_of:ident)? $(: $first_type:ty)? $(= $first_sql:literal)?
        $(, $column:ident $(.$of:ident)? $(: $type:ty)? $(= $sql:literal)?)* $(,)?)
    ) => {
        concat!(
            $crate::store::statement::listed_one!($first $(.$first_of)? $(= $first_sql)?),
            $(", ", $crate::store::statement::listed_one!($column $(.$of)? $(= $sql)?)),*
        )
    };
}

/// One column as it is asked for.
macro_rules! listed_one {
    ($column:ident) => {
        stringify!($column)
    };
    ($table:ident.$column:ident) => {
        concat!(stringify!($table), ".", stringify!($column))
    };
    ($column:ident = $sql:literal) => {
        concat!($sql, " as ", stringify!($column))
    };
}

/// The names of columns.
#[cfg(test)]
macro_rules! names {
    (($($column:ident $(.$of:ident)? $(: $type:ty)? $(= $sql:literal)?),+ $(,)?)) => {
        &[$($crate::store::statement::name!($column $(.$of)?)),+]
    };
}

/// The name of one column.
#[cfg(test)]
macro_rules! name {
    ($column:ident) => {
        stringify!($column)
    };
    ($table:ident.$column:ident) => {
        stringify!($column)
    };
}

/// Reads the columns of a row, each into a variable of its name.
macro_rules! bind_all {
    ($next:ident ($($column:ident $(.$of:ident)? $(: $type:ty)? $(= $sql:literal)?),+ $(,)?)) => {
        $($crate::store::statement::bind!($next $column $(.$of)? $(: $type)?);)+
    };
}

/// Reads the next column into a variable of its name.
macro_rules! bind {
    ($next:ident $table:ident.$column:ident $(: $type:ty)?) => {
        let $column $(: $type)? = $next.take()?;
    };
    ($next:ident $column:ident $(: $type:ty)?) => {
        let $column $(: $type)? = $next.take()?;
    };
}

/// The test of a statement, in a module of its name.
macro_rules! tested {
    ($name:ident, $columns:expr) => {
        #[cfg(test)]
        #[expect(non_snake_case, reason = "the name of the statement")]
        mod $name {
            #[test]
            fn is_prepared_and_answers_what_is_read() {
                $crate::store::statement::check(super::$name.sql(), $columns);
            }
        }
    };
}

pub(super) use {
    bind, bind_all, commands, listed, listed_one, made, one_or_tuple, rows, tested, text, values,
};
#[cfg(test)]
pub(super) use {name, names};

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(super) use tests::check;

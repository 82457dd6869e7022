//! The macro `statements`, which declares SQL statements as functions.

/// Declares SQL statements as functions, each with a test.
///
/// ```text
/// /// Revokes a key. Returns `false` if the key is revoked already.
/// pub fn revoke(tx, id: &str, now: Time) -> bool =
///     "update keys set revoked_at = :now where id = :id and revoked_at is null"
///     noting { tx.note_key_change(id) };
/// ```
///
/// The arguments are the parameters of the text. The first one is where the statement runs: `tx` is a transaction of
/// the writer, `db` a reader, and `conn` a connection outside a store, with its own errors.
///
/// The result of a command:
/// - none;
/// - `usize`: the number of changed rows;
/// - `bool`: whether a row was changed;
/// - `i64`: the `seq` of the inserted row, `Option<i64>` if the row may exist already.
///
/// The result of a query:
/// - `Vec<(column: Type, …)>`: every row, as a tuple or as the value of its one column;
/// - `Option<(column: Type, …)>`: the first row if there is one;
/// - `(column: Type, …)`: the row of a query that always returns one;
/// - `each (column: Type, …)`: nothing. The function has one more argument `each`, a function that gets one row after
///   the other. It is for results that may not fit in memory;
/// - `Vec<Row>`, `Option<Row>`, `only Row` and `each Row`: the same, for rows that the `row` above reads.
///
/// `row read(column, …) -> Row { … }` declares how a row is read. It names the columns once, each by a name that is
/// valid in SQL and in Rust: `column`, `table.column`, or `name = "expression"`. Its body finds their values under
/// these names.
///
/// The text:
/// - `"…"`, or `file "sql/…"` for the text of a file;
/// - `select "from …"`: adds the list of the row's columns;
/// - `insert into table { column: expression, … }`: inserts a row of these columns.
///
/// Clauses after the text, in this order:
/// - `with { parameter: expression, … }`: parameters that are not the arguments;
/// - `else("…", …)`: message of the error if a query returns no row, or a command does not change exactly one;
/// - `noting { … }`: code that notes what changes. It runs before the statement.
///
/// `fn name() -> Query<Row> = …;` and `fn name() -> Statement = …;` return the statement itself, for callers that
/// choose its parameters or read some of its rows.
macro_rules! statements {
    (@ $row:tt) => {};
    (
        @ $above:tt
        $(#[$about:meta])* $sight:vis row $read:ident $columns:tt -> $row:ty $body:block $($rest:tt)*
    ) => {
        $crate::store::statement::reader!([$(#[$about])* $sight fn $read] $columns [$row] $body);
        $crate::store::statement::statements!(@ [$read $columns $row] $($rest)*);
    };
    (
        @ [$read:ident $columns:tt $row:ty]
        $(#[$about:meta])* $sight:vis fn $name:ident() -> Query<$of:ty> = $($kind:ident)? $text:literal; $($rest:tt)*
    ) => {
        $(#[$about])*
        $sight const fn $name() -> $crate::store::statement::Query<$of> {
            $crate::store::statement::query!($read, $columns $($kind)? $text)
        }
        $crate::store::statement::tested!($name [$crate::store::statement::text!($columns $($kind)? $text)] $columns);
        $crate::store::statement::statements!(@ [$read $columns $row] $($rest)*);
    };
    (
        @ $row:tt
        $(#[$about:meta])* $sight:vis fn $name:ident() -> Statement = $($kind:ident)? $text:literal; $($rest:tt)*
    ) => {
        $(#[$about])*
        $sight const fn $name() -> $crate::store::statement::Statement {
            const SQL: &str = $crate::store::statement::text!(() $($kind)? $text);
            const NAMES: &$crate::store::statement::Names = &$crate::store::statement::Names::parse(SQL);
            $crate::store::statement::Statement::new(SQL, NAMES)
        }
        $crate::store::statement::tested!($name [$crate::store::statement::text!(() $($kind)? $text)] ());
        $crate::store::statement::statements!(@ $row $($rest)*);
    };
    (
        @ $row:tt
        $(#[$about:meta])* $sight:vis fn $name:ident($conn:ident $(, $arg:ident: $type:ty)*) $($rest:tt)*
    ) => {
        $crate::store::statement::returning!(
            $row [[$(#[$about])* $sight] $name $conn [$($arg: $type),*]] $($rest)*
        );
    };
    (@ $($unknown:tt)*) => {
        compile_error!("this is no form of a statement: see the macro `statements`");
    };
    ($($items:tt)+) => {
        $crate::store::statement::statements!(@ [] $($items)+);
    };
}

/// Reads the result of a statement's function: how the statement is made, the columns of its rows, and the method that
/// runs it.
macro_rules! returning {
    ($row:tt $head:tt = $($rest:tt)*) => {
        $crate::store::statement::text_of!($row $head [Statement] () [run ()] $($rest)*);
    };
    ($row:tt $head:tt -> Option<i64> = $($rest:tt)*) => {
        $crate::store::statement::text_of!($row $head [Statement] () [run Option<i64>] $($rest)*);
    };
    ($row:tt $head:tt -> $result:ident = $($rest:tt)*) => {
        $crate::store::statement::text_of!($row $head [Statement] () [run $result] $($rest)*);
    };
    ($row:tt $head:tt -> ($($column:ident: $type:ty),+) = $($rest:tt)*) => {
        $crate::store::statement::text_of!(
            $row $head [Query tuple] ($($column: $type),+)
            [only $crate::store::statement::one_or_tuple!($($type),+)] $($rest)*
        );
    };
    ($row:tt $head:tt -> each ($($column:ident: $type:ty),+) = $($rest:tt)*) => {
        $crate::store::statement::text_of!(
            $row $head [Query tuple] ($($column: $type),+)
            [each (), each: $crate::store::statement::one_or_tuple!($($type),+)] $($rest)*
        );
    };
    ($row:tt $head:tt -> $some:ident<($($column:ident: $type:ty),+)> = $($rest:tt)*) => {
        $crate::store::statement::text_of!(
            $row $head [Query tuple] ($($column: $type),+)
            [get $some<$crate::store::statement::one_or_tuple!($($type),+)>] $($rest)*
        );
    };
    ([$read:ident $columns:tt $row:ty] $head:tt -> only $of:ty = $($rest:tt)*) => {
        $crate::store::statement::text_of!([$read $columns $row] $head [Query $read] $columns [only $of] $($rest)*);
    };
    ([$read:ident $columns:tt $row:ty] $head:tt -> each $of:ty = $($rest:tt)*) => {
        $crate::store::statement::text_of!(
            [$read $columns $row] $head [Query $read] $columns [each (), each: $of] $($rest)*
        );
    };
    ([$read:ident $columns:tt $row:ty] $head:tt -> $some:ident<$of:ty> = $($rest:tt)*) => {
        $crate::store::statement::text_of!(
            [$read $columns $row] $head [Query $read] $columns [get $some<$of>] $($rest)*
        );
    };
}

/// Reads the text of a statement's function and the clauses after it, and continues with the next statement.
macro_rules! text_of {
    (
        $row:tt $head:tt $kind:tt $columns:tt $result:tt
        insert into $table:ident $values:tt $(noting $noting:block)?; $($rest:tt)*
    ) => {
        $crate::store::statement::define!(
            $head $kind $columns $result [$crate::store::statement::text!(insert $table $values)] [$values] [$($noting)?]
        );
        $crate::store::statement::statements!(@ $row $($rest)*);
    };
    (
        $row:tt $head:tt $kind:tt $columns:tt [$method:ident $result:ty]
        $($how:ident)? $text:literal $(with $with:tt)? else $otherwise:tt $(noting $noting:block)?; $($rest:tt)*
    ) => {
        $crate::store::statement::define!(
            $head $kind $columns [require $result, = || format! $otherwise]
            [$crate::store::statement::text!($columns $($how)? $text)] [$($with)?] [$($noting)?]
        );
        $crate::store::statement::statements!(@ $row $($rest)*);
    };
    (
        $row:tt $head:tt $kind:tt $columns:tt $result:tt
        $($how:ident)? $text:literal $(with $with:tt)? $(noting $noting:block)?; $($rest:tt)*
    ) => {
        $crate::store::statement::define!(
            $head $kind $columns $result [$crate::store::statement::text!($columns $($how)? $text)] [$($with)?]
            [$($noting)?]
        );
        $crate::store::statement::statements!(@ $row $($rest)*);
    };
}

/// Defines the function of a statement, and its test.
macro_rules! define {
    (
        [$sight:tt $name:ident $conn:ident [$($arg:ident: $type:ty),*]] $kind:tt $columns:tt $result:tt $text:tt []
        $noting:tt
    ) => {
        $crate::store::statement::define!(
            [$sight $name $conn [$($arg: $type),*]] $kind $columns $result $text [{ $($arg),* }] $noting
        );
    };
    (
        [[$($sight:tt)*] $name:ident $conn:ident [$($arg:ident: $type:ty),*]] [$kind:ident $($read:ident)?] $columns:tt
        [$method:ident $result:ty $(, $each:ident: $of:ty)? $(, = $otherwise:expr)?] [$text:expr]
        [{ $($param:ident $(: $value:expr)?),* $(,)? }] [$($noting:block)?]
    ) => {
        $($sight)* fn $name(
            $conn: &$crate::store::statement::connection!($conn) $(, $arg: $type)* $(, $each: impl FnMut($of))?
        ) -> $crate::store::statement::outcome!($conn $result) {
            const SQL: &str = $text;
            const NAMES: &$crate::store::statement::Names =
                &$crate::store::statement::Names::parse(SQL).require(SQL, &[$(concat!(":", stringify!($param))),*]);
            $($noting)?
            $crate::store::statement::$kind::new(SQL, NAMES $(, $crate::store::statement::read!($read $columns))?)
                .$method(
                    $conn,
                    &[$((concat!(":", stringify!($param)), &$crate::store::statement::value!($param $(: $value)?))),*]
                    $(, $each)?
                    $(, $otherwise)?
                )
        }
        $crate::store::statement::tested!($name [$text] $columns);
    };
}

/// Expands to the type of a connection, by the name of the argument.
macro_rules! connection {
    (db) => {
        $crate::store::Reader<'_>
    };
    (tx) => {
        $crate::store::Tx<'_>
    };
    (conn) => {
        rusqlite::Connection
    };
}

/// Expands to the result type of a function on a connection.
macro_rules! outcome {
    (conn $result:ty) => {
        rusqlite::Result<$result>
    };
    ($store:ident $result:ty) => {
        Result<$result, $crate::store::StoreError>
    };
}

/// Expands to the value of a parameter: its expression, or the argument of the same name.
macro_rules! value {
    ($param:ident) => {
        $param
    };
    ($param:ident: $value:expr) => {
        $value
    };
}

/// Defines the test of a statement, in a module with its name. The module also has the statement's text.
macro_rules! tested {
    ($name:ident [$text:expr] ($($column:ident $(.$of:ident)? $(: $type:ty)? $(= $sql:literal)?),* $(,)?)) => {
        #[cfg(test)]
        pub(in crate::store) mod $name {
            pub(in crate::store) const SQL: &str = $text;

            #[test]
            fn is_prepared_and_has_the_columns_of_its_reader() {
                $crate::store::statement::check(SQL, &[$(stringify!($column $(.$of)?)),*]);
            }
        }
    };
}

pub(in crate::store) use {
    connection, define, outcome, returning, statements, tested, text_of, value,
};

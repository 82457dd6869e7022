//! The macros that define statements: `commands`, `values` and `rows`.

/// Defines statements that return no rows, as functions or as constants:
///
/// - `fn name(tx, argument: Type) = "insert …";` runs the text. Each argument is bound to the parameter of its name.
///   The function returns nothing, the number of changed rows (`-> usize`), whether a row was changed (`-> bool`), or
///   the `seq` of the inserted row (`-> i64`).
/// - `fn name(tx, argument: Type) = "insert …" with { parameter: expression };` binds these parameters instead.
/// - `fn name(tx, argument: Type) = insert into table { column: expression };` inserts a row of these columns.
/// - `NAME = "insert …";` defines a `Statement`.
///
/// `file "sql/…"` instead of the text includes the text of a file.
macro_rules! commands {
    () => {};
    ($(#[$about:meta])* $name:ident = $($file:ident)? $text:literal; $($rest:tt)*) => {
        $(#[$about])*
        pub(super) const $name: $crate::store::statement::Statement =
            $crate::store::statement::made!(Statement, $crate::store::statement::text!($($file)? $text));
        $crate::store::statement::tested!($name, &[]);
        $crate::store::statement::commands!($($rest)*);
    };
    (
        $(#[$about:meta])* $sight:vis fn $name:ident(tx $(, $arg:ident: $type:ty)*)
        $(-> $result:ident)? = insert into $table:ident $row:tt; $($rest:tt)*
    ) => {
        $crate::store::statement::command_function!(
            [$(#[$about])* $sight fn $name] [$($arg: $type),*] [$row] [$($result)?]
            [$crate::store::statement::insert!($table $row)]
        );
        $crate::store::statement::commands!($($rest)*);
    };
    (
        $(#[$about:meta])* $sight:vis fn $name:ident(tx $(, $arg:ident: $type:ty)*)
        $(-> $result:ident)? = $($file:ident)? $text:literal $(with $with:tt)?; $($rest:tt)*
    ) => {
        $crate::store::statement::command_function!(
            [$(#[$about])* $sight fn $name] [$($arg: $type),*] [$($with)?] [$($result)?]
            [$crate::store::statement::text!($($file)? $text)]
        );
        $crate::store::statement::commands!($($rest)*);
    };
}

/// Defines queries of a few columns, as functions or as constants. A row is read as a tuple, or as the value of its one
/// column.
///
/// - `fn name(db, argument: Type) -> Vec<(column: Type, …)> = "select …";` returns every row.
/// - `-> Option<(column: Type, …)>` returns the first row if there is one.
/// - `-> (column: Type, …)` returns the row of a query that always returns one.
/// - `-> each (column: Type, …)` adds the argument `each`, a function that gets one row after the other. It is for
///   results that may not fit in memory.
/// - `NAME(column: Type, …) = "select …";` defines a `Query`.
///
/// The columns of the text must have these names, in this order. `with { … }` and `file "sql/…"` are as in `commands`.
macro_rules! values {
    () => {};
    (
        $(#[$about:meta])* $name:ident($($column:ident: $type:ty),+) = $($file:ident)? $text:literal; $($rest:tt)*
    ) => {
        $(#[$about])*
        pub(super) const $name: $crate::store::statement::Query<$crate::store::statement::one_or_tuple!($($type),+)> = {
            $crate::store::statement::tuple_reader!($($column: $type),+);
            $crate::store::statement::made!(Query, $crate::store::statement::text!($($file)? $text), read)
        };
        $crate::store::statement::tested!($name, &[$(stringify!($column)),+]);
        $crate::store::statement::values!($($rest)*);
    };
    (
        $(#[$about:meta])* $sight:vis fn $name:ident(db $(, $arg:ident: $type:ty)*)
        -> Option<($($column:ident: $of:ty),+)> = $($file:ident)? $text:literal $(with $with:tt)?; $($rest:tt)*
    ) => {
        $crate::store::statement::value_function!(
            [$(#[$about])* $sight fn $name] [$($arg: $type),*] [$($with)?] [$($column: $of),+]
            [first Option<$crate::store::statement::one_or_tuple!($($of),+)>] [$($file)? $text]
        );
        $crate::store::statement::values!($($rest)*);
    };
    (
        $(#[$about:meta])* $sight:vis fn $name:ident(db $(, $arg:ident: $type:ty)*)
        -> Vec<($($column:ident: $of:ty),+)> = $($file:ident)? $text:literal $(with $with:tt)?; $($rest:tt)*
    ) => {
        $crate::store::statement::value_function!(
            [$(#[$about])* $sight fn $name] [$($arg: $type),*] [$($with)?] [$($column: $of),+]
            [all Vec<$crate::store::statement::one_or_tuple!($($of),+)>] [$($file)? $text]
        );
        $crate::store::statement::values!($($rest)*);
    };
    (
        $(#[$about:meta])* $sight:vis fn $name:ident(db $(, $arg:ident: $type:ty)*)
        -> each ($($column:ident: $of:ty),+) = $($file:ident)? $text:literal $(with $with:tt)?; $($rest:tt)*
    ) => {
        $crate::store::statement::value_function!(
            [$(#[$about])* $sight fn $name] [$($arg: $type),*] [$($with)?] [$($column: $of),+]
            [each] [$($file)? $text]
        );
        $crate::store::statement::values!($($rest)*);
    };
    (
        $(#[$about:meta])* $sight:vis fn $name:ident(db $(, $arg:ident: $type:ty)*)
        -> ($($column:ident: $of:ty),+) = $($file:ident)? $text:literal $(with $with:tt)?; $($rest:tt)*
    ) => {
        $crate::store::statement::value_function!(
            [$(#[$about])* $sight fn $name] [$($arg: $type),*] [$($with)?] [$($column: $of),+]
            [only $crate::store::statement::one_or_tuple!($($of),+)] [$($file)? $text]
        );
        $crate::store::statement::values!($($rest)*);
    };
}

/// Defines the reader of a row, and its queries as functions or as constants.
///
/// The reader names its columns once, each by a name that is valid in SQL and in Rust: `column`, `table.column`, or
/// `name = "expression"`. Its body finds their values under these names.
///
/// - `fn name(db, argument: Type) -> Vec<Row> = select "from …";` returns every row.
/// - `-> Option<Row>`, `-> Row` and `-> each Row` are as in `values`.
/// - `NAME = select "from …";` defines a `Query`.
///
/// `select` adds the list of columns. A text with its own list follows `whole`, or `file` if it is in a file.
macro_rules! rows {
    ($(#[$doc:meta])* $sight:vis fn $read:ident $columns:tt -> $row:ty $body:block $($queries:tt)+) => {
        $(#[$doc])*
        $sight fn $read(row: &rusqlite::Row<'_>) -> rusqlite::Result<$row> {
            let mut next = $crate::store::row::Columns::new(row);
            $crate::store::statement::bind_all!(next $columns);
            $body
        }
        $crate::store::statement::queries!([$read $columns $row] $($queries)+);
    };
}

/// Defines the queries of a reader.
macro_rules! queries {
    ($reader:tt) => {};
    (
        [$read:ident $columns:tt $row:ty]
        $(#[$about:meta])* $name:ident = $kind:ident $text:literal; $($rest:tt)*
    ) => {
        $(#[$about])*
        pub(super) const $name: $crate::store::statement::Query<$row> = $crate::store::statement::made!(
            Query,
            $crate::store::statement::text!($kind $columns $text),
            $read
        );
        $crate::store::statement::tested!($name, $crate::store::statement::names!($columns));
        $crate::store::statement::queries!([$read $columns $row] $($rest)*);
    };
    (
        $reader:tt $(#[$about:meta])* $sight:vis fn $name:ident(db $(, $arg:ident: $type:ty)*)
        -> Option<$of:ty> = $kind:ident $text:literal $(with $with:tt)?; $($rest:tt)*
    ) => {
        $crate::store::statement::row_function!(
            [$(#[$about])* $sight fn $name] [$($arg: $type),*] [$($with)?] $reader [first Option<$of>] [$kind $text]
        );
        $crate::store::statement::queries!($reader $($rest)*);
    };
    (
        $reader:tt $(#[$about:meta])* $sight:vis fn $name:ident(db $(, $arg:ident: $type:ty)*)
        -> Vec<$of:ty> = $kind:ident $text:literal $(with $with:tt)?; $($rest:tt)*
    ) => {
        $crate::store::statement::row_function!(
            [$(#[$about])* $sight fn $name] [$($arg: $type),*] [$($with)?] $reader [all Vec<$of>] [$kind $text]
        );
        $crate::store::statement::queries!($reader $($rest)*);
    };
    (
        [$read:ident $columns:tt $row:ty]
        $(#[$about:meta])* $sight:vis fn $name:ident(db $(, $arg:ident: $type:ty)*)
        -> each $of:ty = $kind:ident $text:literal $(with $with:tt)?; $($rest:tt)*
    ) => {
        $crate::store::statement::row_function!(
            [$(#[$about])* $sight fn $name] [$($arg: $type),*] [$($with)?] [$read $columns $of] [each] [$kind $text]
        );
        $crate::store::statement::queries!([$read $columns $row] $($rest)*);
    };
    (
        $reader:tt $(#[$about:meta])* $sight:vis fn $name:ident(db $(, $arg:ident: $type:ty)*)
        -> $of:ty = $kind:ident $text:literal $(with $with:tt)?; $($rest:tt)*
    ) => {
        $crate::store::statement::row_function!(
            [$(#[$about])* $sight fn $name] [$($arg: $type),*] [$($with)?] $reader [only $of] [$kind $text]
        );
        $crate::store::statement::queries!($reader $($rest)*);
    };
}

pub(in crate::store) use {commands, queries, rows, values};

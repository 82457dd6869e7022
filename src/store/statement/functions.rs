//! Macros for the functions that `commands`, `values` and `rows` define, and for their tests.

/// Defines a function of the macro `values`.
macro_rules! value_function {
    (
        $head:tt $args:tt [$($with:tt)?] [$($column:ident: $of:ty),+] $result:tt [$($text:tt)+]
    ) => {
        $crate::store::statement::query_function!(
            $head $args [$($with)?] $result [$crate::store::statement::one_or_tuple!($($of),+)]
            [$crate::store::statement::text!($($text)+)]
            [{ $crate::store::statement::tuple_reader!($($column: $of),+); read }]
            [&[$(stringify!($column)),+]]
        );
    };
}

/// Defines a function of the macro `rows`.
macro_rules! row_function {
    (
        $head:tt $args:tt [$($with:tt)?] [$read:ident $columns:tt $row:ty] $result:tt [$kind:ident $text:literal]
    ) => {
        $crate::store::statement::query_function!(
            $head $args [$($with)?] $result [$row]
            [$crate::store::statement::text!($kind $columns $text)]
            [$read]
            [$crate::store::statement::names!($columns)]
        );
    };
}

/// Defines a function that runs one query, and its test.
macro_rules! query_function {
    (
        [$(#[$about:meta])* $sight:vis fn $name:ident] [$($arg:ident: $type:ty),*] [$($with:tt)?]
        [each] [$row:ty] [$text:expr] [$read:expr] [$columns:expr]
    ) => {
        $(#[$about])*
        $sight fn $name(
            db: &$crate::store::Reader<'_>,
            $($arg: $type,)*
            each: impl FnMut($row),
        ) -> Result<(), $crate::store::StoreError> {
            const QUERY: $crate::store::statement::Query<$row> =
                $crate::store::statement::made!(Query, $text, $read);
            QUERY.each(db, $crate::store::statement::params!([$($arg)*] $(with $with)?), each)
        }
        $crate::store::statement::tested_function!(
            $name,
            $text,
            $columns,
            $crate::store::statement::param_names!([$($arg)*] $(with $with)?)
        );
    };
    (
        [$(#[$about:meta])* $sight:vis fn $name:ident] [$($arg:ident: $type:ty),*] [$($with:tt)?]
        [$method:ident $result:ty] [$row:ty] [$text:expr] [$read:expr] [$columns:expr]
    ) => {
        $(#[$about])*
        $sight fn $name(
            db: &$crate::store::Reader<'_>
            $(, $arg: $type)*
        ) -> Result<$result, $crate::store::StoreError> {
            const QUERY: $crate::store::statement::Query<$row> =
                $crate::store::statement::made!(Query, $text, $read);
            QUERY.$method(db, $crate::store::statement::params!([$($arg)*] $(with $with)?))
        }
        $crate::store::statement::tested_function!(
            $name,
            $text,
            $columns,
            $crate::store::statement::param_names!([$($arg)*] $(with $with)?)
        );
    };
}

/// Defines a reader that reads a row as a tuple.
macro_rules! tuple_reader {
    ($($column:ident: $type:ty),+) => {
        fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<$crate::store::statement::one_or_tuple!($($type),+)> {
            let mut next = $crate::store::row::Columns::new(row);
            $(let $column: $type = next.take()?;)+
            Ok(($($column),+))
        }
    };
}

/// Defines a function that runs one command, and its test.
macro_rules! command_function {
    (
        [$(#[$about:meta])* $sight:vis fn $name:ident] [$($arg:ident: $type:ty),*] [$($with:tt)?]
        [$($result:ident)?] [$text:expr]
    ) => {
        $(#[$about])*
        $sight fn $name(
            tx: &$crate::store::Tx<'_>
            $(, $arg: $type)*
        ) -> Result<$crate::store::statement::result!($($result)?), $crate::store::StoreError> {
            const STATEMENT: $crate::store::statement::Statement =
                $crate::store::statement::made!(Statement, $text);
            $crate::store::statement::run!(
                STATEMENT, tx, $crate::store::statement::params!([$($arg)*] $(with $with)?) $(, $result)?
            )
        }
        $crate::store::statement::tested_function!(
            $name,
            $text,
            &[],
            $crate::store::statement::param_names!([$($arg)*] $(with $with)?)
        );
    };
}

/// Expands to the result type of a command.
macro_rules! result {
    () => {
        ()
    };
    ($type:ident) => {
        $type
    };
}

/// Runs a command with the method that returns its result type.
macro_rules! run {
    ($statement:ident, $tx:ident, $params:expr) => {
        $statement.run($tx, $params)
    };
    ($statement:ident, $tx:ident, $params:expr, usize) => {
        $statement.count($tx, $params)
    };
    ($statement:ident, $tx:ident, $params:expr, bool) => {
        $statement.changes($tx, $params)
    };
    ($statement:ident, $tx:ident, $params:expr, i64) => {
        $statement.insert($tx, $params)
    };
}

/// Expands to the parameters of a function: its arguments, or the parameters after `with`.
macro_rules! params {
    ([$($arg:ident)*]) => {
        &[$((concat!(":", stringify!($arg)), &$arg)),*]
    };
    ([$($arg:ident)*] with { $($param:ident $(: $value:expr)?),+ $(,)? }) => {
        &[$((concat!(":", stringify!($param)), &$crate::store::statement::value!($param $(: $value)?))),+]
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

/// Expands to the names of the parameters of [`params`].
#[cfg(test)]
macro_rules! param_names {
    ([$($arg:ident)*]) => {
        &[$(concat!(":", stringify!($arg))),*]
    };
    ([$($arg:ident)*] with { $($param:ident $(: $value:expr)?),+ $(,)? }) => {
        &[$(concat!(":", stringify!($param))),+]
    };
}

/// Defines the test of a statement, in a module with the statement's name.
macro_rules! tested {
    ($name:ident, $columns:expr) => {
        #[cfg(test)]
        #[expect(non_snake_case, reason = "the name of the statement")]
        mod $name {
            #[test]
            fn is_prepared_and_has_the_columns_of_its_reader() {
                $crate::store::statement::check(super::$name.sql(), $columns);
            }
        }
    };
}

/// Defines the test of a function, in a module with the function's name. The module also has the statement's text.
macro_rules! tested_function {
    ($name:ident, $text:expr, $columns:expr, $params:expr) => {
        #[cfg(test)]
        pub(in crate::store) mod $name {
            pub(in crate::store) const SQL: &str = $text;

            #[test]
            fn is_prepared_and_has_the_columns_of_its_reader() {
                $crate::store::statement::check_function(SQL, $columns, $params);
            }
        }
    };
}

#[cfg(test)]
pub(in crate::store) use param_names;
pub(in crate::store) use {
    command_function, params, query_function, result, row_function, run, tested, tested_function,
    tuple_reader, value, value_function,
};

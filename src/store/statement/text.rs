//! Macros for the texts of statements and the columns of their rows.

/// Expands to a query that is not a function. Another test has to check its columns.
macro_rules! query {
    ($read:ident, $($text:tt)+) => {{
        const SQL: &str = $crate::store::statement::text!($($text)+);
        const NAMES: &$crate::store::statement::Names = &$crate::store::statement::Names::parse(SQL);
        $crate::store::statement::Query::new(SQL, NAMES, $read)
    }};
}

/// Expands to the text of a statement.
macro_rules! text {
    (file $text:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/", $text))
    };
    ($columns:tt file $text:literal) => {
        $crate::store::statement::text!(file $text)
    };
    ($columns:tt $text:literal) => {
        $text
    };
    (
        ($first:ident $(.$first_of:ident)? $(: $first_type:ty)? $(= $first_sql:literal)?
        $(, $column:ident $(.$of:ident)? $(: $type:ty)? $(= $sql:literal)?)* $(,)?)
        select $text:literal
    ) => {
        concat!(
            "select ", $($first_sql, " as ",)? stringify!($first $(.$first_of)?),
            $(", ", $($sql, " as ",)? stringify!($column $(.$of)?),)* " ", $text
        )
    };
    (insert $table:ident { $first:ident $(: $first_value:expr)? $(, $column:ident $(: $value:expr)?)* $(,)? }) => {
        concat!(
            "insert into ", stringify!($table), " (", stringify!($first), $(", ", stringify!($column),)* ") values (:",
            stringify!($first), $(", :", stringify!($column),)* ")"
        )
    };
}

/// Defines the function that reads a row.
macro_rules! reader {
    (
        [$($sign:tt)*] ($($column:ident $(.$of:ident)? $(: $type:ty)? $(= $sql:literal)?),+ $(,)?)
        [$row:ty] $body:block
    ) => {
        $($sign)*(row: &rusqlite::Row<'_>) -> rusqlite::Result<$row> {
            let mut next = $crate::store::row::Columns::new(row);
            $(let $crate::store::statement::last!($column $(.$of)?) $(: $type)? = next.take()?;)+
            $body
        }
    };
}

/// Expands to the name of a column without its table.
macro_rules! last {
    ($column:ident) => {
        $column
    };
    ($table:ident.$column:ident) => {
        $column
    };
}

/// Expands to the type of a row with these columns.
macro_rules! one_or_tuple {
    ($type:ty) => {
        $type
    };
    ($($type:ty),+) => {
        ($($type),+)
    };
}

/// Expands to the function that reads a row: that of the columns of a tuple, or the one with this name.
macro_rules! read {
    (tuple ($($column:ident: $type:ty),+)) => {{
        $crate::store::statement::reader!(
            [fn read] ($($column: $type),+) [$crate::store::statement::one_or_tuple!($($type),+)]
            { Ok(($($column),+)) }
        );
        read
    }};
    ($read:ident $columns:tt) => {
        $read
    };
}

pub(in crate::store) use {last, one_or_tuple, query, read, reader, text};

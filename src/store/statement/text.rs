//! Macros for the texts of statements and the names of their columns.

/// Creates a statement from a text, with its parameter names.
macro_rules! made {
    ($kind:ident, $text:expr $(, $read:expr)?) => {
        $crate::store::statement::$kind::new(
            $text,
            const { &$crate::store::statement::Names::parse($text) }
            $(, $read)?
        )
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

/// Expands to the text of a statement.
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

/// Expands to the text of a statement that inserts a row.
macro_rules! insert {
    ($table:ident { $first:ident $(: $first_value:expr)? $(, $column:ident $(: $value:expr)?)* $(,)? }) => {
        concat!(
            "insert into ", stringify!($table), " (", stringify!($first), $(", ", stringify!($column),)* ") values (:",
            stringify!($first), $(", :", stringify!($column),)* ")"
        )
    };
}

/// Expands to the column list of a `select`.
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

/// Expands to one column of a `select`.
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

/// Expands to the names of columns.
#[cfg(test)]
macro_rules! names {
    (($($column:ident $(.$of:ident)? $(: $type:ty)? $(= $sql:literal)?),+ $(,)?)) => {
        &[$($crate::store::statement::name!($column $(.$of)?)),+]
    };
}

/// Expands to the name of one column.
#[cfg(test)]
macro_rules! name {
    ($column:ident) => {
        stringify!($column)
    };
    ($table:ident.$column:ident) => {
        stringify!($column)
    };
}

/// Reads the columns of a row, each into a variable with the column's name.
macro_rules! bind_all {
    ($next:ident ($($column:ident $(.$of:ident)? $(: $type:ty)? $(= $sql:literal)?),+ $(,)?)) => {
        $($crate::store::statement::bind!($next $column $(.$of)? $(: $type)?);)+
    };
}

/// Reads the next column into a variable with the column's name.
macro_rules! bind {
    ($next:ident $table:ident.$column:ident $(: $type:ty)?) => {
        let $column $(: $type)? = $next.take()?;
    };
    ($next:ident $column:ident $(: $type:ty)?) => {
        let $column $(: $type)? = $next.take()?;
    };
}

pub(in crate::store) use {bind, bind_all, insert, listed, listed_one, made, one_or_tuple, text};
#[cfg(test)]
pub(in crate::store) use {name, names};

//! Pages of rows, newest first.

/// Bounds of a page: the newest rows that are older than a position.
#[derive(Clone, Copy, Debug)]
pub struct PageBounds<P = i64> {
    /// Position of the row that the page follows.
    pub before: P,
    /// Maximum number of rows.
    pub limit: u32,
}

/// A position in an order of rows; the `seq` of a row in most orders.
pub trait Position {
    /// Position after every row.
    const END: Self;
}

impl Position for i64 {
    const END: i64 = i64::MAX;
}

impl<P: Position> PageBounds<P> {
    /// Returns the bounds of a page that begins with the newest row.
    pub const fn newest(limit: u32) -> PageBounds<P> {
        PageBounds {
            before: P::END,
            limit,
        }
    }

    /// Returns the bounds of a page of `limit` rows, and of one row more, which tells whether another page follows.
    /// Without `before` the page begins with the newest row.
    pub fn with_one_more(before: Option<P>, limit: u32) -> PageBounds<P> {
        PageBounds {
            before: before.unwrap_or(P::END),
            limit: limit.saturating_add(1),
        }
    }
}

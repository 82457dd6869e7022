//! Bounds of pages of rows, newest first.

/// Bounds of a page: the newest rows before a position.
#[derive(Clone, Copy, Debug)]
pub struct PageBounds<P = i64> {
    /// The page has only rows before this position.
    pub before: P,
    /// Maximum number of rows.
    pub limit: u32,
}

/// A position in a list of rows. In most lists, it is the `seq` of a row.
pub trait Position {
    /// Position after the last row.
    const END: Self;
}

impl Position for i64 {
    const END: i64 = i64::MAX;
}

impl<P: Position> PageBounds<P> {
    /// Returns the bounds of the first page, which begins with the newest row.
    pub const fn newest(limit: u32) -> PageBounds<P> {
        PageBounds { before: P::END, limit }
    }

    /// Returns the bounds of a page with one row more than `limit`. The additional row shows that another page
    /// follows.
    ///
    /// Without `before`, the page begins with the newest row.
    pub fn with_one_more_row(before: Option<P>, limit: u32) -> PageBounds<P> {
        PageBounds { before: before.unwrap_or(P::END), limit: limit.saturating_add(1) }
    }
}

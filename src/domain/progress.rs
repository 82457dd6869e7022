//! What somebody who waits for something long is told meanwhile: a copy, an audit, a file brought up to date.
//!
//! What does not live here: how it is shown (`cli`). What always holds: what is done counts up to what there is to do, and
//! both are counts of something real, never of time.

/// Something said while it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said<'a> {
    /// A sentence for a person.
    Note(&'a str),
    /// So much of one part is done.
    Done {
        /// What is counted, like `pages copied`.
        part: &'static str,
        /// How many are done, from 0 to `of`.
        done: u64,
        /// How many there are to do.
        of: u64,
    },
}

/// Who is told.
pub type Tell<'a> = dyn FnMut(Said<'_>) + 'a;

/// For where nobody waits for it.
pub fn unheard(_: Said<'_>) {}

/// A count of which never fewer are done than nothing.
pub fn count(number: impl TryInto<u64>) -> u64 {
    number.try_into().unwrap_or_default()
}

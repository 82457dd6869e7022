//! Progress of a long task: a copy, an audit, an upgrade of the file.
//!
//! Invariant: progress counts real units up to a total, never time.

/// A progress message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress<'a> {
    /// A sentence to show.
    Note(&'a str),
    /// Part of the work that is done.
    Done {
        /// Counted units, like `pages copied`.
        part: &'static str,
        /// Number of units done, from 0 to `of`.
        done: u64,
        /// Total number of units.
        of: u64,
    },
}

/// Receiver of progress messages.
pub type ProgressSink<'a> = dyn FnMut(Progress<'_>) + 'a;

/// Ignores progress messages.
pub fn ignore_progress(_: Progress<'_>) {}

/// Converts a count; a negative one becomes zero.
pub fn to_count(number: impl TryInto<u64>) -> u64 {
    number.try_into().unwrap_or_default()
}

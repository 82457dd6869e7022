//! Progress of a long task, such as a copy, an audit, or an upgrade of the database file.
//!
//! Invariant: progress counts units of work up to a total, never time.

/// A message about the progress of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress<'a> {
    /// A sentence to display.
    Note(&'a str),
    /// Number of finished units of one part of the task.
    Done {
        /// Name of the counted units, like `pages copied`.
        part: &'static str,
        /// Number of finished units, from 0 to `of`.
        done: u64,
        /// Total number of units.
        of: u64,
    },
}

/// Function that receives progress messages.
pub type ProgressSink<'a> = dyn FnMut(Progress<'_>) + 'a;

/// Discards a progress message.
pub fn ignore_progress(_: Progress<'_>) {}

/// Converts a count to `u64`; a negative count becomes zero.
pub fn to_count(number: impl TryInto<u64>) -> u64 {
    number.try_into().unwrap_or_default()
}

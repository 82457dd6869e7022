//! Controls of a whole sandbox, for operations that change more than its file.

use crate::domain::Time;
use crate::service::{Error, Json};
use std::pin::Pin;

/// A change of the whole sandbox. It runs to its end even if its caller no longer waits.
pub type ControlChange = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;

/// Controls of a whole sandbox. `app` implements this trait, because only `app` has access to the clock, the workers
/// and the database file.
pub trait SandboxControls: Send + Sync {
    /// Moves, stops or restarts the clock. Returns when all work that became due is done.
    fn move_clock(&self, step: ClockChange) -> ControlChange;

    /// Resets the state to the seed data, and the clock to real time.
    fn reset(&self) -> ControlChange;

    /// Saves the whole state under a name.
    fn snapshot(&self, name: String) -> ControlChange;

    /// Restores the state that was saved under a name.
    fn restore(&self, name: String) -> ControlChange;

    /// Returns the current state, as `GET /sandbox` shows it.
    ///
    /// # Errors
    /// [`Error`] if the file cannot be read.
    fn state(&self) -> Result<Json, Error>;

    /// Returns `true` if the text is the method and the path of an operation outside `/sandbox`, for example
    /// `POST /v1/invoices`.
    fn is_operation(&self, text: &str) -> bool;
}

/// A change of the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockChange {
    /// Moves the clock forward by this many milliseconds.
    Advance(i64),
    /// Moves the clock forward to this time, which must not be in the past.
    Set(Time),
    /// Stops the clock if `true`, restarts the clock if `false`.
    Freeze(bool),
}

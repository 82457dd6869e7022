//! What can go wrong with the file.
//!
//! What lives here: the store's one error. What always holds: its text is for the log, never for a caller.

use super::health::Refusing;

/// The file could not be read or written.
#[derive(Clone, Debug)]
pub enum StoreError {
    /// More jobs wait for the writer than it takes in: try again later.
    Overloaded,
    /// A balance would pass what its column can count.
    TooLarge,
    /// No write is taken in: nothing was changed.
    Refusing(Refusing),
    /// Anything else; the text says what.
    Failed(String),
}

impl StoreError {
    /// The writer has stopped.
    pub(super) fn closed() -> StoreError {
        StoreError::Failed("the file is closed".to_owned())
    }
}

impl std::fmt::Display for StoreError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StoreError::Overloaded => out.write_str("too many writes are waiting"),
            StoreError::TooLarge => out.write_str("a balance is too large to be counted"),
            StoreError::Refusing(why) => write!(out, "{why}"),
            StoreError::Failed(cause) => out.write_str(cause),
        }
    }
}

impl std::error::Error for StoreError {}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> StoreError {
        // Where a sum of integers passes 64 bits SQLite goes on with a REAL, which a strict table does not take.
        let code = error.sqlite_error().map(|error| error.extended_code);
        if code == Some(rusqlite::ffi::SQLITE_CONSTRAINT_DATATYPE) {
            return StoreError::TooLarge;
        }
        // What a full disk did not take is not there; of what a disk failed at, nobody knows.
        match Refusing::of(&error) {
            Some(why @ (Refusing::DiskFull | Refusing::Locked)) => StoreError::Refusing(why),
            Some(Refusing::DiskFailed | Refusing::FileMoved) | None => {
                StoreError::Failed(format!("sqlite: {error}"))
            }
        }
    }
}

impl From<std::io::Error> for StoreError {
    fn from(error: std::io::Error) -> StoreError {
        StoreError::Failed(error.to_string())
    }
}

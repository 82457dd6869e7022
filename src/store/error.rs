//! The error of the store. Its text is for the log, never for a caller.

use super::health::Refusing;

/// An error of reading or writing the file.
#[derive(Clone, Debug)]
pub enum StoreError {
    /// Too many jobs wait for the writer. The caller may retry later.
    Overloaded,
    /// A balance would exceed the range of its column.
    TooLarge,
    /// Writes are refused. Nothing was changed.
    Refusing(Refusing),
    /// Any other error, with its message.
    Failed(String),
}

impl StoreError {
    /// Returns the error of a stopped writer.
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
        // If a sum of integers exceeds 64 bits, SQLite makes it a REAL, which a strict table rejects.
        let code = error.sqlite_error().map(|error| error.extended_code);
        if code == Some(rusqlite::ffi::SQLITE_CONSTRAINT_DATATYPE) {
            return StoreError::TooLarge;
        }
        // A full disk has written nothing. A failed disk may have.
        match Refusing::from_error(&error) {
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

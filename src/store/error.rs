//! The error of the store. Its text goes to the log, never into a response.

use super::health::WriteRefusal;

/// An error of reading or writing the file.
#[derive(Clone, Debug)]
pub enum StoreError {
    /// Too many jobs wait for the writer. The caller may retry later.
    Overloaded,
    /// A balance would exceed the range of its column.
    TooLarge,
    /// The store refuses writes for this reason. Nothing was changed.
    Refusing(WriteRefusal),
    /// A file is damaged, as SQLite says with this message. A store refuses writes instead if it is its own file.
    Damaged(String),
    /// Another error, with its message.
    Failed(String),
}

impl StoreError {
    pub(super) fn writer_stopped_error() -> StoreError {
        StoreError::Failed("the file is closed".to_owned())
    }
}

impl std::fmt::Display for StoreError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StoreError::Overloaded => out.write_str("too many writes are waiting"),
            StoreError::TooLarge => out.write_str("a balance is too large to be counted"),
            StoreError::Refusing(why) => write!(out, "{why}"),
            StoreError::Damaged(cause) => {
                write!(
                    out,
                    "the file is damaged ({cause}); go back to a backup with `coffer restore`"
                )
            }
            StoreError::Failed(cause) => out.write_str(cause),
        }
    }
}

impl std::error::Error for StoreError {}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> StoreError {
        // SQLite turns a sum that exceeds 64 bits into a REAL, which a strict table rejects.
        let code = error.sqlite_error().map(|error| error.extended_code);
        if code == Some(rusqlite::ffi::SQLITE_CONSTRAINT_DATATYPE) {
            return StoreError::TooLarge;
        }
        // An error of a full disk means that nothing was written. A failed disk may have written something.
        match WriteRefusal::from_error(&error) {
            Some(why @ (WriteRefusal::DiskFull | WriteRefusal::Locked)) => {
                StoreError::Refusing(why)
            }
            Some(WriteRefusal::FileDamaged) => StoreError::Damaged(error.to_string()),
            Some(WriteRefusal::DiskFailed | WriteRefusal::FileMoved) | None => {
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

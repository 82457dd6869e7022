//! Errors of the use cases.
//!
//! Invariant: a refusal tells the caller the reason. The cause of a failure is only in the log.

use crate::domain::{Overflow, Refusal, RefusalCode};
use crate::store::{StoreError, WriteRefusal};

/// Reason why a use case did not run. Nothing was changed.
#[derive(Debug)]
pub enum Error {
    /// The request was refused. The caller receives the reason.
    Refused(Refusal),
    /// An internal failure. The text is for the log.
    Failed(String),
}

impl std::fmt::Display for Error {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Error::Refused(refusal) => write!(out, "{refusal}"),
            Error::Failed(cause) => out.write_str(cause),
        }
    }
}

impl std::error::Error for Error {}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Error {
        Error::Refused(refusal)
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Error {
        match error {
            StoreError::Overloaded => Error::Refused(Refusal::new(
                RefusalCode::Overloaded,
                "too many writes are waiting; try again",
            )),
            StoreError::TooLarge => Overflow.into(),
            // The message names the cause, because only a person can end this state.
            StoreError::Refusing(WriteRefusal::FileDamaged) => Error::Refused(Refusal::new(
                RefusalCode::Overloaded,
                "the database is damaged; the operator has to go back to a backup with `coffer restore`",
            )),
            // Only the log has the cause of the failure, because the caller cannot remove the cause.
            StoreError::Refusing(
                WriteRefusal::DiskFull
                | WriteRefusal::Locked
                | WriteRefusal::DiskFailed
                | WriteRefusal::FileMoved,
            ) => Error::Refused(Refusal::new(
                RefusalCode::Overloaded,
                "nothing can be written at the moment; try again",
            )),
            error @ StoreError::Damaged(_) => Error::Failed(error.to_string()),
            StoreError::Failed(cause) => Error::Failed(cause),
        }
    }
}

impl From<Overflow> for Error {
    fn from(overflow: Overflow) -> Error {
        Error::Refused(Refusal::for_param(
            RefusalCode::InvalidRequest,
            "amount",
            overflow.to_string(),
        ))
    }
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Error {
        Error::Failed(format!("json: {error}"))
    }
}

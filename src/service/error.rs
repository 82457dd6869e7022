//! Why a use case did nothing.
//!
//! What always holds: a refusal tells the caller why; of a failure only the log tells the cause.

use crate::domain::money::Overflow;
use crate::domain::refusal::{Code, Refusal};
use crate::store::StoreError;

/// Why a use case did not happen; nothing was changed.
#[derive(Debug)]
pub enum Error {
    /// The caller is told why.
    Refused(Refusal),
    /// Something broke; the text is for the log.
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
                Code::Overloaded,
                "too many writes are waiting; try again",
            )),
            StoreError::TooLarge => Overflow.into(),
            // Why is for the log: the caller can do nothing about it.
            StoreError::Refusing(_) => Error::Refused(Refusal::new(
                Code::Overloaded,
                "nothing can be written at the moment; try again",
            )),
            StoreError::Failed(cause) => Error::Failed(cause),
        }
    }
}

impl From<Overflow> for Error {
    fn from(overflow: Overflow) -> Error {
        Error::Refused(Refusal::about(
            Code::InvalidRequest,
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

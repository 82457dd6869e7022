//! HTTP POST requests with JSON bodies, without JSON-RPC.

use super::super::NodeError;
use super::failure::{is_limit, limited};
use super::{MethodError, ResultText, Rpc, parse_result, serialized};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::marker::PhantomData;

/// A response that may be an error message.
pub trait ErrorBody {
    /// Takes the error message out of the response; `None` if the response is not an error.
    fn take_error(&mut self) -> Option<String>;
}

impl Rpc {
    /// Posts a body to this path below the url.
    ///
    /// # Errors [`NodeError`]. An error message about a limit becomes [`NodeError::Limited`].
    pub fn post<T: DeserializeOwned + ErrorBody>(
        &mut self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, NodeError> {
        self.next_id(1);
        let body = serialized(body)?;
        let answer = self.exchange(path, &body, PhantomData::<ResultText>);
        let answer = answer.and_then(|exchanged| {
            let status = exchanged.status;
            let failed = || NodeError::Unreachable(format!("it answered with status {status}"));
            let mut value: T = match parse_result(&exchanged.value) {
                Err(_) if !exchanged.is_ok => return Err(failed()),
                value => value?,
            };
            match value.take_error() {
                Some(message) => Err(refused(path, message)),
                None if !exchanged.is_ok => Err(failed()),
                None => Ok(value),
            }
        });
        self.count_failures(answer)
    }
}

fn refused(path: &str, message: String) -> NodeError {
    let error = MethodError { code: 0, message };
    if is_limit(&error) {
        limited(&error)
    } else {
        NodeError::Unreachable(format!("it refuses {path}: {}", error.message))
    }
}

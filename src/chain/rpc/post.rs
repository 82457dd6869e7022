//! HTTP POST requests with JSON bodies, without JSON-RPC.

use super::super::NodeError;
use super::failure::{is_limit_error, limit_error};
use super::{MethodError, ResultText, Rpc, parse_result, serialize_body};
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
    /// # Errors
    /// [`NodeError`]. An error message about a limit becomes [`NodeError::Limited`].
    pub fn post<T: DeserializeOwned + ErrorBody>(
        &mut self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, NodeError> {
        self.post_within(path, body, self.limits.timeout_ms)
    }

    /// Like [`Rpc::post`], with this time limit in milliseconds if it is shorter than that of any request.
    pub fn post_within<T: DeserializeOwned + ErrorBody>(
        &mut self,
        path: &str,
        body: &impl Serialize,
        timeout_ms: u64,
    ) -> Result<T, NodeError> {
        self.reserve_ids(1);
        let body = serialize_body(body)?;
        let timeout_ms = timeout_ms.min(self.limits.timeout_ms);
        let seed = PhantomData::<ResultText>;
        let answer = self.send_request_within(timeout_ms, path, &body, seed);
        let answer = answer.and_then(|exchanged| {
            let status = exchanged.status;
            let failed = || NodeError::Unreachable(format!("it answered with status {status}"));
            let mut value: T = match parse_result(&exchanged.value) {
                Err(_) if !exchanged.is_ok => return Err(failed()),
                value => value?,
            };
            match value.take_error() {
                Some(message) => Err(refusal_error(path, message)),
                None if !exchanged.is_ok => Err(failed()),
                None => Ok(value),
            }
        });
        self.track_failures(answer)
    }
}

fn refusal_error(path: &str, message: String) -> NodeError {
    let error = MethodError { code: 0, message };
    if is_limit_error(&error) {
        limit_error(&error)
    } else {
        NodeError::Unreachable(format!("it refuses {path}: {}", error.message))
    }
}

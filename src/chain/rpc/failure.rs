//! Converts errors of HTTP, JSON and JSON-RPC to the few kinds that callers handle.
//!
//! Invariant: no message contains a url.

use super::super::NodeError;
use serde_json::error::Category;

/// An error that a method returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodError {
    /// Error code of the node.
    pub code: i64,
    /// Error message of the node. Outside the module `rpc`, the message has at most 200 characters and no secrets.
    pub message: String,
}

/// Reason why a call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallFailure {
    /// The node did not respond, or its response is invalid.
    Node(NodeError),
    /// The node responded with an error of the called method.
    Method(MethodError),
}

impl From<NodeError> for CallFailure {
    fn from(error: NodeError) -> CallFailure {
        CallFailure::Node(error)
    }
}

/// Returns `true` if the error means a rate or size limit. The codes are those of EIP-1474 and of public nodes.
pub(super) fn is_limit_error(error: &MethodError) -> bool {
    const WORDS: [&str; 10] = [
        "limit",
        "too many",
        "more than",
        "exceed",
        "too large",
        "too wide",
        "too big",
        "response size",
        "block range",
        "timed out",
    ];
    let text = error.message.to_ascii_lowercase();
    let says_so = || WORDS.iter().any(|word| text.contains(word));
    match error.code {
        -32005 | -32029 | 429 => true,
        -32601 => false,
        0 | -32099..=-32000 | -32603..=-32600 => says_so(),
        _ => false,
    }
}

pub(super) fn request_error(error: &ureq::Error) -> NodeError {
    let text = match error {
        ureq::Error::Timeout(_) => "no answer in time".to_owned(),
        ureq::Error::HostNotFound => "its name has no address".to_owned(),
        ureq::Error::BodyExceedsLimit(bytes) => {
            return NodeError::Limited(format!("its answer has more than {bytes} bytes"));
        }
        ureq::Error::Http(_) | ureq::Error::BadUri(_) => {
            return wrong_node_error("its url or header cannot be sent");
        }
        ureq::Error::Io(error) if error.raw_os_error().is_some() => error.kind().to_string(),
        ureq::Error::Io(error) => error.to_string(),
        ureq::Error::Protocol(_) => "its answer is not HTTP".to_owned(),
        ureq::Error::Rustls(error) => error.to_string(),
        _ => "the connection failed".to_owned(),
    };
    NodeError::Unreachable(text)
}

pub(super) fn response_error(error: serde_json::Error) -> NodeError {
    match error.classify() {
        Category::Io => request_error(&ureq::Error::from(std::io::Error::from(error))),
        Category::Eof => NodeError::Unreachable("its answer breaks off".to_owned()),
        Category::Syntax => NodeError::Lied("its answer is not JSON".to_owned()),
        Category::Data => NodeError::Lied(format!("its answer is not what was asked: {error}")),
    }
}

pub(super) fn limit_error(error: &MethodError) -> NodeError {
    NodeError::Limited(format!("it says: {} ({})", error.message, error.code))
}

/// Returns [`NodeError::Lied`] with this text.
pub(in crate::chain) fn invalid_answer(text: &str) -> NodeError {
    NodeError::Lied(text.to_owned())
}

pub(super) fn wrong_node_error(text: &str) -> NodeError {
    NodeError::Wrong(text.to_owned())
}

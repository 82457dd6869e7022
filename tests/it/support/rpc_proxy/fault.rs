//! Faults in the responses of a JSON-RPC node.

use serde_json::{Value, json};
use std::sync::Arc;

/// Function that changes one response. Its arguments are the request parameters and the response.
type ResponseChange = dyn Fn(&Value, &mut Value) + Send + Sync;

/// Fault in the responses of a method.
#[derive(Clone)]
pub enum RpcFault {
    /// Passes the response to a function that modifies it.
    Change(Arc<ResponseChange>),
    /// Reverses the order of the responses in a batch.
    Reversed,
    /// Leaves out this many responses at the end of a batch.
    Dropped(usize),
    /// Returns this HTTP status with an empty body.
    Status(u16),
    /// Closes the connection after this many bytes of the body.
    Truncated(usize),
    /// Sends the body at one byte every 20 ms, so that a long response exceeds the client's timeout.
    Drip,
    /// Replaces the result, or the named field of the result, with this large JSON text.
    Flood(Option<&'static str>, Arc<str>),
    /// Returns this body.
    Body(String),
    /// Returns a "not found" error. The node does not receive the request.
    NotFound,
    /// Never responds.
    Hang,
    /// Applies this fault to each request with a call whose first parameter is this text.
    Naming(String, Arc<RpcFault>),
}

impl RpcFault {
    /// Returns the fault that applies to a call of a request; `None` if the request is answered correctly.
    pub fn for_call(&self, call: &Value) -> Option<RpcFault> {
        match self {
            RpcFault::Naming(text, fault) => {
                (call["params"][0] == text.as_str()).then(|| RpcFault::clone(fault))
            }
            other => Some(other.clone()),
        }
    }

    /// Builds a fault that passes each response to the closure `change`, which modifies it.
    pub fn from_change(change: impl Fn(&Value, &mut Value) + Send + Sync + 'static) -> RpcFault {
        RpcFault::Change(Arc::new(change))
    }

    /// Builds a fault that always returns this result.
    pub fn result(result: Value) -> RpcFault {
        RpcFault::from_change(move |_, answer| answer["result"] = result.clone())
    }

    /// Builds a fault whose result is a text of this many bytes.
    pub fn huge_result(bytes: usize) -> RpcFault {
        RpcFault::Flood(None, format!("\"{}\"", "a".repeat(bytes)).into())
    }

    /// Builds a fault that returns a JSON-RPC error.
    pub fn error(code: i64, message: &str) -> RpcFault {
        let message = message.to_owned();
        RpcFault::from_change(move |_, answer| set_error(answer, code, &message))
    }
}

/// Replaces the result of a response by a JSON-RPC error.
pub fn set_error(answer: &mut Value, code: i64, message: &str) {
    answer["result"] = Value::Null;
    answer["error"] = json!({ "code": code, "message": message });
}

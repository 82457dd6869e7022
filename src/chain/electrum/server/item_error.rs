//! Errors of single items of a batch of calls.

use super::super::connection::unexpected_error;
use crate::chain::NodeError;
use crate::chain::rpc::MethodError;

/// Reason why a server did not give one item of a batch, although it gave others.
#[derive(Clone, Debug)]
pub(in super::super) enum ItemError {
    Method(MethodError),
    /// The answer has another shape.
    Unreadable,
}

impl ItemError {
    /// Returns the end of a sentence that begins with "its node".
    pub(in super::super) fn describe(&self, method: &str) -> String {
        match self {
            ItemError::Method(error) => {
                format!("refuses {method}: {} ({})", error.message, error.code)
            }
            ItemError::Unreadable => format!("answers {method} with something else"),
        }
    }

    /// Converts the error of a call without which the server cannot be used.
    pub(in super::super) fn into_node_error(self, method: &str) -> NodeError {
        match self {
            ItemError::Method(error) => unexpected_error(method, &error),
            ItemError::Unreadable => NodeError::Lied(format!("its answer to {method} is another")),
        }
    }
}

/// Returns `true` if the error says that there is no such transaction.
pub(super) fn is_unknown_transaction(error: &MethodError) -> bool {
    const UNKNOWN_METHOD: i64 = -32601;
    let text = error.message.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|words| text.contains(words));
    let is_about_transaction = says(&["transaction", "tx"]) && !says(&["method"]);
    error.code != UNKNOWN_METHOD
        && is_about_transaction
        && says(&["no such", "not found", "missing", "unknown"])
}

#[cfg(test)]
mod tests {
    use super::{MethodError, is_unknown_transaction};

    #[test]
    fn only_an_error_about_the_transaction_means_that_it_is_unknown() {
        for (code, message, is_unknown) in [
            (
                -5,
                "No such mempool or blockchain transaction. Use gettransaction for wallet transactions.",
                true,
            ),
            (
                2,
                "daemon error: {'code': -5, 'message': 'No such mempool or blockchain transaction.'}",
                true,
            ),
            (1, "missing transaction", true),
            (-32603, "tx not found", true),
            (-32601, "unknown transaction", false),
            (-32600, "unknown method blockchain.transaction.get", false),
            (1, "unknown error", false),
            (2, "daemon error: file not found", false),
            (2, "missing response", false),
        ] {
            let error = MethodError { code, message: message.to_owned() };
            assert_eq!(is_unknown_transaction(&error), is_unknown, "{message}");
        }
    }
}

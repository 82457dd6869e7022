//! Errors of nodes.

/// Reason why a request to a node failed, or why its answer was rejected. The texts are for the operator, and contain
/// neither a URL nor a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeError {
    /// No connection, a timeout, an incomplete answer or a server error. The caller retries, or asks the next URL.
    Unreachable(String),
    /// The node reported a rate limit or a size limit. The caller sends smaller requests, less often.
    Limited(String),
    /// The node, or another node behind its load balancer, does not have the requested block yet. The caller retries.
    Behind,
    /// The answer contradicts an earlier answer or the request. The caller discards the whole answer.
    Lied(String),
    /// The node is on another network or refuses the login. The operator must correct the settings.
    Wrong(String),
}

impl std::fmt::Display for NodeError {
    /// Writes the error without the words "the node", which the caller writes before it: "does not have that block
    /// yet".
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NodeError::Unreachable(text) => write!(out, "cannot be asked: {text}"),
            NodeError::Limited(text) => write!(out, "limits what is asked: {text}"),
            NodeError::Behind => out.write_str("does not have that block yet"),
            NodeError::Lied(text) => write!(out, "is not believed: {text}"),
            NodeError::Wrong(text) => write!(out, "is the wrong one: {text}"),
        }
    }
}

/// Why a node gives no final blocks at present, although it gives new ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinalProblem {
    /// The request that failed, and scheme, host and port of the url.
    pub asked: String,
    /// The failure of the request.
    pub error: NodeError,
}

impl FinalProblem {
    /// Returns the failure with the request that failed.
    pub fn to_error(&self) -> NodeError {
        let with_request = |text: &str| format!("{text} ({})", self.asked);
        match &self.error {
            NodeError::Unreachable(text) => NodeError::Unreachable(with_request(text)),
            NodeError::Limited(text) => NodeError::Limited(with_request(text)),
            NodeError::Behind => NodeError::Behind,
            NodeError::Lied(text) => NodeError::Lied(with_request(text)),
            NodeError::Wrong(text) => NodeError::Wrong(with_request(text)),
        }
    }
}

impl std::fmt::Display for FinalProblem {
    /// Writes the problem without the words "the node", which the caller writes before it.
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} ({})", self.error, self.asked)
    }
}

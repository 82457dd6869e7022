//! Tries a node that an operator entered: asks for its network and its newest block.
//!
//! Invariant: no text of the node's answer is in a message, only the kind of the error and an HTTP status.

use super::ChainNodes;
use crate::chain::follow::unknown_network_message;
use crate::chain::rpc::Limits;
use crate::chain::rpc::metadata::REFUSED;
use crate::chain::{Node, NodeError};
use crate::domain::WalletNetwork;
use crate::domain::chain::Chain;

/// Limits of the requests of a trial: short, and for small answers.
const TRIAL: TrialLimits = TrialLimits { timeout_ms: 4_000, connect_ms: 3_000, bytes: 1 << 20 };

/// Texts of errors that this program made. Every other text may be part of an answer.
const OWN_TEXTS: [&str; 18] = [
    REFUSED,
    "no answer in time",
    "its name has no address",
    "its answer is not HTTP",
    "its answer breaks off",
    "the connection was closed",
    "the connection failed",
    "its url or header cannot be sent",
    "it answers with a redirect: name the url it leads to",
    "connection refused",
    "connection reset",
    "connection aborted",
    "host unreachable",
    "network unreachable",
    "network down",
    "permission denied",
    "invalid input parameter",
    "timed out",
];

/// Beginnings of texts that this program made, each followed by a number or by the kind of a certificate's problem.
const OWN_BEGINNINGS: [&str; 4] = [
    "it answered with status ",
    "it refuses the login (status ",
    "its answer has more than ",
    "invalid peer certificate: ",
];

struct TrialLimits {
    timeout_ms: u64,
    connect_ms: u64,
    bytes: u64,
}

/// The answer of a node that was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeTrial {
    /// Network by the nodes' name.
    pub network: String,
    /// Height of the newest block.
    pub height: u32,
}

/// Asks each url for its network and its newest block. Returns the answer of the first url.
///
/// # Errors
/// The end of a sentence that begins with the url: the kind of the error, without any text of the answer.
pub fn try_node(nodes: &ChainNodes, test_networks: bool) -> Result<NodeTrial, String> {
    let chain = nodes.chain;
    let limits = Limits {
        timeout_ms: TRIAL.timeout_ms,
        connect_timeout_ms: TRIAL.connect_ms,
        answer_bytes_max: TRIAL.bytes,
        ..Limits::default()
    };
    let mut first: Option<NodeTrial> = None;
    for (place, label) in nodes.url_labels().enumerate() {
        let of_several = |problem: String| match nodes.url_labels().count() {
            1 => problem,
            _ => format!("{label} {problem}"),
        };
        let node = nodes.create_node(place, limits);
        let mut node = node.ok_or_else(|| format!("is of no kind of node of {chain}"))?;
        let found = ask_node(node.as_mut(), chain, test_networks).map_err(of_several)?;
        match &first {
            None => first = Some(found),
            Some(other) if other.network != found.network => {
                return Err("leads to nodes of different networks".to_owned());
            }
            Some(_) => {}
        }
    }
    first.ok_or_else(|| "has no url".to_owned())
}

fn ask_node(node: &mut dyn Node, chain: Chain, test_networks: bool) -> Result<NodeTrial, String> {
    let told = |error: NodeError| describe_error(chain, &error);
    let network = node.network().map_err(told)?;
    let (main, tests) = chain.row().networks;
    if network != main && !tests.contains(&network.as_str()) {
        return Err(format!("leads to no node of {chain}: {}", unknown_network_message(chain, "")));
    }
    if !WalletNetwork::Main.includes_node_network(chain, &network) && !test_networks {
        let problem = "leads to a node of a test network";
        return Err(format!(
            "{problem}; use one of the main network, or start with --test-networks"
        ));
    }
    let height = node.head().map_err(told)?.block.height;
    if let Some(problem) = node.final_problem() {
        return Err(told(problem.error.clone()));
    }
    Ok(NodeTrial { network, height })
}

fn describe_error(chain: Chain, error: &NodeError) -> String {
    match error {
        NodeError::Unreachable(text) => match own_text(text) {
            Some(text) => format!("cannot be asked: {text}"),
            None => "cannot be asked: it answered with an error".to_owned(),
        },
        NodeError::Limited(text) => match own_text(text) {
            Some(text) => format!("limits what is asked: {text}"),
            None => "limits what is asked".to_owned(),
        },
        NodeError::Behind => "leads to a node that does not have its newest block yet".to_owned(),
        NodeError::Lied(_) => format!("leads to no node of {chain}: its answer is not that of one"),
        NodeError::Wrong(text) => match own_text(text) {
            Some(text) => format!("is the wrong one: {text}"),
            None => format!("leads to no node of {chain}"),
        },
    }
}

/// Returns the text if this program made it.
fn own_text(text: &str) -> Option<&str> {
    // The system's text about a failed lookup differs between systems.
    if text.starts_with("failed to lookup address information") {
        return Some("its name has no address");
    }
    let is_own = OWN_TEXTS.contains(&text)
        || OWN_BEGINNINGS.iter().any(|begin| text.starts_with(begin)) && !text.contains('\n');
    is_own.then_some(text)
}

#[cfg(test)]
mod tests {
    use super::{Chain, NodeError, describe_error};

    #[test]
    fn text_of_an_answer_is_not_repeated() {
        let text = || "it refuses eth_chainId: verysecret (-32000)".to_owned();
        let broken = || "it answered with status 500\nverysecret".to_owned();
        for error in [
            NodeError::Unreachable(text()),
            NodeError::Unreachable(broken()),
            NodeError::Limited(text()),
            NodeError::Lied(text()),
            NodeError::Wrong(text()),
        ] {
            let told = describe_error(Chain::Base, &error);
            assert!(!told.contains("secret"), "{told}");
        }
    }

    #[test]
    fn kind_and_status_are_told() {
        for (error, told) in [
            (
                NodeError::Unreachable("connection refused".to_owned()),
                "cannot be asked: connection refused",
            ),
            (
                NodeError::Unreachable("it answered with status 502".to_owned()),
                "cannot be asked: it answered with status 502",
            ),
            (
                NodeError::Wrong("it refuses the login (status 401)".to_owned()),
                "is the wrong one: it refuses the login (status 401)",
            ),
            (
                NodeError::Unreachable("failed to lookup address information: x".to_owned()),
                "cannot be asked: its name has no address",
            ),
        ] {
            assert_eq!(describe_error(Chain::Base, &error), told);
        }
    }
}

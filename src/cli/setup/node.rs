//! Tries the nodes that an answer of `coffer setup` names.
//!
//! Invariant: messages contain scheme, host and port of a URL, and no part of a node's answer besides its network and
//! height.

use crate::chain::follow::unknown_network_message;
use crate::chain::rpc::Limits;
use crate::chain::setting::FollowedNodeUrls;
use crate::chain::{Node, NodeError};
use crate::cli::terminal::print_message;
use crate::domain::chain::Chain;
use crate::domain::wallet::WalletNetwork;

/// Timeout of one request, in milliseconds.
const ANSWER_MS_MAX: u64 = 10_000;

/// Nodes of one chain that answered.
pub(super) struct TriedNodes {
    /// `true` if they are on a test network, whose coins have no value.
    pub is_test: bool,
}

/// Asks every node in a list of URLs for its network and its newest block, and prints them.
///
/// # Errors
/// A message that says what is wrong with a URL or a node, and what to do.
pub(super) fn try_nodes(
    chain: Chain,
    urls: &str,
    headers: &[(String, String)],
) -> Result<TriedNodes, String> {
    let one = |text: &str| vec![(chain.as_str().to_owned(), text.to_owned())];
    let nodes = FollowedNodeUrls::parse_settings(&one(urls), &headers.to_vec(), &Vec::new(), true)?;
    let mut tried = TriedNodes { is_test: false };
    for of_chain in &nodes.of_chains {
        for (place, label) in of_chain.url_labels().enumerate() {
            let limits = Limits { timeout_ms: ANSWER_MS_MAX, ..Limits::default() };
            let Some(mut node) = of_chain.create_node(place, limits) else { continue };
            let wrong = |problem| format!("{chain} at {label} {problem}");
            let network = ask_network(chain, node.as_mut()).map_err(wrong)?;
            let head = node.head().map_err(|error| wrong(describe_error(&error)))?;
            tried.is_test |= !WalletNetwork::Main.includes_node_network(chain, &network);
            let behind = match head.is_complete {
                true => "",
                false => {
                    ". It is still downloading the chain: the coin is on offer once it has all blocks"
                }
            };
            let height = head.block.height;
            print_message(&format!(
                "{chain} at {label}: network {network}, block {height}{behind}"
            ));
        }
    }
    Ok(tried)
}

/// Returns the network of a node.
fn ask_network(chain: Chain, node: &mut dyn Node) -> Result<String, String> {
    let network = node.network().map_err(|error| describe_error(&error))?;
    let (main, tests) = chain.row().networks;
    if network != main && !tests.contains(&network.as_str()) {
        let problem = unknown_network_message(chain, &network);
        return Err(format!("is the wrong one: {problem}. Name a node of {chain}"));
    }
    Ok(network)
}

/// Describes the kind of an error, with what to do.
fn describe_error(error: &NodeError) -> String {
    let text = match error {
        NodeError::Unreachable(_) => {
            "cannot be asked. Check that it runs, that this machine may reach it, and the login in the URL"
        }
        NodeError::Limited(_) => {
            "limits requests. Use a node of your own, or one that allows more requests"
        }
        NodeError::Behind => "does not have its newest block yet. Try again in a minute",
        NodeError::Lied(_) => "gives an answer that is none of such a node. Check the URL",
        NodeError::Wrong(_) => {
            "is the wrong one, or refuses the login. Check the URL and the chain"
        }
    };
    text.to_owned()
}

//! Tries the nodes that an answer of `coffer setup` names.
//!
//! Invariant: messages contain scheme, host and port of a URL, and no part of a node's answer besides its network and
//! height.

use crate::chain::setting::FollowedNodeUrls;
use crate::chain::setting::probe::try_node;
use crate::cli::terminal::print_message;
use crate::domain::WalletNetwork;
use crate::domain::chain::Chain;

/// Asks every node in a list of URLs for its network and its newest block, and prints them. Returns `true` if the nodes
/// are on a test network, whose coins have no value.
///
/// # Errors
/// A message that says what is wrong with a URL or a node.
pub(super) fn try_nodes(
    chain: Chain,
    urls: &str,
    headers: &[(String, String)],
) -> Result<bool, String> {
    let urls = vec![(chain.as_str().to_owned(), urls.to_owned())];
    let parsed = FollowedNodeUrls::parse_settings(&urls, &headers.to_vec(), &Vec::new(), true)?;
    let nodes = parsed.of_chains.first().ok_or("must be a url")?;
    let label = nodes.label();
    let found = try_node(nodes, true).map_err(|problem| format!("{label} {problem}"))?;
    let (network, height) = (found.network, found.height);
    print_message(&format!("{chain} at {label}: network {network}, block {height}"));
    Ok(!WalletNetwork::Main.includes_node_network(chain, &network))
}

//! Checks that a node is on the network of the database.

use crate::chain::NodeError;
use crate::domain::ChainState;
use crate::domain::chain::Chain;

/// Returns the message for a node on an unknown network. On EVM chains, the chain id identifies the network.
pub fn unknown_network_message(chain: Chain, network: &str) -> String {
    let (main, tests) = chain.row().networks;
    let tests = tests.join(", ");
    let of = |name: &str| {
        format!("{chain} has {main} (test networks: {tests}), and its {name} is {network}")
    };
    if chain.address_pool() == Chain::Ethereum.address_pool() {
        of("chain id")
    } else {
        of("network")
    }
}

/// Rejects a node on a network other than the database's, and a test network that the operator has not allowed.
pub(super) fn check_network(
    known: &ChainState,
    network: &str,
    test_networks: bool,
) -> Result<(), NodeError> {
    let chain = known.chain;
    let (main, tests) = chain.row().networks;
    let problem = if network != main && !tests.contains(&network) {
        unknown_network_message(chain, network)
    } else if let Some(before) = known.network.as_deref().filter(|before| *before != network) {
        format!("it is a node of {chain} {network}; this file is of {before}")
    } else if network != main && !test_networks {
        format!("it is a node of the test network {network}; --test-networks takes it")
    } else {
        return Ok(());
    };
    Err(NodeError::Wrong(problem))
}

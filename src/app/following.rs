//! Follows the chains, each on its own thread, through the nodes that the settings name.
//!
//! Invariant: neither start nor stop waits for a node.

use crate::chain::follow::AddressPools;
use crate::chain::setting::FollowedNodeUrls;
use crate::chain::urls::NodeUrls;
use crate::clock::Clock;
use crate::service::chains::live::{LiveChain, LiveMode};
use crate::service::{Error, Service};
use crate::store::Changes;
use crate::worker::watch_chain::{ChainWakers, ChainWatch, Follower, PollIntervals};
use std::sync::Arc;
use std::time::Duration;

/// Maximum number of outputs stored in one transaction, so that other writers are not delayed.
const OUTPUTS_MAX: usize = 200;
/// Maximum duration of a transaction that stores outputs, in milliseconds.
const BATCH_MS_MAX: i64 = 50;
/// Maximum wait for the end of all chain threads at shutdown. A thread that still waits for its node loses no data.
const END_WAIT: Duration = Duration::from_millis(300);

/// Returns the chains, tokens and signer that are available in live mode.
pub(crate) fn live_mode(nodes: &FollowedNodeUrls, has_signer: bool) -> LiveMode {
    let chains = nodes.of_chains.iter().map(|node| LiveChain {
        chain: node.chain,
        node: node.label(),
        tokens: node.tokens().collect(),
    });
    LiveMode::new(chains.collect(), nodes.test_networks).with_signer(has_signer)
}

/// Updates the watched addresses after a commit, before other parts of the server are notified.
pub(super) fn update_watched_addresses(pools: &AddressPools, changes: &Changes) {
    if changes.everything {
        pools.request_reload();
    }
    for (chain, address) in &changes.addresses {
        pools.insert(*chain, address);
    }
}

/// Starts a thread for every chain that has a node.
pub(super) fn start_followers(
    nodes: &FollowedNodeUrls,
    service: &Arc<Service>,
    (pools, chain_wakers): (&AddressPools, &ChainWakers),
    clock: &Arc<Clock>,
) -> Result<Vec<Follower>, Error> {
    let start = |node: &crate::chain::setting::ChainNodes| {
        let chain = node.chain;
        let watch = ChainWatch {
            service: Arc::downgrade(service),
            chain,
            addresses: pools.for_chain(chain),
            blocks_max: chain.row().step_blocks_max,
            outputs_max: OUTPUTS_MAX,
            part_ms_max: BATCH_MS_MAX,
            test_networks: nodes.test_networks,
            was_rescan: false,
            has_rescan: false,
            rescan_problem: None,
            final_problem: None,
            is_connected: false,
            network: None,
            unread: None,
        };
        log::info!("chain configured: chain={chain} node={}", node.label());
        let connect = Box::new(NodeUrls::new(node.clone()));
        let clock = Arc::clone(clock);
        let started = Follower::start(
            watch,
            connect,
            clock,
            PollIntervals::for_chain(chain),
            chain_wakers.for_chain(chain),
        );
        started.map_err(|error| Error::Failed(format!("{chain} cannot be followed: {error}")))
    };
    nodes.of_chains.iter().map(start).collect()
}

/// Asks every chain thread to end, without waiting.
pub(super) fn ask_followers_to_stop(followers: &[Follower]) {
    followers.iter().for_each(Follower::ask_to_stop);
}

/// Waits a limited time for the end of all chain threads.
pub(super) fn wait_for_followers_to_end(followers: &[Follower]) {
    let chains = u32::try_from(followers.len()).unwrap_or(u32::MAX);
    let share = END_WAIT.checked_div(chains).unwrap_or_default();
    for follower in followers {
        // The server stops even if the thread has not ended. Such a thread holds no file and loses no data.
        let _ = follower.wait_for_end(share);
    }
}

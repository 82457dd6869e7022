//! The chains that are followed: each by a thread of its own, through the nodes that the settings name.
//!
//! What always holds: nobody waits for a node, neither at the start nor at the end.

use crate::chain::follow::Pools;
use crate::chain::setting::Nodes;
use crate::chain::urls::Urls;
use crate::clock::Clock;
use crate::service::chains::live::{Live, LiveChain};
use crate::service::{Error, Service};
use crate::store::Changes;
use crate::worker::watch_chain::{ChainWakers, Follower, Pace, Watch};
use std::sync::Arc;
use std::time::Duration;

/// The most of what was seen that one transaction takes in, so that others are not kept waiting.
const OUTPUTS_MAX: usize = 200;
/// How long it goes on taking in.
const PART_MS_MAX: i64 = 50;
/// How long all chains together have at the end to bring their steps to an end. What waits for a node loses nothing by it.
const END_WAIT: Duration = Duration::from_millis(300);

/// Nodes and signer as live mode knows them.
pub(crate) fn live(nodes: &Nodes, has_signer: bool) -> Live {
    let chains = nodes.of_chains.iter().map(|node| LiveChain {
        chain: node.chain,
        node: node.shown(),
        tokens: node.tokens().collect(),
    });
    Live::of(chains.collect(), nodes.test_networks).with_signer(has_signer)
}

/// What is watched hears of a commit, before anybody else does.
pub(super) fn tell(pools: &Pools, changes: &Changes) {
    if changes.everything {
        pools.doubt();
    }
    for (chain, address) in &changes.addresses {
        pools.insert(*chain, address);
    }
}

/// Starts to follow every chain that has a node.
pub(super) fn start(
    nodes: &Nodes,
    service: &Arc<Service>,
    (pools, chain_wakers): (&Pools, &ChainWakers),
    clock: &Arc<Clock>,
) -> Result<Vec<Follower>, Error> {
    let start = |node: &crate::chain::setting::ChainNode| {
        let chain = node.chain;
        let watch = Watch {
            service: Arc::downgrade(service),
            chain,
            addresses: pools.of(chain),
            blocks_max: chain.row().step_blocks_max,
            outputs_max: OUTPUTS_MAX,
            part_ms_max: PART_MS_MAX,
            test_networks: nodes.test_networks,
            was_rescan: false,
            has_rescan: false,
            rescan_problem: None,
            final_problem: None,
            is_connected: false,
            network: None,
            unread: None,
        };
        log::info!("{chain}: followed through {}", node.shown());
        let connect = Box::new(Urls::new(node.clone()));
        let clock = Arc::clone(clock);
        let started = Follower::start(
            watch,
            connect,
            clock,
            Pace::of(chain),
            chain_wakers.of(chain),
        );
        started.map_err(|error| Error::Failed(format!("{chain} cannot be followed: {error}")))
    };
    nodes.of_chains.iter().map(start).collect()
}

/// Asks every chain to end, without waiting.
pub(super) fn ask_to_stop(followers: &[Follower]) {
    followers.iter().for_each(Follower::ask_to_stop);
}

/// Gives each a moment to end.
pub(super) fn wait(followers: &[Follower]) {
    let chains = u32::try_from(followers.len()).unwrap_or(u32::MAX);
    let share = END_WAIT.checked_div(chains).unwrap_or_default();
    for follower in followers {
        // One that does not holds no file, and loses nothing.
        let _ = follower.has_ended(share);
    }
}

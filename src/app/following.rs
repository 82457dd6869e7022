//! Follows the chains, each on its own thread, through the nodes that the settings or the file name.
//!
//! Invariant: neither start nor stop waits for a node.

use super::Config;
use crate::chain::follow::AddressPools;
use crate::chain::rpc::RequestWatch;
use crate::chain::setting::probe::try_node;
use crate::chain::setting::{ChainNodes, FollowedNodeUrls};
use crate::chain::urls::NodeUrls;
use crate::clock::Clock;
use crate::domain::chain::Chain;
use crate::service::followed::nodes::{NodeAnswer, NodeControl, remove_nodes_of_other_url};
use crate::service::followed::{LiveChain, LiveMode};
use crate::service::{Error, Service};
use crate::store::chain_nodes::{self, ChainNodeRow};
use crate::store::{Changes, FileKind, Store};
use crate::worker::watch_chain::{ChainWaker, ChainWakers, ChainWatch, Follower, PollIntervals};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// Maximum wait for the end of all chain threads at shutdown. A thread that still waits for its node loses no data.
const END_WAIT: Duration = Duration::from_millis(300);

/// Returns the chains, tokens and signer that are available in live mode.
pub(crate) fn live_mode(nodes: &FollowedNodeUrls, has_signer: bool) -> LiveMode {
    let chains = nodes.of_chains.iter().map(live_chain);
    LiveMode::new(chains.collect(), nodes.test_networks).with_signer(has_signer)
}

fn live_chain(node: &ChainNodes) -> LiveChain {
    LiveChain { chain: node.chain, node: node.label(), tokens: node.tokens().collect() }
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

/// The threads that follow chains, and the nodes that the settings name. An operator may enter further nodes.
pub(super) struct Followers {
    configured: FollowedNodeUrls,
    service: Weak<Service>,
    pools: Arc<AddressPools>,
    wakers: Arc<ChainWakers>,
    clock: Arc<Clock>,
    running: Mutex<RunningFollowers>,
}

#[derive(Default)]
struct RunningFollowers {
    followers: Vec<(Chain, Follower)>,
    /// `true` once the server stops. No thread is started any more.
    is_closed: bool,
}

impl Followers {
    /// Creates the followers without a thread.
    pub(super) fn new(
        configured: FollowedNodeUrls,
        service: &Arc<Service>,
        pools: Arc<AddressPools>,
        wakers: Arc<ChainWakers>,
        clock: Arc<Clock>,
    ) -> Followers {
        let service = Arc::downgrade(service);
        Followers { configured, service, pools, wakers, clock, running: Mutex::default() }
    }

    pub(super) fn start_all(&self, nodes: &FollowedNodeUrls) -> Result<(), Error> {
        let mut running = self.lock_running();
        for node in &nodes.of_chains {
            let follower = self.start(node, self.wakers.for_chain(node.chain), None)?;
            running.followers.push((node.chain, follower));
        }
        Ok(())
    }

    fn lock_running(&self) -> MutexGuard<'_, RunningFollowers> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the thread of a chain, which waits for the end of the previous one.
    fn start(
        &self,
        node: &ChainNodes,
        waker: Arc<ChainWaker>,
        previous: Option<Follower>,
    ) -> Result<Follower, Error> {
        let chain = node.chain;
        let watch = ChainWatch {
            test_networks: self.configured.test_networks,
            ..ChainWatch::new(Weak::clone(&self.service), chain, self.pools.for_chain(chain))
        };
        log::info!("chain configured: chain={chain} node={}", node.label());
        let connect = Box::new(NodeUrls::new(node.clone()).with_watch(self.request_watch(chain)));
        let pace = PollIntervals::for_chain(chain);
        let clock = Arc::clone(&self.clock);
        let started = Follower::start(watch, connect, clock, pace, waker, previous);
        started.map_err(|error| Error::Failed(format!("{chain} cannot be followed: {error}")))
    }

    fn request_watch(&self, chain: Chain) -> RequestWatch {
        let (service, clock) = (Weak::clone(&self.service), Arc::clone(&self.clock));
        RequestWatch::new(move |begins| {
            if let Some(service) = service.upgrade() {
                service.record_request(chain, begins.then(|| clock.now()));
            }
        })
    }

    /// Asks every chain thread to end, without waiting. No thread is started any more.
    pub(super) fn ask_to_stop(&self) {
        let mut running = self.lock_running();
        running.is_closed = true;
        running.followers.iter().for_each(|(_, follower)| follower.ask_to_stop());
    }

    /// Waits a limited time for the end of all chain threads.
    pub(super) fn wait_for_end(&self) {
        let running = self.lock_running();
        let chains = u32::try_from(running.followers.len()).unwrap_or(u32::MAX);
        let share = END_WAIT.checked_div(chains).unwrap_or_default();
        for (_, follower) in &running.followers {
            // The server stops even if the thread has not ended. Such a thread holds no file and loses no data.
            let _ = follower.wait_for_end(share);
        }
    }
}

impl NodeControl for Followers {
    fn configured_label(&self, chain: Chain) -> Option<String> {
        self.configured.find(chain).map(ChainNodes::label)
    }

    fn check_url(&self, chain: Chain, url: &str) -> Result<String, String> {
        ChainNodes::parse_stored(chain, url).map(|node| node.label())
    }

    fn try_node(&self, chain: Chain, url: &str) -> Result<NodeAnswer, String> {
        let node = ChainNodes::parse_stored(chain, url)?;
        let found = try_node(&node, self.configured.test_networks)?;
        Ok(NodeAnswer { network: found.network, height: found.height })
    }

    fn follow_stored(&self, chain: Chain) -> Result<(), Error> {
        let Some(service) = self.service.upgrade() else {
            return Ok(());
        };
        // The lock is held over the read, so that of two changes the one in the file is followed.
        let mut running = self.lock_running();
        if running.is_closed {
            return Ok(());
        }
        let stored = service.stored_chain_node(chain)?;
        let node = stored.and_then(|row| parse_row(&row));
        let place = running.followers.iter().position(|(of, _)| *of == chain);
        let previous = place.map(|place| running.followers.swap_remove(place).1);
        if let Some(previous) = &previous {
            previous.ask_to_stop();
        }
        service.set_live_chain(chain, node.as_ref().map(live_chain));
        let current = match node {
            Some(node) => Some(self.start(&node, self.wakers.renew_for_chain(chain), previous)?),
            // A thread that was asked to end stays in the list, so that the next thread waits for its end.
            None => previous,
        };
        running.followers.extend(current.map(|follower| (chain, follower)));
        Ok(())
    }
}

/// Returns the node of a row, unless its url was removed. A url that is no longer valid is logged.
fn parse_row(row: &ChainNodeRow) -> Option<ChainNodes> {
    let node = ChainNodes::parse_stored(row.chain, row.url.as_ref()?);
    node.inspect_err(|problem| {
        log::error!("stored node not followed: chain={} reason={problem}", row.chain);
    })
    .ok()
}

/// Adds the nodes of the file for chains that the settings name no nodes for.
pub(crate) fn with_stored_nodes(
    configured: &FollowedNodeUrls,
    rows: &[ChainNodeRow],
) -> FollowedNodeUrls {
    let mut nodes = configured.clone();
    let rows = rows.iter().filter(|row| configured.find(row.chain).is_none());
    nodes.of_chains.extend(rows.filter_map(parse_row));
    nodes
}

/// Returns the nodes of the settings, and the nodes of the file for other chains. A sandbox has none. After a restore
/// under another public url, the nodes of the file are removed first.
pub(super) fn followed_nodes(
    config: &Config,
    store: &Store,
    url: &str,
    clock: &Clock,
) -> Result<FollowedNodeUrls, Error> {
    if config.kind == FileKind::Sandbox {
        return Ok(FollowedNodeUrls::default());
    }
    let (now, url) = (clock.now(), url.to_owned());
    let foreign = store.read(|db| Ok::<_, Error>(chain_nodes::of_other_url(db, &url)?))?;
    if !foreign.is_empty() {
        let removed = store.write_and_wait(move |tx| remove_nodes_of_other_url(tx, now, &url));
        // A file that cannot be written keeps the nodes, which are not followed all the same.
        let error = removed.err().map_or_else(String::new, |error| format!(" error={error}"));
        for row in &foreign {
            log::warn!("node removed after restore: chain={}{error}", row.chain);
        }
    }
    let mut rows = store.read(|db| Ok::<_, Error>(chain_nodes::all(db)?))?;
    rows.retain(|row| foreign.iter().all(|other| other.chain != row.chain));
    Ok(with_stored_nodes(&config.nodes, &rows))
}

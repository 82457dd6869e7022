//! Chains that are followed in live mode, and the state that their followers report.
//!
//! Invariant: an address is handed out only for a network that is followed.

pub mod nodes;
mod offer;
mod polled;
mod reported_state;
mod reports;
pub mod rescans;
mod unowned_addresses;
mod views;

use super::{Error, Service};
use crate::domain::asset::Chain;
use crate::domain::chain::CHAINS;
use crate::domain::payable_address::reason_not_to_send;
use crate::domain::{
    Asset, FeeEstimate, LaggingChains, Mode, Network, Refusal, Time, Wallet, WalletNetwork, address,
};
use crate::store::chain_cursors::ChainCursor;
use crate::store::wallets::{self, WalletRow};
use crate::store::{Reader, chain_cursors, chains};
pub use reported_state::ReportedChainState;

use polled::PolledAddresses;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use unowned_addresses::UnownedAddresses;

/// Settings of a chain that is followed.
#[derive(Clone, Debug)]
pub struct LiveChain {
    /// Followed chain.
    pub chain: Chain,
    /// URLs of the chain's nodes, reduced to scheme, host, port and path.
    pub node: String,
    /// Coins whose contracts the operator's settings name.
    pub tokens: Vec<&'static str>,
}

/// A chain that is followed, with its latest state.
#[derive(Debug)]
pub struct FollowedChain {
    /// Settings of the chain.
    pub live: LiveChain,
    said: Mutex<ReportedChainState>,
}

impl FollowedChain {
    fn new(live: LiveChain) -> Arc<FollowedChain> {
        Arc::new(FollowedChain { live, said: Mutex::default() })
    }
}

/// Settings of live mode, and the latest state of its chains.
#[derive(Debug, Default)]
pub struct LiveMode {
    /// Chains that have nodes. An operator may add and remove chains.
    chains: RwLock<Vec<Arc<FollowedChain>>>,
    test_networks: bool,
    /// `true` if a signer command sends approved transfers.
    has_signer: bool,
    /// Wallet addresses without an owner.
    pub(super) unowned: UnownedAddresses,
    /// Addresses that a step queries at the node one by one.
    open_addresses: PolledAddresses,
}

impl LiveMode {
    /// Creates live mode with these chains. `test_networks` allows chains of test networks.
    pub fn new(chains: Vec<LiveChain>, test_networks: bool) -> LiveMode {
        let chains = chains.into_iter().map(FollowedChain::new).collect();
        LiveMode {
            chains: RwLock::new(chains),
            test_networks,
            has_signer: false,
            unowned: UnownedAddresses::default(),
            open_addresses: PolledAddresses::default(),
        }
    }

    /// Sets whether a signer command sends approved transfers.
    pub fn with_signer(self, has_signer: bool) -> LiveMode {
        LiveMode { has_signer, ..self }
    }

    /// Returns `true` if a signer command sends approved transfers.
    pub(in crate::service) fn has_signer(&self) -> bool {
        self.has_signer
    }

    /// Returns `true` if the settings name a node of the chain.
    pub(in crate::service) fn has_node(&self, chain: Chain) -> bool {
        self.has_chain(chain, |_| true)
    }

    /// Sets or removes the settings of a chain. The latest state of the chain is forgotten.
    pub(super) fn set_chain(&self, chain: Chain, live: Option<LiveChain>) {
        let mut chains = self.chains.write().unwrap_or_else(PoisonError::into_inner);
        chains.retain(|one| one.live.chain != chain);
        chains.extend(live.map(FollowedChain::new));
    }

    /// Returns `true` if the settings of the chain fulfil a condition. `false` for a chain without a node.
    pub(super) fn has_chain(&self, chain: Chain, is: impl Fn(&LiveChain) -> bool) -> bool {
        let chains = self.chains.read().unwrap_or_else(PoisonError::into_inner);
        chains.iter().any(|one| one.live.chain == chain && is(&one.live))
    }

    /// Returns the height of the newest block that the chain's node has reported to this server.
    pub(in crate::service) fn head_height(&self, chain: Chain) -> Option<u32> {
        let states = self.chain_states();
        let mut states = states.iter().filter(|(followed, _)| followed.live.chain == chain);
        states.next().and_then(|(_, said)| said.head_height)
    }

    /// Returns the newest fee estimate of a chain's node.
    pub(in crate::service) fn fee_estimate(&self, chain: Chain) -> Option<FeeEstimate> {
        let chains = self.chain_states();
        let found = chains.iter().find(|(one, _)| one.live.chain == chain);
        found?.1.fee_estimate
    }

    pub(in crate::service) fn is_unowned_address(&self, chain: Chain, address: &str) -> bool {
        self.unowned.find_index(chain, address).is_some()
    }

    pub(super) fn chain_states(&self) -> Vec<(Arc<FollowedChain>, ReportedChainState)> {
        let chains = self.chains.read().unwrap_or_else(PoisonError::into_inner).clone();
        let state = |one: Arc<FollowedChain>| {
            let said = one.said.lock().unwrap_or_else(PoisonError::into_inner).clone();
            (one, said)
        };
        chains.into_iter().map(state).collect()
    }

    pub(super) fn allows_test_networks(&self) -> bool {
        self.test_networks
    }

    pub(super) fn update_state(&self, chain: Chain, say: impl FnOnce(&mut ReportedChainState)) {
        let chains = self.chains.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(one) = chains.iter().find(|one| one.live.chain == chain) {
            say(&mut one.said.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }
}

impl Service {
    /// Returns `true` if the chain of a coin has been read recently enough for the coin to be selected.
    pub(in crate::service) fn is_chain_recently_read(
        &self,
        scanned: &LaggingChains,
        mode: Mode,
        asset: &Asset,
        now: Time,
    ) -> bool {
        let chain = asset.chain;
        let is_unread = mode.is_live()
            && (self.live.chain_states().iter())
                .any(|(one, said)| one.live.chain == chain && said.is_unread(chain, now));
        !is_unread && scanned.is_on_offer(mode, asset, now)
    }

    /// Returns the canonical text of an address to which money may be sent: [`reason_not_to_send`] finds no reason.
    ///
    /// In simulated mode, any network is accepted. With test networks allowed, only the network on which the chain is
    /// followed is accepted. Otherwise only the main network is accepted.
    ///
    /// # Errors
    ///
    /// The error text is the end of a sentence that begins with the field's name.
    pub(in crate::service) fn valid_destination(
        &self,
        db: &Reader<'_>,
        mode: Mode,
        chain: Chain,
        text: &str,
    ) -> Result<Result<String, String>, Error> {
        let of_any = |networks: &[Network]| {
            let parsed = address::parse_on_any_network(chain, networks, text);
            parsed.map(|(_, canonical)| canonical)
        };
        let parsed = if self.is_simulated(mode) {
            of_any(&Network::BOTH)
        } else if !self.live.test_networks {
            of_any(&[Network::Main])
        } else {
            match chain_cursors::of_chain(db, chain)? {
                Some(cursor) => address::parse_on_named_network(chain, &cursor.network, text),
                None => of_any(&Network::BOTH),
            }
        };
        let parsed = parsed.map_err(|problem| format!("is {problem}"));
        Ok(parsed.and_then(|canonical| {
            reason_not_to_send(chain, text, &canonical).map_or(Ok(canonical), Err)
        }))
    }

    /// Returns the test network on which a chain is followed. Returns `None` on a main network and in simulated mode.
    pub(in crate::service) fn followed_test_network(
        &self,
        db: &Reader<'_>,
        mode: Mode,
        chain: Chain,
    ) -> Result<Option<String>, Error> {
        if self.is_simulated(mode) {
            return Ok(None);
        }
        let network = chain_cursors::of_chain(db, chain)?.map(|cursor| cursor.network);
        Ok(network.filter(|network| !WalletNetwork::Main.includes_node_network(chain, network)))
    }

    /// Returns `true` if coins on this chain have no value. If `chain` is `None`, considers all chains that have a
    /// node.
    ///
    /// If none of these chains was ever reached, the settings decide.
    pub(in crate::service) fn has_test_coins(
        &self,
        db: &Reader<'_>,
        mode: Mode,
        chain: Option<Chain>,
    ) -> Result<bool, Error> {
        if self.is_simulated(mode) {
            return Ok(true);
        }
        let mut cursors = chain_cursors::all(db)?;
        cursors.retain(|cursor| match chain {
            Some(chain) => cursor.chain == chain,
            None => self.live.has_node(cursor.chain),
        });
        let is_main =
            |of: &ChainCursor| WalletNetwork::Main.includes_node_network(of.chain, &of.network);
        Ok(match cursors.as_slice() {
            [] => self.live.test_networks,
            reached => !reached.iter().any(is_main),
        })
    }

    /// Returns the URL of a transaction in a block explorer. Returns `None` in simulated mode and on networks without
    /// an explorer.
    pub(in crate::service) fn explorer_url(
        &self,
        db: &Reader<'_>,
        mode: Mode,
        chain: Chain,
        txid: &str,
    ) -> Result<Option<String>, Error> {
        if self.is_simulated(mode) {
            return Ok(None);
        }
        // A chain that was never followed is assumed to be on its main network.
        let followed_on = chain_cursors::of_chain(db, chain)?.map(|cursor| cursor.network);
        let network = followed_on.as_deref().unwrap_or(chain.row().networks.0);
        Ok(chain.explorer_url(network, txid))
    }

    /// Returns the network on which a live chain is followed. Returns `None` if the chain has no node, was never
    /// reached, is stopped, or is on a test network that is not allowed.
    pub(in crate::service) fn followed_network(
        &self,
        db: &Reader<'_>,
        chain: Chain,
    ) -> Result<Option<String>, Error> {
        if !self.live.has_node(chain) {
            return Ok(None);
        }
        let cursor = chain_cursors::of_chain(db, chain)?.filter(|cursor| cursor.stopped.is_none());
        let network = cursor.map(|cursor| cursor.network);
        let is_taken = |network: &String| {
            self.live.test_networks || WalletNetwork::Main.includes_node_network(chain, network)
        };
        Ok(network.filter(is_taken))
    }

    /// Returns `true` if transactions of a live chain are observed. A chain with imported addresses needs only a
    /// cursor that is not stopped.
    pub(in crate::service) fn is_chain_watched(
        &self,
        db: &Reader<'_>,
        chain: Chain,
    ) -> Result<bool, Error> {
        if !chain.row().imported {
            return Ok(self.followed_network(db, chain)?.is_some());
        }
        let cursor = chain_cursors::of_chain(db, chain)?;
        Ok(cursor.is_some_and(|cursor| cursor.stopped.is_none()))
    }

    /// Returns the network for transfers by hand, which is the network on which the chain is followed. If the chain
    /// has no node and test networks are not allowed, returns the main network.
    pub(in crate::service) fn network_for_sending(
        &self,
        db: &Reader<'_>,
        chain: Chain,
    ) -> Result<Option<String>, Error> {
        if !self.live.has_node(chain) && !self.live.test_networks {
            return Ok(Some(chain.row().networks.0.to_owned()));
        }
        self.followed_network(db, chain)
    }

    /// Returns the wallet that hands out the addresses of a chain's pool, if a chain of that pool is followed.
    pub(in crate::service) fn pool_wallet(
        &self,
        db: &Reader<'_>,
        chain: Chain,
    ) -> Result<Option<WalletRow>, Error> {
        for row in CHAINS.iter().filter(|row| row.pool == chain.address_pool()) {
            if self.followed_network(db, row.chain)?.is_some() {
                return Ok(wallets::active_for_chain(db, chain)?);
            }
        }
        Ok(None)
    }
}

/// Refuses a wallet if its network differs from the network on which a chain of its pool has been followed.
///
/// # Errors
///
/// `invalid_request` that names both networks.
pub(in crate::service) fn check_wallet_network(
    db: &Reader<'_>,
    wallet: &Wallet,
) -> Result<(), Error> {
    let pool = wallet.chain.address_pool();
    for row in CHAINS.iter().filter(|row| row.pool == pool) {
        let cursor = chain_cursors::of_chain(db, row.chain)?;
        let other =
            cursor.filter(|of| !wallet.network.includes_node_network(row.chain, &of.network));
        if let Some(other) = other {
            let (chain, followed, own) = (row.chain, other.network, wallet.network);
            let problem = format!("is {own}, but this file follows {chain} on {followed}");
            return Err(Refusal::field("network", problem).into());
        }
    }
    Ok(())
}

/// Returns a note for the operator if no server has followed a chain of this pool yet. Until a server follows one, no
/// address of the pool is handed out. Otherwise returns `None`.
pub fn unwatched_pool_note(db: &Reader<'_>, chain: Chain) -> Result<Option<String>, Error> {
    let pool = chain.address_pool();
    let cursors = chain_cursors::all(db)?;
    let is_followed = cursors.iter().any(|cursor| cursor.chain.address_pool() == pool);
    Ok((!is_followed).then(|| {
        format!(
            "{pool} is not watched yet, so none of these addresses is handed out: name a node by `coffer serve --node \
             {chain}=URL`"
        )
    }))
}

/// Returns the chains that lag behind the clock, which exist only in live mode.
pub(super) fn lagging_chains(db: &Reader<'_>, mode: Mode) -> Result<LaggingChains, Error> {
    if mode.is_live() { Ok(chains::lagging_chains(db)?) } else { Ok(LaggingChains::default()) }
}

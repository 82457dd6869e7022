//! Which coins can be paid for real: those whose chain has a node and a wallet of the same network.
//!
//! What does not live here: how far a chain lags (`domain::scanned`), rates. What always holds: no address is handed out
//! for a network that nobody looks at.

use super::named::OpenAddresses;
use super::spare::Spare;
use crate::domain::address::{self, Network};
use crate::domain::asset::{Asset, Chain, Mode};
use crate::domain::chain::CHAINS;
use crate::domain::network_fee::FeeEstimate;
use crate::domain::observation::Observation;
use crate::domain::refusal::Refusal;
use crate::domain::requests::RequestCounter;
use crate::domain::scanned::LaggingChains;
use crate::domain::time::{SECOND_MS, Time, span_text};
use crate::domain::wallet::{Wallet, WalletNetwork};
use crate::service::{Error, Service};
use crate::store::chain_cursors::Cursor;
use crate::store::wallets::{self, WalletRow};
use crate::store::{Reader, chain_cursors};
use std::sync::{Mutex, PoisonError};

/// A node that has not answered for so long hangs, in milliseconds.
const ANSWER_MS_MAX: i64 = 5 * SECOND_MS;

/// A chain that is followed, as the settings say.
#[derive(Clone, Debug)]
pub struct LiveChain {
    /// Which chain.
    pub chain: Chain,
    /// Its node's urls, of each the scheme, the host, the port and the place.
    pub node: String,
    /// The coins whose contracts the operator names.
    pub tokens: Vec<&'static str>,
}

/// What whoever follows a chain said last.
#[derive(Clone, Debug, Default)]
pub struct Said {
    /// What is wrong; nothing while all is well.
    pub problem: Option<String>,
    /// How many addresses are watched.
    pub watched: usize,
    /// What its nodes have been asked.
    pub requests: RequestCounter,
    /// Newest fee estimate of its node.
    pub fee_estimate: Option<FeeEstimate>,
    /// Height of the newest block of its node.
    pub head_height: Option<u32>,
    /// Time since which its node has not answered the question for that block.
    pub asked_since: Option<Time>,
    /// `true`: its node does not have a block that it should have.
    pub lacks_block: bool,
    /// Log lines of the step that is being taken.
    pub lines: Vec<String>,
}

impl Said {
    /// Message for a node that lets the question for its newest block wait.
    pub(super) fn hang(&self, now: Time) -> Option<String> {
        let since_ms = now.since_ms(self.asked_since?);
        let is_long = since_ms >= ANSWER_MS_MAX;
        is_long.then(|| format!("its node has not answered for {}", span_text(since_ms)))
    }
}

/// How live mode is set up, and what is heard of its chains.
#[derive(Debug, Default)]
pub struct Live {
    /// The chains that have nodes.
    chains: Vec<(LiveChain, Mutex<Said>)>,
    test_networks: bool,
    /// `true` if a command sends approved transfers.
    has_signer: bool,
    /// Addresses of wallets that nobody has.
    pub(super) spare: Spare,
    /// Addresses that nodes are asked about in every step.
    pub(super) open_addresses: OpenAddresses,
}

impl Live {
    /// Set up with these chains; may they be of test networks?
    pub fn of(chains: Vec<LiveChain>, test_networks: bool) -> Live {
        let chains = chains.into_iter();
        Live {
            chains: chains.map(|one| (one, Mutex::default())).collect(),
            test_networks,
            has_signer: false,
            spare: Spare::default(),
            open_addresses: OpenAddresses::default(),
        }
    }

    /// The same with a command that sends approved transfers, where there is one.
    pub fn with_signer(self, has_signer: bool) -> Live {
        Live { has_signer, ..self }
    }

    /// Returns `true` if a command sends approved transfers.
    pub(in crate::service) fn has_signer(&self) -> bool {
        self.has_signer
    }

    /// Returns `true` if the settings name a node of the chain.
    pub(in crate::service) fn has_node(&self, chain: Chain) -> bool {
        self.of_chain(chain).is_some()
    }

    /// Newest fee estimate of a chain's node.
    pub(in crate::service) fn fee_estimate(&self, chain: Chain) -> Option<FeeEstimate> {
        let mut chains = self.chains();
        let (_, said) = chains.find(|(one, _)| one.chain == chain)?;
        said.fee_estimate
    }

    /// Returns `true` if a wallet of the chain has this address, and nobody was given it.
    pub(in crate::service) fn is_spare(&self, chain: Chain, address: &str) -> bool {
        self.spare.find(chain, address).is_some()
    }

    /// The chains that have nodes, each with what was said of it last.
    pub(super) fn chains(&self) -> impl Iterator<Item = (&LiveChain, Said)> {
        let said = |said: &Mutex<Said>| said.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.chains.iter().map(move |(one, of)| (one, said(of)))
    }

    /// Returns `true` if networks whose coins are worth nothing are taken.
    pub(super) fn takes_test_networks(&self) -> bool {
        self.test_networks
    }

    /// The settings of a chain that has a node.
    pub(super) fn of_chain(&self, chain: Chain) -> Option<&LiveChain> {
        let found = self.chains.iter().find(|(one, _)| one.chain == chain);
        found.map(|(one, _)| one)
    }

    /// Keeps what is said of a chain.
    fn hear(&self, chain: Chain, say: impl FnOnce(&mut Said)) {
        if let Some((_, of)) = self.chains.iter().find(|(one, _)| one.chain == chain) {
            say(&mut of.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }
}

impl Service {
    /// Hears how a chain is, from whoever follows it.
    pub fn hear_of_chain(&self, chain: Chain, problem: Option<String>, watched: usize) {
        self.live.hear(chain, |said| {
            (said.problem, said.watched) = (problem, watched);
        });
    }

    /// Hears whether a chain's node lacks a block that it should have.
    pub fn hear_of_lack(&self, chain: Chain, lacks_block: bool) {
        self.live.hear(chain, |said| said.lacks_block = lacks_block);
    }

    /// Takes the log lines of what was taken in on a chain since the last call.
    pub fn take_lines(&self, chain: Chain) -> Vec<String> {
        let mut lines = Vec::new();
        self.live
            .hear(chain, |said| lines = std::mem::take(&mut said.lines));
        lines
    }

    /// Keeps a log line of what became of a payment, or of what sent a payout or refund, until its transaction is committed.
    pub(super) fn note_seen(&self, noun: &str, what: &str, seen: &Observation) {
        let (asset, chain) = (seen.asset, seen.asset.chain);
        let (txid, position, id) = (&seen.txid, seen.position, asset.id);
        let amount = asset.text(seen.amount);
        let line =
            format!("{noun} {what} txid={txid} position={position} asset={id} amount={amount}");
        self.live.hear(chain, |said| said.lines.push(line));
    }

    /// Hears that a chain's node is asked for its newest block.
    pub fn hear_of_asking(&self, chain: Chain, now: Time) {
        self.live.hear(chain, |said| said.asked_since = Some(now));
    }

    /// Hears that a chain's node has answered, or failed to.
    pub fn hear_of_answer(&self, chain: Chain) {
        self.live.hear(chain, |said| said.asked_since = None);
    }

    /// Hears of the newest block of a chain's node.
    pub fn hear_of_head(&self, chain: Chain, height: u32) {
        self.live.hear(chain, |said| {
            (said.head_height, said.asked_since) = (Some(height), None);
        });
    }

    /// Returns `true` if a coin may be picked as far as reading its chain goes.
    pub(in crate::service) fn is_read(
        &self,
        scanned: &LaggingChains,
        mode: Mode,
        asset: &Asset,
        now: Time,
    ) -> bool {
        let mut chains = self.live.chains();
        let lacks_block = mode.is_live()
            && chains.any(|(one, said)| one.chain == asset.chain && said.lacks_block);
        !lacks_block && scanned.is_on_offer(mode, asset, now)
    }

    /// Hears what sending on a chain costs, as its node says at this moment.
    pub fn hear_of_fees(&self, chain: Chain, estimate: FeeEstimate) {
        self.live
            .hear(chain, |said| said.fee_estimate = Some(estimate));
    }

    /// Hears that so many requests more were made to a chain's nodes.
    pub fn hear_of_requests(&self, now: Time, chain: Chain, more: u64) {
        self.live.hear(chain, |said| said.requests.count(now, more));
    }

    /// The canonical text of an address that money may be sent to. Where nothing real is sent, an address of any network does;
    /// where test networks are followed, one of the chain's own network, as the coins of any other are not these.
    ///
    /// # Errors
    /// The end of a sentence that begins with the field's name.
    pub(in crate::service) fn destination(
        &self,
        db: &Reader<'_>,
        mode: Mode,
        chain: Chain,
        text: &str,
    ) -> Result<Result<String, String>, Error> {
        let of_any = |networks: &[Network]| {
            let parsed = address::parse_on(chain, networks, text);
            parsed.map(|(_, canonical)| canonical)
        };
        let parsed = if self.is_simulated(mode) {
            of_any(&Network::BOTH)
        } else if !self.live.test_networks {
            of_any(&[Network::Main])
        } else {
            match chain_cursors::of_chain(db, chain)? {
                Some(cursor) => address::parse_for(chain, &cursor.network, text),
                None => of_any(&Network::BOTH),
            }
        };
        Ok(parsed.map_err(|problem| format!("is {problem}")))
    }

    /// The test network that a chain is followed on; nothing where its coins are worth something, or it is simulated.
    pub(in crate::service) fn test_network(
        &self,
        db: &Reader<'_>,
        mode: Mode,
        chain: Chain,
    ) -> Result<Option<String>, Error> {
        if self.is_simulated(mode) {
            return Ok(None);
        }
        let network = chain_cursors::of_chain(db, chain)?.map(|cursor| cursor.network);
        Ok(network.filter(|network| !WalletNetwork::Main.agrees_with(chain, network)))
    }

    /// Is what is paid on this chain worth nothing; where none is named, on every chain? A chain that was never reached is of
    /// the networks that the settings allow.
    pub(in crate::service) fn is_for_tests(
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
            None => self.live.of_chain(cursor.chain).is_some(),
        });
        let is_main = |of: &Cursor| WalletNetwork::Main.agrees_with(of.chain, &of.network);
        Ok(match cursors.as_slice() {
            [] => self.live.test_networks,
            reached => !reached.iter().any(is_main),
        })
    }

    /// Where a person looks a transaction up; nothing where no explorer knows it: it is simulated, or of a test network.
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
        // A chain that was never followed is taken for the main one.
        let followed_on = chain_cursors::of_chain(db, chain)?.map(|cursor| cursor.network);
        let network = followed_on.as_deref().unwrap_or(chain.row().networks.0);
        Ok(chain.explorer_url(network, txid))
    }

    /// The network that a live chain is followed on; nothing where it has no node, was never reached, or has been stopped.
    pub(in crate::service) fn followed_on(
        &self,
        db: &Reader<'_>,
        chain: Chain,
    ) -> Result<Option<String>, Error> {
        if self.live.of_chain(chain).is_none() {
            return Ok(None);
        }
        let cursor = chain_cursors::of_chain(db, chain)?.filter(|cursor| cursor.stopped.is_none());
        let network = cursor.map(|cursor| cursor.network);
        let is_taken = |network: &String| {
            self.live.test_networks || WalletNetwork::Main.agrees_with(chain, network)
        };
        Ok(network.filter(is_taken))
    }

    /// Returns `true` if what is sent on a live chain is seen. A chain whose addresses are imported is watched where it has a
    /// cursor.
    pub(in crate::service) fn is_watched(
        &self,
        db: &Reader<'_>,
        chain: Chain,
    ) -> Result<bool, Error> {
        if !chain.row().imported {
            return Ok(self.followed_on(db, chain)?.is_some());
        }
        let cursor = chain_cursors::of_chain(db, chain)?;
        Ok(cursor.is_some_and(|cursor| cursor.stopped.is_none()))
    }

    /// The network that coins are sent on by hand: the one that is followed; the main one where nobody follows the chain, and no
    /// address of a test network is taken.
    pub(in crate::service) fn sent_on(
        &self,
        db: &Reader<'_>,
        chain: Chain,
    ) -> Result<Option<String>, Error> {
        if self.live.of_chain(chain).is_none() && !self.live.test_networks {
            return Ok(Some(chain.row().networks.0.to_owned()));
        }
        self.followed_on(db, chain)
    }

    /// The wallet that hands out the addresses of a chain's pool, if a chain of that pool is followed on its network.
    pub(in crate::service) fn wallet_of(
        &self,
        db: &Reader<'_>,
        chain: Chain,
    ) -> Result<Option<WalletRow>, Error> {
        for row in CHAINS.iter().filter(|row| row.pool == chain.address_pool()) {
            if self.followed_on(db, row.chain)?.is_some() {
                return Ok(wallets::handing_out(db, chain)?);
            }
        }
        Ok(None)
    }
}

/// Refuses a wallet whose addresses are not of the network that a chain of its pool has been followed on.
///
/// # Errors
/// `invalid_request` that names both networks.
pub(in crate::service) fn check_network(db: &Reader<'_>, wallet: &Wallet) -> Result<(), Error> {
    let pool = wallet.chain.address_pool();
    for row in CHAINS.iter().filter(|row| row.pool == pool) {
        let cursor = chain_cursors::of_chain(db, row.chain)?;
        let other = cursor.filter(|of| !wallet.network.agrees_with(row.chain, &of.network));
        if let Some(other) = other {
            let (chain, followed, own) = (row.chain, other.network, wallet.network);
            let problem = format!("is {own}, but this file follows {chain} on {followed}");
            return Err(Refusal::field("network", problem).into());
        }
    }
    Ok(())
}

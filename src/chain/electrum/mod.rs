//! Client of Electrum servers, for bitcoin and litecoin. The operator needs no node.
//!
//! Invariant: a transaction counts only if its id is the hash of its bytes. A confirmation needs a Merkle proof
//! against checked headers. A server can hide payments, so other servers are also queried for each address.

mod aside;
mod chain_tip;
mod conflicts;
mod connection;
mod headers;
mod hex;
mod lookup;
mod proof;
mod reading;
mod reports;
mod server;
mod signature;
mod stream;
mod target;
mod transaction;
mod url;
mod work;

pub use url::{SCHEMES, ServerUrl};

use super::rpc::Limits;
use super::utxo::{describe_genesis, fee_at_rate, network_of_genesis, unix_time};
use super::{BlockRead, Head, LookupResult, MempoolRead, Node, NodeError, WatchTargets};
use crate::domain::asset::ASSETS;
use crate::domain::chain::Chain;
use crate::domain::network_fee::WITHIN_BLOCKS;
use crate::domain::{Asset, Block, ChainState, NodeFees, SetAside, Time};
use aside::UnreadTransaction;
use base16ct::lower::encode_string;
use headers::{HeaderChain, RawHeader};
use hex::{Hash256, format_hash};
use reports::{ProvenLocation, TransactionReport};
use server::Server;
use std::collections::{BTreeMap, HashMap, HashSet};
use transaction::ParsedTransaction;

/// Number of transactions in `returned` above which the map is cleared. A cleared transaction is returned again, but
/// is still stored only once.
const RETURNED_MAX: usize = 200_000;

/// Time limit of a batch of calls to the first server, in milliseconds.
const FIRST_MS_MAX: u64 = 20_000;
/// Time limit of a batch of calls to each other server, in milliseconds.
const OTHERS_MS_MAX: u64 = 5_000;

/// Client of the Electrum servers of one chain.
pub struct Electrum {
    chain: Chain,
    asset: &'static Asset,
    /// Servers of the chain. The first server provides blocks and headers, and all servers provide address histories.
    servers: Vec<Server>,
    /// Network of the first server; `None` until it was checked.
    network: Option<&'static str>,
    /// Number of the first server's connection when the network was last checked.
    checked_on: Option<u64>,
    /// Height and header of the tip that the first server reported.
    server_tip: Option<(u32, RawHeader)>,
    /// Checked headers; `None` before the first use.
    headers: Option<HeaderChain>,
    /// Headers below the lowest header in `headers`, by height. Each header is the parent of the header above it.
    older: BTreeMap<u32, RawHeader>,
    /// Blocks that the database has stored for the active chain, newest first.
    kept: Vec<Block>,
    transactions: HashMap<Hash256, ParsedTransaction>,
    reports: HashMap<Hash256, TransactionReport>,
    /// Transactions that servers report, and do not give or prove.
    unread: HashMap<Hash256, UnreadTransaction>,
    /// Whether the signatures of a transaction are valid; `None` if they cannot be verified.
    verdicts: HashMap<Hash256, Option<bool>>,
    /// Transactions whose signatures could not be verified, as a server did not give what they spend.
    unverified: HashSet<Hash256>,
    proven: HashMap<Hash256, ProvenLocation>,
    /// Script hash of each watched address.
    scripts: HashMap<String, String>,
    /// Timestamps of old blocks by height, from the first server.
    times: HashMap<u32, Time>,
    /// Script hash of each output whose spender must be reported. The key is the transaction id and the position of
    /// the output.
    parents: HashMap<(String, u32), Option<String>>,
    /// Height and block hash of each transaction that the database already has.
    returned: HashMap<Hash256, (u32, Hash256)>,
    /// Height and block hash of each transaction that the current step has returned.
    pending_returned: Vec<(Hash256, (u32, Hash256))>,
}

impl Electrum {
    /// Creates a client; `None` if the chain is not a UTXO chain, or there is no url.
    pub fn new(chain: Chain, urls: Vec<ServerUrl>, limits: Limits) -> Option<Electrum> {
        let asset = ASSETS.iter().find(|asset| asset.chain == chain);
        let asset = asset.filter(|_| chain.has_outputs() && !urls.is_empty())?;
        // Each step waits for the first server, so that the others have less time.
        let first = Limits { timeout_ms: limits.timeout_ms.min(FIRST_MS_MAX), ..limits };
        let others = Limits { timeout_ms: limits.timeout_ms.min(OTHERS_MS_MAX), ..limits };
        let servers = urls
            .into_iter()
            .enumerate()
            .map(|(place, url)| Server::new(url, if place == 0 { first } else { others }));
        Some(Electrum {
            chain,
            asset,
            servers: servers.collect(),
            network: None,
            checked_on: None,
            server_tip: None,
            headers: None,
            older: BTreeMap::new(),
            kept: Vec::new(),
            transactions: HashMap::new(),
            reports: HashMap::new(),
            unread: HashMap::new(),
            verdicts: HashMap::new(),
            unverified: HashSet::new(),
            proven: HashMap::new(),
            scripts: HashMap::new(),
            times: HashMap::new(),
            parents: HashMap::new(),
            returned: HashMap::new(),
            pending_returned: Vec::new(),
        })
    }

    /// Returns the bytes read from and written to all servers, without TLS overhead.
    pub fn traffic_bytes(&self) -> u64 {
        let bytes = self.servers.iter().map(Server::traffic_bytes);
        bytes.fold(0, u64::saturating_add)
    }

    fn server(&mut self, place: usize) -> Result<&mut Server, NodeError> {
        let server = self.servers.get_mut(place);
        server.ok_or_else(|| NodeError::Wrong("it has no url".to_owned()))
    }

    fn invalid_answer(&mut self, place: usize, text: String) -> NodeError {
        match self.server(place) {
            Ok(server) => server.invalid_answer(text),
            Err(error) => error,
        }
    }

    /// Returns the network of the first server. Checks the network again on each new connection.
    fn verify_network(&mut self) -> Result<&'static str, NodeError> {
        let connection = self.server(0)?.ensure_connected()?;
        if let Some(network) = self.network.filter(|_| self.checked_on == Some(connection)) {
            return Ok(network);
        }
        let network = self.network_of_server(0)?;
        if let Some(before) = self.network.filter(|before| *before != network) {
            let what = format!("it is a server of {network}, and was one of {before}");
            return Err(NodeError::Wrong(what));
        }
        self.network = Some(network);
        self.checked_on = Some(connection);
        Ok(network)
    }

    /// Returns the network of a server, by its genesis block.
    fn network_of_server(&mut self, place: usize) -> Result<&'static str, NodeError> {
        let chain = self.chain;
        let first = self.server(place)?.fetch_headers(0, 1)?;
        let Some(first) = first.first().map(|first| format_hash(&first.hash)) else {
            return Err(self.invalid_answer(place, "it does not have the first block".to_owned()));
        };
        network_of_genesis(chain, &first).ok_or_else(|| NodeError::Wrong(describe_genesis(&first)))
    }
}

impl Node for Electrum {
    fn is_queried_by_address(&self) -> bool {
        true
    }

    fn begin_step(&mut self, known: &ChainState) {
        self.kept.clone_from(&known.kept);
        self.pending_returned.clear();
    }

    fn mark_answers_stored(&mut self) {
        if self.returned.len() > RETURNED_MAX {
            self.returned.clear();
        }
        self.returned.extend(self.pending_returned.drain(..));
    }

    fn network(&mut self) -> Result<String, NodeError> {
        self.verify_network().map(str::to_owned)
    }

    fn head(&mut self) -> Result<Head, NodeError> {
        self.verify_network()?;
        let (height, header) = self.server(0)?.fetch_tip()?;
        self.server_tip = Some((height, header));
        if self.headers.is_some() {
            self.sync_headers()?;
        }
        Ok(Head {
            block: Block { height, hash: format_hash(&header.hash) },
            time: block_time(&header)?,
            // A server does not report whether its initial download has ended. Instead, Coffer monitors the age of
            // every node's newest block.
            is_complete: true,
            finalized: None,
        })
    }

    fn block_hash_at(&mut self, height: u32) -> Result<Option<String>, NodeError> {
        self.verify_network()?;
        let header = self.header_at(height)?;
        Ok(header.map(|header| format_hash(&header.hash)))
    }

    fn blocks(
        &mut self,
        from: u32,
        to: u32,
        watched: &dyn WatchTargets,
    ) -> Result<Vec<BlockRead>, NodeError> {
        self.read_blocks(from, to, watched)
    }

    fn late_payments(
        &mut self,
        to: &Block,
        watched: &dyn WatchTargets,
    ) -> Result<Vec<BlockRead>, NodeError> {
        self.read_late_payments(to.height, watched)
    }

    fn mempool(
        &mut self,
        unconfirmed: &[String],
        watched: &dyn WatchTargets,
    ) -> Result<MempoolRead, NodeError> {
        self.read_mempool(unconfirmed, watched)
    }

    fn block_of_transaction(&mut self, txid: &str) -> Result<Option<Block>, NodeError> {
        self.verify_network()?;
        let place = self.find_transaction(txid)?;
        Ok(place.and_then(|place| place.block).map(|(block, _)| block))
    }

    fn look_up_transaction(
        &mut self,
        txid: &str,
        _: &[String],
        watched: &dyn WatchTargets,
    ) -> Result<LookupResult, NodeError> {
        self.look_up(txid, watched)
    }

    fn block_time_at(&mut self, height: u32) -> Result<Option<Time>, NodeError> {
        self.verify_network()?;
        if let Some(header) = self.headers.as_ref().and_then(|headers| headers.header_at(height)) {
            return block_time(header).map(Some);
        }
        // The header needs no proof, because its time only decides at which block reading starts.
        let header = self.server(0)?.fetch_headers(height, 1)?;
        header.first().map(block_time).transpose()
    }

    fn fee_estimate(&mut self) -> Result<Option<NodeFees>, NodeError> {
        self.verify_network()?;
        let rate = self.server(0)?.fetch_fee_rate(WITHIN_BLOCKS)?;
        Ok(rate.as_ref().and_then(fee_at_rate))
    }

    fn sends_notifications(&self) -> bool {
        true
    }

    fn has_notification(&mut self) -> bool {
        self.servers.iter_mut().any(Server::has_notification)
    }

    fn set_aside(&self) -> Vec<SetAside> {
        self.list_set_aside()
    }

    fn asks_again(&self) -> bool {
        let mut first = self.servers.first().into_iter();
        !self.unread.is_empty() || first.any(|server| server.refused_scripts().next().is_some())
    }

    fn lacks_named_block(&self) -> bool {
        self.lowest_blocks_above_tip().next().is_some()
    }

    fn operator_remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if let Some(server) = self.servers.first() {
            remarks.push(server.software.clone());
            let pin = server.fingerprint.map(|seen| encode_string(&seen));
            remarks.extend(pin.map(|pin| format!("certificate sha256={pin}")));
            let most = server.subscriptions_max;
            remarks.extend(most.map(|most| format!("at most {most} addresses a connection")));
        }
        if self.servers.len() < 2 {
            let alone = "one server can hide a payment: name a second one behind a comma, and both are asked";
            remarks.push(alone.to_owned());
        }
        remarks
    }

    fn request_count(&self) -> u64 {
        let calls = self.servers.iter().map(Server::call_count);
        calls.fold(0, u64::saturating_add)
    }
}

fn block_time(header: &RawHeader) -> Result<Time, NodeError> {
    let none = || NodeError::Lied("a block has no time that there is".to_owned());
    unix_time(u64::from(header.unix_time_s())).ok_or_else(none)
}

#[cfg(test)]
mod tests;

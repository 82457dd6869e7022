//! Bitcoin and litecoin by the Electrum protocol: no node of one's own.
//!
//! Invariant: a transaction counts by bytes that hash to its id, and a confirmation by a Merkle proof against headers that
//! were checked. What a server does not tell cannot be known: a second server is asked about every address, too.

mod chain_tip;
mod connection;
mod headers;
mod hex;
mod lookup;
mod proof;
mod reading;
mod server;
mod sighted;
mod stream;
mod target;
mod transaction;
mod url;
mod work;

pub use url::{SCHEMES, ServerUrl};

use super::rpc::Limits;
use super::utxo::{fee_of_rate, moment, network_of, stranger};
use super::{BlockRead, Head, Lookup, MempoolRead, Node, NodeError, Watched};
use crate::domain::asset::{ASSETS, Asset};
use crate::domain::chain::Chain;
use crate::domain::following::Known;
use crate::domain::network_fee::{NodeFees, WITHIN_BLOCKS};
use crate::domain::observation::Block;
use crate::domain::time::Time;
use headers::{Header, Headers};
use hex::{Hash, hash_text};
use server::Server;
use sighted::{Proven, Sighting};
use std::collections::{BTreeMap, HashMap};
use transaction::Transaction;

/// The most transactions that are known to have been told of. What is told twice is written once.
const TOLD_MAX: usize = 200_000;

/// A chain, by one server or more.
pub struct Electrum {
    chain: Chain,
    asset: &'static Asset,
    /// The first tells of the chain; all tell of addresses.
    servers: Vec<Server>,
    /// Network of the first server, and the connection over which it was asked.
    network: Option<&'static str>,
    asked_in: Option<u64>,
    /// Newest header that the first server told of.
    claimed: Option<(u32, Header)>,
    /// The headers that were checked; `None` before the first question that needs them.
    headers: Option<Headers>,
    /// Headers below those, each linked to by the next one.
    older: BTreeMap<u32, Header>,
    /// Blocks of the file that were on the chain, the newest first.
    kept: Vec<Block>,
    /// Transactions of the addresses that are watched.
    transactions: HashMap<Hash, Transaction>,
    /// Where they are.
    sightings: HashMap<Hash, Sighting>,
    /// Blocks that they were proved to be in.
    proven: HashMap<Hash, Proven>,
    /// Hashes of the scripts of the addresses that are watched.
    scripts: HashMap<String, String>,
    /// Times of old blocks, as the first server tells them.
    times: HashMap<u32, Time>,
    /// Hashes of the scripts that outputs of other transactions are of, by transaction and position.
    parents: HashMap<(String, u32), Option<String>>,
    /// Transactions that were told of, with the heights and hashes of their blocks: what the file has.
    told: HashMap<Hash, (u32, Hash)>,
    /// The same of the present step.
    telling: Vec<(Hash, (u32, Hash))>,
}

impl Electrum {
    /// Returns the node of a chain behind these servers; `None` for a chain without outputs.
    pub fn new(chain: Chain, urls: Vec<ServerUrl>, limits: Limits) -> Option<Electrum> {
        let asset = ASSETS.iter().find(|asset| asset.chain == chain);
        let asset = asset.filter(|_| chain.has_outputs() && !urls.is_empty())?;
        let servers = urls.into_iter().map(|url| Server::new(url, limits));
        Some(Electrum {
            chain,
            asset,
            servers: servers.collect(),
            network: None,
            asked_in: None,
            claimed: None,
            headers: None,
            older: BTreeMap::new(),
            kept: Vec::new(),
            transactions: HashMap::new(),
            sightings: HashMap::new(),
            proven: HashMap::new(),
            scripts: HashMap::new(),
            times: HashMap::new(),
            parents: HashMap::new(),
            told: HashMap::new(),
            telling: Vec::new(),
        })
    }

    /// Returns how many bytes were read from the servers and written to them, without those of TLS.
    pub fn bytes(&self) -> u64 {
        let bytes = self.servers.iter().map(Server::bytes);
        bytes.fold(0, u64::saturating_add)
    }

    /// Returns the server at this place.
    fn server(&mut self, place: usize) -> Result<&mut Server, NodeError> {
        let server = self.servers.get_mut(place);
        server.ok_or_else(|| NodeError::Wrong("it has no url".to_owned()))
    }

    fn lied(&mut self, place: usize, text: String) -> NodeError {
        match self.server(place) {
            Ok(server) => server.lied(text),
            Err(error) => error,
        }
    }

    /// Returns the network of the first server, asked anew over each connection.
    fn identified(&mut self) -> Result<&'static str, NodeError> {
        let connection = self.server(0)?.connected()?;
        if let Some(network) = self.network.filter(|_| self.asked_in == Some(connection)) {
            return Ok(network);
        }
        let network = self.network_at(0)?;
        if let Some(before) = self.network.filter(|before| *before != network) {
            let what = format!("it is a server of {network}, and was one of {before}");
            return Err(NodeError::Wrong(what));
        }
        self.network = Some(network);
        self.asked_in = Some(connection);
        Ok(network)
    }

    /// Returns the network of a server, by its first block.
    fn network_at(&mut self, place: usize) -> Result<&'static str, NodeError> {
        let chain = self.chain;
        let first = self.server(place)?.headers(0, 1)?;
        let Some(first) = first.first().map(|first| hash_text(&first.hash)) else {
            return Err(self.lied(place, "it does not have the first block".to_owned()));
        };
        network_of(chain, &first).ok_or_else(|| NodeError::Wrong(stranger(&first)))
    }
}

impl Node for Electrum {
    fn asks_by_name(&self) -> bool {
        true
    }

    fn begin_step(&mut self, known: &Known) {
        self.kept.clone_from(&known.kept);
        self.telling.clear();
    }

    fn taken(&mut self) {
        if self.told.len() > TOLD_MAX {
            self.told.clear();
        }
        self.told.extend(self.telling.drain(..));
    }

    fn network(&mut self) -> Result<String, NodeError> {
        self.identified().map(str::to_owned)
    }

    fn head(&mut self) -> Result<Head, NodeError> {
        self.identified()?;
        let (height, header) = self.server(0)?.head()?;
        self.claimed = Some((height, header));
        if self.headers.is_some() {
            self.sync()?;
        }
        Ok(Head {
            block: Block {
                height,
                hash: hash_text(&header.hash),
            },
            time: time_of(&header)?,
            // A server does not tell whether it is in its first download. How old its head is, is watched for every node.
            is_complete: true,
            finalized: None,
        })
    }

    fn hash_at(&mut self, height: u32) -> Result<Option<String>, NodeError> {
        self.identified()?;
        let header = self.header_at(height)?;
        Ok(header.map(|header| hash_text(&header.hash)))
    }

    fn blocks(
        &mut self,
        from: u32,
        to: u32,
        watched: &dyn Watched,
    ) -> Result<Vec<BlockRead>, NodeError> {
        self.read_blocks(from, to, watched)
    }

    fn late(&mut self, to: &Block, watched: &dyn Watched) -> Result<Vec<BlockRead>, NodeError> {
        self.read_late(to.height, watched)
    }

    fn mempool(
        &mut self,
        unconfirmed: &[String],
        watched: &dyn Watched,
    ) -> Result<MempoolRead, NodeError> {
        self.read_mempool(unconfirmed, watched)
    }

    fn block_of(&mut self, txid: &str) -> Result<Option<Block>, NodeError> {
        self.identified()?;
        let place = self.place_of(txid)?;
        Ok(place.and_then(|place| place.block).map(|(block, _)| block))
    }

    fn transaction(
        &mut self,
        txid: &str,
        _: &[String],
        watched: &dyn Watched,
    ) -> Result<Lookup, NodeError> {
        self.look_up(txid, watched)
    }

    fn time_at(&mut self, height: u32) -> Result<Option<Time>, NodeError> {
        self.identified()?;
        if let Some(header) = self.headers.as_ref().and_then(|headers| headers.at(height)) {
            return time_of(header).map(Some);
        }
        // It tells only where to begin, so no proof is needed.
        let header = self.server(0)?.headers(height, 1)?;
        header.first().map(time_of).transpose()
    }

    fn fees(&mut self) -> Result<Option<NodeFees>, NodeError> {
        self.identified()?;
        let rate = self.server(0)?.fee_rate(WITHIN_BLOCKS)?;
        Ok(rate.as_ref().and_then(fee_of_rate))
    }

    fn tells_news(&self) -> bool {
        true
    }

    fn has_news(&mut self) -> bool {
        self.servers.iter_mut().any(Server::has_news)
    }

    fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if let Some(server) = self.servers.first() {
            remarks.push(server.software.clone());
            let pin = server.fingerprint.map(|seen| hex::text(&seen));
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

    fn requests(&self) -> u64 {
        let calls = self.servers.iter().map(Server::calls);
        calls.fold(0, u64::saturating_add)
    }
}

/// Returns the time of a block.
fn time_of(header: &Header) -> Result<Time, NodeError> {
    let none = || NodeError::Lied("a block has no time that there is".to_owned());
    moment(u64::from(header.time())).ok_or_else(none)
}

#[cfg(test)]
mod tests;

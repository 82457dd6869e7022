//! Chains whose money lies in outputs of transactions, by the own JSON-RPC of their nodes: bitcoin, litecoin, dogecoin.
//!
//! What lives here: what a node is asked, and which of its answers fit together. What does not: how an answer is read
//! (`read`), and what a block does to money that was seen before. What always holds: a block is the one that was asked
//! for, on the active chain, and the child of the one before it; a transaction counts only by such a block or by the
//! mempool, for a node also finds those that are in neither.

mod blocks;
mod fees;
mod lookup;
mod mempool;
mod network;
mod place;
mod read;
mod values;

pub(super) use fees::of_rate as fee_of_rate;
pub(super) use network::{network as network_of, stranger};
pub(super) use read::{Looking, Output as PaidOutput, TxRead as Found};
pub(super) use values::moment;

use super::rpc::{Failure, Rpc};
use super::{BlockRead, Head, Lookup, MempoolRead, Node, NodeError, Watched};
use crate::domain::asset::{ASSETS, Asset};
use crate::domain::chain::Chain;
use crate::domain::network_fee::NodeFees;
use crate::domain::observation::Block;
use crate::domain::time::Time;
use mempool::Mempool;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use values::Hash;

/// The most blocks in one answer of [`Node::blocks`].
const BLOCKS_MAX: u32 = 100;
/// After so many transactions a step has done enough.
const TRANSACTIONS_MAX: usize = 20_000;
/// Codes of the methods' own errors (`src/rpc/protocol.h` of Bitcoin Core).
const MISC_ERROR: i64 = -1;
const TYPE_ERROR: i64 = -3;
const NOT_FOUND: i64 = -5;
const INVALID_PARAMETER: i64 = -8;
const IN_WARMUP: i64 = -28;
const METHOD_NOT_FOUND: i64 = -32601;

/// A node of such a chain.
pub struct Utxo {
    rpc: Rpc,
    chain: Chain,
    asset: &'static Asset,
    network: Option<&'static str>,
    /// Of which [`Rpc::epoch`] the network was asked.
    asked_in: Option<u64>,
    /// Does it show whole transactions in a block? Dogecoin's nodes show their ids.
    shows_transactions: bool,
    /// Height of the lowest block that it still has whole.
    pruned_below: u32,
    mempool: Mempool,
}

#[derive(Deserialize)]
struct ChainInfo {
    blocks: u32,
    headers: u32,
    bestblockhash: Hash,
    /// Nodes of dogecoin before 1.14.6 do not say it.
    initialblockdownload: Option<bool>,
    verificationprogress: Option<serde_json::Number>,
    /// Only pruned nodes say it.
    pruneheight: Option<u32>,
}

#[derive(Deserialize)]
struct NetworkInfo {
    connections: u32,
}

impl Utxo {
    /// The node of this chain that the client leads to; none where the chain has no outputs.
    pub fn new(chain: Chain, rpc: Rpc) -> Option<Utxo> {
        let asset = ASSETS.iter().find(|asset| asset.chain == chain);
        let asset = asset.filter(|_| chain.has_outputs())?;
        Some(Utxo {
            rpc,
            chain,
            asset,
            network: None,
            asked_in: None,
            shows_transactions: true,
            pruned_below: 0,
            mempool: Mempool::default(),
        })
    }

    /// The client, which knows how often it asked and whom.
    pub fn rpc(&self) -> &Rpc {
        &self.rpc
    }

    /// Before anything is believed: is this still a node of the network that it was of?
    fn identified(&mut self) -> Result<&'static str, NodeError> {
        let epoch = self.rpc.epoch();
        if let Some(network) = self.network.filter(|_| self.asked_in == Some(epoch)) {
            return Ok(network);
        }
        let first = self.asked::<Hash>("getblockhash", &json!([0]))?;
        self.is_of(&first)?;
        self.asked_in = Some(epoch);
        // Another node may stand behind the url by now.
        self.shows_transactions = true;
        self.network
            .ok_or_else(|| NodeError::Wrong(stranger(&first.0)))
    }

    /// Checks its first block.
    fn is_of(&mut self, first: &Hash) -> Result<(), NodeError> {
        let found = network::network(self.chain, &first.0);
        let text = match (found, self.network) {
            (None, _) => stranger(&first.0),
            (Some(found), Some(before)) if before != found => {
                format!("it is a node of {found}, and was one of {before}")
            }
            (Some(_), _) => {
                self.network = found;
                return Ok(());
            }
        };
        self.rpc.distrust();
        Err(NodeError::Wrong(text))
    }

    /// A call whose method has no error of its own that means anything here.
    fn asked<T: serde::de::DeserializeOwned>(
        &mut self,
        method: &str,
        params: &Value,
    ) -> Result<T, NodeError> {
        let answer = self.rpc.call(method, params);
        answer.map_err(|failure| unexpected(method, failure))
    }

    fn lied(&mut self, text: String) -> NodeError {
        self.rpc.distrust();
        NodeError::Lied(text)
    }
}

impl Node for Utxo {
    fn network(&mut self) -> Result<String, NodeError> {
        self.identified().map(str::to_owned)
    }

    fn head(&mut self) -> Result<Head, NodeError> {
        let network = self.identified()?;
        let calls = [
            ("getblockchaininfo", Vec::new()),
            ("getnetworkinfo", Vec::new()),
            ("getblockhash", vec![0_u32]),
        ];
        let mut answers = Vec::with_capacity(calls.len());
        for ((method, _), answer) in calls.iter().zip(self.rpc.batch::<Box<RawValue>>(&calls)?) {
            let failed = |error| unexpected(method, Failure::Method(error));
            answers.push(answer.map_err(failed)?);
        }
        let [info, connected, first] = answers.as_slice() else {
            return Err(self.lied("it left out answers".to_owned()));
        };
        let read = || {
            let info: ChainInfo = serde_json::from_str(info.get()).ok()?;
            let connected: NetworkInfo = serde_json::from_str(connected.get()).ok()?;
            let first: Hash = serde_json::from_str(first.get()).ok()?;
            Some((info, connected, first))
        };
        let Some((info, connected, first)) = read() else {
            return Err(self.lied("what it says of its chain is not what was asked".to_owned()));
        };
        // The same url may lead to another node today.
        self.is_of(&first)?;
        self.pruned_below = info.pruneheight.unwrap_or(0);
        let Some(header) = self.on_active_chain(&info.bestblockhash)? else {
            // Another block has come since.
            return Err(NodeError::Behind);
        };
        let Some(time) = moment(header.time).filter(|_| header.height == info.blocks) else {
            return Err(self.lied("the head has another height or no time".to_owned()));
        };
        let is_first_download = info.initialblockdownload.unwrap_or_else(|| {
            let progress = info.verificationprogress.as_ref().map(ToString::to_string);
            let is_done = |text: &str| text.starts_with('1') || text.starts_with("0.999");
            !progress.is_some_and(|text| is_done(&text))
        });
        let is_connected = connected.connections > 0 || network == "regtest";
        Ok(Head {
            block: Block {
                height: header.height,
                hash: info.bestblockhash.0,
            },
            time,
            // Nodes that were told to take back a block may count fewer headers than blocks for a while.
            is_complete: !is_first_download && info.headers <= info.blocks && is_connected,
            finalized: None,
        })
    }

    fn hash_at(&mut self, height: u32) -> Result<Option<String>, NodeError> {
        self.identified()?;
        let hash = self.hashes(height, height)?.into_iter().next();
        Ok(hash.map(|Hash(hash)| hash))
    }

    fn blocks(
        &mut self,
        from: u32,
        to: u32,
        watched: &dyn Watched,
    ) -> Result<Vec<BlockRead>, NodeError> {
        let looking = Looking {
            asset: self.asset,
            network: self.identified()?,
            watched,
        };
        let last = from.saturating_add(BLOCKS_MAX.saturating_sub(1)).min(to);
        let mut blocks: Vec<BlockRead> = Vec::new();
        let mut transactions = 0_usize;
        for (height, hash) in (from..=last).zip(self.hashes(from, last)?) {
            let Some(block) = self.block(height, &hash, looking)? else {
                break;
            };
            let parent = block.parent.unwrap_or_default();
            if let Some(before) = blocks.last().filter(|before| before.block.hash != parent) {
                let before = before.block.clone();
                let still = self.hashes(before.height, before.height)?;
                if still.first().is_some_and(|Hash(hash)| *hash == before.hash) {
                    return Err(
                        self.lied(format!("the block at height {height} has a wrong parent"))
                    );
                }
                // The chain was reorganised while it was read.
                break;
            }
            transactions = transactions.saturating_add(block.counted);
            let mut read = BlockRead {
                block: Block {
                    height,
                    hash: block.hash,
                },
                parent,
                parent_height: height.saturating_sub(1),
                time: block.time,
                received: Vec::new(),
                spent: Vec::new(),
            };
            for one in block.shown {
                read.received.extend(one.received);
                read.spent.extend(one.spent);
            }
            blocks.push(read);
            if transactions >= TRANSACTIONS_MAX {
                break;
            }
        }
        if blocks.is_empty() {
            return Err(NodeError::Behind);
        }
        Ok(blocks)
    }

    fn mempool(
        &mut self,
        unconfirmed: &[String],
        watched: &dyn Watched,
    ) -> Result<MempoolRead, NodeError> {
        let looking = Looking {
            asset: self.asset,
            network: self.identified()?,
            watched,
        };
        self.mempool.read(&mut self.rpc, unconfirmed, looking)
    }

    fn block_of(&mut self, txid: &str) -> Result<Option<Block>, NodeError> {
        self.identified()?;
        self.place_of(txid)
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
        self.read_time_at(height)
    }

    fn fees(&mut self) -> Result<Option<NodeFees>, NodeError> {
        self.estimate()
    }

    fn requests(&self) -> u64 {
        self.rpc.requests()
    }
}

/// An error that no caller has a use for.
fn unexpected(method: &str, failure: Failure) -> NodeError {
    let error = match failure {
        Failure::Node(error) => return error,
        Failure::Method(error) => error,
    };
    let text = format!("{method}: {} ({})", error.message, error.code);
    match error.code {
        IN_WARMUP => NodeError::Unreachable(format!("it is starting: {}", error.message)),
        METHOD_NOT_FOUND => NodeError::Wrong(text),
        _ => NodeError::Unreachable(text),
    }
}

//! Client of bitcoin, litecoin and dogecoin nodes over JSON-RPC.
//!
//! Invariant: a block has the requested height, is on the active chain, and is the child of the block before. A
//! transaction counts only if it is in such a block or in the mempool, because a node also returns other
//! transactions.

mod aside;
mod blocks;
mod fees;
mod lookup;
mod mempool;
mod network;
mod place;
mod read;
mod values;

pub(super) use fees::fee_at_rate;
pub(super) use network::{describe_genesis, network_of_genesis};
pub(super) use read::{OutputScanner, PaidOutput, ScannedTx};
pub(super) use values::unix_time;

use super::rpc::{CallFailure, Rpc};
use super::{BlockRead, Head, LookupResult, MempoolRead, Node, NodeError, WatchTargets};
use crate::domain::asset::ASSETS;
use crate::domain::chain::Chain;
use crate::domain::{Asset, Block, ChainState, NodeFees, SetAside, Time};
use mempool::{Mempool, MempoolSource};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use values::HashText;

/// Largest number of blocks in one result of [`Node::blocks`].
const BLOCKS_MAX: u32 = 100;
/// Number of transactions after which a result of [`Node::blocks`] ends.
const TRANSACTIONS_MAX: usize = 20_000;
/// Error code that bitcoind returns if no more specific code applies (`src/rpc/protocol.h` of Bitcoin Core).
const MISC_ERROR: i64 = -1;
const TYPE_ERROR: i64 = -3;
const NOT_FOUND: i64 = -5;
const INVALID_PARAMETER: i64 = -8;
const IN_WARMUP: i64 = -28;
const METHOD_NOT_FOUND: i64 = -32601;

/// Client of a node of a UTXO chain.
pub struct Utxo {
    rpc: Rpc,
    chain: Chain,
    asset: &'static Asset,
    network: Option<&'static str>,
    /// Value of [`Rpc::failure_epoch`] when the network was checked.
    network_epoch: Option<u64>,
    /// `true` if blocks contain whole transactions. Dogecoin nodes return only transaction ids.
    has_full_blocks: bool,
    /// Height of the lowest block that is not pruned.
    pruned_below: u32,
    /// Hash of the newest block that the node gave last.
    newest: Option<String>,
    /// Hash of the newest block that the node named last and did not have.
    lacked_head: Option<String>,
    mempool: Mempool,
}

#[derive(Deserialize)]
struct ChainInfo {
    blocks: u32,
    headers: u32,
    bestblockhash: HashText,
    /// `true` during the initial download. Missing in the responses of dogecoin nodes before 1.14.6.
    initialblockdownload: Option<bool>,
    verificationprogress: Option<serde_json::Number>,
    /// Height of the lowest block that is not pruned. Missing in the responses of nodes that do not prune.
    pruneheight: Option<u32>,
}

#[derive(Deserialize)]
struct NetworkInfo {
    connections: u32,
}

impl Utxo {
    /// Creates a client; `None` if the chain is not a UTXO chain.
    pub fn new(chain: Chain, rpc: Rpc) -> Option<Utxo> {
        let asset = ASSETS.iter().find(|asset| asset.chain == chain);
        let asset = asset.filter(|_| chain.has_outputs())?;
        Some(Utxo {
            rpc,
            chain,
            asset,
            network: None,
            network_epoch: None,
            has_full_blocks: true,
            pruned_below: 0,
            newest: None,
            lacked_head: None,
            mempool: Mempool::default(),
        })
    }

    /// Returns the JSON-RPC client.
    pub fn rpc(&self) -> &Rpc {
        &self.rpc
    }

    /// Returns the network. After a failed request, checks again that the node has the genesis block of that network.
    fn verify_network(&mut self) -> Result<&'static str, NodeError> {
        let epoch = self.rpc.failure_epoch();
        if let Some(network) = self.network.filter(|_| self.network_epoch == Some(epoch)) {
            return Ok(network);
        }
        let first = self.call_required::<HashText>("getblockhash", &json!([0]))?;
        self.check_genesis(&first)?;
        self.network_epoch = Some(epoch);
        // Another node may answer now, and that node may return whole transactions.
        self.has_full_blocks = true;
        self.network.ok_or_else(|| NodeError::Wrong(describe_genesis(&first.0)))
    }

    fn check_genesis(&mut self, first: &HashText) -> Result<(), NodeError> {
        let found = network_of_genesis(self.chain, &first.0);
        let text = match (found, self.network) {
            (None, _) => describe_genesis(&first.0),
            (Some(found), Some(before)) if before != found => {
                format!("it is a node of {found}, and was one of {before}")
            }
            (Some(_), _) => {
                self.network = found;
                return Ok(());
            }
        };
        self.rpc.distrust_node();
        Err(NodeError::Wrong(text))
    }

    fn call_required<T: serde::de::DeserializeOwned>(
        &mut self,
        method: &str,
        params: &Value,
    ) -> Result<T, NodeError> {
        let answer = self.rpc.call(method, params);
        answer.map_err(|failure| unexpected_error(method, failure))
    }

    fn output_scanner<'a>(
        &mut self,
        watched: &'a dyn WatchTargets,
    ) -> Result<OutputScanner<'a>, NodeError> {
        Ok(OutputScanner { asset: self.asset, network: self.verify_network()?, watched })
    }

    fn invalid_answer(&mut self, text: String) -> NodeError {
        self.rpc.distrust_node();
        NodeError::Lied(text)
    }
}

impl Node for Utxo {
    fn begin_step(&mut self, known: &ChainState) {
        self.mempool.begin_step(known);
    }

    fn network(&mut self) -> Result<String, NodeError> {
        self.verify_network().map(str::to_owned)
    }

    fn head(&mut self) -> Result<Head, NodeError> {
        let network = self.verify_network()?;
        let calls = [
            ("getblockchaininfo", Vec::new()),
            ("getnetworkinfo", Vec::new()),
            ("getblockhash", vec![0_u32]),
        ];
        let mut answers = Vec::with_capacity(calls.len());
        for ((method, _), answer) in calls.iter().zip(self.rpc.batch::<Box<RawValue>>(&calls)?) {
            let failed = |error| unexpected_error(method, CallFailure::Method(error));
            answers.push(answer.map_err(failed)?);
        }
        let [info, connected, first] = answers.as_slice() else {
            return Err(self.invalid_answer("it left out answers".to_owned()));
        };
        let read = || {
            let info: ChainInfo = serde_json::from_str(info.get()).ok()?;
            let connected: NetworkInfo = serde_json::from_str(connected.get()).ok()?;
            let first: HashText = serde_json::from_str(first.get()).ok()?;
            Some((info, connected, first))
        };
        let Some((info, connected, first)) = read() else {
            return Err(
                self.invalid_answer("what it says of its chain is not what was asked".to_owned())
            );
        };
        // Another node may have answered, so its network is checked.
        self.check_genesis(&first)?;
        self.pruned_below = info.pruneheight.unwrap_or(0);
        let Some(header) = self.active_header(&info.bestblockhash)? else {
            // A new block arrived between two requests, unless the node names the same block again.
            let hash = info.bestblockhash.0;
            let text = format!("it does not have its newest block {hash}");
            let is_again = self.lacked_head.replace(hash.clone()) == Some(hash);
            return Err(if is_again { NodeError::Unreachable(text) } else { NodeError::Behind });
        };
        self.lacked_head = None;
        self.newest = Some(info.bestblockhash.0.clone());
        let Some(time) = unix_time(header.time).filter(|_| header.height == info.blocks) else {
            return Err(self.invalid_answer("the head has another height or no time".to_owned()));
        };
        let is_first_download = info.initialblockdownload.unwrap_or_else(|| {
            let progress = info.verificationprogress.as_ref().map(ToString::to_string);
            let is_done = |text: &str| text.starts_with('1') || text.starts_with("0.999");
            !progress.is_some_and(|text| is_done(&text))
        });
        let is_connected = connected.connections > 0 || network == "regtest";
        Ok(Head {
            block: Block { height: header.height, hash: info.bestblockhash.0 },
            time,
            // After `invalidateblock` a node may report fewer headers than blocks for a while.
            is_complete: !is_first_download && info.headers <= info.blocks && is_connected,
            finalized: None,
        })
    }

    fn block_hash_at(&mut self, height: u32) -> Result<Option<String>, NodeError> {
        self.verify_network()?;
        let hash = self.fetch_hashes(height, height)?.into_iter().next();
        Ok(hash.map(|HashText(hash)| hash))
    }

    fn blocks(
        &mut self,
        from: u32,
        to: u32,
        watched: &dyn WatchTargets,
    ) -> Result<Vec<BlockRead>, NodeError> {
        let scanner = self.output_scanner(watched)?;
        let last = from.saturating_add(BLOCKS_MAX.saturating_sub(1)).min(to);
        let mut blocks: Vec<BlockRead> = Vec::new();
        let mut transactions = 0_usize;
        for (height, hash) in (from..=last).zip(self.fetch_hashes(from, last)?) {
            let Some(block) = self.fetch_block(height, &hash, scanner)? else {
                break;
            };
            let parent = block.parent.unwrap_or_default();
            if let Some(before) = blocks.last().filter(|before| before.block.hash != parent) {
                let before = before.block.clone();
                let still = self.fetch_hashes(before.height, before.height)?;
                if still.first().is_some_and(|HashText(hash)| *hash == before.hash) {
                    return Err(self.invalid_answer(format!(
                        "the block at height {height} has a wrong parent"
                    )));
                }
                // A reorg happened within the range.
                break;
            }
            transactions = transactions.saturating_add(block.counted);
            let mut read = BlockRead {
                block: Block { height, hash: block.hash },
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
        watched: &dyn WatchTargets,
    ) -> Result<MempoolRead, NodeError> {
        let scanner = self.output_scanner(watched)?;
        let mut source = MempoolSource::new(&mut self.rpc, scanner, self.newest.as_deref());
        self.mempool.read(&mut source, unconfirmed)
    }

    fn block_of_transaction(&mut self, txid: &str) -> Result<Option<Block>, NodeError> {
        self.verify_network()?;
        self.find_block_of_transaction(txid)
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
        self.read_time_at(height)
    }

    fn fee_estimate(&mut self) -> Result<Option<NodeFees>, NodeError> {
        self.estimate_fee()
    }

    fn set_aside(&self) -> Vec<SetAside> {
        self.mempool.list_set_aside()
    }

    fn request_count(&self) -> u64 {
        self.rpc.call_count()
    }
}

/// Converts the failure of a call that must succeed.
fn unexpected_error(method: &str, failure: CallFailure) -> NodeError {
    let error = match failure {
        CallFailure::Node(error) => return error,
        CallFailure::Method(error) => error,
    };
    let text = format!("{method}: {} ({})", error.message, error.code);
    match error.code {
        IN_WARMUP => NodeError::Unreachable(format!("it is starting: {}", error.message)),
        METHOD_NOT_FOUND => NodeError::Wrong(text),
        _ => NodeError::Unreachable(text),
    }
}

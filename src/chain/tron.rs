//! Client of a Tron node over its HTTP API, for TRX and the listed TRC-20 tokens. Final blocks come from
//! `/walletsolidity`.
//!
//! Invariant: a block id begins with the height of the block, and heights match the request. A receipt counts only
//! for a transaction of the block that was read.
//!
//! If `/walletsolidity` fails, new blocks are read all the same.
//!
//! Cost in requests: 2 for the head, 1 for a range of blocks, 1 for the receipts of a block. For a block that is not
//! final, receipts are requested only if call data contains a token transfer to a watched account.

mod answers;
mod finality;
mod hex;
mod lookup;
mod range;
mod received;

use super::evm::hex::Account;
use super::rpc::{ErrorBody, Rpc, invalid_answer};
use super::tokens::{Tokens, token_accounts_on_network};
use super::{
    BlockRead, FinalProblem, Head, LookupResult, MempoolRead, Node, NodeError, TransactionOutcome,
    WatchTargets,
};
use crate::domain::asset::{ASSETS, Chain};
use crate::domain::{Asset, AssetKind, Block, ChainState, Time};
use answers::{HeaderResponse, TronBlockResponse};
use finality::FinalApi;
use hex::TronId;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

/// Genesis block ids and their networks. The last four bytes of each id are the chain id of Tron in
/// <https://github.com/ethereum-lists/chains>: 728126428, 2494104990 and 3448148188.
const GENESIS_BLOCKS: [(&str, &str); 3] = [
    ("00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc", "mainnet"),
    ("0000000000000000de1aa88295e1fcf982742f773e0419c5a9c134c994a9059e", "shasta"),
    ("0000000000000000d698d4192c56cb6be724a558448e2684802de4d6cd8690dc", "nile"),
];
/// Largest number of blocks in one request: slightly more than the chain produces in a minute.
const SPAN_MAX: u32 = 25;

/// Client of a Tron node.
pub struct Tron {
    rpc: Rpc,
    /// Token contracts from the settings, by coin. They replace the built-in contracts.
    overridden: Tokens,
    /// Native coin of the chain; `None` if Coffer does not list it.
    native: Option<&'static Asset>,
    known: Option<TronIdentity>,
    /// Current number of blocks in one request.
    span: u32,
    /// Height of the newest final block that the node returned.
    finalized: Option<u32>,
    finality: FinalApi,
    /// `true` if the node returns internal transactions. `None` until a contract call was read.
    has_internal: Option<bool>,
}

/// Network and tokens of the node. Valid until a request fails, because the next request may reach another node.
#[derive(Clone)]
struct TronIdentity {
    epoch: u64,
    network: String,
    tokens: Vec<(Account, &'static Asset)>,
}

struct TronHeader {
    block: Block,
    parent: String,
    time: Time,
}

/// API of the node: with all blocks, or only with final blocks.
#[derive(Clone, Copy)]
enum NodeApi {
    /// API with all blocks, also those that a reorg can remove.
    Head,
    Final,
}

impl NodeApi {
    fn method_path(self, method: &str) -> String {
        match self {
            NodeApi::Head => format!("/wallet/{method}"),
            NodeApi::Final => format!("/walletsolidity/{method}"),
        }
    }
}

impl Tron {
    /// Creates a client. `overridden` is for test networks only.
    pub fn new(rpc: Rpc, overridden: Tokens) -> Tron {
        let is_native =
            |asset: &&Asset| asset.chain == Chain::Tron && asset.kind == AssetKind::Native;
        Tron {
            rpc,
            overridden,
            native: ASSETS.iter().find(is_native),
            known: None,
            span: SPAN_MAX,
            finalized: None,
            finality: FinalApi::default(),
            has_internal: None,
        }
    }

    fn post<T: DeserializeOwned + ErrorBody>(
        &mut self,
        side: NodeApi,
        method: &str,
        body: &impl Serialize,
    ) -> Result<T, NodeError> {
        let path = side.method_path(method);
        if let NodeApi::Final = side {
            self.finality.set_path(&path);
        }
        self.rpc.post(&path, body)
    }

    /// Requests the genesis block and looks up the token contracts of its network.
    fn fetch_identity(&mut self) -> Result<TronIdentity, NodeError> {
        let first: HeaderResponse =
            self.post(NodeApi::Head, "getblockbynum", &json!({ "num": 0 }))?;
        let id = first.id.ok_or(NodeError::Behind)?.to_string();
        let mut networks = GENESIS_BLOCKS.iter();
        let network = networks.find(|(first, _)| *first == id);
        let network = network.map_or_else(
            || format!("that of the first block {id}"),
            |(_, network)| (*network).to_owned(),
        );
        Ok(TronIdentity {
            epoch: self.rpc.failure_epoch(),
            tokens: token_accounts_on_network(Chain::Tron, &network, &self.overridden)?,
            network,
        })
    }

    /// Returns network and tokens. After a failed request, requests both again, and rejects the node if it is on
    /// another network.
    fn verify_identity(&mut self) -> Result<TronIdentity, NodeError> {
        let epoch = self.rpc.failure_epoch();
        let before = match &self.known {
            Some(known) if known.epoch == epoch => return Ok(known.clone()),
            Some(known) => Some(known.network.clone()),
            None => None,
        };
        let known = self.fetch_identity()?;
        if let Some(before) = before.filter(|before| *before != known.network) {
            self.rpc.distrust_node();
            let now = known.network;
            return Err(NodeError::Wrong(format!(
                "it is of the network {now}, and was of {before}"
            )));
        }
        self.known = Some(known.clone());
        Ok(known)
    }

    /// Fetches the header at a height; `None` if the node has no block there.
    fn fetch_header(&mut self, height: u32) -> Result<Option<TronHeader>, NodeError> {
        let body = json!({ "num": height });
        let answer: HeaderResponse = self.post(NodeApi::Head, "getblockbynum", &body)?;
        match parse_header(&answer)? {
            Some(header) if header.block.height != height => {
                Err(invalid_answer("it answers a block of another height"))
            }
            header => Ok(header),
        }
    }

    fn read_head(&mut self) -> Result<Head, NodeError> {
        self.verify_identity()?;
        let newest: HeaderResponse = self.post(NodeApi::Head, "getnowblock", &json!({}))?;
        let newest = parse_header(&newest)?.ok_or(NodeError::Behind)?;
        self.update_final_height(newest.block.height);
        Ok(Head {
            block: newest.block,
            time: newest.time,
            is_complete: true,
            finalized: self.finalized,
        })
    }
}

impl Node for Tron {
    fn begin_step(&mut self, known: &ChainState) {
        self.finality.begin_step(known);
    }

    fn network(&mut self) -> Result<String, NodeError> {
        let known = self.verify_identity();
        Ok(self.rpc.distrust_if_invalid(known)?.network)
    }

    fn head(&mut self) -> Result<Head, NodeError> {
        let head = self.read_head();
        self.rpc.distrust_if_invalid(head)
    }

    fn block_hash_at(&mut self, height: u32) -> Result<Option<String>, NodeError> {
        let known = self.verify_identity();
        let header = known.and_then(|_| self.fetch_header(height));
        let header = self.rpc.distrust_if_invalid(header)?;
        Ok(header.map(|header| header.block.hash))
    }

    fn blocks(
        &mut self,
        from: u32,
        to: u32,
        watched: &dyn WatchTargets,
    ) -> Result<Vec<BlockRead>, NodeError> {
        let blocks = self.read_range(from, to, watched);
        self.rpc.distrust_if_invalid(blocks)
    }

    /// Payments on Tron are watched only once they are in a block.
    fn mempool(&mut self, _: &[String], _: &dyn WatchTargets) -> Result<MempoolRead, NodeError> {
        Ok(MempoolRead::default())
    }

    fn block_of_transaction(&mut self, txid: &str) -> Result<Option<Block>, NodeError> {
        let carried = self.transaction_outcome(txid)?;
        Ok(carried.map(|carried| carried.block))
    }

    fn transaction_outcome(&mut self, txid: &str) -> Result<Option<TransactionOutcome>, NodeError> {
        let found = self.find_in_block(txid);
        let found = self.rpc.distrust_if_invalid(found)?;
        Ok(found.map(|found| TransactionOutcome {
            block: found.header.block,
            time: found.header.time,
            is_done: found.is_done,
        }))
    }

    fn look_up_transaction(
        &mut self,
        txid: &str,
        native_to: &[String],
        watched: &dyn WatchTargets,
    ) -> Result<LookupResult, NodeError> {
        let found = self.look_up(txid, native_to, watched);
        self.rpc.distrust_if_invalid(found)
    }

    fn block_time_at(&mut self, height: u32) -> Result<Option<Time>, NodeError> {
        let known = self.verify_identity();
        let header = known.and_then(|_| self.fetch_header(height));
        let header = self.rpc.distrust_if_invalid(header)?;
        Ok(header.map(|header| header.time))
    }

    fn final_problem(&self) -> Option<&FinalProblem> {
        self.finality.problem()
    }

    fn request_count(&self) -> u64 {
        self.rpc.call_count()
    }

    fn has_traces(&self) -> Option<bool> {
        self.has_internal
    }
}

/// Reads a block header; `None` if the node has no such block.
fn parse_header<T>(answer: &TronBlockResponse<T>) -> Result<Option<TronHeader>, NodeError> {
    let Some(id) = answer.id else {
        return Ok(None);
    };
    let data = &answer.block_header.raw_data;
    let height = data.number;
    if id.height() != u64::from(height) {
        return Err(invalid_answer("the id of a block does not begin with its height"));
    }
    let parent = data.parent_hash.ok_or_else(|| invalid_answer("a block has no parent"))?;
    let before = height.checked_sub(1).map(u64::from);
    if before.is_some_and(|before| parent.height() != before) {
        return Err(invalid_answer("the parent of a block is not of the height before it"));
    }
    let time = Some(Time(data.timestamp)).filter(|time| (Time(0)..=Time::MAX).contains(time));
    let time = time.ok_or_else(|| invalid_answer("it answers a block of no time that there is"))?;
    Ok(Some(TronHeader { block: to_block(height, id), parent: parent.to_string(), time }))
}

fn to_block(height: u32, id: TronId) -> Block {
    let hash = id.to_string();
    Block { height, hash }
}

#[cfg(test)]
mod tests {
    use super::{GENESIS_BLOCKS, TronId};
    use crate::domain::asset::Chain;

    #[test]
    fn genesis_block_ends_in_the_chain_id() {
        let (main, tests) = Chain::Tron.row().networks;
        let names = std::iter::once(&main).chain(tests);
        let ids = [728_126_428_u32, 2_494_104_990, 3_448_148_188];
        for ((id, network), (name, chain_id)) in GENESIS_BLOCKS.iter().zip(names.zip(ids)) {
            assert_eq!(network, name);
            assert_eq!(TronId::parse(id).map(TronId::height), Some(0));
            assert!(id.ends_with(&format!("{chain_id:08x}")), "{network}");
        }
    }
}

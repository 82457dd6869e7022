//! Client of an EVM node over Ethereum JSON-RPC, for native coins and tokens.
//!
//! Invariant: a payment counts only if a receipt of the block that was read confirms the payment. The chain id is
//! checked again after each failed request.
//!
//! Number of calls: 2 for the head. If the native coin is not listed, 4 for a range: its first and last block, and 2
//! for logs. Otherwise, 2 for each block of a range (transactions and traces) and 2 for logs. Each transaction with a
//! payment adds 1 call for its receipt, and at most 1 for its block.

mod answers;
mod balances;
mod fees;
pub mod hex;
mod logs;
mod lookup;
mod range;
mod received;
mod trace_support;
mod traces;

pub use logs::TRANSFER;

use super::rpc::{ApartSeed, CallFailure, MethodError, Rpc, invalid_answer};
use super::tokens::{Tokens, token_accounts_on_network};
use super::{
    AccountBalance, BlockRead, FinalProblem, Head, LookupResult, MempoolRead, Node, NodeError,
    TransactionOutcome, WatchTargets,
};
use crate::domain::asset::{ASSETS, Chain};
use crate::domain::time::SECOND_MS;
use crate::domain::{Asset, AssetKind, Block, NodeFees, Time};
use answers::{EvmHeader, Receipt};
use hex::{Account, Number, Word};
use logs::encode_quantity;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::marker::PhantomData;

/// Largest number of blocks read in one range. After a refusal by the node, ranges are shorter.
const SPAN_MAX: u32 = 64;
/// A node of an EVM chain.
pub struct Evm {
    chain: Chain,
    rpc: Rpc,
    /// Token contracts from the settings, by coin. They replace the built-in contracts.
    overridden: Tokens,
    /// Native coin of the chain; `None` if Coffer does not list it.
    native: Option<&'static Asset>,
    known: Option<EvmIdentity>,
    /// Why the node gave no final block with its newest one.
    final_problem: Option<FinalProblem>,
    traces: Option<bool>,
    /// Number of failed trace requests, by block height. Used only while it is unknown whether the node supports
    /// traces.
    trace_refusals: BTreeMap<u32, u32>,
    /// Height below which no traces are requested.
    untraced_below: u32,
    /// Number of rejected receipts, by transaction.
    receipt_mismatches: BTreeMap<Word, u32>,
    /// Current number of blocks read in one range.
    span: u32,
    /// `true` while logs are requested only for certain accounts. `false` after the node refused such a request.
    filters_by_account: bool,
}

/// Network and tokens of the node. Valid until a call fails, because the next call may reach another node.
struct EvmIdentity {
    epoch: u64,
    /// Scheme, host and port of the url.
    endpoint: String,
    /// Chain id, in decimal digits.
    network: String,
    tokens: Vec<(Account, &'static Asset)>,
}

impl Evm {
    /// Creates a client. `overridden` contains the token contracts of a test network.
    pub fn new(chain: Chain, rpc: Rpc, overridden: Tokens) -> Evm {
        let is_native = |asset: &&Asset| asset.chain == chain && asset.kind == AssetKind::Native;
        Evm {
            chain,
            rpc,
            overridden,
            native: ASSETS.iter().find(is_native),
            known: None,
            final_problem: None,
            traces: None,
            trace_refusals: BTreeMap::new(),
            untraced_below: 0,
            receipt_mismatches: BTreeMap::new(),
            span: SPAN_MAX,
            filters_by_account: true,
        }
    }

    /// Returns the JSON-RPC client.
    pub fn rpc(&self) -> &Rpc {
        &self.rpc
    }

    /// Requests the chain id and looks up the token contracts of that network.
    fn fetch_identity(&mut self) -> Result<EvmIdentity, NodeError> {
        let id: Number = self.call_required("eth_chainId", &[(); 0])?;
        let id = id.to_u128().filter(|id| *id > 0);
        let id = id.ok_or_else(|| invalid_answer("its chain id is no number of a chain"))?;
        let network = id.to_string();
        let tokens = token_accounts_on_network(self.chain, &network, &self.overridden)?;
        Ok(EvmIdentity {
            epoch: self.rpc.failure_epoch(),
            endpoint: self.rpc.label().to_owned(),
            network,
            tokens,
        })
    }

    /// Returns the token contracts. After a failed request, checks the chain id again, and rejects the node if it is
    /// on another network.
    fn verify_identity(&mut self) -> Result<Vec<(Account, &'static Asset)>, NodeError> {
        let epoch = self.rpc.failure_epoch();
        let before = match &self.known {
            Some(known) if known.epoch == epoch => return Ok(known.tokens.clone()),
            Some(known) => Some((known.network.clone(), known.endpoint.clone())),
            None => None,
        };
        let known = self.fetch_identity()?;
        if before.as_ref().is_some_and(|(_, endpoint)| *endpoint != known.endpoint) {
            self.forget_trace_support();
        }
        let before = before.map(|(network, _)| network);
        if let Some(before) = before.filter(|before| *before != known.network) {
            self.rpc.distrust_node();
            let now = known.network;
            return Err(NodeError::Wrong(format!(
                "it is of the network with the chain id {now}, and was of {before}"
            )));
        }
        let tokens = known.tokens.clone();
        self.known = Some(known);
        Ok(tokens)
    }

    fn call_required<T: DeserializeOwned>(
        &mut self,
        method: &str,
        params: &impl Serialize,
    ) -> Result<T, NodeError> {
        self.rpc.call(method, params).map_err(|failure| match failure {
            CallFailure::Node(error) => error,
            CallFailure::Method(error) => self.unexpected_error(method, &error),
        })
    }

    /// Makes several calls of methods that must succeed.
    fn call_all_required<T: DeserializeOwned>(
        &mut self,
        calls: &[(&str, impl Serialize)],
    ) -> Result<Vec<T>, NodeError> {
        let mut answers = Vec::with_capacity(calls.len());
        for ((method, _), outcome) in calls.iter().zip(self.rpc.batch(calls)?) {
            answers.push(outcome.map_err(|error| self.unexpected_error(method, &error))?);
        }
        Ok(answers)
    }

    /// Returns the error for a failed call of a method that must succeed.
    fn unexpected_error(&mut self, method: &str, error: &MethodError) -> NodeError {
        if is_unknown_block(error) {
            return NodeError::Behind;
        }
        self.rpc.distrust_node();
        let MethodError { code, message } = error;
        let text = format!("it refuses {method}: {message} ({code})");
        match code {
            -32601 => NodeError::Wrong(text),
            _ => NodeError::Unreachable(text),
        }
    }

    /// Fetches the header of the block at a height; `None` if the node has no block there.
    fn fetch_header(&mut self, height: u32) -> Result<Option<EvmHeader>, NodeError> {
        let params = (encode_quantity(height), false);
        let header: Option<EvmHeader> = self.call_required("eth_getBlockByNumber", &params)?;
        match &header {
            Some(header) if header.number.to_u32() != Some(height) => {
                Err(invalid_answer("it answers a block of another height"))
            }
            _ => Ok(header),
        }
    }

    fn read_head(&mut self) -> Result<Head, NodeError> {
        self.verify_identity()?;
        let calls = ["latest", "finalized"].map(|tag| ("eth_getBlockByNumber", (tag, false)));
        let seed = ApartSeed(PhantomData::<Option<EvmHeader>>);
        let mut answers = self.rpc.batch_with_seed(&calls, seed)?.into_iter();
        let latest = match answers.next() {
            Some(Ok(header)) => header.map_err(|error| self.rpc.unreadable_value(&error))?,
            Some(Err(error)) => return Err(self.unexpected_error("eth_getBlockByNumber", &error)),
            None => None,
        };
        let (block, time) = to_block_and_time(&latest.ok_or(NodeError::Behind)?)?;
        // Another node behind the url may have reported the final block, which may be above the newest block of this
        // node.
        let finalized = match answers.next().map_or(Ok(None), |answer| self.final_height(answer)) {
            Ok(finalized) => finalized.map(|last| last.min(block.height)),
            Err(error) => {
                let asked = format!("eth_getBlockByNumber finalized at {}", self.rpc.label());
                self.final_problem = Some(FinalProblem { asked, error });
                return Ok(Head { block, time, is_complete: true, finalized: None });
            }
        };
        self.final_problem = None;
        Ok(Head { block, time, is_complete: true, finalized })
    }

    /// Returns the height in the answer about the newest final block; `None` if there is no final block yet.
    fn final_height(
        &self,
        answer: Result<Result<Option<EvmHeader>, serde_json::Error>, MethodError>,
    ) -> Result<Option<u32>, NodeError> {
        match answer {
            Ok(Ok(Some(header))) => to_block_and_time(&header).map(|(block, _)| Some(block.height)),
            Ok(Ok(None)) => Ok(None),
            Ok(Err(error)) => Err(self.rpc.unreadable_value(&error)),
            Err(error) if is_unknown_block(&error) => Ok(None),
            Err(MethodError { code, message }) => {
                Err(NodeError::Unreachable(format!("it refuses this: {message} ({code})")))
            }
        }
    }

    fn find_transaction_outcome(
        &mut self,
        txid: &str,
    ) -> Result<Option<TransactionOutcome>, NodeError> {
        self.verify_identity()?;
        let Some(txid) = Word::parse(txid) else {
            return Ok(None);
        };
        let receipt: Option<Receipt> = self.call_required("eth_getTransactionReceipt", &[txid])?;
        let Some(receipt) = receipt else {
            return Ok(None);
        };
        let height = receipt.block_number.to_u32();
        let height = height.filter(|_| receipt.transaction_hash == txid);
        let height = height
            .ok_or_else(|| invalid_answer("it answers the receipt of another transaction"))?;
        let is_done = match receipt.status {
            Number::Small(1) => true,
            Number::Small(0) => false,
            _ => return Err(invalid_answer("a receipt tells of no status that there is")),
        };
        // The receipt may be of a block that a reorg removed.
        let header = self.fetch_header(height)?;
        let canonical = header.filter(|header| header.hash == receipt.block_hash);
        let canonical = canonical.map(|header| to_block_and_time(&header));
        let carried =
            canonical.transpose()?.map(|(block, time)| TransactionOutcome { block, time, is_done });
        Ok(carried)
    }
}

impl Node for Evm {
    fn network(&mut self) -> Result<String, NodeError> {
        let known = self.fetch_identity();
        let known = self.rpc.distrust_if_invalid(known)?;
        let network = known.network.clone();
        (self.span, self.filters_by_account) = (SPAN_MAX, true);
        let is_it = |of: &EvmIdentity| of.network == known.network && of.endpoint == known.endpoint;
        if !self.known.as_ref().is_some_and(is_it) {
            self.forget_trace_support();
        }
        self.probe_traces();
        self.known = Some(known);
        Ok(network)
    }

    fn head(&mut self) -> Result<Head, NodeError> {
        let head = self.read_head();
        self.rpc.distrust_if_invalid(head)
    }

    fn block_hash_at(&mut self, height: u32) -> Result<Option<String>, NodeError> {
        let tokens = self.verify_identity();
        let header = tokens.and_then(|_| self.fetch_header(height));
        let header = self.rpc.distrust_if_invalid(header)?;
        Ok(header.map(|header| header.hash.to_string()))
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

    /// Returns nothing, because payments on EVM chains are watched only once they are in a block.
    fn mempool(&mut self, _: &[String], _: &dyn WatchTargets) -> Result<MempoolRead, NodeError> {
        Ok(MempoolRead::default())
    }

    fn block_of_transaction(&mut self, txid: &str) -> Result<Option<Block>, NodeError> {
        let carried = self.transaction_outcome(txid)?;
        Ok(carried.map(|carried| carried.block))
    }

    fn transaction_outcome(&mut self, txid: &str) -> Result<Option<TransactionOutcome>, NodeError> {
        let carried = self.find_transaction_outcome(txid);
        self.rpc.distrust_if_invalid(carried)
    }

    fn balances_at(
        &mut self,
        accounts: &[String],
        height: u32,
    ) -> Result<Option<Vec<AccountBalance>>, NodeError> {
        let held = self.read_balances(accounts, height);
        self.rpc.distrust_if_invalid(held)
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

    fn block_if_nonce_used(
        &mut self,
        txid: &str,
        sender: &str,
        nonce: u64,
        height: u32,
    ) -> Result<Option<Block>, NodeError> {
        let taken = self.check_nonce_used(txid, sender, nonce, height);
        self.rpc.distrust_if_invalid(taken)
    }

    fn block_time_at(&mut self, height: u32) -> Result<Option<Time>, NodeError> {
        let time = self.read_time_at(height);
        self.rpc.distrust_if_invalid(time)
    }

    fn fee_estimate(&mut self) -> Result<Option<NodeFees>, NodeError> {
        let fees = self.gas_fees();
        self.rpc.distrust_if_invalid(fees)
    }

    fn final_problem(&self) -> Option<&FinalProblem> {
        self.final_problem.as_ref()
    }

    fn request_count(&self) -> u64 {
        self.rpc.call_count()
    }

    fn has_traces(&self) -> Option<bool> {
        self.traces
    }
}

fn to_block_and_time(header: &EvmHeader) -> Result<(Block, Time), NodeError> {
    let height = header.number.to_u32();
    let height =
        height.ok_or_else(|| invalid_answer("it answers a block of no height that there is"))?;
    let seconds = header.timestamp.to_u128().and_then(|seconds| i64::try_from(seconds).ok());
    let time = seconds.and_then(|seconds| seconds.checked_mul(SECOND_MS));
    let time = time.map(Time).filter(|time| *time <= Time::MAX);
    let time = time.ok_or_else(|| invalid_answer("it answers a block of no time that there is"))?;
    let hash = header.hash.to_string();
    Ok((Block { height, hash }, time))
}

/// Returns `true` if the error says that the node does not have the block.
fn is_unknown_block(error: &MethodError) -> bool {
    let text = error.message.to_ascii_lowercase();
    let words = ["unknown block", "not found", "not be found"];
    let says_so = words.iter().any(|word| text.contains(word));
    says_so && error.code != -32601 && !text.contains("method")
}

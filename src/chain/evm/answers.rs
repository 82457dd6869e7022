//! What a node of an EVM chain answers, as far as it is asked for: blocks, logs, receipts, traces.
//!
//! What does not live here: whether it is believed. What always holds: a type holds only what is used, so what an answer has
//! beside it is passed over as it arrives.

use super::hex::{Account, Data, Number, Word};
use serde::Deserialize;
use serde::de::IgnoredAny;

/// A block without its transactions.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EvmHeader {
    pub number: Number,
    pub hash: Word,
    pub parent_hash: Word,
    /// Seconds since 1970.
    pub timestamp: Number,
}

/// A block with its transactions.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EvmBlock {
    pub number: Number,
    pub hash: Word,
    pub parent_hash: Word,
    pub timestamp: Number,
    pub transactions: Vec<EvmTransaction>,
}

/// What a transaction itself carries.
#[derive(Clone, Debug, Deserialize)]
pub struct EvmTransaction {
    pub hash: Word,
    pub from: Account,
    /// None where it makes a contract.
    pub to: Option<Account>,
    /// In wei.
    pub value: Number,
}

/// A transaction as `eth_getTransactionByHash` tells it.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TransactionByHash {
    pub hash: Word,
    /// `None` while it is pending.
    #[serde(default)]
    pub block_hash: Option<Word>,
    pub nonce: Number,
    pub from: Account,
    /// `None` where it makes a contract.
    #[serde(default)]
    pub to: Option<Account>,
    /// In wei.
    pub value: Number,
}

/// A log, as `eth_getLogs` and receipts tell it.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EvmLog {
    pub address: Account,
    pub topics: Vec<Word>,
    pub data: Data,
    pub block_number: Number,
    pub block_hash: Word,
    pub transaction_hash: Word,
    /// Its place in the block.
    pub log_index: Number,
    #[serde(default)]
    pub removed: bool,
}

/// What became of a transaction.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Receipt {
    pub transaction_hash: Word,
    pub transaction_index: Number,
    pub block_hash: Word,
    pub block_number: Number,
    /// 1 where it did what it should, 0 where all of it was taken back.
    pub status: Number,
    pub logs: Vec<EvmLog>,
}

/// One step of what a transaction did, of `trace_block`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Trace {
    #[serde(rename = "type")]
    pub kind: TraceKind,
    pub action: TraceAction,
    /// Why it came to nothing, where it did.
    #[serde(default)]
    pub error: Option<IgnoredAny>,
    #[serde(default)]
    pub result: Option<TraceResult>,
    /// Which call made it: the place among the calls of each of its parents, the transaction's own call left out.
    pub trace_address: Vec<u32>,
    pub block_hash: Option<Word>,
    /// None for what no transaction does, such as a reward.
    #[serde(default)]
    pub transaction_hash: Option<Word>,
}

/// What kind of step it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TraceKind {
    Call,
    Create,
    /// A contract ends.
    #[serde(alias = "selfdestruct")]
    Suicide,
    #[serde(other)]
    Other,
}

/// Whose code a call runs, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CallType {
    /// The called account's, there.
    Call,
    /// In any other way, in none of which money moves.
    #[serde(other)]
    Other,
}

/// What a step was to do. Which of these it has depends on its kind.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TraceAction {
    pub call_type: Option<CallType>,
    pub from: Option<Account>,
    pub to: Option<Account>,
    pub value: Option<Number>,
    /// Of a contract that ended: itself, what it had, and who gets that.
    pub address: Option<Account>,
    pub balance: Option<Number>,
    pub refund_address: Option<Account>,
}

/// What a step made.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct TraceResult {
    /// The contract, where it made one.
    pub address: Option<Account>,
}

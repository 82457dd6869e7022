//! JSON forms of blocks, logs, receipts and traces, as an EVM node returns them.
//!
//! The parser skips unused fields while it reads the response.

use super::hex::{Account, DataPrefix, Number, Word};
use serde::Deserialize;
use serde::de::IgnoredAny;

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EvmHeader {
    pub number: Number,
    pub hash: Word,
    pub parent_hash: Word,
    /// Unix time, in seconds.
    pub timestamp: Number,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EvmBlock {
    pub number: Number,
    pub hash: Word,
    pub parent_hash: Word,
    pub timestamp: Number,
    pub transactions: Vec<EvmTransaction>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct EvmTransaction {
    pub hash: Word,
    pub from: Account,
    /// Recipient; `None` if the transaction creates a contract.
    pub to: Option<Account>,
    /// Amount, in wei.
    pub value: Number,
}

/// A transaction returned by `eth_getTransactionByHash`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TransactionByHash {
    pub hash: Word,
    /// Hash of the block; `None` while the transaction is pending.
    #[serde(default)]
    pub block_hash: Option<Word>,
    pub nonce: Number,
    pub from: Account,
    /// Recipient; `None` if the transaction creates a contract.
    #[serde(default)]
    pub to: Option<Account>,
    /// Amount, in wei.
    pub value: Number,
}

/// A log, as `eth_getLogs` and receipts return it.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EvmLog {
    pub address: Account,
    pub topics: Vec<Word>,
    pub data: DataPrefix,
    pub block_number: Number,
    pub block_hash: Word,
    pub transaction_hash: Word,
    /// Index of the log in the block.
    pub log_index: Number,
    #[serde(default)]
    pub removed: bool,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Receipt {
    pub transaction_hash: Word,
    pub transaction_index: Number,
    pub block_hash: Word,
    pub block_number: Number,
    /// 1 if the transaction succeeded, 0 if it reverted.
    pub status: Number,
    pub logs: Vec<EvmLog>,
}

/// One call frame of a transaction, as `trace_block` returns it.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Trace {
    #[serde(rename = "type")]
    pub kind: TraceKind,
    pub action: TraceAction,
    /// Reason of the failure; `None` if the frame succeeded.
    #[serde(default)]
    pub error: Option<IgnoredAny>,
    #[serde(default)]
    pub result: Option<TraceResult>,
    /// Path of the frame in the call tree. The path has one number for each level below the root: the index of the
    /// frame among the calls of its parent.
    pub trace_address: Vec<u32>,
    pub block_hash: Option<Word>,
    /// Transaction of the frame; `None` for other frames, such as a block reward.
    #[serde(default)]
    pub transaction_hash: Option<Word>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TraceKind {
    Call,
    Create,
    /// A contract destroys itself, and its coins are sent to another account.
    #[serde(alias = "selfdestruct")]
    Suicide,
    #[serde(other)]
    Other,
}

/// Kind of a call. The kind decides which account's code runs, and which account's storage the code uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CallType {
    /// The code of the called account runs with the storage of that account.
    Call,
    /// Any other kind of call. None of these kinds transfers coins.
    #[serde(other)]
    Other,
}

/// Parameters of a call frame. The kind of the frame decides which fields are set.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TraceAction {
    pub call_type: Option<CallType>,
    pub from: Option<Account>,
    pub to: Option<Account>,
    pub value: Option<Number>,
    /// The destroyed contract. Its `balance` is sent to `refund_address`.
    pub address: Option<Account>,
    pub balance: Option<Number>,
    pub refund_address: Option<Account>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct TraceResult {
    /// Address of the created contract; `None` for other frames.
    pub address: Option<Account>,
}

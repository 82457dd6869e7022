//! Responses of Solana JSON-RPC. Unused fields are skipped. Source: <https://solana.com/docs/rpc/http>.

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Commitment {
    /// Two thirds of the stake have voted for the block, which a fork can still remove.
    Confirmed,
    /// The block cannot be removed.
    Finalized,
}

/// A value with the slot at which the node read it.
#[derive(Debug, Deserialize)]
pub struct WithSlot<T> {
    pub context: ResponseContext,
    pub value: T,
}

#[derive(Debug, Deserialize)]
pub struct ResponseContext {
    pub slot: u32,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BlockHeaderJson {
    pub blockhash: String,
    pub previous_blockhash: String,
    pub parent_slot: u32,
    /// Unix time, in seconds.
    #[serde(default)]
    pub block_time: Option<i64>,
}

/// An account with the first bytes of its data.
#[derive(Debug, Deserialize)]
pub struct AccountJson {
    pub lamports: u64,
    /// Program that owns the account.
    pub owner: String,
    /// Data of the account, and the encoding of the data, which is always `base64`.
    pub data: (String, String),
}

/// A transaction in the history of an account.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SignatureInfo {
    pub signature: String,
    pub slot: u32,
    /// Error of the transaction; `None` if it succeeded.
    #[serde(default)]
    pub err: Option<IgnoredAny>,
    /// Unix time, in seconds.
    #[serde(default)]
    pub block_time: Option<i64>,
}

#[derive(Debug, Deserialize)]
pub struct TransactionJson {
    pub slot: u32,
    /// Result of the transaction; `None` if the node did not store it.
    pub meta: Option<TransactionMeta>,
    pub transaction: SignedMessage,
}

#[derive(Debug, Deserialize)]
pub struct SignedMessage {
    pub signatures: Vec<String>,
    pub message: TransactionMessage,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TransactionMessage {
    pub account_keys: Vec<String>,
    pub header: MessageHeader,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageHeader {
    /// Number of accounts that signed. The signers are the first accounts of the transaction.
    pub num_required_signatures: usize,
}

/// Result of a transaction.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TransactionMeta {
    /// Error of the transaction; `None` if it succeeded.
    pub err: Option<IgnoredAny>,
    /// Fee in lamports, paid by the first account.
    pub fee: u64,
    /// Balances in lamports, by account index.
    pub pre_balances: Vec<u64>,
    pub post_balances: Vec<u64>,
    /// Token balances before the transaction; `None` if the node did not store token balances.
    #[serde(default)]
    pub pre_token_balances: Option<Vec<TokenBalance>>,
    #[serde(default)]
    pub post_token_balances: Option<Vec<TokenBalance>>,
    /// Accounts from address lookup tables; `None` in legacy transactions.
    #[serde(default)]
    pub loaded_addresses: Option<LoadedAddresses>,
}

#[derive(Debug, Default, Deserialize)]
pub struct LoadedAddresses {
    pub writable: Vec<String>,
    pub readonly: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TokenBalance {
    /// Index of the account in the transaction.
    pub account_index: usize,
    pub mint: String,
    #[serde(default)]
    pub owner: Option<String>,
    /// Token program that owns the account.
    #[serde(default)]
    pub program_id: Option<String>,
    pub ui_token_amount: TokenAmount,
}

#[derive(Debug, Deserialize)]
pub struct TokenAmount {
    /// Amount in base units.
    pub amount: String,
}

//! Answers of Solana's JSON-RPC, as far as they are used.
//!
//! Source: <https://solana.com/docs/rpc/http>. Slots and amounts are read as whole numbers, and whatever is not asked for
//! is passed over without being kept.

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

/// Certainty of what is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Commitment {
    /// Two thirds of the stake have voted for the block.
    Confirmed,
    /// The block stays for ever.
    Finalized,
}

/// A value, and the slot of the state that it is of.
#[derive(Debug, Deserialize)]
pub struct InContext<T> {
    pub context: Context,
    pub value: T,
}

#[derive(Debug, Deserialize)]
pub struct Context {
    pub slot: u32,
}

/// Header of a block.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BlockAnswer {
    pub blockhash: String,
    pub previous_blockhash: String,
    pub parent_slot: u32,
    /// Seconds since 1970.
    #[serde(default)]
    pub block_time: Option<i64>,
}

/// An account; its data are cut.
#[derive(Debug, Deserialize)]
pub struct AccountAnswer {
    pub lamports: u64,
    /// The program that it belongs to.
    pub owner: String,
    /// Base64, and the name of that.
    pub data: (String, String),
}

/// A transaction that names an account.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SignatureAnswer {
    pub signature: String,
    pub slot: u32,
    /// `None`: it did what it should.
    #[serde(default)]
    pub err: Option<IgnoredAny>,
    /// Seconds since 1970.
    #[serde(default)]
    pub block_time: Option<i64>,
}

/// A transaction in a block.
#[derive(Debug, Deserialize)]
pub struct TransactionAnswer {
    pub slot: u32,
    /// `None` where the node did not keep what came of it.
    pub meta: Option<Meta>,
    pub transaction: Signed,
}

#[derive(Debug, Deserialize)]
pub struct Signed {
    pub signatures: Vec<String>,
    pub message: Message,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    pub account_keys: Vec<String>,
    pub header: MessageHeader,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageHeader {
    /// The first so many of the accounts have signed.
    pub num_required_signatures: usize,
}

/// Outcome of a transaction.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Meta {
    /// `None`: it did what it should.
    pub err: Option<IgnoredAny>,
    /// In lamports, paid by the first account.
    pub fee: u64,
    /// In lamports, by the place of the account.
    pub pre_balances: Vec<u64>,
    pub post_balances: Vec<u64>,
    /// `None` where the node did not keep them.
    #[serde(default)]
    pub pre_token_balances: Option<Vec<TokenBalance>>,
    #[serde(default)]
    pub post_token_balances: Option<Vec<TokenBalance>>,
    /// Accounts that were named by tables; `None` in old transactions, which have no tables.
    #[serde(default)]
    pub loaded_addresses: Option<Loaded>,
}

#[derive(Debug, Default, Deserialize)]
pub struct Loaded {
    pub writable: Vec<String>,
    pub readonly: Vec<String>,
}

/// Tokens in an account.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TokenBalance {
    /// Place of the account in the transaction.
    pub account_index: usize,
    pub mint: String,
    #[serde(default)]
    pub owner: Option<String>,
    /// The token program that keeps the account.
    #[serde(default)]
    pub program_id: Option<String>,
    pub ui_token_amount: TokenAmount,
}

#[derive(Debug, Deserialize)]
pub struct TokenAmount {
    /// In base units.
    pub amount: String,
}

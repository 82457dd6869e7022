//! Transactions that pay payouts and refunds, as stored in the file and as a node reports them.

use crate::domain::money::coin::Units;
use crate::domain::observation::{Block, InputSource, Observation};
use crate::domain::time::Time;

/// A transaction attached to payouts or refunds that are not settled, as the file knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SentOpen {
    /// Id of the transaction.
    pub txid: String,
    /// Inputs of the transaction, or its sender on chains with accounts. Empty until a node has reported them.
    pub spends: Vec<InputSource>,
    /// Nonce of the sender, on EVM chains.
    pub nonce: Option<u64>,
    /// Destinations that are paid in the chain's native coin, on chains with accounts. Native coin may arrive without
    /// a log, so a node without traces cannot report it.
    pub native_to: Vec<String>,
    /// Transactions that pay the same destinations and may have used the same nonce, on EVM chains.
    pub candidates: Vec<String>,
}

/// The result of looking up one [`SentOpen`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentRead {
    /// Id of the transaction that was looked up.
    pub txid: String,
    /// Answer of the node.
    pub found: SentFound,
}

/// Answer of a node about a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SentFound {
    /// The transaction is in the mempool, or in a block that is on the active chain and has been read.
    Present(Box<SentTransaction>),
    /// The transaction is neither in the mempool nor in a block, and the node has the index to know.
    Absent,
    /// The transaction is not in the mempool, and the node has no index that would find it in a block.
    CannotTell,
    /// The transaction can never be mined: another transaction used the nonce of its sender in a final block.
    Gone {
        /// The other transaction, if it is known.
        by: Option<String>,
        /// The final block at which the nonce was used.
        block: Block,
    },
    /// One of the candidates has the same sender and nonce and is in a block of the active chain.
    ReplacedBy {
        /// The other transaction.
        by: String,
        /// Block of the other transaction.
        block: Block,
    },
    /// The node failed, or its answer was rejected. The text is for the operator, without a subject: "cannot be
    /// asked: no answer in time".
    Unanswered(String),
}

/// A transaction as a node reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentTransaction {
    /// Block of the transaction; `None` while it is in the mempool.
    pub block: Option<Block>,
    /// Timestamp of the block. In the mempool: the time at which the node first saw the transaction, if the node
    /// reports it.
    pub time: Option<Time>,
    /// `false` if the transaction reverted and moved nothing.
    pub is_done: bool,
    /// `true` if the block is final, or beyond the horizon of a chain without finality.
    pub is_final: bool,
    /// Inputs of the transaction, or its sender on chains with accounts.
    pub spends: Vec<InputSource>,
    /// Nonce of the sender, on EVM chains.
    pub nonce: Option<u64>,
    /// Outputs to watched addresses.
    pub received: Vec<Observation>,
    /// Balances of native destinations without a known payment. Empty if the node has traces, or no longer keeps
    /// these balances.
    pub balances: Vec<BalanceChange>,
}

/// The balance of an address in its chain's native coin, before and after one block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BalanceChange {
    /// The address.
    pub address: String,
    /// Balance after the block before.
    pub before: Units,
    /// Balance after the block.
    pub after: Units,
}

/// A [`SentOpen`] whose input another transaction spends, or whose input is an output of such a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The transaction that cannot be confirmed while `by` is valid.
    pub txid: String,
    /// The transaction that spends the input.
    pub by: String,
    /// The block of `by`; `None` while it is in the mempool.
    pub block: Option<Block>,
}

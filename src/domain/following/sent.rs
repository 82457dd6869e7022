//! Transactions that pay payouts and refunds, as the file knows them and as a node tells of them.

use crate::domain::money::coin::Units;
use crate::domain::observation::{Block, InputSource, Observation};
use crate::domain::time::Time;

/// A transaction attached to payouts or refunds that are not settled, as the file knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SentOpen {
    /// Id of the transaction.
    pub txid: String,
    /// Its inputs, or its sender on chains with accounts. Empty until a node has told of it.
    pub spends: Vec<InputSource>,
    /// Nonce of the sender, on EVM chains.
    pub nonce: Option<u64>,
    /// Destinations that are paid in the chain's native coin, on chains with accounts. A native coin may arrive without a
    /// log, so a node without traces cannot tell of it.
    pub native_to: Vec<String>,
    /// Transactions that arrived at its destinations and may have taken its nonce, on EVM chains.
    pub candidates: Vec<String>,
}

/// The answer of a node to the question for one [`SentOpen`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentRead {
    /// Id of the transaction that was asked for.
    pub txid: String,
    /// Answer of the node.
    pub found: SentFound,
}

/// Answer of a node about a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SentFound {
    /// It is in the mempool, or in a block that is on the active chain and has been read.
    Present(Box<SentTransaction>),
    /// It is in neither, and the node would know.
    Absent,
    /// It is not in the mempool, and the node has no index that would find it in a block.
    CannotTell,
    /// It can never be in a block any more: the nonce of its sender was used by another transaction in a final block.
    Gone {
        /// The other transaction, where it is known.
        by: Option<String>,
        /// The final block at which the nonce was used.
        block: Block,
    },
    /// Another transaction, one of its candidates, has its sender and nonce and is in a block of the active chain.
    ReplacedBy {
        /// The other transaction.
        by: String,
        /// Its block.
        block: Block,
    },
    /// The node failed, or its answer was not believed. The text is for the operator, without a subject: "cannot be asked:
    /// no answer in time".
    Unanswered(String),
}

/// A transaction as a node tells of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentTransaction {
    /// Its block; `None` while it is in the mempool.
    pub block: Option<Block>,
    /// Time of its block; in the mempool, when the node first had it, where the node tells that.
    pub time: Option<Time>,
    /// `false`: it reverted and moved nothing.
    pub is_done: bool,
    /// `true` if its block is final, or beyond the horizon of a chain that has no final blocks.
    pub is_final: bool,
    /// Its inputs, or its sender on chains with accounts.
    pub spends: Vec<InputSource>,
    /// Nonce of the sender, on EVM chains.
    pub nonce: Option<u64>,
    /// Its outputs to watched addresses.
    pub received: Vec<Observation>,
    /// Balances of those native destinations of which nothing was received, where the node does not tell what contracts
    /// send and still knows these balances.
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

/// A [`SentOpen`] whose input another transaction spends, or whose input is an output of a transaction that is gone itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The transaction that cannot be confirmed while `by` stands.
    pub txid: String,
    /// The transaction that spends the input.
    pub by: String,
    /// The block of `by`; `None` while it is in the mempool.
    pub block: Option<Block>,
}

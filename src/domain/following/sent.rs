//! Transactions that pay payouts and refunds, as stored in the database and as a node reports them.

use crate::domain::money::coin::Units;
use crate::domain::observation::{Block, InputSource, Observation};
use crate::domain::time::Time;

/// A stored transaction of payouts or refunds that are not settled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnsettledTransaction {
    /// Id of the transaction on the chain.
    pub txid: String,
    /// Inputs of the transaction, or its sender on chains with accounts. Empty until a node has reported them.
    pub spends: Vec<InputSource>,
    /// Nonce of the sender, on EVM chains.
    pub nonce: Option<u64>,
    /// Destinations that are paid in the chain's native coin, on chains with accounts. A contract can send native
    /// coin without a log. Only a node with traces reports such a payment.
    pub native_to: Vec<String>,
    /// Transactions that pay the same destinations and may have used the same nonce, on EVM chains.
    pub candidates: Vec<String>,
}

/// The answer of a node about one [`UnsettledTransaction`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransactionLookup {
    /// Id of the transaction that was looked up.
    pub txid: String,
    /// Answer of the node.
    pub found: TransactionAnswer,
}

/// Answer of a node about a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TransactionAnswer {
    /// The transaction is in the mempool, or in a block that is on the active chain and has been read.
    Present(Box<SentTransaction>),
    /// The transaction is neither in the mempool nor in a block. The node is certain, because it has an index of all
    /// transactions.
    Absent,
    /// The transaction is not in the mempool. It may be in a block, but the node has no index to find it.
    CannotTell,
    /// The transaction can never be mined, because another transaction used the sender's nonce in a final block.
    Gone {
        /// Id of the other transaction, if known.
        by: Option<String>,
        /// The final block at which the nonce was used.
        block: Block,
    },
    /// Another transaction with the same sender and nonce is in a block of the active chain. The other transaction is
    /// one of [`UnsettledTransaction::candidates`].
    ReplacedBy {
        /// Id of the other transaction.
        by: String,
        /// Block of the other transaction.
        block: Block,
    },
    /// The node failed, or its answer was rejected. The text is the reason, for the operator. It begins with a verb:
    /// "cannot be asked: no answer in time".
    Unanswered(String),
}

/// A transaction as a node reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentTransaction {
    /// Block of the transaction; `None` while it is in the mempool.
    pub block: Option<Block>,
    /// Timestamp of the block. In the mempool: time at which the node first saw the transaction, if the node reports
    /// it.
    pub time: Option<Time>,
    /// `false` if the transaction was reverted and moved no money.
    pub is_done: bool,
    /// `true` if the block is final. On a chain without finality, this means that the block has reached the depth of
    /// the horizon.
    pub is_final: bool,
    /// Inputs of the transaction, or its sender on chains with accounts.
    pub spends: Vec<InputSource>,
    /// Nonce of the sender, on EVM chains.
    pub nonce: Option<u64>,
    /// Outputs that pay to watched addresses.
    pub received: Vec<Observation>,
    /// Balances of the addresses in [`UnsettledTransaction::native_to`] for which no payment is known. Empty in the
    /// mempool, if the node has traces, or if the node no longer has the balances.
    pub balances: Vec<BalanceChange>,
}

/// The balance of an address in its chain's native coin, before and after the block of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BalanceChange {
    /// The address.
    pub address: String,
    /// Balance before the block.
    pub before: Units,
    /// Balance after the block.
    pub after: Units,
}

/// A transaction that cannot be confirmed, because another transaction spends an input of the transaction or of one
/// of its ancestors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpendConflict {
    /// Id of the transaction that cannot be confirmed while the other transaction is valid.
    pub txid: String,
    /// Id of the other transaction, which spends the input.
    pub by: String,
    /// Block of the other transaction; `None` while the other transaction is in the mempool.
    pub block: Option<Block>,
}

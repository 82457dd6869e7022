//! On-chain side of a transfer: its transaction, the outputs that count for it, proposals, and reviews.

use crate::domain::asset::Asset;
use crate::domain::money::coin::Units;
use crate::domain::observation::{Block, InputSource};
use crate::domain::payment::PaymentState;
use crate::domain::text_enum::text_enum;
use crate::domain::time::Time;

text_enum! {
    /// State of a transfer on its chain.
    pub enum OnChainState {
        /// No transaction is attached, or no node has it.
        Waiting = "waiting",
        /// The attached transaction is in the mempool or in a block, and pays the amount.
        Seen = "seen",
        /// A person has to check it.
        NeedsReview = "needs_review",
        /// Settled.
        Settled = "settled",
        /// No node watches its chain.
        Unwatched = "unwatched",
    }
}

text_enum! {
    /// Place of an attached transaction.
    pub enum SentState {
        /// No node has reported it yet.
        Unseen = "unseen",
        /// In the mempool.
        Mempool = "mempool",
        /// In a block of the active chain.
        Mined = "mined",
        /// A node had it and no longer has it.
        Absent = "absent",
    }
}

text_enum! {
    /// Reason for a review of a transfer that has ended, or whose chain cannot be read back.
    pub enum ReviewKind {
        /// The chain confirmed over 1 % more than the amount.
        Overpaid = "overpaid",
        /// The transaction is no longer confirmed, although the transfer was paid.
        Gone = "gone",
        /// Money arrived after the transfer had failed or was cancelled.
        Arrived = "arrived",
        /// The approval is older than the blocks that can be read back.
        BeyondReach = "beyond_reach",
    }
}

/// A transaction that is attached to transfers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttachedTransaction {
    /// Order of insertion.
    pub seq: i64,
    /// Id of the transaction.
    pub txid: String,
    /// Place of the transaction.
    pub state: SentState,
    /// Height of its block.
    pub block_height: Option<u32>,
    /// Inputs, or the sender on chains with accounts; empty while they are unknown.
    pub spends: Vec<InputSource>,
    /// Nonce of the sender, on EVM chains.
    pub nonce: Option<u64>,
    /// `true` if the transaction reverted and moved nothing.
    pub is_reverted: bool,
    /// Time at which a node first reported it.
    pub first_seen_at: Option<Time>,
    /// Time at which a node last reported it.
    pub last_seen_at: Option<Time>,
    /// Id of another transaction that spent its inputs or used its nonce.
    pub gone_by: Option<String>,
    /// Height of the block of that other transaction.
    pub gone_height: Option<u32>,
    /// `true` once the blocks since approval are queued to be read for it.
    pub is_read_back: bool,
    /// Sentence about facts that the node cannot provide.
    pub problem: Option<String>,
}

/// An output of an attached transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentOutput {
    /// Observation of the output, by `seq`.
    pub observation: i64,
    /// The transfer that it counts for, by `seq`; `None` while it is free.
    pub transfer: Option<i64>,
    /// Destination.
    pub address: String,
    /// Coin.
    pub asset: &'static Asset,
    /// Amount.
    pub amount: Units,
    /// State on its chain.
    pub state: PaymentState,
    /// Height of its block.
    pub height: Option<u32>,
}

/// An arrival at a transfer's destination that a person may attach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProposedOutput {
    /// Id of the transaction.
    pub txid: String,
    /// Position in the transaction.
    pub position: u32,
    /// Amount, in the coin of the transfer.
    pub amount: Units,
    /// Sources of the money, as far as they are known.
    pub spends: Vec<InputSource>,
    /// Time of its first sighting.
    pub seen_at: Time,
    /// Block of the transaction.
    pub block: Option<Block>,
}

/// A finding that a person has to check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Review {
    /// Order of insertion.
    pub seq: i64,
    /// Public id.
    pub id: String,
    /// Kind of the finding.
    pub kind: ReviewKind,
    /// Finding that opened the review.
    pub problem: String,
    /// Time of the finding.
    pub opened_at: Time,
    /// End of the review.
    pub ended_at: Option<Time>,
    /// Reason given at its end.
    pub reason: Option<String>,
}

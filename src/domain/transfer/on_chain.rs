//! A transfer on its chain: its transaction, the outputs that count for it, proposals, and reviews.

use crate::domain::asset::Asset;
use crate::domain::money::coin::Units;
use crate::domain::observation::{Block, Spent};
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
        /// A person has to look.
        NeedsReview = "needs_review",
        /// It is settled.
        Settled = "settled",
        /// No node watches it.
        Unwatched = "unwatched",
    }
}

text_enum! {
    /// Place of an attached transaction.
    pub enum SentState {
        /// No node has told of it yet.
        Unseen = "unseen",
        /// It is in the mempool.
        Mempool = "mempool",
        /// It is in a block of the active chain.
        Mined = "mined",
        /// A node had it, and has it no more.
        Absent = "absent",
    }
}

text_enum! {
    /// Something that a person has to look at, of a transfer that has ended or whose chain cannot be read back.
    pub enum ReviewKind {
        /// More than 1 % too much was sent.
        Overpaid = "overpaid",
        /// The transaction is not confirmed any more, after the transfer was paid.
        Gone = "gone",
        /// Money arrived after the transfer had failed or was cancelled.
        Arrived = "arrived",
        /// The approval is older than the blocks that are read back.
        BeyondReach = "beyond_reach",
    }
}

/// A transaction that is attached to transfers, as the file knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttachedTransaction {
    /// Order of insertion.
    pub seq: i64,
    /// Id of the transaction.
    pub txid: String,
    /// Its place.
    pub state: SentState,
    /// Height of its block.
    pub block_height: Option<u32>,
    /// Its inputs, or its sender on chains with accounts; empty while that is unknown.
    pub spends: Vec<Spent>,
    /// Nonce of the sender, on EVM chains.
    pub nonce: Option<u64>,
    /// `true`: it reverted and moved nothing.
    pub is_reverted: bool,
    /// Time at which a node first told of it.
    pub first_seen_at: Option<Time>,
    /// Time at which a node last told of it.
    pub last_seen_at: Option<Time>,
    /// Another transaction that took its inputs or its nonce.
    pub gone_by: Option<String>,
    /// Height of the block of that one.
    pub gone_height: Option<u32>,
    /// `true` once the blocks since approval were ordered to be read for it.
    pub is_read_back: bool,
    /// Facts that the node cannot tell, in a sentence.
    pub problem: Option<String>,
}

/// An output of an attached transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentOutput {
    /// Its observation, by `seq`.
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
    /// Origin of the money, as far as that is known.
    pub spends: Vec<Spent>,
    /// Time of its first sighting.
    pub seen_at: Time,
    /// Its block.
    pub block: Option<Block>,
}

/// Something that a person has to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Review {
    /// Order of insertion.
    pub seq: i64,
    /// Name outside the file.
    pub id: String,
    /// Kind of its subject.
    pub kind: ReviewKind,
    /// Finding that opened it.
    pub problem: String,
    /// Time of the finding.
    pub opened_at: Time,
    /// Time of its end.
    pub ended_at: Option<Time>,
    /// Reason of its end.
    pub reason: Option<String>,
}

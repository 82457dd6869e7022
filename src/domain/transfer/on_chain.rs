//! On-chain data of a transfer: its transaction, the outputs that count for the transfer, proposed outputs, and
//! reviews.

use crate::domain::money::coin::Units;
use crate::domain::observation::InputSource;
use crate::domain::text_enum::text_enum;
use crate::domain::time::Time;

text_enum! {
    /// State of a transfer, by its transaction on the chain.
    pub enum OnChainState {
        /// No transaction is attached, or no node has the attached transaction.
        Waiting = "waiting",
        /// The attached transaction is in the mempool or in a block, and pays the amount.
        Seen = "seen",
        /// A person has to check the transfer.
        NeedsReview = "needs_review",
        /// The transfer is paid, or ended without being sent.
        Settled = "settled",
        /// No node watches the transfer's chain.
        Unwatched = "unwatched",
    }
}

text_enum! {
    /// State of an attached transaction, by the last report of a node.
    pub enum AttachedState {
        /// No node has reported the transaction yet.
        Unseen = "unseen",
        /// The transaction is in the mempool.
        Mempool = "mempool",
        /// The transaction is in a block of the active chain.
        Mined = "mined",
        /// A node reported the transaction earlier and no longer has it.
        Absent = "absent",
    }
}

text_enum! {
    /// Reason for a review, in which a person checks a transfer.
    pub enum ReviewKind {
        /// The confirmed outputs are over 1 % more than the amount.
        Overpaid = "overpaid",
        /// The transaction is no longer confirmed, although the transfer was paid.
        Gone = "gone",
        /// Money arrived after the transfer had failed or was cancelled.
        Arrived = "arrived",
        /// Some blocks since the approval can no longer be read.
        BeyondReach = "beyond_reach",
    }
}

text_enum! {
    /// Decision that ended a review.
    pub enum ReviewDecision {
        /// A person ended the review with a reason.
        Resolved = "resolved",
        /// A person booked the amount back, or out again.
        Adjusted = "adjusted",
        /// The finding ended by itself, because the facts changed.
        Cleared = "cleared",
    }
}

/// A transaction that is attached to transfers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttachedTransaction {
    /// Row number, in order of insertion.
    pub seq: i64,
    /// Id of the transaction on the chain.
    pub txid: String,
    /// State of the transaction.
    pub state: AttachedState,
    /// Height of the transaction's block.
    pub block_height: Option<u32>,
    /// Inputs of the transaction, or its sender on chains with accounts; empty while they are unknown.
    pub spends: Vec<InputSource>,
    /// Nonce of the sender, on EVM chains.
    pub nonce: Option<u64>,
    /// `true` if the transaction was reverted and moved no money.
    pub is_reverted: bool,
    /// Time at which a node first reported the transaction.
    pub first_seen_at: Option<Time>,
    /// Time at which a node last reported the transaction.
    pub last_seen_at: Option<Time>,
    /// Id of another transaction that spent the same inputs or used the same nonce.
    pub gone_by: Option<String>,
    /// Height of the block with that other transaction.
    pub gone_height: Option<u32>,
    /// `true` once a rescan from the time of approval is queued for the transaction.
    pub is_read_back: bool,
    /// Sentence that describes what the node cannot report.
    pub problem: Option<String>,
}

impl AttachedTransaction {
    /// Records what an output of the transaction shows: in which block it is, or whether it is in the mempool.
    pub fn record_output(
        &mut self,
        height: Option<u32>,
        has_vanished: bool,
        seen_at: Time,
        now: Time,
        spends: &[InputSource],
    ) {
        self.state = match (height, has_vanished) {
            (Some(_), _) => AttachedState::Mined,
            (None, false) => AttachedState::Mempool,
            (None, true) => AttachedState::Absent,
        };
        self.block_height = height;
        self.first_seen_at = self.first_seen_at.or(Some(seen_at));
        let last_seen_at = if has_vanished { seen_at } else { now };
        self.last_seen_at = self.last_seen_at.max(Some(last_seen_at));
        if !spends.is_empty() {
            self.spends = spends.to_vec();
        }
        self.problem = None;
    }
}

/// An output to a transfer's destination that a person may attach to the transfer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProposedOutput {
    /// Id of the transaction on the chain.
    pub txid: String,
    /// Amount, in the coin of the transfer.
    pub amount: Units,
    /// Time at which the transaction was first seen.
    pub seen_at: Time,
    /// Height of the transaction's block.
    pub block_height: Option<u32>,
}

/// A review: a finding about a transfer that a person has to check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransferReview {
    /// Row number, in order of insertion.
    pub seq: i64,
    /// Public id.
    pub id: String,
    /// Kind of the finding.
    pub kind: ReviewKind,
    /// Transaction that the finding is about; `None` for findings about no transaction.
    pub txid: Option<String>,
    /// Sentence that describes the finding, for people.
    pub problem: String,
    /// Time of the finding.
    pub opened_at: Time,
    /// Time at which the review ended; `None` while it is open.
    pub ended_at: Option<Time>,
    /// Who or what ended the review: the email of a person, or the chain.
    pub ended_by: Option<String>,
    /// Decision that ended the review.
    pub decision: Option<ReviewDecision>,
    /// Reason that the person gave.
    pub reason: Option<String>,
}

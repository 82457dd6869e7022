//! Steps of a transfer.
//!
//! [`TransferStatus::after`](super::TransferStatus::after) decides whether a step is possible from a status.

use super::approval::Approval;
use super::sender::SentBy;
use super::{Sending, SettledBy};
use crate::domain::text_enum::text_enum;

/// Longest reason, in characters.
pub const REASON_CHARS_MAX: usize = 500;

text_enum! {
    /// Action on a payout or refund.
    pub enum TransferAction {
        /// Fixes rate, network fee and amount in coin.
        Approve = "approve",
        /// Changes the sender.
        Reassign = "reassign",
        /// Starts the sending.
        Process = "process",
        /// Attaches the transaction that sent it, or counts it as paid.
        Pay = "pay",
        /// Marks it as failed.
        Fail = "fail",
        /// Rejects it.
        Reject = "reject",
        /// Cancels it.
        Cancel = "cancel",
        /// Ends the hold after a restore, once a person has checked the transfer.
        Release = "release",
        /// Removes the attached transaction.
        Detach = "detach",
        /// Dismisses a proposed transaction.
        Dismiss = "dismiss",
        /// Ends a review with a reason.
        Resolve = "resolve",
        /// Ends a review with an adjustment of the balance.
        Adjust = "adjust",
        /// Simulates the state of its chain, in the sandbox.
        Chain = "chain",
    }
}

/// Actions of the operator interface.
pub const OF_OPERATOR: [TransferAction; 12] = [
    TransferAction::Approve,
    TransferAction::Reassign,
    TransferAction::Process,
    TransferAction::Pay,
    TransferAction::Fail,
    TransferAction::Reject,
    TransferAction::Cancel,
    TransferAction::Release,
    TransferAction::Detach,
    TransferAction::Dismiss,
    TransferAction::Resolve,
    TransferAction::Adjust,
];

/// Actions of the sandbox's controls.
pub const OF_SANDBOX: [TransferAction; 8] = [
    TransferAction::Approve,
    TransferAction::Process,
    TransferAction::Pay,
    TransferAction::Fail,
    TransferAction::Reject,
    TransferAction::Cancel,
    TransferAction::Release,
    TransferAction::Chain,
];

text_enum! {
    /// Simulated state of a transfer on its chain.
    pub enum ChainCase {
        /// The transaction is in the mempool and pays the amount.
        Seen = "seen",
        /// The transaction is confirmed.
        Confirmed = "confirmed",
        /// The transaction pays half the amount.
        Short = "short",
        /// The transaction disappeared.
        Dropped = "dropped",
        /// The transaction pays another address.
        OtherAddress = "other_address",
    }
}

/// Reason why a transfer counts as paid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settlement {
    /// Id of its transaction, if known.
    pub txid: Option<String>,
    /// Source of the settlement.
    pub by: SettledBy,
    /// Reason of the person, if a person settled it.
    pub reason: Option<String>,
}

/// A step of a transfer with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TransferStep {
    /// Approves it with these terms.
    Approve(Approval),
    /// Changes its sender.
    Reassign(SentBy),
    /// Starts the sending; with the state of the signer if the signer sends it.
    Process(Option<Sending>),
    /// Counts it as paid.
    Pay(Settlement),
    /// Marks it as failed, with an optional reason.
    Fail(Option<String>),
    /// Rejects it, with an optional reason.
    Reject(Option<String>),
    /// Cancels it, with an optional reason.
    Cancel(Option<String>),
    /// Ends the hold after a restore; with the sender of an approved transfer.
    Release(Option<SentBy>),
}

impl TransferStep {
    /// Returns the fields that needed explicit acceptance.
    pub fn accepted_fields(&self) -> Vec<&'static str> {
        match self {
            TransferStep::Approve(approval) => approval.accepted_fields.clone(),
            TransferStep::Reassign(_)
            | TransferStep::Process(_)
            | TransferStep::Pay(_)
            | TransferStep::Fail(_)
            | TransferStep::Reject(_)
            | TransferStep::Cancel(_)
            | TransferStep::Release(_) => Vec::new(),
        }
    }

    /// Returns the action of the step.
    pub const fn action(&self) -> TransferAction {
        match self {
            TransferStep::Approve(_) => TransferAction::Approve,
            TransferStep::Reassign(_) => TransferAction::Reassign,
            TransferStep::Process(_) => TransferAction::Process,
            TransferStep::Pay(_) => TransferAction::Pay,
            TransferStep::Fail(_) => TransferAction::Fail,
            TransferStep::Reject(_) => TransferAction::Reject,
            TransferStep::Cancel(_) => TransferAction::Cancel,
            TransferStep::Release(_) => TransferAction::Release,
        }
    }
}

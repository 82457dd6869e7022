//! Steps of a transfer.
//!
//! [`TransferStatus::after_action`](super::TransferStatus::after_action) decides whether a step is possible from a
//! status.

use super::approval::Approval;
use super::sender::Sender;
use super::{SendingState, SettledBy};
use crate::domain::text_enum::text_enum;

/// Longest reason that a person may give, in characters.
pub const REASON_CHARS_MAX: usize = 500;

text_enum! {
    /// Action on a payout or refund.
    pub enum TransferAction {
        /// Approves the transfer: fixes rate, network fee and amount in the coin.
        Approve = "approve",
        /// Changes the sender of an approved transfer.
        Reassign = "reassign",
        /// Starts sending the transfer.
        Process = "process",
        /// Attaches the transaction that sent the transfer, or counts the transfer as paid.
        Pay = "pay",
        /// Marks the transfer as failed.
        Fail = "fail",
        /// Rejects the requested transfer.
        Reject = "reject",
        /// Cancels the transfer.
        Cancel = "cancel",
        /// Ends the hold after a restore, once a person has checked the transfer.
        Release = "release",
        /// Removes the attached transaction id.
        Detach = "detach",
        /// Dismisses a proposed transaction, so that it is not proposed again.
        Dismiss = "dismiss",
        /// Ends a review with a reason.
        Resolve = "resolve",
        /// Ends a review with an adjustment of the balance.
        Adjust = "adjust",
        /// Simulates the state of the transfer's chain, in the sandbox.
        Chain = "chain",
    }
}

/// Actions that the operator interface accepts.
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

/// Actions that the sandbox accepts.
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
    /// State of a transfer that a simulated chain reports.
    pub enum SimulatedChainState {
        /// The transaction is in the mempool and pays the amount.
        Seen = "seen",
        /// The transaction is confirmed.
        Confirmed = "confirmed",
        /// The transaction pays half of the amount.
        Short = "short",
        /// The transaction disappeared from the chain.
        Dropped = "dropped",
        /// The transaction pays another address.
        OtherAddress = "other_address",
    }
}

/// Evidence that a transfer is paid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settlement {
    /// Id of the transaction that paid the transfer, if known.
    pub txid: Option<String>,
    /// Source of the evidence.
    pub by: SettledBy,
    /// Reason of the person who settled the transfer.
    pub reason: Option<String>,
}

/// A step of a transfer with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TransferStep {
    /// Approves the transfer with these terms and this sender.
    Approve(Approval),
    /// Changes the sender of the transfer.
    Reassign(Sender),
    /// Starts sending the transfer. The value is the state of the signer; `None` if a person sends the transfer.
    Process(Option<SendingState>),
    /// Counts the transfer as paid.
    Pay(Settlement),
    /// Marks the transfer as failed, with an optional reason.
    Fail(Option<String>),
    /// Rejects the transfer, with an optional reason.
    Reject(Option<String>),
    /// Cancels the transfer, with an optional reason.
    Cancel(Option<String>),
    /// Ends the hold after a restore. The value is the sender of an approved transfer; `None` for other transfers.
    Release(Option<Sender>),
}

impl TransferStep {
    /// Returns the names of the fields that a person explicitly accepted.
    pub fn accepted_fields(&self) -> Vec<&'static str> {
        match self {
            TransferStep::Approve(approval) => approval.fixed.accepted_fields.clone(),
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

//! The steps of a transfer.
//!
//! Whether a step is possible from a status is decided by [`TransferStatus::after`](super::TransferStatus::after).

use super::approval::Approval;
use super::sender::SentBy;
use super::{Sending, SettledBy};
use crate::domain::text_enum::text_enum;

/// The longest reason.
pub const REASON_CHARS_MAX: usize = 500;

text_enum! {
    /// Something that may be done to a payout or refund.
    pub enum TransferAction {
        /// Fixes rate, network fee and amount in coin.
        Approve = "approve",
        /// Changes who sends it.
        Reassign = "reassign",
        /// It is being sent from here on.
        Process = "process",
        /// Attaches the transaction that sent it, or counts it as paid.
        Pay = "pay",
        /// It could not be sent.
        Fail = "fail",
        /// It is not approved.
        Reject = "reject",
        /// It is cancelled.
        Cancel = "cancel",
        /// A person has looked at it after a restore: it goes back to the status that it had before.
        Release = "release",
        /// Removes the attached transaction.
        Detach = "detach",
        /// Dismisses a proposed transaction.
        Dismiss = "dismiss",
        /// Ends a review with a reason.
        Resolve = "resolve",
        /// Ends a review with an adjustment of the balance.
        Adjust = "adjust",
        /// Simulates what its chain tells, in the sandbox.
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
    /// What a simulated chain tells of a transfer.
    pub enum ChainCase {
        /// The transaction is in the mempool and pays the amount.
        Seen = "seen",
        /// It is confirmed.
        Confirmed = "confirmed",
        /// It pays half the amount.
        Short = "short",
        /// It is gone.
        Dropped = "dropped",
        /// It pays another address.
        OtherAddress = "other_address",
    }
}

/// Why a transfer counts as paid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settlement {
    /// Its transaction, where that is known.
    pub txid: Option<String>,
    /// Who says so.
    pub by: SettledBy,
    /// The person's reason, where a person says so.
    pub reason: Option<String>,
}

/// A step with what it brings along.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// With the terms that were fixed.
    Approve(Approval),
    /// With who sends it from now on.
    Reassign(SentBy),
    /// With the state of the signer, where one sends it.
    Process(Option<Sending>),
    /// With why it counts as paid.
    Pay(Settlement),
    /// With the reason, where there is one to tell.
    Fail(Option<String>),
    /// With the reason, where there is one to tell.
    Reject(Option<String>),
    /// With the reason, where there is one to tell.
    Cancel(Option<String>),
    /// Ends the hold of a restore, with who sends it from now on where it is approved.
    Release(Option<SentBy>),
}

impl Step {
    /// Fields that a person had to insist on.
    pub fn insisted_on(&self) -> Vec<&'static str> {
        match self {
            Step::Approve(approval) => approval.insisted_on.clone(),
            Step::Reassign(_)
            | Step::Process(_)
            | Step::Pay(_)
            | Step::Fail(_)
            | Step::Reject(_)
            | Step::Cancel(_)
            | Step::Release(_) => Vec::new(),
        }
    }

    /// The action of the step.
    pub const fn action(&self) -> TransferAction {
        match self {
            Step::Approve(_) => TransferAction::Approve,
            Step::Reassign(_) => TransferAction::Reassign,
            Step::Process(_) => TransferAction::Process,
            Step::Pay(_) => TransferAction::Pay,
            Step::Fail(_) => TransferAction::Fail,
            Step::Reject(_) => TransferAction::Reject,
            Step::Cancel(_) => TransferAction::Cancel,
            Step::Release(_) => TransferAction::Release,
        }
    }
}

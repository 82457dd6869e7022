//! Status of a transfer, and the steps between statuses.
//!
//! Invariant: a step that the state machine does not have changes nothing.

use super::TransferKind;
use super::step::TransferAction;
use crate::domain::event::EventType;
use crate::domain::text_enum::text_enum;

text_enum! {
    /// Status of a payout or refund.
    ///
    /// ```text
    /// requested ──approve──→ approved ──process──→ processing ──pay──→ paid
    ///     ├──reject──→ rejected ├──fail──→ failed       └──fail──→ failed
    ///     └──cancel─→ cancelled └──cancel─→ cancelled
    /// ```
    ///
    /// `release` ends the hold after a restore, and `reassign` changes the sender of an approved transfer. Neither
    /// changes the status. While a transfer is processing, its transaction can be attached, corrected and detached. The
    /// chain or a person then makes the transfer paid.
    pub enum TransferStatus {
        /// The amount is taken out of the balance, and the transfer waits for approval.
        Requested = "requested",
        /// Rate, network fee and amount in the coin are fixed.
        Approved = "approved",
        /// The transfer is being sent.
        Processing = "processing",
        /// The transfer was sent.
        Paid = "paid",
        /// The transfer was not sent, and the amount is back in the balance.
        Failed = "failed",
        /// The operator rejected the transfer, and the amount is back in the balance.
        Rejected = "rejected",
        /// The transfer was cancelled, and the amount is back in the balance.
        Cancelled = "cancelled",
    }
}

impl TransferStatus {
    /// Returns the status after an action; `None` if the state machine has no such step.
    pub const fn after_action(self, action: TransferAction) -> Option<TransferStatus> {
        match (self, action) {
            (TransferStatus::Requested, TransferAction::Approve) => Some(TransferStatus::Approved),
            (TransferStatus::Requested, TransferAction::Reject) => Some(TransferStatus::Rejected),
            (TransferStatus::Requested | TransferStatus::Approved, TransferAction::Release) => {
                Some(self)
            }
            (TransferStatus::Approved, TransferAction::Process) => Some(TransferStatus::Processing),
            (TransferStatus::Approved, TransferAction::Reassign) => Some(self),
            (TransferStatus::Processing, TransferAction::Pay) => Some(TransferStatus::Paid),
            (TransferStatus::Approved | TransferStatus::Processing, TransferAction::Fail) => {
                Some(TransferStatus::Failed)
            }
            (TransferStatus::Requested | TransferStatus::Approved, TransferAction::Cancel) => {
                Some(TransferStatus::Cancelled)
            }
            (
                _,
                TransferAction::Detach
                | TransferAction::Dismiss
                | TransferAction::Resolve
                | TransferAction::Adjust
                | TransferAction::Chain,
            )
            | (
                TransferStatus::Requested,
                TransferAction::Process
                | TransferAction::Reassign
                | TransferAction::Pay
                | TransferAction::Fail,
            )
            | (
                TransferStatus::Approved,
                TransferAction::Approve | TransferAction::Pay | TransferAction::Reject,
            )
            | (
                TransferStatus::Processing,
                TransferAction::Approve
                | TransferAction::Process
                | TransferAction::Reassign
                | TransferAction::Reject
                | TransferAction::Cancel
                | TransferAction::Release,
            )
            | (
                TransferStatus::Paid
                | TransferStatus::Failed
                | TransferStatus::Rejected
                | TransferStatus::Cancelled,
                _,
            ) => None,
        }
    }

    /// Returns `true` if the amount is reserved: neither paid nor put back.
    pub const fn is_open(self) -> bool {
        match self {
            TransferStatus::Requested | TransferStatus::Approved | TransferStatus::Processing => {
                true
            }
            TransferStatus::Paid
            | TransferStatus::Failed
            | TransferStatus::Rejected
            | TransferStatus::Cancelled => false,
        }
    }

    /// Returns `true` if the amount is back in the balance.
    pub const fn is_put_back(self) -> bool {
        !self.is_open() && !matches!(self, TransferStatus::Paid)
    }

    /// Returns the event of a transfer that enters this status; `None` if the status has no event.
    pub const fn event(self, kind: TransferKind) -> Option<EventType> {
        match (self, kind) {
            (TransferStatus::Paid, TransferKind::Payout) => Some(EventType::PayoutPaid),
            (TransferStatus::Paid, TransferKind::Refund) => Some(EventType::RefundPaid),
            (TransferStatus::Failed, TransferKind::Payout) => Some(EventType::PayoutFailed),
            (TransferStatus::Failed, TransferKind::Refund) => Some(EventType::RefundFailed),
            (
                TransferStatus::Requested
                | TransferStatus::Approved
                | TransferStatus::Processing
                | TransferStatus::Rejected
                | TransferStatus::Cancelled,
                _,
            ) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{TransferAction, TransferStatus};

    #[test]
    fn state_machine_has_only_the_documented_steps() {
        use TransferAction::{Approve, Cancel, Fail, Pay, Process, Reassign, Reject, Release};
        use TransferStatus::{Approved, Cancelled, Failed, Paid, Processing, Rejected, Requested};
        let steps = [
            (Requested, Approve, Approved),
            (Requested, Reject, Rejected),
            (Requested, Cancel, Cancelled),
            (Requested, Release, Requested),
            (Approved, Release, Approved),
            (Approved, Process, Processing),
            (Approved, Reassign, Approved),
            (Approved, Fail, Failed),
            (Approved, Cancel, Cancelled),
            (Processing, Pay, Paid),
            (Processing, Fail, Failed),
        ];
        for status in TransferStatus::ALL {
            for action in TransferAction::ALL {
                let step = steps.iter().find(|(from, by, _)| from == status && by == action);
                assert_eq!(
                    status.after_action(*action),
                    step.map(|(.., to)| *to),
                    "{status} {action}"
                );
            }
        }
    }

    #[test]
    fn every_status_is_open_paid_or_put_back() {
        for status in TransferStatus::ALL {
            let states = [status.is_open(), *status == TransferStatus::Paid, status.is_put_back()];
            assert_eq!(states.iter().filter(|state| **state).count(), 1, "{status}");
            let has_step =
                TransferAction::ALL.iter().any(|action| status.after_action(*action).is_some());
            assert_eq!(has_step, status.is_open(), "{status}");
        }
    }
}

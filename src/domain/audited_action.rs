//! Actions of the audit log that other code reads again. All other actions are only shown to people.

use super::text_enum::text_enum;
use super::transfer::TransferKind;

text_enum! {
    /// Action of the audit log that the audit looks for.
    pub enum AuditedAction {
        /// An unmatched payment was assigned to an invoice or a customer.
        Assign = "unmatched_payment.assign",
        /// The outcome of an unmatched payment was undone.
        Undo = "unmatched_payment.undo",
        /// A payout was requested.
        PayoutRequest = "payout.request",
        /// A refund was requested.
        RefundRequest = "refund.request",
        /// A payout was approved.
        PayoutApprove = "payout.approve",
        /// A refund was approved.
        RefundApprove = "refund.approve",
        /// The entry contains only hashes of values.
        Note = "state.note",
    }
}

impl AuditedAction {
    /// Returns the action of the request of a transfer.
    pub const fn request_of(kind: TransferKind) -> AuditedAction {
        match kind {
            TransferKind::Payout => AuditedAction::PayoutRequest,
            TransferKind::Refund => AuditedAction::RefundRequest,
        }
    }
}

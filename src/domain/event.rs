//! Types of events, and formats and states of the webhooks that deliver them.

pub mod members;

use super::status::InvoiceStatus;
use super::text_enum::text_enum;

text_enum! {
    /// Type of an event.
    pub enum EventType {
        /// An invoice was created.
        InvoiceCreated = "invoice.created",
        /// A payment was seen.
        InvoiceDetected = "invoice.detected",
        /// The invoice was paid in full.
        InvoiceConfirmed = "invoice.confirmed",
        /// More than the price of the invoice was paid.
        InvoiceOverpaid = "invoice.overpaid",
        /// The invoice was paid in part.
        InvoiceUnderpaid = "invoice.underpaid",
        /// The invoice was not paid in time.
        InvoiceExpired = "invoice.expired",
        /// The invoice was paid in full after its deadline.
        InvoicePaidLate = "invoice.paid_late",
        /// The merchant cancelled the invoice.
        InvoiceCancelled = "invoice.cancelled",
        /// A payment of the invoice was seen and disappeared.
        InvoiceFailed = "invoice.failed",
        /// A deposit of a customer was confirmed.
        DepositConfirmed = "deposit.confirmed",
        /// The payout was paid.
        PayoutPaid = "payout.paid",
        /// The payout failed.
        PayoutFailed = "payout.failed",
        /// The refund was paid.
        RefundPaid = "refund.paid",
        /// The refund failed.
        RefundFailed = "refund.failed",
        /// The operator approved the account, or ended its suspension.
        AccountApproved = "account.approved",
        /// The account was suspended.
        AccountSuspended = "account.suspended",
    }
}

text_enum! {
    /// Format of the body that an endpoint receives.
    pub enum WebhookFormat {
        /// The event as `GET /v1/events/{id}` returns it.
        Event = "event",
        /// The legacy body, which describes an invoice.
        Legacy = "legacy",
    }
}

text_enum! {
    /// State of a delivery.
    pub enum DeliveryState {
        /// Another attempt will be made.
        Pending = "pending",
        /// The receiver accepted the delivery.
        Delivered = "delivered",
        /// No further attempt will be made.
        Failed = "failed",
    }
}

impl EventType {
    /// Returns the event of an invoice that enters this status; `None` if the status has no event.
    pub const fn for_status(status: InvoiceStatus) -> Option<EventType> {
        match status {
            InvoiceStatus::Created => Some(EventType::InvoiceCreated),
            InvoiceStatus::AwaitingPayment => None,
            InvoiceStatus::Detected => Some(EventType::InvoiceDetected),
            InvoiceStatus::Confirmed => Some(EventType::InvoiceConfirmed),
            InvoiceStatus::Overpaid => Some(EventType::InvoiceOverpaid),
            InvoiceStatus::Underpaid => Some(EventType::InvoiceUnderpaid),
            InvoiceStatus::Expired => Some(EventType::InvoiceExpired),
            InvoiceStatus::PaidLate => Some(EventType::InvoicePaidLate),
            InvoiceStatus::Cancelled => Some(EventType::InvoiceCancelled),
            InvoiceStatus::Failed => Some(EventType::InvoiceFailed),
        }
    }

    /// Returns the status of an invoice that has this event when it enters the status.
    pub fn invoice_status(self) -> Option<InvoiceStatus> {
        let mut all = InvoiceStatus::ALL.iter().copied();
        all.find(|status| EventType::for_status(*status) == Some(self))
    }

    /// Returns the type that the event has in a body of this format; `None` if the format has no such event.
    pub const fn in_format(self, format: WebhookFormat) -> Option<EventType> {
        match format {
            WebhookFormat::Event => Some(self),
            WebhookFormat::Legacy => self.legacy_type(),
        }
    }

    /// Returns the type that the event has in the legacy body; `None` if the legacy format has no such event.
    pub(crate) const fn legacy_type(self) -> Option<EventType> {
        match self {
            EventType::InvoiceOverpaid => Some(EventType::InvoiceConfirmed),
            EventType::AccountApproved | EventType::AccountSuspended => None,
            EventType::InvoiceCreated
            | EventType::InvoiceDetected
            | EventType::InvoiceConfirmed
            | EventType::InvoiceUnderpaid
            | EventType::InvoiceExpired
            | EventType::InvoicePaidLate
            | EventType::InvoiceCancelled
            | EventType::InvoiceFailed
            | EventType::DepositConfirmed
            | EventType::PayoutPaid
            | EventType::PayoutFailed
            | EventType::RefundPaid
            | EventType::RefundFailed => Some(self),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{EventType, InvoiceStatus};

    #[test]
    fn every_status_except_awaiting_payment_has_its_event() {
        for status in InvoiceStatus::ALL {
            let expected =
                (*status != InvoiceStatus::AwaitingPayment).then(|| format!("invoice.{status}"));
            assert_eq!(EventType::for_status(*status).map(|kind| kind.to_string()), expected);
        }
    }
}

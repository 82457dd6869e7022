//! Types of events, and of the webhooks that deliver them.

pub mod body;

use super::status::InvoiceStatus;
use super::text_enum::text_enum;

text_enum! {
    /// Type of an event.
    pub enum EventType {
        /// An invoice was created.
        InvoiceCreated = "invoice.created",
        /// A payment was seen.
        InvoiceDetected = "invoice.detected",
        /// Paid in full.
        InvoiceConfirmed = "invoice.confirmed",
        /// Paid, and more than was due.
        InvoiceOverpaid = "invoice.overpaid",
        /// Paid in part.
        InvoiceUnderpaid = "invoice.underpaid",
        /// Not paid in time.
        InvoiceExpired = "invoice.expired",
        /// Paid in full, but late.
        InvoicePaidLate = "invoice.paid_late",
        /// Cancelled.
        InvoiceCancelled = "invoice.cancelled",
        /// A payment was seen and disappeared.
        InvoiceFailed = "invoice.failed",
        /// A deposit of a customer was confirmed.
        DepositConfirmed = "deposit.confirmed",
        /// A payout was sent.
        PayoutPaid = "payout.paid",
        /// A payout was not sent.
        PayoutFailed = "payout.failed",
        /// A refund was sent.
        RefundPaid = "refund.paid",
        /// A refund was not sent.
        RefundFailed = "refund.failed",
        /// The account was activated.
        AccountApproved = "account.approved",
        /// The account was suspended.
        AccountSuspended = "account.suspended",
    }
}

text_enum! {
    /// Body format of an endpoint.
    pub enum WebhookFormat {
        /// The event as `GET /v1/events/{id}` returns it.
        Event = "event",
        /// The legacy body.
        Legacy = "legacy",
    }
}

text_enum! {
    /// State of a delivery.
    pub enum DeliveryState {
        /// Another attempt is due.
        Pending = "pending",
        /// The receiver accepted it.
        Delivered = "delivered",
        /// No more attempts are made.
        Failed = "failed",
    }
}

impl EventType {
    /// Returns the event of an invoice that enters this status; `None` if there is none.
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

    /// Returns the type that a body of this format names; `None` if this format leaves the event out.
    pub const fn type_in(self, format: WebhookFormat) -> Option<EventType> {
        match format {
            WebhookFormat::Event => Some(self),
            WebhookFormat::Legacy => self.legacy_type(),
        }
    }

    /// Returns the type that the legacy body names.
    const fn legacy_type(self) -> Option<EventType> {
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
            assert_eq!(
                EventType::for_status(*status).map(|kind| kind.to_string()),
                expected
            );
        }
    }
}

//! Status of an invoice: a pure function of the invoice, its payments and the time.
//!
//! Invariant: no other code decides a status.

use super::money::{Bps, Cents, Total, is_overpaid, is_paid_in_full};
use super::payment::{Payment, PaymentState};
use super::text_enum::text_enum;
use super::time::Time;

text_enum! {
    /// Status of an invoice.
    ///
    /// ```text
    /// created → awaiting_payment → detected → confirmed → overpaid (paid a second time)
    ///     │            │              ├──→ overpaid
    ///     │            │              └──→ underpaid → (topped up) detected → confirmed | paid_late
    ///     └─→ expired | cancelled ←──┘         expired → (paid after the deadline) paid_late | underpaid | overpaid
    /// a payment that disappears reverts the status; if it had been confirmed, the invoice is failed
    /// ```
    pub enum InvoiceStatus {
        /// No coin is selected yet.
        Created = "created",
        /// A coin is selected, and nothing is paid.
        AwaitingPayment = "awaiting_payment",
        /// A payment was seen in time and is not confirmed yet.
        Detected = "detected",
        /// Paid in full.
        Confirmed = "confirmed",
        /// More than the price was paid.
        Overpaid = "overpaid",
        /// Paid in part.
        Underpaid = "underpaid",
        /// Nothing was paid before the deadline.
        Expired = "expired",
        /// Paid in full, but partly after the deadline.
        PaidLate = "paid_late",
        /// Cancelled by the merchant.
        Cancelled = "cancelled",
        /// A payment was seen and disappeared.
        Failed = "failed",
    }
}

impl InvoiceStatus {
    /// Returns the value of the `paid` field, on which merchants rely.
    pub const fn is_paid(self) -> bool {
        match self {
            InvoiceStatus::Confirmed | InvoiceStatus::Overpaid => true,
            InvoiceStatus::Created
            | InvoiceStatus::AwaitingPayment
            | InvoiceStatus::Detected
            | InvoiceStatus::Underpaid
            | InvoiceStatus::Expired
            | InvoiceStatus::PaidLate
            | InvoiceStatus::Cancelled
            | InvoiceStatus::Failed => false,
        }
    }

    /// Returns `true` while the outcome is open: a coin can be selected, and the invoice can expire.
    pub const fn is_open(self) -> bool {
        matches!(self, InvoiceStatus::Created | InvoiceStatus::AwaitingPayment)
    }
}

/// Properties of an invoice that determine its status.
#[derive(Clone, Copy, Debug)]
pub struct InvoiceTerms {
    /// Price of the invoice.
    pub due: Cents,
    /// Largest shortfall that still counts as paid, in basis points of the price.
    pub under: Bps,
    /// Largest excess that does not count as overpaid, in basis points of the price.
    pub over: Bps,
    /// Deadline for payments.
    pub expires_at: Time,
    /// Time of cancellation.
    pub cancelled_at: Option<Time>,
    /// `true` if a coin has been selected.
    pub quoted: bool,
}

impl InvoiceTerms {
    /// Returns the moment from which payments are late: expiry or cancellation, whichever is earlier.
    pub fn deadline(&self) -> Time {
        self.cancelled_at.map_or(self.expires_at, |at| at.min(self.expires_at))
    }
}

/// Properties of a payment that determine the status of its invoice.
#[derive(Clone, Copy, Debug)]
pub struct PaymentFacts {
    /// State of the payment.
    pub state: PaymentState,
    /// `true` if the payment was seen before the deadline.
    pub on_time: bool,
    /// `true` if the payment has ever been confirmed.
    pub was_confirmed: bool,
    /// Value in the currency of the invoice.
    pub value: Cents,
}

impl From<&Payment> for PaymentFacts {
    fn from(payment: &Payment) -> PaymentFacts {
        PaymentFacts {
            state: payment.state,
            on_time: payment.on_time,
            was_confirmed: payment.was_confirmed,
            value: payment.value,
        }
    }
}

/// Returns the status of an invoice.
pub fn invoice_status(terms: &InvoiceTerms, payments: &[PaymentFacts], now: Time) -> InvoiceStatus {
    let confirmed = |on_time: bool| {
        let counts = move |payment: &&PaymentFacts| {
            payment.state == PaymentState::Confirmed && payment.on_time == on_time
        };
        let values = payments.iter().filter(counts).map(|payment| payment.value);
        values.sum::<Total>()
    };
    let seen_on_time =
        payments.iter().any(|payment| payment.state == PaymentState::Seen && payment.on_time);
    let any_confirmed = payments.iter().any(|payment| payment.state == PaymentState::Confirmed);
    if !any_confirmed && !seen_on_time {
        return unpaid_status(terms, payments, now);
    }
    let in_time = confirmed(true);
    let all = in_time.plus(confirmed(false));
    if is_paid_in_full(in_time, terms.due, terms.under) {
        if is_overpaid(all, terms.due, terms.over) {
            InvoiceStatus::Overpaid
        } else {
            InvoiceStatus::Confirmed
        }
    } else if seen_on_time {
        InvoiceStatus::Detected
    } else if is_paid_in_full(all, terms.due, terms.under) {
        InvoiceStatus::PaidLate
    } else {
        InvoiceStatus::Underpaid
    }
}

/// Returns the part of the confirmed amount above the price that is not refunded yet, at least zero. `None` for an invoice
/// that is not overpaid.
pub fn refundable_excess(
    status: InvoiceStatus,
    due: Cents,
    confirmed: Total,
    refunded: Cents,
) -> Option<Total> {
    let excess = confirmed.minus(due).minus(refunded);
    (status == InvoiceStatus::Overpaid).then(|| excess.max(Total::ZERO))
}

/// Returns the status of an invoice whose payments are all dropped, or late and not confirmed.
fn unpaid_status(terms: &InvoiceTerms, payments: &[PaymentFacts], now: Time) -> InvoiceStatus {
    let mut dropped = payments.iter().filter(|payment| payment.state == PaymentState::Dropped);
    if terms.cancelled_at.is_some() {
        InvoiceStatus::Cancelled
    } else if dropped.clone().any(|payment| payment.was_confirmed) {
        InvoiceStatus::Failed
    } else if now < terms.deadline() {
        if terms.quoted { InvoiceStatus::AwaitingPayment } else { InvoiceStatus::Created }
    } else if dropped.any(|payment| payment.on_time) {
        InvoiceStatus::Failed
    } else {
        InvoiceStatus::Expired
    }
}

#[cfg(test)]
mod tests;

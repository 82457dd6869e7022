//! The invoice's status: a pure function of the invoice, its payments and the time.
//!
//! What lives here: that function. What does not: anything that stores its answer. What always holds: nothing
//! else in the program decides a status.

use super::invoice::Invoice;
use super::money::{Bps, Cents, Total, exceeds, reaches};
use super::payment::{Payment, PaymentState};
use super::text_enum::text_enum;
use super::time::Time;

text_enum! {
    /// Where an invoice stands.
    ///
    /// ```text
    /// created → awaiting_payment → detected → confirmed → overpaid (paid a second time)
    ///     │            │              ├──→ overpaid
    ///     │            │              └──→ underpaid → (topped up) detected → confirmed | paid_late
    ///     └─→ expired | cancelled ←──┘         expired → (paid after the deadline) paid_late | underpaid | overpaid
    /// a payment that vanishes takes the status back; once confirmed and gone it is failed
    /// ```
    pub enum InvoiceStatus {
        /// No coin picked yet.
        Created = "created",
        /// A coin is picked, nothing is paid.
        AwaitingPayment = "awaiting_payment",
        /// A payment was seen in time and is not yet confirmed.
        Detected = "detected",
        /// Paid in full.
        Confirmed = "confirmed",
        /// Paid, and more than was due.
        Overpaid = "overpaid",
        /// Paid in part.
        Underpaid = "underpaid",
        /// Not paid in time.
        Expired = "expired",
        /// Paid in full, but not in time.
        PaidLate = "paid_late",
        /// Cancelled by the merchant.
        Cancelled = "cancelled",
        /// A payment came and vanished.
        Failed = "failed",
    }
}

impl InvoiceStatus {
    /// The `paid` field: the one to act on.
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

    /// Nothing has been paid and nothing is decided: a coin can be picked, time can close it.
    pub const fn is_open(self) -> bool {
        matches!(
            self,
            InvoiceStatus::Created | InvoiceStatus::AwaitingPayment
        )
    }
}

/// What of an invoice its status depends on.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// The price.
    pub due: Cents,
    /// How much less still counts as paid.
    pub under: Bps,
    /// How much more does not count as too much.
    pub over: Bps,
    /// When it can no longer be paid in time.
    pub expires_at: Time,
    /// When it was cancelled.
    pub cancelled_at: Option<Time>,
    /// Has a coin been picked?
    pub quoted: bool,
}

impl Terms {
    /// From this moment on, what is seen is late.
    pub fn deadline(&self) -> Time {
        self.cancelled_at
            .map_or(self.expires_at, |at| at.min(self.expires_at))
    }
}

/// What of a payment the status depends on.
#[derive(Clone, Copy, Debug)]
pub struct Judged {
    /// Where it stands.
    pub state: PaymentState,
    /// Seen before the deadline?
    pub on_time: bool,
    /// Has it ever been confirmed?
    pub was_confirmed: bool,
    /// What it is worth.
    pub value: Cents,
}

impl From<&Payment> for Judged {
    fn from(payment: &Payment) -> Judged {
        Judged {
            state: payment.state,
            on_time: payment.on_time,
            was_confirmed: payment.was_confirmed,
            value: payment.value,
        }
    }
}

/// The status of an invoice with these payments at this moment.
pub fn status(invoice: &Invoice, payments: &[Payment], now: Time) -> InvoiceStatus {
    let judged: Vec<Judged> = payments.iter().map(Judged::from).collect();
    judge(&invoice.terms(), &judged, now)
}

/// [`status`] over just what it depends on.
pub fn judge(terms: &Terms, payments: &[Judged], now: Time) -> InvoiceStatus {
    let confirmed = |on_time: bool| {
        let counts = move |payment: &&Judged| {
            payment.state == PaymentState::Confirmed && payment.on_time == on_time
        };
        let values = payments.iter().filter(counts).map(|payment| payment.value);
        values.sum::<Total>()
    };
    let seen_on_time = payments
        .iter()
        .any(|payment| payment.state == PaymentState::Seen && payment.on_time);
    let any_confirmed = payments
        .iter()
        .any(|payment| payment.state == PaymentState::Confirmed);
    if !any_confirmed && !seen_on_time {
        return unpaid(terms, payments, now);
    }
    let in_time = confirmed(true);
    let all = in_time.plus(confirmed(false));
    if reaches(in_time, terms.due, terms.under) {
        if exceeds(all, terms.due, terms.over) {
            InvoiceStatus::Overpaid
        } else {
            InvoiceStatus::Confirmed
        }
    } else if seen_on_time {
        InvoiceStatus::Detected
    } else if reaches(all, terms.due, terms.under) {
        InvoiceStatus::PaidLate
    } else {
        InvoiceStatus::Underpaid
    }
}

/// The status where no payment is confirmed and none was seen in time.
fn unpaid(terms: &Terms, payments: &[Judged], now: Time) -> InvoiceStatus {
    let mut dropped = payments
        .iter()
        .filter(|payment| payment.state == PaymentState::Dropped);
    if terms.cancelled_at.is_some() {
        InvoiceStatus::Cancelled
    } else if dropped.clone().any(|payment| payment.was_confirmed) {
        InvoiceStatus::Failed
    } else if now < terms.deadline() {
        if terms.quoted {
            InvoiceStatus::AwaitingPayment
        } else {
            InvoiceStatus::Created
        }
    } else if dropped.any(|payment| payment.on_time) {
        InvoiceStatus::Failed
    } else {
        InvoiceStatus::Expired
    }
}

#[cfg(test)]
mod tests;

//! Texts of the timeline, and the sums that explain a status.
//!
//! Invariant: the module `status` compares the same sums, in whole cents.

use super::{PaymentStep, TimelinePayment};
use crate::domain::fields::view;
use crate::domain::invoice::Invoice;
use crate::domain::money::{Bps, Cents, Currency, Total, max_not_overpaid, min_paid_amount};
use crate::domain::payment::PaymentState;
use crate::domain::rate::{RateQuote, RateSource};
use crate::domain::status::{InvoiceStatus, InvoiceTerms, PaymentFacts};
use crate::domain::time::Time;
use crate::domain::transfer::{Transfer, TransferStatus};

view! {
    /// Sums that determine a status, in the invoice's currency.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub Sums as "InvoiceSums" {
        /// The price.
        due: Cents = "20.00";
        /// Lowest sum that counts as paid: the price less the tolerance.
        paid_from: Cents = "19.90";
        /// Highest sum that is not overpaid.
        paid_up_to: Cents = "20.10";
        /// Confirmed payments seen in time.
        confirmed_on_time: Total = "20.00";
        /// Unconfirmed payments seen in time.
        unconfirmed_on_time: Total = "0.00";
        /// Confirmed payments seen too late.
        confirmed_late: Total = "0.00";
    }
}

impl Sums {
    /// Returns the sums of these payments.
    pub fn new(terms: &InvoiceTerms, payments: &[PaymentFacts]) -> Sums {
        let sum = |state: PaymentState, on_time: bool| {
            let counts =
                move |payment: &&PaymentFacts| payment.state == state && payment.on_time == on_time;
            let values = payments.iter().filter(counts).map(|payment| payment.value);
            values.sum::<Total>()
        };
        Sums {
            due: terms.due,
            paid_from: min_paid_amount(terms.due, terms.under),
            paid_up_to: max_not_overpaid(terms.due, terms.over),
            confirmed_on_time: sum(PaymentState::Confirmed, true),
            unconfirmed_on_time: sum(PaymentState::Seen, true),
            confirmed_late: sum(PaymentState::Confirmed, false),
        }
    }

    /// Returns the confirmed amount for a sentence, with the part that was paid late if there is one.
    fn confirmed_text(&self, currency: Currency) -> String {
        let late = if self.confirmed_late > Total::ZERO {
            format!(" in time and {} late", self.confirmed_late)
        } else {
            String::new()
        };
        format!("confirmed {}{late} of {} {currency} due", self.confirmed_on_time, self.due)
    }

    /// Returns the tolerance for a sentence: one amount, or the amounts below and above the price.
    fn tolerance_text(&self) -> String {
        // `paid_from` is at most the price and `paid_up_to` is at least the price, so neither difference is negative.
        let under = self.due.minus(self.paid_from).unwrap_or(Cents::ZERO);
        let over = self.paid_up_to.minus(self.due).unwrap_or(Cents::ZERO);
        if under == over {
            format!("tolerance {under}")
        } else {
            format!("tolerance {under} below and {over} above")
        }
    }
}

pub(super) fn status_reason(
    status: InvoiceStatus,
    invoice: &Invoice,
    sums: &Sums,
    payments: &[PaymentFacts],
) -> String {
    let currency = invoice.currency;
    let confirmed = sums.confirmed_text(currency);
    let reason = match status {
        InvoiceStatus::Created => "no coin was picked and nothing was paid".to_owned(),
        InvoiceStatus::AwaitingPayment => {
            let (due, until) = (sums.due, invoice.terms().deadline());
            format!("nothing was paid of the {due} {currency} due until {until}")
        }
        InvoiceStatus::Detected => {
            format!("{confirmed}, and {} seen in time but not confirmed", sums.unconfirmed_on_time)
        }
        InvoiceStatus::Confirmed => format!("{confirmed}, {}", sums.tolerance_text()),
        InvoiceStatus::Overpaid => {
            format!("{confirmed}, more than {} is too much", sums.paid_up_to)
        }
        InvoiceStatus::Underpaid => {
            format!("{confirmed}, less than {} is too little", sums.paid_from)
        }
        InvoiceStatus::PaidLate => {
            format!("{confirmed}: in full, {}, but late", sums.tolerance_text())
        }
        InvoiceStatus::Expired => format!(
            "no payment of the {} {currency} due was seen until {}",
            sums.due, invoice.expires_at
        ),
        InvoiceStatus::Cancelled => "cancelled; later payments are late".to_owned(),
        InvoiceStatus::Failed => failure_reason(payments).to_owned(),
    };
    format!("{status}: {reason}")
}

/// Returns the sentence that explains the status `failed`.
fn failure_reason(payments: &[PaymentFacts]) -> &'static str {
    let was_confirmed =
        |payment: &PaymentFacts| payment.state == PaymentState::Dropped && payment.was_confirmed;
    if payments.iter().any(was_confirmed) {
        "a confirmed payment disappeared from its chain"
    } else {
        "a payment seen in time disappeared from its chain, and the deadline has passed"
    }
}

/// Returns the source of a rate, to be appended to the rate; empty for the fixed rate of simulated chains.
///
/// The text includes the time of a rate that was more than three minutes old when it was used.
pub(super) fn rate_source_text(quoted: &RateQuote, priced_at: Time) -> String {
    let by = match quoted.source {
        RateSource::Fixed => return String::new(),
        RateSource::Median => "the median of the sources",
        RateSource::File => "the operator's file",
    };
    let spread = match quoted.spread {
        Bps(0) => String::new(),
        spread => format!(" less {} %", spread.percent()),
    };
    let old = if quoted.is_fresh(priced_at) {
        String::new()
    } else {
        format!(", the newest known, of {}", quoted.at)
    };
    format!(" by {by}{spread}{old}")
}

pub(super) fn payment_text(paid: &TimelinePayment, currency: Currency, priced_at: Time) -> String {
    let happened = match paid.step {
        PaymentStep::Seen => "seen",
        PaymentStep::Confirmed => "confirmed",
        PaymentStep::Dropped => "dropped, as its transaction disappeared from its chain",
        PaymentStep::Orphaned => "orphaned, as a reorg removed its block",
    };
    let (amount, rate, value) =
        (paid.asset.format_units(paid.amount), paid.quoted.rate, paid.value);
    let when = if paid.on_time { "in time" } else { "late" };
    format!(
        "payment of {amount} {} {happened}: worth {value} {currency} at {rate}{}, {when}",
        paid.asset.symbol,
        rate_source_text(&paid.quoted, priced_at)
    )
}

pub(super) fn transfer_text(refund: &Transfer, status: TransferStatus) -> String {
    let what = format!("refund of {} {} {status}", refund.amount, refund.currency);
    let why = refund.failure_reason.as_ref().filter(|_| status.is_put_back());
    match why {
        Some(why) => format!("{what}: {why}"),
        None => what,
    }
}

//! The invoice, as stored and returned.
//!
//! Invariant: an invoice has a coin exactly when it has a current quote.

pub mod draft;
pub mod search;
#[cfg(test)]
pub(super) mod tests;

use super::asset::{Asset, Mode};
use super::money::coin::{Rate, Units};
use super::money::{Bps, Cents, Currency, Overflow};
use super::payment::Payment;
use super::quote::{Quote, current_quote};
use super::scanned::{LaggingChains, awaited_chains};
use super::status::{InvoiceStatus, InvoiceTerms, PaymentFacts, invoice_status};
use super::time::Time;
use serde_json::value::RawValue;

/// Coin of an invoice, with the rate, amount and address of its current quote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvoiceCoin {
    /// The coin.
    pub asset: &'static Asset,
    /// Exchange rate, fiat per whole coin.
    pub rate: Rate,
    /// Amount that the customer is asked to pay.
    pub amount_expected: Units,
    /// Address that the customer pays to.
    pub address: String,
}

impl From<&Quote> for InvoiceCoin {
    fn from(quote: &Quote) -> InvoiceCoin {
        InvoiceCoin {
            asset: quote.asset,
            rate: quote.quoted.rate,
            amount_expected: quote.amount_expected,
            address: quote.address.clone(),
        }
    }
}

/// An invoice.
#[derive(Clone, Debug)]
pub struct Invoice {
    /// Row number, in order of insertion. Lists are paged in this order.
    pub seq: i64,
    /// Public id.
    pub id: String,
    /// `seq` of the merchant's account.
    pub account: i64,
    /// Mode: live or test.
    pub mode: Mode,
    /// The merchant's reference for the order.
    pub order_id: Option<String>,
    /// Latest computed status.
    pub status: InvoiceStatus,
    /// Price of the invoice.
    pub amount: Cents,
    /// Currency of the price.
    pub currency: Currency,
    /// Description for the customer.
    pub description: Option<String>,
    /// Selected coin; `None` before the first selection.
    pub coin: Option<InvoiceCoin>,
    /// Sum of the seen and confirmed payments in the invoice's coin.
    pub amount_received: Option<Units>,
    /// `seq` of the quote that was selected last.
    pub picked_quote: Option<i64>,
    /// Page to which the customer returns after payment.
    pub redirect_url: Option<String>,
    /// Page to which the customer returns without payment.
    pub cancel_url: Option<String>,
    /// URL that receives the events of the invoice, in addition to the account's endpoints.
    pub webhook_url: Option<String>,
    /// JSON object from the merchant, stored as received.
    pub metadata: Box<RawValue>,
    /// Email address of the customer.
    pub customer_email: Option<String>,
    /// Id of the payment link that created the invoice.
    pub payment_link_id: Option<String>,
    /// Sum of all refunds, except failed, rejected and cancelled refunds.
    pub refunded: Option<Cents>,
    /// Largest underpayment with which the invoice still counts as paid, in basis points of the price.
    pub under: Bps,
    /// Largest overpayment with which the invoice does not count as overpaid, in basis points of the price.
    pub over: Bps,
    /// Time of creation.
    pub created_at: Time,
    /// Deadline for payments.
    pub expires_at: Time,
    /// Time since which the invoice counts as paid; `None` if it does not count as paid.
    pub confirmed_at: Option<Time>,
    /// Time of cancellation.
    pub cancelled_at: Option<Time>,
    /// List of the live chains on which the invoice can be paid in time. The invoice does not expire while one of
    /// these chains lags.
    pub waits_for: String,
}

impl Invoice {
    /// Returns the parts of the invoice that determine its status.
    pub fn terms(&self) -> InvoiceTerms {
        InvoiceTerms {
            due: self.amount,
            under: self.under,
            over: self.over,
            expires_at: self.expires_at,
            cancelled_at: self.cancelled_at,
            quoted: self.picked_quote.is_some(),
        }
    }

    /// Returns the status of the invoice with these payments at this time.
    pub fn status_at(&self, payments: &[Payment], now: Time) -> InvoiceStatus {
        let judged: Vec<PaymentFacts> = payments.iter().map(PaymentFacts::from).collect();
        invoice_status(&self.terms(), &judged, now)
    }

    /// Returns the time for which the status of the invoice is computed.
    ///
    /// For an expired or failed invoice, the time is never before the invoice's deadline. A late request or a clock
    /// that was set back therefore does not reopen the invoice.
    ///
    /// While an invoice waits for a lagging chain, returns the time up to which the chain has been scanned.
    pub fn status_time(&self, scanned: &LaggingChains, now: Time) -> Time {
        let deadline = self.terms().deadline();
        match self.status {
            InvoiceStatus::Expired | InvoiceStatus::Failed => now.max(deadline),
            InvoiceStatus::Created
            | InvoiceStatus::AwaitingPayment
            | InvoiceStatus::Detected
            | InvoiceStatus::Confirmed
            | InvoiceStatus::Overpaid
            | InvoiceStatus::Underpaid
            | InvoiceStatus::PaidLate
            | InvoiceStatus::Cancelled => scanned.status_time(&self.waits_for, deadline, now),
        }
    }

    /// Computes the fields of the invoice that follow from its payments, its quotes and the time.
    ///
    /// # Errors
    /// [`Overflow`] if the received amount overflows.
    pub fn recompute(
        &mut self,
        payments: &[Payment],
        quotes: &[Quote],
        scanned: &LaggingChains,
        now: Time,
    ) -> Result<(), Overflow> {
        self.waits_for = awaited_chains(self.mode, quotes, self.terms().deadline());
        let at = self.status_time(scanned, now);
        let is_own = |seq: &i64| quotes.iter().any(|quote| quote.seq == *seq && !quote.given);
        // A selected quote is deselected if its address does not belong to the invoice.
        self.picked_quote = self.picked_quote.filter(is_own);
        self.status = self.status_at(payments, at);
        let picked = quotes.iter().find(|quote| Some(quote.seq) == self.picked_quote);
        // An open invoice requests payment at an address that it owns, even if payments arrived at other addresses.
        let current = current_quote(quotes, payments, self.picked_quote)
            .filter(|quote| !(quote.given && self.status.is_open()))
            .or(picked);
        // Without a selected quote, the quote of the counted payments is selected.
        self.picked_quote = self.picked_quote.or(current.map(|quote| quote.seq));
        self.coin = current.map(InvoiceCoin::from);
        self.amount_received = self.received_amount(payments)?;
        Ok(())
    }

    /// Returns the sum of seen and confirmed payments in the invoice's coin. `None` if there are none.
    fn received_amount(&self, payments: &[Payment]) -> Result<Option<Units>, Overflow> {
        let Some(coin) = &self.coin else {
            return Ok(None);
        };
        let mut counted = payments
            .iter()
            .filter(|payment| payment.counts_for_invoice() && payment.asset == coin.asset)
            .peekable();
        if counted.peek().is_none() {
            return Ok(None);
        }
        counted.try_fold(Units::ZERO, |sum, payment| sum.plus(payment.amount)).map(Some)
    }
}

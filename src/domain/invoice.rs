//! The invoice, as stored and returned.
//!
//! Invariant: an invoice has a coin exactly when it has a current quote.

pub mod draft;
pub mod search;

use super::asset::{Asset, Mode};
use super::money::coin::{Rate, Units};
use super::money::{Bps, Cents, Currency};
use super::payment::Payment;
use super::quote::Quote;
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
}

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
use super::status::{InvoiceStatus, InvoiceTerms, JudgedPayment, judge};
use super::time::Time;
use serde_json::value::RawValue;

/// Coin of an invoice, copied from its current quote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvoiceCoin {
    /// The coin.
    pub asset: &'static Asset,
    /// Fiat per whole coin.
    pub rate: Rate,
    /// Amount that the customer is asked to pay.
    pub amount_expected: Units,
    /// Address to pay to.
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
    /// Order of insertion. Pages follow it.
    pub seq: i64,
    /// Public id.
    pub id: String,
    /// Account of the merchant, by `seq`.
    pub account: i64,
    /// Live or test.
    pub mode: Mode,
    /// Reference that the merchant gave.
    pub order_id: Option<String>,
    /// Latest computed status.
    pub status: InvoiceStatus,
    /// Price.
    pub amount: Cents,
    /// Currency of the price.
    pub currency: Currency,
    /// Text for people.
    pub description: Option<String>,
    /// Coin, once one is selected.
    pub coin: Option<InvoiceCoin>,
    /// Sum of the seen and confirmed payments in that coin.
    pub amount_received: Option<Units>,
    /// Latest selected quote, by `seq`.
    pub picked_quote: Option<i64>,
    /// Page for the customer after payment.
    pub redirect_url: Option<String>,
    /// Page for a customer who does not pay.
    pub cancel_url: Option<String>,
    /// Additional receiver of this invoice's events.
    pub webhook_url: Option<String>,
    /// JSON object of the merchant, as sent.
    pub metadata: Box<RawValue>,
    /// Email address of the customer.
    pub customer_email: Option<String>,
    /// Id of the payment link that created it.
    pub payment_link_id: Option<String>,
    /// Sum of the refunds that did not fail and were not rejected or cancelled.
    pub refunded: Option<Cents>,
    /// Largest shortfall that still counts as paid, in basis points of the price.
    pub under: Bps,
    /// Largest excess that does not count as overpaid, in basis points of the price.
    pub over: Bps,
    /// Time of creation.
    pub created_at: Time,
    /// Deadline for payments.
    pub expires_at: Time,
    /// Start of the current paid state.
    pub confirmed_at: Option<Time>,
    /// Time of cancellation.
    pub cancelled_at: Option<Time>,
    /// Chains that the invoice waits for while they lag: those of live mode on which it can be paid in time.
    pub waits_for: String,
}

impl Invoice {
    /// Returns the parts that determine its status.
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
        let judged: Vec<JudgedPayment> = payments.iter().map(JudgedPayment::from).collect();
        judge(&self.terms(), &judged, now)
    }
}

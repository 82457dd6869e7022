//! The invoice, as it is stored and answered.
//!
//! What lives here: the invoice and its coin. What does not: its status function (`status`), what a merchant may
//! send to make one (`draft`), and which text finds it (`search`). What always holds: an invoice has a coin exactly when it has a current quote.

pub mod draft;
pub mod search;

use super::asset::{Asset, Mode};
use super::money::coin::{Rate, Units};
use super::money::{Bps, Cents, Currency};
use super::quote::Quote;
use super::status::{InvoiceStatus, Terms};
use super::time::Time;
use serde_json::value::RawValue;

/// The coin of an invoice: copied from the quote that stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coin {
    /// Which coin.
    pub asset: &'static Asset,
    /// Fiat per whole coin.
    pub rate: Rate,
    /// What the customer is asked to pay.
    pub amount_expected: Units,
    /// Where to.
    pub address: String,
}

impl From<&Quote> for Coin {
    fn from(quote: &Quote) -> Coin {
        Coin {
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
    /// Order of insertion; pages go by it.
    pub seq: i64,
    /// The name outside the file.
    pub id: String,
    /// Whose it is.
    pub account: i64,
    /// Live or test.
    pub mode: Mode,
    /// The merchant's own reference.
    pub order_id: Option<String>,
    /// As computed last.
    pub status: InvoiceStatus,
    /// The price.
    pub amount: Cents,
    /// What the price is in.
    pub currency: Currency,
    /// For people.
    pub description: Option<String>,
    /// The coin, once picked.
    pub coin: Option<Coin>,
    /// All seen or confirmed in that coin.
    pub amount_received: Option<Units>,
    /// The quote picked last.
    pub picked_quote: Option<i64>,
    /// Where the customer goes after paying.
    pub redirect_url: Option<String>,
    /// Where the customer goes who gives up.
    pub cancel_url: Option<String>,
    /// An extra receiver of this invoice's events.
    pub webhook_url: Option<String>,
    /// The merchant's own JSON object, as sent.
    pub metadata: Box<RawValue>,
    /// The customer's address.
    pub customer_email: Option<String>,
    /// The payment link it came from.
    pub payment_link_id: Option<String>,
    /// Refunds not failed, rejected or cancelled.
    pub refunded: Option<Cents>,
    /// Tolerance below the price.
    pub under: Bps,
    /// Tolerance above the price.
    pub over: Bps,
    /// When it was made.
    pub created_at: Time,
    /// When it can no longer be paid in time.
    pub expires_at: Time,
    /// Start of the present paid state.
    pub confirmed_at: Option<Time>,
    /// When it was cancelled.
    pub cancelled_at: Option<Time>,
    /// The chains that it waits for where they lag: those of live mode on which it can be paid in time.
    pub waits_for: String,
}

impl Invoice {
    /// What its status depends on.
    pub fn terms(&self) -> Terms {
        Terms {
            due: self.amount,
            under: self.under,
            over: self.over,
            expires_at: self.expires_at,
            cancelled_at: self.cancelled_at,
            quoted: self.picked_quote.is_some(),
        }
    }
}

//! A quote: one coin that was picked for one invoice, with its rate, amount and address.
//!
//! What lives here: whether a coin can be quoted for a price, and which quote of an invoice is the current one.
//! What does not: where addresses come from. What always holds: a quote never changes.

use super::asset::Asset;
use super::money::Cents;
use super::money::coin::{Rate, Units};
use super::payment::Payment;
use super::rate::Quoted;
use super::refusal::{Code, Refusal};
use super::time::Time;

/// A coin picked for an invoice.
#[derive(Clone, Debug)]
pub struct Quote {
    /// Order of insertion.
    pub seq: i64,
    /// The coin.
    pub asset: &'static Asset,
    /// Fiat per whole coin, frozen, and where it came from.
    pub quoted: Quoted,
    /// What the customer is asked to pay.
    pub amount_expected: Units,
    /// Where to.
    pub address: String,
    /// Is that an address of somebody else's, or of nobody's? What came there was given to the invoice by a person, and
    /// nobody is asked to pay there.
    pub given: bool,
    /// When it was picked first.
    pub created_at: Time,
}

/// 400 `coin_unavailable`.
pub fn unavailable(message: impl Into<String>) -> Refusal {
    Refusal::of(Code::CoinUnavailable, "asset", message)
}

/// What a price comes to in a coin at a rate.
///
/// # Errors
/// `coin_unavailable` where it is below the coin's minimum or cannot be counted.
pub fn amount_due(asset: &Asset, rate: Rate, due: Cents) -> Result<Units, Refusal> {
    let amount = rate
        .units_for(due, asset.decimals)
        .map_err(|_| unavailable(format!("{} cannot be quoted for this amount", asset.id)))?;
    if amount < asset.min_amount {
        let (amount, min) = (asset.text(amount), asset.text(asset.min_amount));
        return Err(unavailable(format!(
            "{} {amount} is below the coin's minimum of {min}",
            asset.id
        )));
    }
    Ok(amount)
}

/// The current quote of an invoice: that of its first payment that counts, else the one picked last. One at an address that
/// is not the invoice's is current only while what came there counts.
pub fn current<'a>(
    quotes: &'a [Quote],
    payments: &[Payment],
    picked: Option<i64>,
) -> Option<&'a Quote> {
    let paid = payments
        .iter()
        .find(|payment| payment.counts())
        .map(|payment| payment.quote);
    let of = |seq: i64| quotes.iter().find(|quote| quote.seq == seq);
    match paid {
        Some(seq) => of(seq),
        None => picked.and_then(of).filter(|quote| !quote.given),
    }
}

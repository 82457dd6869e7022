//! Quotes: one coin that was selected for one invoice, with its rate, amount and address.
//!
//! Invariant: a quote never changes.

use super::asset::Asset;
use super::money::Cents;
use super::money::coin::{Rate, Units};
use super::payment::Payment;
use super::rate::RateQuote;
use super::refusal::{Refusal, RefusalCode};
use super::time::Time;

/// A coin that was selected for an invoice, with its rate, amount and address.
#[derive(Clone, Debug)]
pub struct Quote {
    /// Row number, in order of insertion.
    pub seq: i64,
    /// The coin.
    pub asset: &'static Asset,
    /// Fixed rate: fiat per whole coin, with its source.
    pub quoted: RateQuote,
    /// Amount that the customer is asked to pay.
    pub amount_expected: Units,
    /// Address that the customer pays to.
    pub address: String,
    /// `true` if the quote was made for a payment that a person assigned to the invoice. The address then does not
    /// belong to the invoice, and no customer is asked to pay to this address.
    pub given: bool,
    /// Time at which the coin was first selected.
    pub created_at: Time,
}

/// Returns the refusal `coin_unavailable` (400) with this message.
pub fn coin_unavailable(message: impl Into<String>) -> Refusal {
    Refusal::for_param(RefusalCode::CoinUnavailable, "asset", message)
}

/// Converts a price to an amount of a coin.
///
/// # Errors
/// `coin_unavailable` if the amount is below the coin's minimum or overflows.
pub fn amount_due(asset: &Asset, rate: Rate, due: Cents) -> Result<Units, Refusal> {
    let amount = rate
        .units_for(due, asset.decimals)
        .map_err(|_| coin_unavailable(format!("{} cannot be quoted for this amount", asset.id)))?;
    if amount < asset.min_amount {
        let (amount, min) = (asset.format_units(amount), asset.format_units(asset.min_amount));
        return Err(coin_unavailable(format!(
            "{} {amount} is below the coin's minimum of {min}",
            asset.id
        )));
    }
    Ok(amount)
}

/// Returns the current quote of an invoice: the quote of the first payment that counts for the invoice, otherwise the
/// quote that was selected last.
///
/// A quote with [`Quote::given`] is current only while its payment counts.
pub fn current_quote<'a>(
    quotes: &'a [Quote],
    payments: &[Payment],
    picked: Option<i64>,
) -> Option<&'a Quote> {
    let paid =
        payments.iter().find(|payment| payment.counts_for_invoice()).map(|payment| payment.quote);
    let of = |seq: i64| quotes.iter().find(|quote| quote.seq == seq);
    match paid {
        Some(seq) => of(seq),
        None => picked.and_then(of).filter(|quote| !quote.given),
    }
}

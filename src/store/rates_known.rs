//! The table `rates_known`: the newest known rate of each coin.

use super::statement::statements;
use crate::domain::{Bps, Currency, RateQuote};

statements! {
    row read(rate, rate_source, rate_at, rate_evidence) -> RateQuote {
        Ok(RateQuote { rate, source: rate_source, at: rate_at, spread: Bps(0), evidence: rate_evidence })
    }

    /// Returns the newest known rate of a coin in a currency.
    pub fn of_coin(db, coin: &str, currency: Currency) -> Option<RateQuote> =
        select "from rates_known where coin = :coin and currency = :currency";

    /// Replaces the newest known rate of a coin in a currency.
    pub fn put(tx, coin: &str, currency: Currency, quoted: &RateQuote) =
        "insert or replace into rates_known (coin, currency, rate, rate_source, rate_at, rate_evidence) \
            values (:coin, :currency, :rate, :rate_source, :rate_at, :rate_evidence)"
        with {
            coin, currency, rate: quoted.rate, rate_source: quoted.source, rate_at: quoted.at,
            rate_evidence: quoted.evidence,
        };
}

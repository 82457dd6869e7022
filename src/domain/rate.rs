//! Exchange rate of a coin, with its source and time.
//!
//! Invariant: every priced object stores the source, time, spread and evidence of its rate.

mod agreement;
mod evidence;
mod figure;
mod market;

pub use agreement::{NoRateReason, agreed_rate, rate_from_file};
pub use evidence::Evidence;
pub use figure::{
    CoinFigure, FigureSource, RateFigure, Ticker, figures_of_tickers, mean_of_ordered, parse_number,
};
pub use market::CoinMarket;

use super::money::coin::Rate;
use super::money::{Bps, Overflow};
use super::text_enum::text_enum;
use super::time::{MINUTE_MS, Time};
use rust_decimal::Decimal;

/// State of a rate source after its last request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceState {
    /// The source.
    pub source: FigureSource,
    /// Time of the last request.
    pub tried_at: Time,
    /// Time of the last response with a price.
    pub told_at: Option<Time>,
    /// Reason why the last request returned no price.
    pub problem: Option<String>,
}

/// Largest age of a rate that may price a new object, in milliseconds.
pub const FRESH_MS_MAX: i64 = 3 * MINUTE_MS;

/// The largest spread, in basis points.
pub const SPREAD_BPS_MAX: u32 = 2_000;

text_enum! {
    /// Source of a rate.
    pub enum RateSource {
        /// The fixed table, for simulated chains.
        Fixed = "fixed",
        /// The median of public sources.
        Median = "median",
        /// The operator's own file.
        File = "file",
    }
}

/// A rate with its source, time, spread and evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateQuote {
    /// Fiat per whole coin, less the spread.
    pub rate: Rate,
    /// Source of the rate.
    pub source: RateSource,
    /// Time of the oldest price that determined the rate.
    pub at: Time,
    /// Spread by which the rate was lowered.
    pub spread: Bps,
    /// Prices that determined the rate.
    pub evidence: Evidence,
}

impl RateQuote {
    /// Returns a rate of the fixed table.
    pub fn fixed(rate: Rate, at: Time) -> RateQuote {
        RateQuote {
            rate,
            source: RateSource::Fixed,
            at,
            spread: Bps(0),
            evidence: Evidence::default(),
        }
    }

    /// Returns `true` if the rate is fresh enough to price a new object.
    pub fn is_fresh(&self, now: Time) -> bool {
        now.since_ms(self.at) <= FRESH_MS_MAX
    }

    /// Lowers the rate by an account's spread, rounded half-even to ten decimals.
    ///
    /// A coin is then worth less, so the customer pays a larger amount of the coin.
    ///
    /// # Errors
    /// [`Overflow`] if the lowered rate rounds to zero.
    pub fn lowered_by(self, spread: Bps) -> Result<RateQuote, Overflow> {
        if spread == Bps(0) {
            return Ok(self);
        }
        let rest = 10_000_u32.checked_sub(spread.0).ok_or(Overflow)?;
        let rate = self.rate.times(Decimal::new(i64::from(rest), 4))?;
        Ok(RateQuote { rate, spread, ..self })
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{Bps, FRESH_MS_MAX, RateQuote, Time};

    fn quote_of_rate(rate: &str) -> RateQuote {
        RateQuote::fixed(rate.parse().unwrap(), Time(1_000))
    }

    #[test]
    fn rate_is_fresh_for_three_minutes() {
        for (age_ms, is_fresh) in [
            (-1, true),
            (0, true),
            (FRESH_MS_MAX, true),
            (FRESH_MS_MAX + 1, false),
            (i64::MAX - 1_000, false),
        ] {
            let now = Time(1_000_i64.saturating_add(age_ms));
            assert_eq!(quote_of_rate("80").is_fresh(now), is_fresh, "{age_ms}");
        }
    }

    #[test]
    fn spread_lowers_the_rate_and_is_recorded() {
        for (rate, bps, lower) in [
            ("60000", 0, "60000"),
            ("60000", 100, "59400"),
            ("0.0000000003", 2_000, "0.0000000002"),
        ] {
            let less = quote_of_rate(rate).lowered_by(Bps(bps)).unwrap();
            assert_eq!((less.rate.to_string().as_str(), less.spread), (lower, Bps(bps)));
        }
        assert!(quote_of_rate("60000").lowered_by(Bps(10_000)).is_err());
        assert!(quote_of_rate("60000").lowered_by(Bps(10_001)).is_err());
    }
}

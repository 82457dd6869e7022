//! A rate, with its source and its time.
//!
//! What lives here: the rate that something is priced at, and what it follows from. What does not: asking for one
//! (`service::rates`), and the arithmetic (`money::coin`). What always holds: whatever was priced keeps the rate's
//! source, time, spread and evidence beside the rate.

mod agreement;
mod evidence;
mod figure;
mod market;

pub use agreement::{NoAgreement, agreed, of_file};
pub use evidence::Evidence;
pub use figure::{Figure, Source, Ticker, Told, digits, figures, middle};
pub use market::Market;

use super::money::coin::Rate;
use super::money::{Bps, Overflow};
use super::text_enum::text_enum;
use super::time::{MINUTE_MS, Time};
use rust_decimal::Decimal;

/// A source, and what came of asking it last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceState {
    /// Which.
    pub source: Source,
    /// When it was asked last.
    pub tried_at: Time,
    /// When it told something last.
    pub told_at: Option<Time>,
    /// Why it told nothing when it was asked last.
    pub problem: Option<String>,
}

/// How old a rate may be that something new is priced at.
pub const FRESH_MS_MAX: i64 = 3 * MINUTE_MS;

/// The largest spread, in basis points.
pub const SPREAD_BPS_MAX: u32 = 2_000;

text_enum! {
    /// Where a rate comes from.
    pub enum RateSource {
        /// The fixed table: where nothing real is paid.
        Fixed = "fixed",
        /// The median of public sources.
        Median = "median",
        /// The operator's own file.
        File = "file",
    }
}

/// A rate that was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quoted {
    /// Fiat per whole coin, less the spread.
    pub rate: Rate,
    /// Who told it.
    pub source: RateSource,
    /// Of which moment it is: that of the oldest figure it follows from.
    pub at: Time,
    /// By how much it is lower than what was told.
    pub spread: Bps,
    /// What it follows from.
    pub evidence: Evidence,
}

impl Quoted {
    /// A rate of the fixed table.
    pub fn fixed(rate: Rate, at: Time) -> Quoted {
        Quoted {
            rate,
            source: RateSource::Fixed,
            at,
            spread: Bps(0),
            evidence: Evidence::default(),
        }
    }

    /// Is it young enough for something new?
    pub fn is_fresh(&self, now: Time) -> bool {
        now.since_ms(self.at) <= FRESH_MS_MAX
    }

    /// The rate lowered by an account's spread, rounded half-even to ten decimals: a coin is worth less, so that the
    /// customer pays more of it.
    ///
    /// # Errors
    /// [`Overflow`] where nothing would be left of it.
    pub fn less(self, spread: Bps) -> Result<Quoted, Overflow> {
        if spread == Bps(0) {
            return Ok(self);
        }
        let rest = 10_000_u32.checked_sub(spread.0).ok_or(Overflow)?;
        let rate = self.rate.times(Decimal::new(i64::from(rest), 4))?;
        Ok(Quoted {
            rate,
            spread,
            ..self
        })
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{Bps, FRESH_MS_MAX, Quoted, Time};

    fn quoted(rate: &str) -> Quoted {
        Quoted::fixed(rate.parse().unwrap(), Time(1_000))
    }

    #[test]
    fn a_rate_is_fresh_for_three_minutes() {
        for (age_ms, is_fresh) in [
            (-1, true),
            (0, true),
            (FRESH_MS_MAX, true),
            (FRESH_MS_MAX + 1, false),
            (i64::MAX - 1_000, false),
        ] {
            let now = Time(1_000_i64.saturating_add(age_ms));
            assert_eq!(quoted("80").is_fresh(now), is_fresh, "{age_ms}");
        }
    }

    #[test]
    fn a_spread_lowers_the_rate_and_is_kept() {
        for (rate, bps, lower) in [
            ("60000", 0, "60000"),
            ("60000", 100, "59400"),
            ("0.0000000003", 2_000, "0.0000000002"),
        ] {
            let less = quoted(rate).less(Bps(bps)).unwrap();
            assert_eq!(
                (less.rate.to_string().as_str(), less.spread),
                (lower, Bps(bps))
            );
        }
        assert!(quoted("60000").less(Bps(10_000)).is_err());
        assert!(quoted("60000").less(Bps(10_001)).is_err());
    }
}

//! A rate, with its source and its time.
//!
//! What does not live here: asking for one (`service::rates`), and the arithmetic (`money::coin`). What always
//! holds: whatever was priced keeps the rate's source and time beside the rate.

use super::money::coin::Rate;
use super::text_enum::text_enum;
use super::time::{MINUTE_MS, Time};

/// How old a rate may be that something new is priced at.
pub const FRESH_MS_MAX: i64 = 3 * MINUTE_MS;

text_enum! {
    /// Where a rate comes from.
    pub enum RateSource {
        /// The fixed table: where nothing real is paid.
        Fixed = "fixed",
    }
}

/// A rate that was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quoted {
    /// Fiat per whole coin.
    pub rate: Rate,
    /// Who told it.
    pub source: RateSource,
    /// Of which moment it is.
    pub at: Time,
}

impl Quoted {
    /// Is it young enough for something new?
    pub fn is_fresh(&self, now: Time) -> bool {
        now.since_ms(self.at) <= FRESH_MS_MAX
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{FRESH_MS_MAX, Quoted, RateSource, Time};

    #[test]
    fn a_rate_is_fresh_for_three_minutes() {
        let quoted = Quoted {
            rate: "80".parse().unwrap(),
            source: RateSource::Fixed,
            at: Time(1_000),
        };
        for (age_ms, is_fresh) in [
            (-1, true),
            (0, true),
            (FRESH_MS_MAX, true),
            (FRESH_MS_MAX + 1, false),
            (i64::MAX - 1_000, false),
        ] {
            let now = Time(1_000_i64.saturating_add(age_ms));
            assert_eq!(quoted.is_fresh(now), is_fresh, "{age_ms}");
        }
    }
}

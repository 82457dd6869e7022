//! Pauses of a thread that follows a chain.

use crate::chain::cost::RequestCost;
use crate::domain::asset::Chain;
use crate::service::random_bytes;
use std::time::Duration;

/// Longest pause after failures.
pub(super) const BACK_OFF_MAX: Duration = Duration::from_secs(120);
/// Pause after the first failure. The pause doubles with each further failure.
pub(super) const BACK_OFF: Duration = Duration::from_secs(1);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// Longest time that the first step waits for rates.
const RATES_WAIT_MAX: Duration = Duration::from_secs(10);

/// The polling intervals of a node.
#[derive(Clone, Copy, Debug)]
pub struct PollIntervals {
    /// Polling interval while money is expected.
    pub expected: Duration,
    /// Polling interval while no money is expected.
    pub otherwise: Duration,
    /// Longest time that the first step waits for rates. Payments of the first step are booked at these rates.
    pub for_rates: Duration,
}

impl PollIntervals {
    /// Returns the polling intervals of a chain.
    pub const fn for_chain(chain: Chain) -> PollIntervals {
        let (expected, otherwise) = match chain {
            Chain::Bitcoin | Chain::Litecoin | Chain::Dogecoin => (10, 30),
            Chain::Ethereum | Chain::Base | Chain::Polygon | Chain::Tron => (15, 60),
            Chain::Solana => (10, 60),
        };
        PollIntervals {
            expected: Duration::from_secs(expected),
            otherwise: Duration::from_secs(otherwise),
            for_rates: RATES_WAIT_MAX,
        }
    }

    /// Returns the number of requests per day if no money is ever expected, and the number if money is expected all
    /// day.
    pub fn requests_per_day_range(chain: Chain, cost: &RequestCost) -> (u64, u64) {
        let pace = PollIntervals::for_chain(chain);
        let polls = |every: Duration| DAY.as_secs().checked_div(every.as_secs()).unwrap_or(0);
        let (otherwise, expected) = (polls(pace.otherwise), polls(pace.expected));
        (cost.requests_per_day(otherwise), cost.requests_per_day(expected))
    }
}

/// Returns the pause after this number of earlier failures.
pub(super) fn doubled_back_off(failures: u32) -> Duration {
    let times = 1_u32.checked_shl(failures).unwrap_or(u32::MAX);
    BACK_OFF.saturating_mul(times).min(BACK_OFF_MAX)
}

/// Shortens a pause by up to a quarter at random, so that not all chains poll at once.
pub(super) fn with_jitter(pause: Duration) -> Duration {
    let [dice] = random_bytes::<1>().unwrap_or([0]);
    let share = pause.checked_div(1024).unwrap_or_default();
    pause.saturating_sub(share.saturating_mul(u32::from(dice)))
}

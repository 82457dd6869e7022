//! Rates of attempts: a burst of attempts at once, and then one more attempt after each interval.

use crate::domain::time::Time;

/// A rate: the number of attempts allowed at once, and the interval until one more attempt is allowed.
#[derive(Clone, Copy)]
pub(super) struct Rate {
    pub(super) burst: i64,
    pub(super) cost_ms: i64,
}

/// A counter of attempts: the time at which the full number of attempts is allowed again.
#[derive(Clone, Copy)]
pub(super) struct Bucket {
    pub(super) full_at: Time,
}

impl Bucket {
    /// Returns the time until one more attempt is allowed, in milliseconds.
    pub(super) fn wait_ms(&self, rate: &Rate, now: Time) -> i64 {
        let room = rate.cost_ms.saturating_mul(rate.burst.saturating_sub(1));
        self.full_at.since_ms(now).saturating_sub(room)
    }

    /// Counts one attempt.
    pub(super) fn count_attempt(&mut self, rate: &Rate, now: Time) {
        self.full_at = self.full_at.max(now).plus_ms(rate.cost_ms);
    }

    /// Undoes the count of one attempt.
    pub(super) fn undo_attempt(&mut self, rate: &Rate) {
        self.full_at = self.full_at.plus_ms(rate.cost_ms.saturating_neg());
    }
}

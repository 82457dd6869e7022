//! Rates of attempts: a burst of attempts without waiting, and then one more attempt after each interval.

use crate::domain::time::Time;

/// A rate: the number of attempts allowed without waiting, and the interval until one more attempt is allowed.
#[derive(Clone, Copy)]
pub(super) struct Rate {
    pub(super) burst: i64,
    pub(super) cost_ms: i64,
}

/// A counter of attempts, stored as the time at which a full burst is allowed again.
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

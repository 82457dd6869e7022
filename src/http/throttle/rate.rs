//! A rate: so many at once, and then one more from time to time.

use crate::domain::time::Time;

/// How many at once, and how long until one more may come.
#[derive(Clone, Copy)]
pub(super) struct Rate {
    pub(super) burst: i64,
    pub(super) cost_ms: i64,
}

/// What is owed of a rate; nothing once this moment has come.
#[derive(Clone, Copy)]
pub(super) struct Bucket {
    pub(super) full_at: Time,
}

impl Bucket {
    /// How long until one more may come.
    pub(super) fn wait_ms(&self, rate: &Rate, now: Time) -> i64 {
        let room = rate.cost_ms.saturating_mul(rate.burst.saturating_sub(1));
        self.full_at.since_ms(now).saturating_sub(room)
    }

    /// One has come.
    pub(super) fn take(&mut self, rate: &Rate, now: Time) {
        self.full_at = self.full_at.max(now).plus_ms(rate.cost_ms);
    }

    /// One has not come after all.
    pub(super) fn give_back(&mut self, rate: &Rate) {
        self.full_at = self.full_at.plus_ms(rate.cost_ms.saturating_neg());
    }
}

//! Token buckets: a burst without waiting, and then one more token after each interval.

use super::expiring_map::Expire;
use crate::domain::Time;

/// A rate: the number of tokens in a full bucket, and the interval after which a token returns.
#[derive(Clone, Copy)]
pub(super) struct Rate {
    pub(super) burst: i64,
    pub(super) cost_ms: i64,
}

/// A token bucket, stored as the time at which the bucket is full again.
#[derive(Clone, Copy)]
pub(super) struct Bucket {
    full_at: Time,
}

impl Bucket {
    pub(super) fn full(now: Time) -> Bucket {
        Bucket { full_at: now }
    }

    /// Returns the time until the bucket has a token, in milliseconds; 0 or less if the bucket has one.
    pub(super) fn wait_ms(&self, rate: &Rate, now: Time) -> i64 {
        let room = rate.cost_ms.saturating_mul(rate.burst.saturating_sub(1));
        self.ms_until_full(now).saturating_sub(room)
    }

    pub(super) fn ms_until_full(&self, now: Time) -> i64 {
        self.full_at.since_ms(now)
    }

    pub(super) fn tokens(&self, rate: &Rate, now: Time) -> i64 {
        let room = rate.cost_ms.saturating_mul(rate.burst);
        let left = room.saturating_sub(self.ms_until_full(now));
        left.checked_div(rate.cost_ms).unwrap_or(0).max(0)
    }

    /// Takes a token, even from an empty bucket.
    pub(super) fn take(&mut self, rate: &Rate, now: Time) {
        self.full_at = self.full_at.max(now).plus_ms(rate.cost_ms);
    }

    pub(super) fn put_back(&mut self, rate: &Rate) {
        self.full_at = self.full_at.plus_ms(rate.cost_ms.saturating_neg());
    }
}

impl Expire for Bucket {
    fn has_expired(&self, now: Time) -> bool {
        self.full_at <= now
    }
}

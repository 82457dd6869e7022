//! Counter of requests to a node.
//!
//! Invariant: the number of requests per day is computed from counts of at most the last 24 hours.

use super::time::{HOUR_MS, MINUTE_MS, Time};
use std::collections::VecDeque;

/// Number of hours from whose counts the requests per day are computed, including the current hour.
const HOURS: i64 = 24;
/// Time after the first request from which [`RequestCounter::per_day`] returns a number, in milliseconds.
const SPAN_MS_MIN: i64 = 10 * MINUTE_MS;

/// Counts of requests by hour.
#[derive(Clone, Debug, Default)]
pub struct RequestCounter {
    /// Time of the first request.
    since: Option<Time>,
    total: u64,
    /// Hours with requests, oldest first: the number of the hour since 1970, and the count.
    hours: VecDeque<(i64, u64)>,
}

impl RequestCounter {
    /// Counts `more` requests at this time.
    pub fn add(&mut self, now: Time, more: u64) {
        self.since.get_or_insert(now);
        self.total = self.total.saturating_add(more);
        let hour = hour_number(now);
        match self.hours.back_mut() {
            Some((last, count)) if *last >= hour => *count = count.saturating_add(more),
            Some(_) | None => self.hours.push_back((hour, more)),
        }
        while self.hours.front().is_some_and(|(first, _)| is_before_last_day(*first, hour)) {
            self.hours.pop_front();
        }
    }

    /// Returns the number of all requests.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns the requests per day, computed from the last day, or from the shorter time since the first request.
    ///
    /// `None` in the first ten minutes.
    pub fn per_day(&self, now: Time) -> Option<u64> {
        let this = hour_number(now);
        let begun = Time(this.saturating_sub(HOURS).saturating_add(1).saturating_mul(HOUR_MS));
        let span_ms = now.since_ms(self.since?.max(begun));
        if span_ms < SPAN_MS_MIN {
            return None;
        }
        let young = self.hours.iter().filter(|(hour, _)| !is_before_last_day(*hour, this));
        let counted: u64 = young.map(|(_, count)| count).sum();
        let day_ms = u128::try_from(HOURS.saturating_mul(HOUR_MS)).ok()?;
        let made = u128::from(counted).saturating_mul(day_ms);
        u64::try_from(made.checked_div(u128::try_from(span_ms).ok()?)?).ok()
    }
}

fn hour_number(at: Time) -> i64 {
    at.0.div_euclid(HOUR_MS)
}

fn is_before_last_day(hour: i64, now: i64) -> bool {
    now.saturating_sub(hour) >= HOURS
}

#[cfg(test)]
#[expect(clippy::arithmetic_side_effects, reason = "a test fails by panicking")]
mod tests {
    use super::{HOUR_MS, MINUTE_MS, RequestCounter, Time};

    const START: Time = Time(1_795_253_400_000);

    /// Counts `a_minute` requests per minute for `minutes` minutes. Returns the requests per day and the counter.
    #[track_caller]
    fn count_in_each_minute(minutes: i64, a_minute: u64) -> (Option<u64>, RequestCounter) {
        let mut requests = RequestCounter::default();
        for minute in 0..minutes {
            requests.add(START.plus_ms(minute * MINUTE_MS), a_minute);
        }
        let now = START.plus_ms(minutes * MINUTE_MS);
        (requests.per_day(now), requests)
    }

    #[test]
    fn requests_per_day_are_extrapolated() {
        assert_eq!(RequestCounter::default().per_day(START), None);
        assert_eq!(count_in_each_minute(9, 10).0, None);
        for minutes in [10, 60, 24 * 60, 3 * 24 * 60, 3 * 24 * 60 + 17] {
            let (a_day, requests) = count_in_each_minute(minutes, 10);
            assert_eq!(a_day, Some(10 * 24 * 60), "{minutes}");
            assert_eq!(requests.total(), 10 * u64::try_from(minutes).unwrap_or(0));
            assert!(requests.hours.len() <= 24);
        }
    }

    #[test]
    fn old_requests_no_longer_count() {
        let (_, mut requests) = count_in_each_minute(60, 1000);
        let later = START.plus_ms(48 * HOUR_MS);
        requests.add(later, 5);
        assert!(requests.per_day(later.plus_ms(HOUR_MS)).is_some_and(|a_day| a_day < 10));
        // The counter keeps all counts when the clock is set back.
        requests.add(START, 1);
        assert_eq!(requests.total(), 60_006);
        assert_eq!(requests.per_day(START), None);
    }
}

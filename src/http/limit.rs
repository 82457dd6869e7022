//! How often a key, or a client, may make invoices.
//!
//! What always holds: a key that stays under the rate is never refused, and a key that exceeds it is told when to
//! try again.

use crate::domain::refusal::{Code, Refusal};
use crate::domain::time::{MINUTE_MS, Time};
use hyper::header::{HeaderName, HeaderValue};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Keys remembered; one more forgets those that are back to a full burst.
const KEYS_MAX: usize = 10_000;

/// Invoices that a key may make at once.
pub(super) const CREATION_BURST: u32 = 100;

/// Invoices that a key may make in a minute where nobody sets another number: the default of `--rate-limit`.
const PER_MINUTE_DEFAULT: u32 = 600;

const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// A token bucket for each key.
pub(super) struct Limiter {
    per_minute: u32,
    /// How many may come at once.
    burst: u32,
    buckets: Mutex<HashMap<String, Bucket>>,
}

/// What a key has left, in milliseconds of the rate: one creation costs `MINUTE_MS / per_minute`.
struct Bucket {
    full_at: Time,
}

/// What the limit says of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    /// May it go on?
    pub(super) allowed: bool,
    /// How many more may come at once.
    pub(super) remaining: u32,
    /// Seconds until one more may come (refused), or until the burst is full again.
    pub(super) wait_seconds: i64,
}

impl Limiter {
    /// So many in a minute for each key, and so many at once; 0 in a minute: no limit.
    pub(super) fn new(per_minute: u32, burst: u32) -> Limiter {
        Limiter {
            per_minute,
            burst,
            buckets: Mutex::new(HashMap::new()),
        }
    }

    /// Counts one creation; nothing where there is no limit.
    pub(super) fn count(&self, key: &str, now: Time) -> Option<Verdict> {
        let cost = MINUTE_MS.checked_div(i64::from(self.per_minute))?.max(1);
        let room = cost.saturating_mul(i64::from(self.burst));
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= KEYS_MAX && !buckets.contains_key(key) {
            buckets.retain(|_, bucket| bucket.full_at > now);
        }
        let bucket = buckets
            .entry(key.to_owned())
            .or_insert(Bucket { full_at: now });
        let owed = bucket.full_at.since_ms(now).clamp(0, room);
        let after = owed.saturating_add(cost);
        if after > room {
            let wait_ms = after.saturating_sub(room);
            return Some(Verdict {
                allowed: false,
                remaining: 0,
                wait_seconds: seconds_up(wait_ms),
            });
        }
        bucket.full_at = now.plus_ms(after);
        let left = room.saturating_sub(after).checked_div(cost).unwrap_or(0);
        Some(Verdict {
            allowed: true,
            remaining: u32::try_from(left).unwrap_or(0),
            wait_seconds: seconds_up(after),
        })
    }

    /// The `RateLimit-Policy` header: so many at once, refilled over so many seconds.
    fn policy(&self) -> String {
        let window = i64::from(self.burst)
            .saturating_mul(60)
            .checked_div(i64::from(self.per_minute))
            .unwrap_or(0)
            .max(1);
        format!("\"creations\";q={};w={window}", self.burst)
    }
}

/// The headers of a creation that the rate refuses, at the rate that `serve` has where nobody sets another: for a
/// server that limits nothing and pretends to.
pub(super) fn spent() -> Vec<(HeaderName, HeaderValue)> {
    let verdict = Verdict {
        allowed: false,
        remaining: 0,
        wait_seconds: 1,
    };
    headers(&Limiter::new(PER_MINUTE_DEFAULT, CREATION_BURST), &verdict)
}

/// `RateLimit` and `RateLimit-Policy`.
pub(super) fn headers(limiter: &Limiter, verdict: &Verdict) -> Vec<(HeaderName, HeaderValue)> {
    let texts = [
        (RATE_LIMIT, verdict.header()),
        (RATE_LIMIT_POLICY, limiter.policy()),
    ];
    let header = |(name, text): (HeaderName, String)| {
        HeaderValue::from_str(&text).ok().map(|value| (name, value))
    };
    texts.into_iter().filter_map(header).collect()
}

impl Verdict {
    /// The `RateLimit` header.
    fn header(&self) -> String {
        format!("\"creations\";r={};t={}", self.remaining, self.wait_seconds)
    }

    /// 429 `rate_limited`.
    pub(super) fn refusal(&self) -> Refusal {
        let message = format!(
            "invoices are made too fast; try again in {} s",
            self.wait_seconds
        );
        Refusal::new(Code::RateLimited, message)
    }
}

/// Milliseconds as whole seconds, rounded up.
fn seconds_up(ms: i64) -> i64 {
    ms.saturating_add(999) / 1000
}

#[cfg(test)]
mod tests {
    use super::{Limiter, Time};

    const BURST: u32 = 100;

    #[test]
    fn a_burst_then_the_rate() {
        let limiter = Limiter::new(600, BURST);
        for left in (0..BURST).rev() {
            let verdict = limiter.count("a", Time(0));
            assert!(
                verdict.is_some_and(|verdict| verdict.allowed && verdict.remaining == left),
                "{left}"
            );
        }
        let verdict = limiter.count("a", Time(0));
        assert!(verdict.is_some_and(|verdict| !verdict.allowed && verdict.wait_seconds == 1));
        assert!(
            limiter
                .count("b", Time(0))
                .is_some_and(|verdict| verdict.allowed),
            "another key has its own"
        );
        assert!(
            limiter
                .count("a", Time(99))
                .is_some_and(|verdict| !verdict.allowed)
        );
        assert!(
            limiter
                .count("a", Time(100))
                .is_some_and(|verdict| verdict.allowed),
            "one every 100 ms"
        );
        assert!(
            limiter
                .count("a", Time(100))
                .is_some_and(|verdict| !verdict.allowed)
        );
    }

    #[test]
    fn no_limit_counts_nothing() {
        assert_eq!(Limiter::new(0, BURST).count("a", Time(0)), None);
    }
}

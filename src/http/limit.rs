//! Rate limits for creating invoices, for each API key or for each network of a client.
//!
//! Invariant: a key below its rate is never refused, and a refusal says when to try again. Memory grows only with the
//! number of keys whose token bucket is not full.

use crate::domain::refusal::{Refusal, RefusalCode};
use crate::domain::time::{MINUTE_MS, Time};
use hyper::header::{HeaderName, HeaderValue};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Minimum number of stored buckets before full buckets are removed.
const SWEEP_KEYS_MIN: usize = 10_000;
/// Factor by which the rate of a network exceeds the rate of the next narrower network.
const NETWORK_FACTOR: u32 = 10;

/// Number of invoices that a key may create in a burst.
pub(super) const CREATION_BURST: u32 = 100;

/// Default of `--rate-limit`: number of invoices that a key may create in a minute.
const PER_MINUTE_DEFAULT: u32 = 600;

const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// A rate limiter with a token bucket for each key.
pub(super) struct Limiter {
    per_minute: u32,
    /// Number of tokens in a full bucket.
    burst: u32,
    buckets: Mutex<Buckets>,
}

/// Token buckets by key. Each value is the time at which the bucket is full again. One creation delays the time by
/// `MINUTE_MS / per_minute` milliseconds.
#[derive(Default)]
struct Buckets {
    full_at: HashMap<String, Time>,
    /// Number of stored buckets at which full buckets are removed again.
    sweep_at: usize,
}

impl Buckets {
    /// Sets the time at which the bucket of a key is full again. Removes full buckets when the number of buckets has
    /// doubled, so the cost per creation is small.
    fn set_full_at(&mut self, key: &str, full_at: Time, now: Time) {
        if let Some(known) = self.full_at.get_mut(key) {
            *known = full_at;
            return;
        }
        if self.full_at.len() >= self.sweep_at.max(SWEEP_KEYS_MIN) {
            self.full_at.retain(|_, full_at| *full_at > now);
            self.sweep_at = self.full_at.len().saturating_mul(2);
        }
        self.full_at.insert(key.to_owned(), full_at);
    }
}

/// Decision of a rate limit about one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) allowed: bool,
    /// Number of tokens left in the bucket.
    pub(super) remaining: u32,
    /// Seconds until the next token if the request is refused, else until the bucket is full.
    pub(super) wait_seconds: i64,
}

impl Limiter {
    /// Creates a limiter that allows `per_minute` creations in a minute for each key, and `burst` creations in a
    /// burst. If `per_minute` is 0, there is no limit.
    pub(super) fn new(per_minute: u32, burst: u32) -> Limiter {
        Limiter { per_minute, burst, buckets: Mutex::default() }
    }

    /// Counts one creation against the limit of this key. Returns `None` if there is no limit.
    pub(super) fn count_creation(&self, key: &str, now: Time) -> Option<Verdict> {
        self.count_in_networks(&[key], now)
    }

    /// Counts one creation in each of these networks, ordered from the narrowest to the widest. Each network may
    /// create ten times as many invoices as the next narrower network. Counts nothing if any network has reached its
    /// limit. Returns `None` if there is no limit.
    pub(super) fn count_in_networks(&self, networks: &[&str], now: Time) -> Option<Verdict> {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let mut verdict: Option<Verdict> = None;
        let mut taken = Vec::with_capacity(networks.len());
        let mut times: u32 = 1;
        for network in networks {
            let per_minute = self.per_minute.saturating_mul(times);
            let burst = self.burst.saturating_mul(times);
            times = times.saturating_mul(NETWORK_FACTOR);
            let cost = MINUTE_MS.checked_div(i64::from(per_minute))?.max(1);
            let room = cost.saturating_mul(i64::from(burst));
            let full_at = buckets.full_at.get(*network).copied().unwrap_or(now);
            let after = full_at.since_ms(now).clamp(0, room).saturating_add(cost);
            let left = room.saturating_sub(after).max(0);
            let left = u32::try_from(left.checked_div(cost).unwrap_or(0)).unwrap_or(0);
            let allowed = after <= room;
            let wait_ms = if allowed { after } else { after.saturating_sub(room) };
            taken.push((*network, now.plus_ms(after)));
            let one = Verdict { allowed, remaining: left, wait_seconds: ceil_seconds(wait_ms) };
            verdict = Some(verdict.map_or(one, |other| other.stricter(one)));
        }
        if verdict.is_some_and(|verdict| verdict.allowed) {
            for (network, full_at) in taken {
                buckets.set_full_at(network, full_at, now);
            }
        }
        verdict
    }

    /// Formats the `RateLimit-Policy` header: the number of tokens in a full bucket, and the seconds until an empty
    /// bucket is full.
    fn policy_header(&self) -> String {
        let window = i64::from(self.burst)
            .saturating_mul(60)
            .checked_div(i64::from(self.per_minute))
            .unwrap_or(0)
            .max(1);
        format!("\"creations\";q={};w={window}", self.burst)
    }
}

/// Returns the rate limit headers of a simulated refusal, for a key with the default rate.
pub(super) fn refusal_headers() -> Vec<(HeaderName, HeaderValue)> {
    let verdict = Verdict { allowed: false, remaining: 0, wait_seconds: 1 };
    rate_limit_headers(&Limiter::new(PER_MINUTE_DEFAULT, CREATION_BURST), &verdict)
}

/// Returns the headers `RateLimit` and `RateLimit-Policy`.
pub(super) fn rate_limit_headers(
    limiter: &Limiter,
    verdict: &Verdict,
) -> Vec<(HeaderName, HeaderValue)> {
    let texts =
        [(RATE_LIMIT, verdict.limit_header()), (RATE_LIMIT_POLICY, limiter.policy_header())];
    let header = |(name, text): (HeaderName, String)| {
        HeaderValue::from_str(&text).ok().map(|value| (name, value))
    };
    texts.into_iter().filter_map(header).collect()
}

impl Verdict {
    /// Formats the `RateLimit` header.
    fn limit_header(&self) -> String {
        format!("\"creations\";r={};t={}", self.remaining, self.wait_seconds)
    }

    /// Returns the stricter of two verdicts. A refusal is stricter than a permission. Among permissions, fewer tokens
    /// are stricter; among refusals, a longer wait is stricter.
    fn stricter(self, other: Verdict) -> Verdict {
        match (self.allowed, other.allowed) {
            (true, false) => other,
            (false, true) => self,
            (true, true) if other.remaining < self.remaining => other,
            (false, false) if other.wait_seconds > self.wait_seconds => other,
            (true, true) | (false, false) => self,
        }
    }

    pub(super) fn refusal(&self) -> Refusal {
        let message =
            format!("too many invoices are being created; try again in {} s", self.wait_seconds);
        Refusal::new(RefusalCode::RateLimited, message)
    }
}

/// Rounds milliseconds up to whole seconds.
fn ceil_seconds(ms: i64) -> i64 {
    ms.saturating_add(999) / 1000
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{Limiter, SWEEP_KEYS_MIN, Time};

    const BURST: u32 = 100;

    #[test]
    fn burst_is_allowed_before_rate_applies() {
        let limiter = Limiter::new(600, BURST);
        for left in (0..BURST).rev() {
            let verdict = limiter.count_creation("a", Time(0));
            assert!(
                verdict.is_some_and(|verdict| verdict.allowed && verdict.remaining == left),
                "{left}"
            );
        }
        let verdict = limiter.count_creation("a", Time(0));
        assert!(verdict.is_some_and(|verdict| !verdict.allowed && verdict.wait_seconds == 1));
        assert!(
            limiter.count_creation("b", Time(0)).is_some_and(|verdict| verdict.allowed),
            "another key has its own"
        );
        assert!(limiter.count_creation("a", Time(99)).is_some_and(|verdict| !verdict.allowed));
        assert!(
            limiter.count_creation("a", Time(100)).is_some_and(|verdict| verdict.allowed),
            "one every 100 ms"
        );
        assert!(limiter.count_creation("a", Time(100)).is_some_and(|verdict| !verdict.allowed));
    }

    #[test]
    fn zero_rate_means_no_limit() {
        assert_eq!(Limiter::new(0, BURST).count_creation("a", Time(0)), None);
    }

    /// Tries 20 000 creations from different narrow networks, all inside the networks `wider`. Returns the number of
    /// allowed creations.
    fn allowed_creation_count(limiter: &Limiter, from: usize, wider: [&str; 2], now: i64) -> usize {
        let narrow = (0..20_000).map(|number| format!("{from} {number}"));
        let allowed = narrow.filter(|narrow| {
            let networks = [narrow, wider[0], wider[1]];
            let verdict = limiter.count_in_networks(&networks, Time(now));
            verdict.is_some_and(|verdict| verdict.allowed)
        });
        allowed.count()
    }

    #[test]
    fn wider_network_may_create_ten_times_more() {
        let limiter = Limiter::new(10, 10);
        let one = |now: i64| limiter.count_in_networks(&["a", "b", "c"], Time(now)).unwrap();
        let made = (0..20).filter(|_| one(0).allowed).count();
        assert_eq!((made, one(0).wait_seconds), (10, 6));
        assert_eq!(allowed_creation_count(&limiter, 1, ["b", "c"], 0), 90, "of 100 together");
        assert_eq!(allowed_creation_count(&limiter, 2, ["other", "c"], 0), 100);
        for middle in 0..20 {
            allowed_creation_count(&limiter, 3, [&format!("m{middle}"), "c"], 0);
        }
        // The widest network, `c`, has reached its limit of 10 × 10 × 10 = 1 000 creations.
        assert_eq!(allowed_creation_count(&limiter, 4, ["new", "c"], 0), 0);
        assert_eq!(allowed_creation_count(&limiter, 4, ["new", "elsewhere"], 0), 100);
        // Refused creations were not counted, so a minute later the middle network `m0` may create 10 × 10 = 100
        // invoices.
        assert_eq!(allowed_creation_count(&limiter, 4, ["m0", "c"], 60_000), 100);
        let made = (0..20).filter(|_| one(60_000).allowed).count();
        assert_eq!(made, 10);
        assert_eq!(allowed_creation_count(&limiter, 5, ["z", "c"], 60_000), 100);
    }

    #[test]
    fn full_buckets_are_removed() {
        let limiter = Limiter::new(60_000, 10);
        let kept = || limiter.buckets.lock().unwrap().full_at.len();
        for key in 0..SWEEP_KEYS_MIN * 3 {
            limiter.count_creation(&key.to_string(), Time(0)).unwrap();
        }
        assert_eq!(kept(), SWEEP_KEYS_MIN * 3, "all are owed something");
        for key in 0..SWEEP_KEYS_MIN * 6 {
            limiter.count_creation(&format!("later {key}"), Time(10 + key as i64)).unwrap();
        }
        assert!(kept() <= SWEEP_KEYS_MIN * 4, "{}", kept());
    }
}

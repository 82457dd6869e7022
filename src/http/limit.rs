//! Rate limits for creating invoices, for each API key or for each network of a client.
//!
//! Invariant: a key below its rate is never refused, and a refusal says when to try again. Memory grows only with the
//! number of keys whose token bucket is not full.

use super::bucket::{Bucket, Rate};
use super::expiring_map::ExpiringMap;
use crate::domain::time::MINUTE_MS;
use crate::domain::{Refusal, RefusalCode, Time};
use hyper::header::{HeaderName, HeaderValue};
use std::slice;
use std::sync::{Mutex, PoisonError};

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
    buckets: Mutex<ExpiringMap<String, Bucket>>,
}

/// Decision of a rate limit about one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) allowed: bool,
    /// Number of tokens left in the bucket.
    pub(super) remaining: i64,
    /// Seconds until the next token if the request is refused, else until the bucket is full.
    pub(super) wait_seconds: i64,
}

impl Limiter {
    /// Creates a limiter that allows `per_minute` creations in a minute for each key, and `burst` creations in a
    /// burst. If `per_minute` is 0, there is no limit.
    pub(super) fn new(per_minute: u32, burst: u32) -> Limiter {
        Limiter { per_minute, burst, buckets: Mutex::new(ExpiringMap::new(usize::MAX)) }
    }

    /// Counts one creation against the limit of this key. Returns `None` if there is no limit.
    pub(super) fn count_creation(&self, key: &str, now: Time) -> Option<Verdict> {
        self.count_in_networks(slice::from_ref(&key.to_owned()), now)
    }

    /// Counts one creation in each of these networks, ordered from the narrowest to the widest. Each network may
    /// create ten times as many invoices as the next narrower network. Counts nothing if any network has reached its
    /// limit. Returns `None` if there is no limit.
    pub(super) fn count_in_networks(&self, networks: &[String], now: Time) -> Option<Verdict> {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let networks = || networks.iter().zip(self.network_rates());
        let waits_ms = networks().map(|(network, rate)| {
            buckets.get_mut(network).map_or(0, |bucket| bucket.wait_ms(&rate, now))
        });
        let wait_ms = waits_ms.max()?;
        if wait_ms > 0 {
            let wait_seconds = ceil_seconds(wait_ms);
            return Some(Verdict { allowed: false, remaining: 0, wait_seconds });
        }
        let verdicts = networks().filter_map(|(network, rate)| {
            let bucket = buckets.entry(network.clone(), Bucket::full(now), now)?;
            bucket.take(&rate, now);
            let wait_seconds = ceil_seconds(bucket.ms_until_full(now));
            Some(Verdict { allowed: true, remaining: bucket.tokens(&rate, now), wait_seconds })
        });
        verdicts.min_by_key(|verdict| verdict.remaining)
    }

    /// Returns the rates of the narrowest network and of all wider networks, or nothing if there is no limit.
    fn network_rates(&self) -> impl Iterator<Item = Rate> {
        let factors =
            std::iter::successors(Some(1_u32), |factor| factor.checked_mul(NETWORK_FACTOR));
        factors.map_while(|factor| {
            let per_minute = self.per_minute.saturating_mul(factor);
            let cost_ms = MINUTE_MS.checked_div(i64::from(per_minute))?.max(1);
            Some(Rate { burst: i64::from(self.burst.saturating_mul(factor)), cost_ms })
        })
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
    fn limit_header(&self) -> String {
        format!("\"creations\";r={};t={}", self.remaining, self.wait_seconds)
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
    use super::{Limiter, Time};
    use crate::http::expiring_map::SWEEP_LEN_MIN;

    const BURST: u32 = 100;

    #[test]
    fn burst_is_allowed_before_rate_applies() {
        let limiter = Limiter::new(600, BURST);
        for left in (0..BURST).rev() {
            let verdict = limiter.count_creation("a", Time(0));
            assert!(
                verdict
                    .is_some_and(|verdict| verdict.allowed && verdict.remaining == i64::from(left)),
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
            let networks = [narrow, wider[0], wider[1]].map(str::to_owned);
            let verdict = limiter.count_in_networks(&networks, Time(now));
            verdict.is_some_and(|verdict| verdict.allowed)
        });
        allowed.count()
    }

    #[test]
    fn wider_network_may_create_ten_times_more() {
        let limiter = Limiter::new(10, 10);
        let one = |now: i64| {
            limiter.count_in_networks(&["a", "b", "c"].map(str::to_owned), Time(now)).unwrap()
        };
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
        let kept = || limiter.buckets.lock().unwrap().len();
        for key in 0..SWEEP_LEN_MIN * 3 {
            limiter.count_creation(&key.to_string(), Time(0)).unwrap();
        }
        assert_eq!(kept(), SWEEP_LEN_MIN * 3, "all are owed something");
        for key in 0..SWEEP_LEN_MIN * 6 {
            limiter.count_creation(&format!("later {key}"), Time(10 + key as i64)).unwrap();
        }
        assert!(kept() <= SWEEP_LEN_MIN * 4, "{}", kept());
    }
}

//! Times of a TLS certificate: when it is renewed, how long a failed attempt waits, and when the operator is warned.

use crate::domain::time::{DAY_MS, Time, duration_text};

/// Share of the lifetime that is left at the renewal.
const RENEWAL_SHARE: i64 = 3;
/// Share of the lifetime that is left when the operator is warned.
const WARNING_SHARE: i64 = 6;
/// Time of failed renewals after which the operator is warned, in milliseconds.
const FAILING_MS_MAX: i64 = DAY_MS;
/// Longest wait between two attempts, in milliseconds.
const RETRY_MS_MAX: i64 = DAY_MS;

/// Period of validity of a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity {
    /// Start of the period.
    pub not_before: Time,
    /// End of the period.
    pub not_after: Time,
}

impl Validity {
    /// Returns the time of the renewal: a third of the lifetime is left then.
    pub fn renew_at(self) -> Time {
        self.not_after.plus_ms(self.lifetime_ms().div_euclid(RENEWAL_SHARE).saturating_neg())
    }

    /// Returns the time of the renewal if the authority suggests an earlier time. A suggestion cannot make a new
    /// certificate due within a day.
    pub fn renew_at_suggestion(self, suggested: Option<Time>) -> Time {
        let new_ms = self.lifetime_ms().div_euclid(WARNING_SHARE).min(DAY_MS);
        let earliest = self.not_before.plus_ms(new_ms);
        suggested.map_or(self.renew_at(), |at| at.max(earliest).min(self.renew_at()))
    }

    /// Returns the time at which a sixth of the lifetime is left.
    fn warn_at(self) -> Time {
        self.not_after.plus_ms(self.lifetime_ms().div_euclid(WARNING_SHARE).saturating_neg())
    }

    fn lifetime_ms(self) -> i64 {
        self.not_after.since_ms(self.not_before).max(0)
    }
}

/// State of a server's certificate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CertificateStatus {
    /// Domain of the certificate.
    pub domain: String,
    /// Validity of the certificate in use. `None` while there is no certificate.
    pub validity: Option<Validity>,
    /// Time of the first failure since the last success.
    pub failing_since: Option<Time>,
    /// Message of the last failure.
    pub problem: Option<String>,
    /// Earliest time of the next attempt after a failure.
    pub retry_at: Option<Time>,
}

impl CertificateStatus {
    /// Returns a warning for the operator: there is no certificate, it ends soon, or its renewal has failed for a day.
    pub fn warning(&self, now: Time) -> Option<String> {
        let domain = &self.domain;
        let problem = self.problem.as_ref();
        let why = || problem.map_or(String::new(), |problem| format!(": {problem}"));
        let Some(validity) = self.validity else {
            return problem.map(|_| format!("{domain} has no certificate{}", why()));
        };
        if now >= validity.not_after {
            let ended = validity.not_after;
            return Some(format!("the certificate of {domain} ended at {ended}{}", why()));
        }
        let failing_ms = self.failing_since.map_or(0, |since| now.since_ms(since));
        if now >= validity.warn_at() || failing_ms >= FAILING_MS_MAX {
            let left = duration_text(validity.not_after.since_ms(now));
            return Some(format!("the certificate of {domain} ends in {left}{}", why()));
        }
        None
    }
}

/// Returns the wait after this many consecutive failures: `min_ms`, doubled with each failure, at most a day.
pub fn retry_wait_ms(failures: u32, min_ms: i64) -> i64 {
    let doubled = failures.saturating_sub(1).min(32);
    min_ms.saturating_mul(1_i64.wrapping_shl(doubled)).clamp(0, RETRY_MS_MAX)
}

/// Returns the renewal time inside the window that a certificate authority suggests (RFC 9773, section 4.2). The place
/// in the window depends on the serial number, so it is the same after a restart.
pub fn time_in_window(start: Time, end: Time, serial: &[u8]) -> Time {
    let window_ms = end.since_ms(start).max(0);
    let place = serial
        .iter()
        .rev()
        .take(4)
        .fold(0_i64, |sum, byte| sum.wrapping_shl(8).wrapping_add(i64::from(*byte)));
    start.plus_ms(place.checked_rem(window_ms).unwrap_or(0).max(0))
}

#[cfg(test)]
#[expect(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    reason = "a test fails by panicking"
)]
mod tests {
    use super::{CertificateStatus, Validity, retry_wait_ms, time_in_window};
    use crate::domain::time::{DAY_MS, HOUR_MS, MINUTE_MS, Time};

    const START: Time = Time(1_000_000_000_000);

    fn validity(days: i64) -> Validity {
        Validity { not_before: START, not_after: START.plus_ms(days * DAY_MS) }
    }

    #[test]
    fn renewal_starts_when_a_third_of_the_lifetime_is_left() {
        assert_eq!(validity(90).renew_at(), START.plus_ms(60 * DAY_MS));
        let reversed = Validity { not_before: START, not_after: START.plus_ms(-1) };
        assert_eq!(reversed.renew_at(), reversed.not_after);
        let at = |days: i64| validity(90).renew_at_suggestion(Some(START.plus_ms(days * DAY_MS)));
        assert_eq!([at(-5), at(30), at(80)], [1, 30, 60].map(|days| START.plus_ms(days * DAY_MS)));
        assert_eq!(validity(90).renew_at_suggestion(None), validity(90).renew_at());
    }

    #[test]
    fn wait_doubles_from_a_minute_to_a_day() {
        let waits = [0, 1, 2, 3, 11, 12, 40, u32::MAX].map(|count| retry_wait_ms(count, MINUTE_MS));
        let minutes = waits.map(|wait| wait / MINUTE_MS);
        assert_eq!(minutes, [1, 1, 2, 4, 1024, 1440, 1440, 1440]);
    }

    #[test]
    fn suggested_time_is_inside_the_window() {
        let end = START.plus_ms(HOUR_MS);
        for serial in [&[0_u8][..], &[255; 20], &[1, 2, 3], &[]] {
            let at = time_in_window(START, end, serial);
            assert!(at >= START && at < end, "{serial:?}: {at}");
            assert_eq!(at, time_in_window(START, end, serial));
        }
        assert_ne!(time_in_window(START, end, &[1]), time_in_window(START, end, &[2]));
        assert_eq!(time_in_window(START, START, &[1]), START);
        assert_eq!(time_in_window(end, START, &[1]), end, "a reversed window");
    }

    #[test]
    fn operator_is_warned_at_a_sixth_of_the_lifetime_or_after_a_day_of_failures() {
        let mut status =
            CertificateStatus { domain: "a.example".to_owned(), ..CertificateStatus::default() };
        assert_eq!(status.warning(START), None, "the first attempt is under way");
        status.problem = Some("no DNS".to_owned());
        assert_eq!(status.warning(START).unwrap(), "a.example has no certificate: no DNS");
        status.validity = Some(validity(90));
        let at = |days: i64| START.plus_ms(days * DAY_MS);
        status.failing_since = Some(at(60));
        assert_eq!(status.warning(at(60)), None);
        let warned = "the certificate of a.example ends in 29 days: no DNS";
        assert_eq!(status.warning(at(61)).unwrap(), warned);
        (status.failing_since, status.problem) = (None, None);
        assert_eq!(status.warning(at(74)), None);
        assert!(status.warning(at(75)).unwrap().ends_with("ends in 15 days"));
        assert!(status.warning(at(90)).unwrap().contains("ended at "));
    }
}

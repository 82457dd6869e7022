//! Slowing down who guesses passwords.
//!
//! What always holds: after a few failures every further attempt on the same email waits longer, whoever makes it and
//! wherever from; a right password ends that.

use crate::domain::refusal::{Code, Refusal};
use crate::domain::time::{MINUTE_MS, SECOND_MS, Time};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Failures that cost nothing.
const FREE: u32 = 5;
/// The wait after the next one; each further failure doubles it.
const WAIT_MS_MIN: i64 = SECOND_MS;
/// The longest wait.
const WAIT_MS_MAX: i64 = 15 * MINUTE_MS;
/// Emails remembered; one more forgets those whose wait is over.
const EMAILS_MAX: usize = 10_000;

/// Failed sign-ins by email.
#[derive(Default)]
pub(super) struct Guessing {
    failed: Mutex<HashMap<String, Failed>>,
}

/// What was tried on one email.
#[derive(Clone, Copy)]
struct Failed {
    times: u32,
    until: Time,
}

impl Guessing {
    /// Counts an attempt as failed, before it is known whether it is: attempts at the same moment count too. Answers
    /// the seconds to wait where it must not be made at all.
    pub(super) fn begin(&self, email: &str, now: Time) -> Result<(), i64> {
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        if failed.len() >= EMAILS_MAX {
            failed.retain(|_, failed| failed.until > now);
        }
        let fresh = Failed {
            times: 0,
            until: now,
        };
        let entry = failed.entry(email.to_lowercase()).or_insert(fresh);
        if entry.until > now {
            let wait_ms = entry.until.since_ms(now);
            return Err(wait_ms.saturating_add(999).div_euclid(SECOND_MS));
        }
        // An email that nobody tried for long starts anew.
        if now.since_ms(entry.until) > WAIT_MS_MAX {
            *entry = fresh;
        }
        entry.times = entry.times.saturating_add(1);
        entry.until = now.plus_ms(wait_ms(entry.times));
        Ok(())
    }

    /// The password was right.
    pub(super) fn succeeded(&self, email: &str) {
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.remove(&email.to_lowercase());
    }

    /// Nobody has tried anything.
    pub(super) fn forget(&self) {
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.clear();
    }
}

/// How long to wait after so many failures.
fn wait_ms(times: u32) -> i64 {
    match times.checked_sub(FREE) {
        None | Some(0) => 0,
        Some(past) => WAIT_MS_MIN
            .saturating_mul(1_i64.checked_shl(past.min(32)).unwrap_or(i64::MAX))
            .min(WAIT_MS_MAX),
    }
}

/// 429 `too_many_attempts`.
pub(super) fn refusal(seconds: i64) -> Refusal {
    let message = format!("too many failed sign-ins with this email; try again in {seconds} s");
    Refusal::new(Code::TooManyAttempts, message).after(seconds)
}

#[cfg(test)]
mod tests {
    use super::{FREE, Guessing, Time, WAIT_MS_MAX, wait_ms};

    #[test]
    fn waits_double_up_to_a_quarter_of_an_hour() {
        let waits: Vec<i64> = (0..10).map(wait_ms).collect();
        assert_eq!(waits, [0, 0, 0, 0, 0, 0, 2_000, 4_000, 8_000, 16_000]);
        assert_eq!(wait_ms(u32::MAX), WAIT_MS_MAX);
    }

    #[test]
    fn a_few_failures_are_free_and_one_email_does_not_stop_another() {
        let guessing = Guessing::default();
        for _ in 0..=FREE {
            assert_eq!(guessing.begin("A@x", Time(1_000)), Ok(()));
        }
        assert_eq!(guessing.begin("a@X", Time(1_000)), Err(2), "in any case");
        assert_eq!(guessing.begin("b@x", Time(1_000)), Ok(()));
        assert_eq!(
            guessing.begin("a@x", Time(3_000)),
            Ok(()),
            "when it is over"
        );
        assert_eq!(guessing.begin("a@x", Time(3_000)), Err(4));
        guessing.succeeded("a@x");
        assert_eq!(guessing.begin("a@x", Time(3_000)), Ok(()));
    }

    #[test]
    fn what_is_long_past_is_forgotten() {
        let guessing = Guessing::default();
        for _ in 0..=FREE {
            assert_eq!(guessing.begin("a@x", Time(0)), Ok(()));
        }
        let later = Time(2_000 + WAIT_MS_MAX + 1);
        for _ in 0..=FREE {
            assert_eq!(guessing.begin("a@x", later), Ok(()));
        }
    }
}

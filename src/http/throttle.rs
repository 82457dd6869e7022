//! Throttling of guesses at passwords, second-factor codes and the set-up token.
//!
//! Invariant: guesses of one client do not lock out other clients. Guesses of many clients do not lock out a known
//! client, even if the guessers know the password. Only time, a success or a new password removes failures. A
//! monotonic clock measures the time.

mod rate;
mod target;

use super::hashing;
use crate::clock::Stopwatch;
use crate::domain::apikey;
use crate::domain::refusal::{Refusal, RefusalCode};
use crate::domain::time::{MINUTE_MS, SECOND_MS, Time};
use rate::{Bucket, Rate};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
pub(super) use target::{ClientKind, Target};

/// Number of failures of one client at one email before the client must wait.
const FREE_FAILURES: u32 = 5;
/// Half of the shortest wait, in milliseconds. The first wait is twice this value, and each further failure doubles
/// the wait.
const WAIT_MS_MIN: i64 = SECOND_MS;
/// Longest wait, in milliseconds. Failures are forgotten if the client makes no attempt for this time after its wait
/// has ended.
const WAIT_MS_MAX: i64 = 15 * MINUTE_MS;

/// Rate of failures of one client at all emails: 30 at once, then three each minute.
const CLIENT_RATE: Rate = Rate { burst: 30, cost_ms: 20 * SECOND_MS };
/// Maximum number of remembered failures at unknown emails, and of remembered clients. Above the maximum, failures at
/// unknown emails are not counted. A guesser needs one hash for each entry. At 100 hashes a second, entries expire
/// before the maximum is reached.
const REMEMBERED_MAX: usize = 100_000;
/// Maximum number of remembered clients that sent a wrong set-up token. The token is too long to guess.
const SET_UP_MAX: usize = 10_000;
/// Pause between two removals of expired entries, in milliseconds.
const SWEEP_MS: i64 = MINUTE_MS;

/// Limits of password checks.
#[derive(Clone, Copy, Debug)]
pub struct PasswordLimits {
    /// Maximum number of passwords that wait to be hashed. Further passwords are refused as `overloaded`.
    pub waiting_max: usize,
    /// Maximum number of remembered failures at unknown emails. Failures at existing users are not limited in number.
    pub failures_remembered_max: usize,
    /// Number of failures of all unknown clients together at one email before these clients must wait.
    pub shared_guesses_max: i64,
    /// Half of the first wait of a client at an email, in milliseconds. The sixth failure causes the first wait, and
    /// each further failure doubles the wait.
    pub wait_ms_min: i64,
}

impl Default for PasswordLimits {
    fn default() -> PasswordLimits {
        PasswordLimits {
            waiting_max: hashing::WAITING_MAX,
            failures_remembered_max: REMEMBERED_MAX,
            shared_guesses_max: target::SHARED_GUESSES_MAX,
            wait_ms_min: WAIT_MS_MIN,
        }
    }
}

/// Hash that identifies a target, a client, or a client at a target.
type ThrottleKey = [u8; 16];

/// Counters of failed attempts, with the stopwatch that measures their time.
pub(super) struct Throttle {
    since: Stopwatch,
    counts: Mutex<FailureCounts>,
}

#[derive(Default)]
struct FailureCounts {
    limits: PasswordLimits,
    users: Failures,
    others: Failures,
    codes: Failures,
    set_up: Failures,
    clients: HashMap<ThrottleKey, Bucket>,
    next_sweep: Option<Time>,
}

/// Counters of failed attempts at one kind of target.
#[derive(Default)]
struct Failures {
    /// Failures of one client at one target, by the hash of the target and the client. After several of these
    /// failures, the client must wait.
    per_client: HashMap<ThrottleKey, ClientFailures>,
    /// Failures of a group of clients at one target, by the hash of the target and the group. The rate of the target
    /// limits these failures.
    per_group: HashMap<ThrottleKey, Bucket>,
}

/// Failures of one client at one target.
#[derive(Clone, Copy)]
struct ClientFailures {
    times: u32,
    until: Time,
}

impl Throttle {
    /// Creates a throttle without failures. `since` measures the time.
    pub(super) fn new(since: Stopwatch, limits: PasswordLimits) -> Throttle {
        Throttle { since, counts: Mutex::new(FailureCounts::new(limits)) }
    }

    /// Refuses an attempt if the client must wait before the next attempt at the target. Counts nothing.
    ///
    /// # Errors
    /// `too_many_attempts`.
    pub(super) fn check(&self, target: &Target, client: &str) -> Result<(), Refusal> {
        let wait_ms = self.lock().wait_ms(target, client, self.now());
        check_wait(wait_ms)
    }

    /// Counts an attempt as failed before its result is known, because other attempts may run at the same time.
    ///
    /// # Errors
    /// `too_many_attempts` if the client must wait. The caller must then not make the attempt.
    pub(super) fn count_attempt(&self, target: &Target, client: &str) -> Result<(), Refusal> {
        let (now, mut counts) = (self.now(), self.lock());
        check_wait(counts.wait_ms(target, client, now))?;
        counts.count_failure(target, client, now);
        Ok(())
    }

    /// Records that an attempt succeeded.
    pub(super) fn record_success(&self, target: &Target, client: &str) {
        self.lock().record_success(target, client);
    }

    /// Undoes the count of an attempt whose caller disconnected before the answer.
    pub(super) fn undo_attempt(&self, target: &Target, client: &str) {
        self.lock().undo_attempt(target, client, self.now());
    }

    /// Removes all recorded failures.
    pub(super) fn clear(&self) {
        let mut counts = self.lock();
        *counts = FailureCounts::new(counts.limits);
    }

    fn now(&self) -> Time {
        Time(self.since.elapsed_ms())
    }

    fn lock(&self) -> MutexGuard<'_, FailureCounts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FailureCounts {
    fn new(limits: PasswordLimits) -> FailureCounts {
        FailureCounts { limits, ..FailureCounts::default() }
    }

    /// Returns the time that the client must wait before the next attempt at the target, in milliseconds; 0 or less
    /// for no wait.
    fn wait_ms(&self, target: &Target, client: &str, now: Time) -> i64 {
        let failures = match target {
            Target::User(..) => &self.users,
            Target::UnknownEmail(_) => &self.others,
            Target::Code(..) | Target::SessionCode(_) | Target::RecoveryCode(_) => &self.codes,
            Target::SetUp => &self.set_up,
        };
        let strictly = failures
            .per_client
            .get(&target.key(client))
            .map_or(0, |failed| failed.until.since_ms(now));
        let Some((rate, together)) = target.shared_rate(client, &self.limits) else {
            return strictly;
        };
        let owed = |bucket: Option<&Bucket>, rate: &Rate| {
            bucket.map_or(0, |bucket| bucket.wait_ms(rate, now))
        };
        let by_target = owed(failures.per_group.get(&together), &rate);
        let by_client = match target.counts_for_client() {
            true => owed(self.clients.get(&hash_key(client)), &CLIENT_RATE),
            false => 0,
        };
        strictly.max(by_client).max(by_target)
    }

    fn count_failure(&mut self, target: &Target, client: &str, now: Time) {
        let limits = self.limits;
        let remembered_max = limits.failures_remembered_max;
        self.sweep(now);
        let together = target.shared_rate(client, &self.limits);
        let (failures, max) = match target {
            Target::User(..) => (&mut self.users, usize::MAX),
            Target::UnknownEmail(_) => (&mut self.others, remembered_max),
            Target::Code(..) | Target::SessionCode(_) | Target::RecoveryCode(_) => {
                (&mut self.codes, usize::MAX)
            }
            Target::SetUp => (&mut self.set_up, SET_UP_MAX),
        };
        let fresh = ClientFailures { times: 0, until: now };
        if let Some(failed) =
            bounded_entry(&mut failures.per_client, target.key(client), fresh, max)
        {
            if failed.has_expired(now) {
                *failed = fresh;
            }
            failed.times = failed.times.saturating_add(1);
            failed.until = now.plus_ms(wait_ms(failed.times, limits.wait_ms_min));
        }
        let Some((rate, together)) = together else {
            return;
        };
        let empty = Bucket { full_at: now };
        if let Some(bucket) = bounded_entry(&mut failures.per_group, together, empty, max) {
            bucket.count_attempt(&rate, now);
        }
        if !target.counts_for_client() {
            return;
        }
        if let Some(bucket) =
            bounded_entry(&mut self.clients, hash_key(client), empty, remembered_max)
        {
            bucket.count_attempt(&CLIENT_RATE, now);
        }
    }

    /// Undoes the count of an attempt that was allowed. Earlier failures remain.
    fn undo_attempt(&mut self, target: &Target, client: &str, now: Time) {
        let together = target.shared_rate(client, &self.limits);
        let failures = self.failures(target);
        if let Some(failed) = failures.per_client.get_mut(&target.key(client)) {
            failed.times = failed.times.saturating_sub(1);
            failed.until = now;
        }
        let Some((rate, together)) = together else {
            return;
        };
        if let Some(bucket) = failures.per_group.get_mut(&together) {
            bucket.undo_attempt(&rate);
        }
        if !target.counts_for_client() {
            return;
        }
        if let Some(bucket) = self.clients.get_mut(&hash_key(client)) {
            bucket.undo_attempt(&CLIENT_RATE);
        }
    }

    /// Removes the failures of this client at the target. A right password also removes the failures that clients
    /// share at the target. Among the shared failures, a right code undoes only the count of its own attempt.
    ///
    /// In the client's count over all targets, only this attempt is undone. Otherwise a guesser could reset the count
    /// by signing in to the guesser's own account.
    fn record_success(&mut self, target: &Target, client: &str) {
        let together = target.shared_rate(client, &self.limits);
        let failures = self.failures(target);
        failures.per_client.remove(&target.key(client));
        match target {
            Target::Code(..) | Target::SessionCode(_) | Target::RecoveryCode(_) => {
                if let Some((rate, together)) = together
                    && let Some(bucket) = failures.per_group.get_mut(&together)
                {
                    bucket.undo_attempt(&rate);
                }
            }
            Target::User(..) => {
                failures.per_group.remove(&target.key(""));
                if together.is_some()
                    && let Some(bucket) = self.clients.get_mut(&hash_key(client))
                {
                    bucket.undo_attempt(&CLIENT_RATE);
                }
            }
            Target::UnknownEmail(_) | Target::SetUp => {
                failures.per_group.remove(&target.key(""));
            }
        }
    }

    fn failures(&mut self, target: &Target) -> &mut Failures {
        match target {
            Target::User(..) => &mut self.users,
            Target::UnknownEmail(_) => &mut self.others,
            Target::Code(..) | Target::SessionCode(_) | Target::RecoveryCode(_) => &mut self.codes,
            Target::SetUp => &mut self.set_up,
        }
    }

    /// Removes expired entries, at most once in `SWEEP_MS`.
    fn sweep(&mut self, now: Time) {
        if self.next_sweep.is_some_and(|next| now < next) {
            return;
        }
        self.next_sweep = Some(now.plus_ms(SWEEP_MS));
        let all = [&mut self.users, &mut self.others, &mut self.codes, &mut self.set_up];
        for failures in all {
            failures.per_client.retain(|_, failed| !failed.has_expired(now));
            failures.per_group.retain(|_, bucket| bucket.full_at > now);
        }
        self.clients.retain(|_, bucket| bucket.full_at > now);
    }
}

impl ClientFailures {
    /// Returns `true` if the failures are old enough to be forgotten.
    fn has_expired(&self, now: Time) -> bool {
        now.since_ms(self.until) > WAIT_MS_MAX
    }
}

/// Returns the entry of a key, inserting `fresh` if there is none. Returns `None` if the key is new and the map is
/// full.
fn bounded_entry<T>(
    map: &mut HashMap<ThrottleKey, T>,
    key: ThrottleKey,
    fresh: T,
    max: usize,
) -> Option<&mut T> {
    if map.len() >= max && !map.contains_key(&key) {
        return None;
    }
    Some(map.entry(key).or_insert(fresh))
}

/// Returns the first 16 bytes of the hash of a text.
fn hash_key(text: &str) -> ThrottleKey {
    let hash = apikey::hash_key(text);
    std::array::from_fn(|at| hash.get(at).copied().unwrap_or_default())
}

/// Returns the wait after this many failures, in milliseconds.
fn wait_ms(times: u32, wait_ms_min: i64) -> i64 {
    match times.checked_sub(FREE_FAILURES) {
        None | Some(0) => 0,
        Some(past) => wait_ms_min
            .saturating_mul(1_i64.checked_shl(past.min(32)).unwrap_or(i64::MAX))
            .min(WAIT_MS_MAX),
    }
}

/// Refuses with `too_many_attempts` if the wait is positive.
fn check_wait(wait_ms: i64) -> Result<(), Refusal> {
    if wait_ms <= 0 {
        return Ok(());
    }
    let seconds = wait_ms.saturating_add(999).div_euclid(SECOND_MS);
    let message = format!("too many attempts have failed; try again in {seconds} s");
    Err(Refusal::new(RefusalCode::TooManyAttempts, message).with_retry_after(seconds))
}

#[cfg(test)]
mod tests;

//! Throttling of guesses at passwords, second-factor codes and the set-up token.
//!
//! Invariant: guesses of one client do not lock out other clients. Guesses of many clients do not lock out a known
//! client, even if the guessers know the password. Only time, a success or a new password removes failures. A
//! monotonic clock measures the time.

mod target;

use super::bucket::{Bucket, Rate};
use super::expiring_map::{Expire, ExpiringMap};
use super::hashing;
use crate::clock::Stopwatch;
use crate::domain::time::{MINUTE_MS, SECOND_MS};
use crate::domain::{Refusal, RefusalCode, Time, apikey};
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
pub struct Throttle {
    since: Stopwatch,
    counts: Mutex<FailureCounts>,
}

struct FailureCounts {
    limits: PasswordLimits,
    users: Failures,
    others: Failures,
    set_up: Failures,
    clients: Buckets,
}

/// Counters of failed attempts at one kind of target.
struct Failures {
    /// Failures of one client at one target, by the hash of the target and the client. After several of these
    /// failures, the client must wait.
    per_client: ExpiringMap<ThrottleKey, ClientFailures>,
    /// Failures of a group of clients at one target, by the hash of the target and the group. The rate of the target
    /// limits these failures.
    per_group: Buckets,
}

type Buckets = ExpiringMap<ThrottleKey, Bucket>;

#[derive(Clone, Copy)]
struct ClientFailures {
    times: u32,
    until: Time,
}

impl Throttle {
    /// Creates a throttle without failures. `since` measures the time.
    pub fn new(since: Stopwatch, limits: PasswordLimits) -> Throttle {
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

    pub(super) fn record_success(&self, target: &Target, client: &str) {
        self.lock().record_success(target, client);
    }

    /// Undoes the count of an attempt whose caller disconnected before the answer.
    pub(super) fn undo_attempt(&self, target: &Target, client: &str) {
        self.lock().undo_attempt(target, client, self.now());
    }

    /// Removes all recorded failures.
    pub fn clear(&self) {
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
        FailureCounts {
            limits,
            users: Failures::new(usize::MAX),
            others: Failures::new(limits.failures_remembered_max),
            set_up: Failures::new(SET_UP_MAX),
            clients: ExpiringMap::new(limits.failures_remembered_max),
        }
    }

    /// Returns the time that the client must wait before the next attempt at the target, in milliseconds; 0 or less
    /// for no wait.
    fn wait_ms(&mut self, target: &Target, client: &str, now: Time) -> i64 {
        let failed = self.failures(target).per_client.get_mut(&target.key(client));
        let own_wait_ms = failed.map_or(0, |failed| failed.until.since_ms(now));
        let waits_ms = self.buckets(target, client).map(|(buckets, key, rate)| {
            buckets.get_mut(&key).map_or(0, |bucket| bucket.wait_ms(&rate, now))
        });
        waits_ms.fold(own_wait_ms, i64::max)
    }

    fn count_failure(&mut self, target: &Target, client: &str, now: Time) {
        let wait_ms_min = self.limits.wait_ms_min;
        let fresh = ClientFailures { times: 0, until: now };
        let per_client = &mut self.failures(target).per_client;
        if let Some(failed) = per_client.entry(target.key(client), fresh, now) {
            if failed.has_expired(now) {
                *failed = fresh;
            }
            failed.times = failed.times.saturating_add(1);
            failed.until = now.plus_ms(wait_ms(failed.times, wait_ms_min));
        }
        for (buckets, key, rate) in self.buckets(target, client) {
            if let Some(bucket) = buckets.entry(key, Bucket::full(now), now) {
                bucket.take(&rate, now);
            }
        }
    }

    /// Undoes the count of an attempt that was allowed. Earlier failures remain.
    fn undo_attempt(&mut self, target: &Target, client: &str, now: Time) {
        let per_client = &mut self.failures(target).per_client;
        if let Some(failed) = per_client.get_mut(&target.key(client)) {
            failed.times = failed.times.saturating_sub(1);
            failed.until = now;
        }
        self.undo_in_buckets(target, client);
    }

    /// Removes the failures of this client at the target. A right password also removes the failures that clients
    /// share at the target. Among the shared failures, a right code undoes only the count of its own attempt.
    ///
    /// In the client's count over all targets, only this attempt is undone. Otherwise a guesser could reset the count
    /// by signing in to the guesser's own account.
    fn record_success(&mut self, target: &Target, client: &str) {
        self.undo_in_buckets(target, client);
        let failures = self.failures(target);
        failures.per_client.remove(&target.key(client));
        if matches!(target, Target::User(..) | Target::UnknownEmail(_)) {
            failures.per_group.remove(&target.key(""));
        }
    }

    fn undo_in_buckets(&mut self, target: &Target, client: &str) {
        for (buckets, key, rate) in self.buckets(target, client) {
            if let Some(bucket) = buckets.get_mut(&key) {
                bucket.put_back(&rate);
            }
        }
    }

    fn failures(&mut self, target: &Target) -> &mut Failures {
        self.failures_and_clients(target).0
    }

    /// Returns the buckets that limit this client's attempts at the target, each with its map, key and rate: the bucket
    /// of the client's group at the target, and the bucket of the client at all targets.
    fn buckets(
        &mut self,
        target: &Target,
        client: &str,
    ) -> impl Iterator<Item = (&mut Buckets, ThrottleKey, Rate)> {
        let shared = target.shared_rate(client, &self.limits);
        let counts_for_client = shared.is_some() && target.counts_for_client();
        let client = counts_for_client.then(|| hash_key(client));
        let (failures, clients) = self.failures_and_clients(target);
        let shared = shared.map(|(rate, key)| (&mut failures.per_group, key, rate));
        shared.into_iter().chain(client.map(|key| (clients, key, CLIENT_RATE)))
    }

    fn failures_and_clients(&mut self, target: &Target) -> (&mut Failures, &mut Buckets) {
        let failures = match target {
            Target::UnknownEmail(_) => &mut self.others,
            Target::SetUp => &mut self.set_up,
            Target::User(..)
            | Target::Code(..)
            | Target::SessionCode(_)
            | Target::RecoveryCode(_) => &mut self.users,
        };
        (failures, &mut self.clients)
    }
}

impl Failures {
    fn new(max: usize) -> Failures {
        Failures { per_client: ExpiringMap::new(max), per_group: ExpiringMap::new(max) }
    }
}

impl Expire for ClientFailures {
    fn has_expired(&self, now: Time) -> bool {
        now.since_ms(self.until) > WAIT_MS_MAX
    }
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

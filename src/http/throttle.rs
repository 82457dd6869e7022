//! Slowing down who guesses passwords, codes of the second factor, or the set-up token.
//!
//! Invariant: guesses of one client keep no other client out, and guesses of many clients keep no known client out, even
//! where they know the password. The file has the known clients. What is counted against a user is forgotten only by
//! time, by a right password or by a new one. Time is the process's own, whatever the wall clock does.

mod rate;
mod target;

use super::hashing;
use crate::clock::Stopwatch;
use crate::domain::apikey;
use crate::domain::refusal::{Code, Refusal};
use crate::domain::time::{MINUTE_MS, SECOND_MS, Time};
use rate::{Bucket, Rate};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
pub(super) use target::{Client, Target};

/// Failures of one client at one email that cost nothing.
const FREE: u32 = 5;
/// Half the wait after the next one; each further failure doubles it.
const WAIT_MS_MIN: i64 = SECOND_MS;
/// The longest wait. After it, and as long again without a failure, the client starts anew.
const WAIT_MS_MAX: i64 = 15 * MINUTE_MS;

/// Failures of one client at all emails: 30 at once, three more each minute.
const BY_CLIENT: Rate = Rate {
    burst: 30,
    cost_ms: 20 * SECOND_MS,
};
/// Failures remembered at emails that nobody has, and clients. Each has cost a hash, so that hashing 100 a second for as
/// long as they are remembered would not reach it; past it, further ones at emails of nobody's are not counted.
const REMEMBERED_MAX: usize = 100_000;
/// Clients remembered that have guessed the set-up token, which is too long to be guessed.
const SET_UP_MAX: usize = 10_000;
/// How often what is over is removed.
const SWEEP_MS: i64 = MINUTE_MS;

/// What may be asked of the checking of passwords.
#[derive(Clone, Copy, Debug)]
pub struct PasswordLimits {
    /// Passwords that may wait to be hashed; the next one is refused as overloaded.
    pub waiting_max: usize,
    /// Failed attempts remembered at emails that nobody has; those at users' are remembered all.
    pub failures_remembered_max: usize,
    /// Failures of all unknown clients at one email that cost nothing.
    pub guesses_of_all_max: i64,
    /// Half the wait after the sixth failure of a client at an email; it doubles with each further one.
    pub wait_ms_min: i64,
}

impl Default for PasswordLimits {
    fn default() -> PasswordLimits {
        PasswordLimits {
            waiting_max: hashing::WAITING_MAX,
            failures_remembered_max: REMEMBERED_MAX,
            guesses_of_all_max: target::GUESSES_OF_ALL_MAX,
            wait_ms_min: WAIT_MS_MIN,
        }
    }
}

/// What stands for a target, a client, or both: it tells neither, and is short.
type Key = [u8; 16];

/// Failed attempts.
pub(super) struct Throttle {
    since: Stopwatch,
    counts: Mutex<Counts>,
}

#[derive(Default)]
struct Counts {
    limits: PasswordLimits,
    users: Failures,
    others: Failures,
    codes: Failures,
    set_up: Failures,
    clients: HashMap<Key, Bucket>,
    next_sweep: Option<Time>,
}

/// Failures at one kind of target.
#[derive(Default)]
struct Failures {
    /// By target and client.
    strictly: HashMap<Key, Failed>,
    /// By target.
    loosely: HashMap<Key, Bucket>,
}

/// What one client has tried at one target.
#[derive(Clone, Copy)]
struct Failed {
    times: u32,
    until: Time,
}

impl Throttle {
    /// Nobody has tried anything; the stopwatch has just been started.
    pub(super) fn new(since: Stopwatch, limits: PasswordLimits) -> Throttle {
        Throttle {
            since,
            counts: Mutex::new(Counts::new(limits)),
        }
    }

    /// May this client try this now? Counts nothing.
    ///
    /// # Errors
    /// `too_many_attempts`.
    pub(super) fn check(&self, target: &Target, client: &str) -> Result<(), Refusal> {
        let wait_ms = self.lock().wait_ms(target, client, self.now());
        allowed(wait_ms)
    }

    /// Counts an attempt as failed, before it is known whether it is: attempts at the same moment count too.
    ///
    /// # Errors
    /// `too_many_attempts`: it must not be made at all.
    pub(super) fn begin(&self, target: &Target, client: &str) -> Result<(), Refusal> {
        let (now, mut counts) = (self.now(), self.lock());
        allowed(counts.wait_ms(target, client, now))?;
        counts.count(target, client, now);
        Ok(())
    }

    /// What was begun was right.
    pub(super) fn succeeded(&self, target: &Target, client: &str) {
        self.lock().succeeded(target, client);
    }

    /// What was begun was answered to nobody: who hung up has learnt nothing, so it is not counted.
    pub(super) fn take_back(&self, target: &Target, client: &str) {
        self.lock().take_back(target, client, self.now());
    }

    /// Nobody has tried anything.
    pub(super) fn forget(&self) {
        let mut counts = self.lock();
        *counts = Counts::new(counts.limits);
    }

    fn now(&self) -> Time {
        Time(self.since.ms())
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counts {
    fn new(limits: PasswordLimits) -> Counts {
        Counts {
            limits,
            ..Counts::default()
        }
    }

    /// How long this client waits before it may try this.
    fn wait_ms(&self, target: &Target, client: &str, now: Time) -> i64 {
        let failures = match target {
            Target::User(..) => &self.users,
            Target::Nobody(_) => &self.others,
            Target::Code(..) | Target::OwnCode(_) | Target::RecoveryCode(_) => &self.codes,
            Target::SetUp => &self.set_up,
        };
        let strictly = failures
            .strictly
            .get(&target.key(client))
            .map_or(0, |failed| failed.until.since_ms(now));
        let Some((rate, together)) = target.together(client, &self.limits) else {
            return strictly;
        };
        let owed = |bucket: Option<&Bucket>, rate: &Rate| {
            bucket.map_or(0, |bucket| bucket.wait_ms(rate, now))
        };
        let by_target = owed(failures.loosely.get(&together), &rate);
        let by_client = match target.is_of_clients() {
            true => owed(self.clients.get(&key(client)), &BY_CLIENT),
            false => 0,
        };
        strictly.max(by_client).max(by_target)
    }

    /// Counts one attempt.
    fn count(&mut self, target: &Target, client: &str, now: Time) {
        let limits = self.limits;
        let remembered_max = limits.failures_remembered_max;
        self.sweep(now);
        let together = target.together(client, &self.limits);
        let (failures, max) = match target {
            Target::User(..) => (&mut self.users, usize::MAX),
            Target::Nobody(_) => (&mut self.others, remembered_max),
            Target::Code(..) | Target::OwnCode(_) | Target::RecoveryCode(_) => {
                (&mut self.codes, usize::MAX)
            }
            Target::SetUp => (&mut self.set_up, SET_UP_MAX),
        };
        let fresh = Failed {
            times: 0,
            until: now,
        };
        if let Some(failed) = slot(&mut failures.strictly, target.key(client), fresh, max) {
            if failed.is_over(now) {
                *failed = fresh;
            }
            failed.times = failed.times.saturating_add(1);
            failed.until = now.plus_ms(wait_ms(failed.times, limits.wait_ms_min));
        }
        let Some((rate, together)) = together else {
            return;
        };
        let empty = Bucket { full_at: now };
        if let Some(bucket) = slot(&mut failures.loosely, together, empty, max) {
            bucket.take(&rate, now);
        }
        if !target.is_of_clients() {
            return;
        }
        if let Some(bucket) = slot(&mut self.clients, key(client), empty, remembered_max) {
            bucket.take(&BY_CLIENT, now);
        }
    }

    /// Takes back one attempt, which was let through: there is nothing to wait for but what came before it.
    fn take_back(&mut self, target: &Target, client: &str, now: Time) {
        let together = target.together(client, &self.limits);
        let failures = self.failures(target);
        if let Some(failed) = failures.strictly.get_mut(&target.key(client)) {
            failed.times = failed.times.saturating_sub(1);
            failed.until = now;
        }
        let Some((rate, together)) = together else {
            return;
        };
        if let Some(bucket) = failures.loosely.get_mut(&together) {
            bucket.give_back(&rate);
        }
        if !target.is_of_clients() {
            return;
        }
        if let Some(bucket) = self.clients.get_mut(&key(client)) {
            bucket.give_back(&BY_CLIENT);
        }
    }

    /// Takes back what this client has failed at this target, what all have, and this attempt of the client's; but not
    /// what it has failed elsewhere, or a guesser's own account would let it guess on at those of others.
    fn succeeded(&mut self, target: &Target, client: &str) {
        let together = target.together(client, &self.limits);
        let failures = self.failures(target);
        failures.strictly.remove(&target.key(client));
        match target {
            Target::Code(..) | Target::OwnCode(_) | Target::RecoveryCode(_) => {
                if let Some((rate, together)) = together
                    && let Some(bucket) = failures.loosely.get_mut(&together)
                {
                    bucket.give_back(&rate);
                }
            }
            Target::User(..) => {
                failures.loosely.remove(&target.key(""));
                if together.is_some()
                    && let Some(bucket) = self.clients.get_mut(&key(client))
                {
                    bucket.give_back(&BY_CLIENT);
                }
            }
            Target::Nobody(_) | Target::SetUp => {
                failures.loosely.remove(&target.key(""));
            }
        }
    }

    fn failures(&mut self, target: &Target) -> &mut Failures {
        match target {
            Target::User(..) => &mut self.users,
            Target::Nobody(_) => &mut self.others,
            Target::Code(..) | Target::OwnCode(_) | Target::RecoveryCode(_) => &mut self.codes,
            Target::SetUp => &mut self.set_up,
        }
    }

    /// Removes what is over, from time to time.
    fn sweep(&mut self, now: Time) {
        if self.next_sweep.is_some_and(|next| now < next) {
            return;
        }
        self.next_sweep = Some(now.plus_ms(SWEEP_MS));
        let all = [
            &mut self.users,
            &mut self.others,
            &mut self.codes,
            &mut self.set_up,
        ];
        for failures in all {
            failures.strictly.retain(|_, failed| !failed.is_over(now));
            failures.loosely.retain(|_, bucket| bucket.full_at > now);
        }
        self.clients.retain(|_, bucket| bucket.full_at > now);
    }
}

impl Failed {
    /// Has it been left alone for so long that it starts anew?
    fn is_over(&self, now: Time) -> bool {
        now.since_ms(self.until) > WAIT_MS_MAX
    }
}

/// What is kept under this key; nothing where it is new and there are too many.
fn slot<T>(map: &mut HashMap<Key, T>, key: Key, fresh: T, max: usize) -> Option<&mut T> {
    if map.len() >= max && !map.contains_key(&key) {
        return None;
    }
    Some(map.entry(key).or_insert(fresh))
}

/// What stands for a text.
fn key(text: &str) -> Key {
    let hash = apikey::hash(text);
    std::array::from_fn(|at| hash.get(at).copied().unwrap_or_default())
}

/// How long to wait after so many failures.
fn wait_ms(times: u32, wait_ms_min: i64) -> i64 {
    match times.checked_sub(FREE) {
        None | Some(0) => 0,
        Some(past) => wait_ms_min
            .saturating_mul(1_i64.checked_shl(past.min(32)).unwrap_or(i64::MAX))
            .min(WAIT_MS_MAX),
    }
}

/// 429 `too_many_attempts` where there is something to wait for.
fn allowed(wait_ms: i64) -> Result<(), Refusal> {
    if wait_ms <= 0 {
        return Ok(());
    }
    let seconds = wait_ms.saturating_add(999).div_euclid(SECOND_MS);
    let message = format!("too many attempts have failed; try again in {seconds} s");
    Err(Refusal::new(Code::TooManyAttempts, message).after(seconds))
}

#[cfg(test)]
mod tests;

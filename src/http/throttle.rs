//! Slowing down who guesses passwords, codes of the second factor, or the set-up token.
//!
//! What lives here: how many attempts have failed, by whom and at what, and how long the next one waits. What does not:
//! checking them. What always holds: who guesses from one client cannot keep another client out; who guesses from many
//! cannot keep out those by which a user has signed in, even where they know the password; what is counted against a
//! user is forgotten only by time, by a right password or by a new one; and time is the process's own, whatever the
//! clock on the wall does.

mod proven;
mod rate;
mod target;

use super::hashing;
use crate::clock::Stopwatch;
use crate::domain::apikey;
use crate::domain::refusal::{Code, Refusal};
use crate::domain::time::{MINUTE_MS, SECOND_MS, Time};
use crate::service::operator::members::Mark;
use proven::Proven;
use rate::{Bucket, Rate};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
pub(super) use target::Target;
use target::{under_factor, under_password};

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
    /// Half the wait after the sixth failure of a client at an email; it doubles with each further one.
    pub wait_ms_min: i64,
}

impl Default for PasswordLimits {
    fn default() -> PasswordLimits {
        PasswordLimits {
            waiting_max: hashing::WAITING_MAX,
            failures_remembered_max: REMEMBERED_MAX,
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
    limits: PasswordLimits,
}

#[derive(Default)]
struct Counts {
    users: Failures,
    others: Failures,
    codes: Failures,
    set_up: Failures,
    clients: HashMap<Key, Bucket>,
    /// Who has given a user's password.
    by_password: Proven,
    /// Who has given a code of a user's second factor, too. Whoever knows the password alone makes none of them forgotten;
    /// another second factor does.
    by_code: Proven,
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
            counts: Mutex::default(),
            limits,
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
        counts.count(target, client, now, &self.limits);
        Ok(())
    }

    /// What was begun was right.
    pub(super) fn succeeded(&self, target: &Target, client: &str) {
        self.lock().succeeded(target, client);
    }

    /// Whoever is signed in from this client has turned the second factor on, by a code of it.
    pub(super) fn turned_on(&self, mark: &Mark, client: &str) {
        self.lock().gave_code(mark, client);
    }

    /// What was begun was answered to nobody: who hung up has learnt nothing, so it is not counted.
    pub(super) fn take_back(&self, target: &Target, client: &str) {
        self.lock().take_back(target, client, self.now());
    }

    /// Nobody has tried anything.
    pub(super) fn forget(&self) {
        *self.lock() = Counts::default();
    }

    fn now(&self) -> Time {
        Time(self.since.ms())
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counts {
    /// How long this client waits before it may try this.
    fn wait_ms(&self, target: &Target, client: &str, now: Time) -> i64 {
        let failures = match target {
            Target::User(_) => &self.users,
            Target::Nobody(_) => &self.others,
            Target::Code(_) | Target::OwnCode(_) | Target::RecoveryCode(_) => &self.codes,
            Target::SetUp => &self.set_up,
        };
        let strictly = failures
            .strictly
            .get(&target.key(client))
            .map_or(0, |failed| failed.until.since_ms(now));
        let Some((rate, together)) = self.together(target, client) else {
            return strictly;
        };
        let owed = |bucket: Option<&Bucket>, rate: &Rate| {
            bucket.map_or(0, |bucket| bucket.wait_ms(rate, now))
        };
        let by_target = owed(failures.loosely.get(&together), rate);
        let by_client = match target.is_of_clients() {
            true => owed(self.clients.get(&key(client)), &BY_CLIENT),
            false => 0,
        };
        strictly.max(by_client).max(by_target)
    }

    /// Counts one attempt.
    fn count(&mut self, target: &Target, client: &str, now: Time, limits: &PasswordLimits) {
        let remembered_max = limits.failures_remembered_max;
        self.sweep(now);
        let together = self.together(target, client);
        let (failures, max) = match target {
            Target::User(_) => (&mut self.users, usize::MAX),
            Target::Nobody(_) => (&mut self.others, remembered_max),
            Target::Code(_) | Target::OwnCode(_) | Target::RecoveryCode(_) => {
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
            bucket.take(rate, now);
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
        let together = self.together(target, client);
        let failures = self.failures(target);
        if let Some(failed) = failures.strictly.get_mut(&target.key(client)) {
            failed.times = failed.times.saturating_sub(1);
            failed.until = now;
        }
        let Some((rate, together)) = together else {
            return;
        };
        if let Some(bucket) = failures.loosely.get_mut(&together) {
            bucket.give_back(rate);
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
        let together = self.together(target, client);
        let failures = self.failures(target);
        failures.strictly.remove(&target.key(client));
        match target {
            Target::Code(mark) | Target::OwnCode(mark) => {
                if let Some((rate, together)) = together
                    && let Some(bucket) = failures.loosely.get_mut(&together)
                {
                    bucket.give_back(rate);
                }
                if matches!(target, Target::Code(_)) {
                    self.gave_code(mark, client);
                }
            }
            Target::RecoveryCode(mark) => self.gave_code(mark, client),
            Target::User(mark) => {
                failures.loosely.remove(&target.key(""));
                if together.is_some()
                    && let Some(bucket) = self.clients.get_mut(&key(client))
                {
                    bucket.give_back(&BY_CLIENT);
                }
                self.by_password
                    .add(mark.user, under_password(mark), client);
            }
            Target::Nobody(_) | Target::SetUp => {
                failures.loosely.remove(&target.key(""));
            }
        }
    }

    /// This client has given a code that permitted what was asked for. Where the factor was off nobody has looked at it.
    fn gave_code(&mut self, mark: &Mark, client: &str) {
        if let Some(under) = under_factor(mark) {
            self.by_code.add(mark.user, under, client);
        }
    }

    fn has_given_code(&self, mark: &Mark, client: &str) -> bool {
        under_factor(mark).is_some_and(|under| self.by_code.has(mark.user, under, client))
    }

    fn failures(&mut self, target: &Target) -> &mut Failures {
        match target {
            Target::User(_) => &mut self.users,
            Target::Nobody(_) => &mut self.others,
            Target::Code(_) | Target::OwnCode(_) | Target::RecoveryCode(_) => &mut self.codes,
            Target::SetUp => &mut self.set_up,
        }
    }

    /// The rate at which a client may fail at a target together with others, and what stands for all of them. A client by
    /// which the user has signed in is not kept from a password by others; from a code neither, but it is counted by
    /// itself: whoever shares its address guesses no faster there. Nothing where there is no such rate.
    fn together(&self, target: &Target, client: &str) -> Option<(&'static Rate, Key)> {
        let rate = target.rate()?;
        match target {
            Target::User(mark)
                if self
                    .by_password
                    .has(mark.user, under_password(mark), client)
                    || self.has_given_code(mark, client) =>
            {
                None
            }
            Target::Code(mark) if self.has_given_code(mark, client) => {
                Some((rate, target.key(client)))
            }
            _ => Some((rate, target.key(""))),
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

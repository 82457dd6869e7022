//! How many attempts each receiver of webhooks may have under way, and how soon it is tried again.
//!
//! What lives here: what is known of receivers, and counting. What does not: sending. Deliveries wait in queues: an
//! endpoint has one; the `webhookUrl`s of an account's invoices have one for each host. What always holds: some
//! senders are reserved for receivers that answered quickly last time, however many others hang.

use super::senders::THREADS_MAX;
use crate::service::webhooks::Waiting;
use std::collections::{HashMap, HashSet};

/// Within this a receiver answered, or refused, quickly.
const QUICK_MS_MAX: i64 = 1_000;
/// What a queue may have under way of which nothing is known, or whose first attempt was taken.
const SHARE_FIRST: usize = 4;
/// What a queue may have under way that is taken well: its share doubles with every success, and is 1 after a failure.
const SHARE_MAX: usize = 32;
/// What all those together may have under way that did not answer quickly last time, or of which nothing is known.
const OTHERS_MAX: usize = THREADS_MAX / 3 * 2;
/// What those together may have under way that did not answer quickly last time.
const SLOW_MAX: usize = THREADS_MAX / 2;
/// With so much under way no queue gets more than [`SHARE_FIRST`], and one of which nothing is known gets one at a time.
const CROWD: usize = THREADS_MAX / 3;
/// What one receiver may have under way in all its queues.
const RECEIVER_MAX: usize = SHARE_MAX;
/// After so many failures in a row a receiver is given pauses, until one of its attempts is taken.
const FAILURES_MAX: u32 = 20;
/// Queues that are remembered although nothing waits in them.
const REMEMBERED_MAX: usize = 10_000;

/// What is known of every receiver.
#[derive(Default)]
pub(super) struct Receivers {
    /// How long a receiver that refuses is left alone between two attempts; 0: not at all.
    pause_ms: i64,
    queues: HashMap<String, Queue>,
    receivers: HashMap<String, Receiver>,
    under_way: UnderWay,
    /// How many attempts were begun.
    begun: u64,
}

/// How much is under way, by what is known of whom it goes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct UnderWay {
    unknown: usize,
    quick: usize,
    slow: usize,
}

#[derive(Default)]
struct Queue {
    under_way: usize,
    /// What it may have under way, as far as its answers go.
    share: usize,
    speed: Speed,
    /// Which attempt of all was its last; 0: none.
    turn: u64,
}

/// How quickly the last attempt came to its end, taken or not.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Speed {
    /// There was none yet.
    #[default]
    Unknown,
    Quick,
    Slow,
}

/// Whoever has one queue or more.
#[derive(Default)]
struct Receiver {
    queues: usize,
    under_way: usize,
    /// Failures in a row.
    failures: u32,
    /// When its last attempt was begun.
    begun_ms: i64,
}

impl UnderWay {
    fn all(self) -> usize {
        self.others().saturating_add(self.quick)
    }

    fn others(self) -> usize {
        self.unknown.saturating_add(self.slow)
    }

    fn of(&mut self, speed: Speed) -> &mut usize {
        match speed {
            Speed::Unknown => &mut self.unknown,
            Speed::Quick => &mut self.quick,
            Speed::Slow => &mut self.slow,
        }
    }
}

impl Receivers {
    /// Nothing is known yet. A receiver that keeps refusing is left alone for `pause_ms` between two attempts.
    pub(super) fn new(pause_ms: i64) -> Receivers {
        Receivers {
            pause_ms,
            ..Receivers::default()
        }
    }

    /// How much of a queue is under way.
    pub(super) fn under_way(&self, name: &str) -> usize {
        self.queues.get(name).map_or(0, |queue| queue.under_way)
    }

    /// How much more of a queue may be begun.
    pub(super) fn room(&self, name: &str) -> usize {
        let new = Queue::default();
        let queue = self.queues.get(name).unwrap_or(&new);
        let (all, others) = (self.under_way.all(), self.under_way.others());
        let (share, used, most) = match queue.speed {
            Speed::Unknown if all < CROWD => (SHARE_FIRST, all, CROWD),
            Speed::Unknown => (1, others, OTHERS_MAX),
            Speed::Slow if others >= OTHERS_MAX => (0, 0, 0),
            Speed::Slow => (queue.share, self.under_way.slow, SLOW_MAX),
            Speed::Quick => (queue.share, all, THREADS_MAX),
        };
        let share = if all < CROWD {
            share
        } else {
            share.min(SHARE_FIRST)
        };
        let receiver = self.receivers.get(receiver_of(name));
        let of_receiver = receiver.map_or(0, |receiver| receiver.under_way);
        share
            .saturating_sub(queue.under_way)
            .min(most.saturating_sub(used))
            .min(RECEIVER_MAX.saturating_sub(of_receiver))
            .min(THREADS_MAX.saturating_sub(all))
    }

    /// How long a queue's receiver is to be left alone still; 0: not at all.
    pub(super) fn pause_ms(&self, name: &str, now_ms: i64) -> i64 {
        match self.receivers.get(receiver_of(name)) {
            Some(receiver) if receiver.failures >= FAILURES_MAX => {
                let passed_ms = now_ms.saturating_sub(receiver.begun_ms);
                self.pause_ms.saturating_sub(passed_ms).max(0)
            }
            Some(_) | None => 0,
        }
    }

    /// What waits, those first whose last turn is the longest ago: nobody is passed over while others come again.
    pub(super) fn in_turn<'w>(&self, waiting: &'w [Waiting]) -> Vec<&'w Waiting> {
        let turn = |waiting: &&Waiting| {
            self.queues
                .get(&waiting.queue)
                .map_or(0, |known| known.turn)
        };
        let mut sorted: Vec<&Waiting> = waiting.iter().collect();
        sorted.sort_by_cached_key(turn);
        sorted
    }

    /// One more is under way.
    pub(super) fn began(&mut self, name: &str, now_ms: i64) {
        self.meet(name);
        self.begun = self.begun.saturating_add(1);
        let turn = self.begun;
        self.count(name, |queue| {
            queue.under_way = queue.under_way.saturating_add(1);
            queue.turn = turn;
        });
        if let Some(receiver) = self.receivers.get_mut(receiver_of(name)) {
            receiver.begun_ms = now_ms;
        }
    }

    /// One has ended after so long, taken or not.
    pub(super) fn ended(&mut self, name: &str, success: bool, latency_ms: i64) {
        self.count(name, |queue| {
            queue.under_way = queue.under_way.saturating_sub(1);
            queue.speed = if latency_ms <= QUICK_MS_MAX {
                Speed::Quick
            } else {
                Speed::Slow
            };
            queue.share = match (success, queue.share) {
                (true, share) if share >= SHARE_FIRST => share.saturating_mul(2).min(SHARE_MAX),
                (true, _) => SHARE_FIRST,
                (false, _) => 1,
            };
        });
        if let Some(receiver) = self.receivers.get_mut(receiver_of(name)) {
            receiver.failures = if success {
                0
            } else {
                receiver.failures.saturating_add(1)
            };
        }
    }

    /// Takes note of what waits, and remembers no more queues than it may beside those.
    pub(super) fn keep(&mut self, waiting: &[Waiting]) {
        for one in waiting.iter().filter(|one| one.was_tried) {
            // Known from before this process: its last attempt failed, and how long that took is not.
            if self.meet(&one.queue) {
                self.count(&one.queue, |queue| {
                    (queue.speed, queue.share) = (Speed::Slow, 1)
                });
            }
        }
        if self.queues.len() <= REMEMBERED_MAX.saturating_add(waiting.len()) {
            return;
        }
        let waiting: HashSet<&str> = waiting.iter().map(|one| one.queue.as_str()).collect();
        let is_idle = |(name, queue): &(&String, &Queue)| {
            queue.under_way == 0 && !waiting.contains(name.as_str())
        };
        let mut idle: Vec<(usize, u64, String)> = self
            .queues
            .iter()
            .filter(is_idle)
            .map(|(name, queue)| {
                let receiver = self.receivers.get(receiver_of(name));
                let queues = receiver.map_or(0, |receiver| receiver.queues);
                (queues, queue.turn, name.clone())
            })
            .collect();
        // Whoever has the most queues loses its own, not others'; of these the oldest.
        idle.sort_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(&other.1)));
        idle.truncate(idle.len().saturating_sub(REMEMBERED_MAX / 2));
        for (_, _, name) in idle {
            self.forget(&name);
        }
    }

    /// Gives a queue its place; true where it had none.
    fn meet(&mut self, name: &str) -> bool {
        if self.queues.contains_key(name) {
            return false;
        }
        self.queues.insert(name.to_owned(), Queue::default());
        let receiver = receiver_of(name).to_owned();
        let receiver = self.receivers.entry(receiver).or_default();
        receiver.queues = receiver.queues.saturating_add(1);
        true
    }

    /// Forgets a queue with nothing under way, and its receiver where that was its last.
    fn forget(&mut self, name: &str) {
        self.queues.remove(name);
        if let Some(receiver) = self.receivers.get_mut(receiver_of(name)) {
            receiver.queues = receiver.queues.saturating_sub(1);
            if receiver.queues == 0 {
                self.receivers.remove(receiver_of(name));
            }
        }
    }

    /// Changes a queue and the sums with it.
    fn count(&mut self, name: &str, change: impl FnOnce(&mut Queue)) {
        let Some(queue) = self.queues.get_mut(name) else {
            return;
        };
        let before = (queue.speed, queue.under_way);
        change(queue);
        let after = (queue.speed, queue.under_way);
        if let Some(receiver) = self.receivers.get_mut(receiver_of(name)) {
            let others = receiver.under_way.saturating_sub(before.1);
            receiver.under_way = others.saturating_add(after.1);
        }
        let sum = self.under_way.of(before.0);
        *sum = sum.saturating_sub(before.1);
        let sum = self.under_way.of(after.0);
        *sum = sum.saturating_add(after.1);
    }
}

/// Whose queue it is: what its name ends with.
fn receiver_of(queue: &str) -> &str {
    queue
        .rsplit_once(' ')
        .map_or(queue, |(_, receiver)| receiver)
}

#[cfg(test)]
mod tests;

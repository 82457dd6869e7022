//! Decides how many attempts each queue of webhooks may have under way, and how soon the queue is tried again.
//!
//! A queue belongs to an endpoint, or to one origin (scheme, host and port) of the `webhookUrl`s of an account's
//! invoices. Invariant: receivers that hang leave enough senders for quick receivers and for every other account.

mod queue;

use super::senders::THREADS_MAX;
use crate::service::webhooks::{DeliveryQueue, WaitingQueue};
use queue::{AttemptCounts, FailureStreak, QueueSpeed, QueueState};
use std::collections::{HashMap, HashSet};

pub(super) use queue::QueueAttempt;

/// Longest latency of a quick attempt, in milliseconds, whether or not the receiver accepts the delivery.
const QUICK_MS_MAX: i64 = 1_000;
/// Number of attempts that a queue may have under way while it is new, and after a first success.
const SHARE_FIRST: usize = 4;
/// Maximum share of a queue. The share is the number of attempts that the queue may have under way. A success doubles
/// the share, and a failure sets it to 1.
const SHARE_MAX: usize = 32;
/// Maximum share of a queue whose last attempt took at most [`PROMPT_MS_MAX`]. Such a receiver is not overloaded.
const PROMPT_SHARE_MAX: usize = 128;
/// Longest latency of an attempt after which the share may exceed [`SHARE_MAX`], in milliseconds.
const PROMPT_MS_MAX: i64 = 100;
/// Maximum number of attempts under way in all queues that are not known to be quick.
const OTHERS_MAX: usize = THREADS_MAX / 3 * 2;
/// Maximum number of attempts under way in one account's queues that are not known to be quick.
const ACCOUNT_OTHERS_MAX: usize = THREADS_MAX / 3;
/// Maximum number of attempts under way in all slow queues. The rest of [`OTHERS_MAX`] is for new queues.
const SLOW_MAX: usize = THREADS_MAX / 2;
/// Maximum number of attempts under way in one account's slow queues.
const ACCOUNT_SLOW_MAX: usize = THREADS_MAX / 4;
/// Once this many attempts are under way, a queue may have at most [`SHARE_FIRST`] of them. Attempts of quick queues
/// are counted separately.
const SHARES_LIMITED_FROM: usize = THREADS_MAX / 6;
/// Once an account has this many queues, a new queue begins with one attempt, so that every queue is tried soon.
const QUEUES_MANY: usize = 16;
/// After this many consecutive failures, a queue pauses between attempts until a success. A second count covers all
/// `webhookUrl`s of an account together.
const FAILURES_MAX: u32 = 20;
/// Maximum number of remembered queues that have no waiting deliveries.
const REMEMBERED_MAX: usize = 10_000;

/// The state of every queue, and the totals of each account.
#[derive(Default)]
pub(super) struct ReceiverStates {
    /// Pause between two attempts at a receiver that keeps failing, in milliseconds. 0 means no pause.
    pause_ms: i64,
    /// `true` if a queue has at most one attempt under way.
    is_serial: bool,
    queues: HashMap<DeliveryQueue, QueueState>,
    /// Totals of each account, by its `seq`.
    accounts: HashMap<i64, AccountTotals>,
    under_way: AttemptCounts,
    begun: u64,
}

#[derive(Default)]
struct AccountTotals {
    queues: usize,
    under_way: AttemptCounts,
    /// Number of consecutive failures of all `webhookUrl`s of the account, and the time at which the common pause of
    /// these queues began. Only an attempt of a queue whose last attempt failed restarts the pause.
    row: FailureStreak,
}

impl ReceiverStates {
    /// Creates an empty state. Receivers that keep failing pause for `pause_ms` between two attempts.
    pub(super) fn new(pause_ms: i64) -> ReceiverStates {
        ReceiverStates { pause_ms, ..ReceiverStates::default() }
    }

    /// Limits each queue to one attempt under way, so that its deliveries arrive in order.
    pub(super) fn with_serial_queues(self, is_serial: bool) -> ReceiverStates {
        ReceiverStates { is_serial, ..self }
    }

    pub(super) fn attempts_under_way(&self, queue: &DeliveryQueue) -> usize {
        let state = self.queues.get(queue);
        state.map_or(0, |state| state.under_way.total())
    }

    /// Returns `true` if the last attempt of the queue failed.
    pub(super) fn is_failing(&self, attempt: &QueueAttempt) -> bool {
        self.queues.get(&attempt.queue).is_some_and(|state| state.row.failures > 0)
    }

    /// Returns the number of further attempts that a queue may begin now.
    pub(super) fn free_slots(&self, queue: &DeliveryQueue) -> usize {
        let account = self.accounts.get(&queue.account);
        let queue = self.queues.get(queue).copied().unwrap_or_default();
        let (all, own) = (
            self.under_way,
            account.map_or_else(AttemptCounts::default, |account| account.under_way),
        );
        let others = free_slots_of_account(
            OTHERS_MAX,
            all.slow_or_unknown_count(),
            own.slow_or_unknown_count(),
        )
        .min(ACCOUNT_OTHERS_MAX.saturating_sub(own.slow_or_unknown_count()));
        let (kind, room) = match queue.speed {
            QueueSpeed::Quick => {
                (all.quick, free_slots_of_account(THREADS_MAX, all.total(), own.quick))
            }
            QueueSpeed::Unknown => (all.slow_or_unknown_count(), others),
            QueueSpeed::Slow => {
                let slow = free_slots_of_account(SLOW_MAX, all.slow, own.slow)
                    .min(ACCOUNT_SLOW_MAX.saturating_sub(own.slow));
                (all.slow_or_unknown_count(), others.min(slow))
            }
        };
        let has_many = account.is_some_and(|account| account.queues >= QUEUES_MANY);
        let share = match (queue.speed, kind >= SHARES_LIMITED_FROM) {
            (QueueSpeed::Unknown, false) if !has_many => SHARE_FIRST,
            (QueueSpeed::Unknown, _) => 1,
            (QueueSpeed::Quick | QueueSpeed::Slow, false) => queue.share,
            (QueueSpeed::Quick | QueueSpeed::Slow, true) => queue.share.min(SHARE_FIRST),
        };
        let share = if self.is_serial { share.min(1) } else { share };
        share
            .saturating_sub(queue.under_way.total())
            .min(room)
            .min(THREADS_MAX.saturating_sub(all.total()))
    }

    /// Returns the remaining pause of a queue, in milliseconds. 0 means that the queue does not pause.
    pub(super) fn remaining_pause_ms(&self, queue: &DeliveryQueue, now_ms: i64) -> i64 {
        let row = self.queues.get(queue).map(|state| state.row);
        let Some(own) = row.filter(|row| row.failures > 0) else {
            return 0;
        };
        let account = self.accounts.get(&queue.account);
        let shared = account.filter(|_| queue.endpoint.is_none());
        let shared =
            shared.map_or(0, |account| account.row.remaining_pause_ms(self.pause_ms, now_ms));
        own.remaining_pause_ms(self.pause_ms, now_ms).max(shared)
    }

    /// Sorts queues by the time of their last attempt, then by their due time, so that every queue is served in turn.
    pub(super) fn sort_by_last_attempt<'w>(
        &self,
        waiting: &'w [WaitingQueue],
    ) -> Vec<&'w WaitingQueue> {
        let turn = |waiting: &&WaitingQueue| {
            let queue = self.queues.get(&waiting.queue);
            (queue.map_or(0, |queue| queue.turn), waiting.due_at)
        };
        let mut sorted: Vec<&WaitingQueue> = waiting.iter().collect();
        sorted.sort_by_cached_key(turn);
        sorted
    }

    pub(super) fn begin_attempt(&mut self, queue: &DeliveryQueue, now_ms: i64) -> QueueAttempt {
        self.add_queue(queue);
        self.begun = self.begun.saturating_add(1);
        let turn = self.begun;
        self.update_queue(queue, |state| {
            if state.under_way.quick == 0 {
                state.alive_ms = now_ms;
            }
            state.add_attempt();
            state.turn = turn;
            state.row.begun_ms = now_ms;
        });
        let state = self.queues.get(queue).copied().unwrap_or_default();
        let is_failing = state.row.failures > 0;
        if let Some(account) = self.accounts.get_mut(&queue.account)
            && queue.endpoint.is_none()
            && (is_failing || account.row.failures < FAILURES_MAX)
        {
            account.row.begun_ms = now_ms;
        }
        QueueAttempt { queue: queue.clone(), speed: state.speed }
    }

    pub(super) fn end_attempt(
        &mut self,
        attempt: &QueueAttempt,
        is_success: bool,
        latency_ms: i64,
        now_ms: i64,
    ) {
        let queue = &attempt.queue;
        self.update_queue(queue, |state| {
            state.remove_attempt(attempt.speed);
            state.alive_ms = now_ms;
            state.set_speed(if latency_ms <= QUICK_MS_MAX {
                QueueSpeed::Quick
            } else {
                QueueSpeed::Slow
            });
            let most = if latency_ms <= PROMPT_MS_MAX { PROMPT_SHARE_MAX } else { SHARE_MAX };
            state.share = match (is_success, state.share) {
                (true, share) if share >= SHARE_FIRST => share.saturating_mul(2).min(most),
                (true, _) => SHARE_FIRST,
                (false, _) => 1,
            };
            state.row.record_result(is_success);
        });
        if let Some(account) = self.accounts.get_mut(&queue.account)
            && queue.endpoint.is_none()
        {
            account.row.record_result(is_success);
        }
    }

    /// Updates the speeds of queues, then removes idle queues if there are more than [`REMEMBERED_MAX`].
    pub(super) fn refresh_queues(&mut self, waiting: &[WaitingQueue], now_ms: i64) {
        for one in waiting.iter().filter(|one| one.was_tried) {
            // An earlier process could not deliver to this receiver. The latency is unknown, so the queue counts as
            // slow.
            if self.add_queue(&one.queue) {
                self.update_queue(&one.queue, |state| {
                    (state.speed, state.share, state.row.failures) = (QueueSpeed::Slow, 1, 1)
                });
            }
        }
        self.mark_silent_queues_slow(now_ms);
        if self.queues.len() > REMEMBERED_MAX.saturating_add(waiting.len()) {
            self.evict_idle_queues(waiting);
        }
    }

    /// Marks a quick queue as slow if it has attempts under way and none has ended for more than [`QUICK_MS_MAX`].
    fn mark_silent_queues_slow(&mut self, now_ms: i64) {
        if self.under_way.quick == 0 {
            return;
        }
        let hangs = |state: &QueueState| {
            state.speed == QueueSpeed::Quick
                && state.under_way.quick > 0
                && now_ms.saturating_sub(state.alive_ms) > QUICK_MS_MAX
        };
        let hanging = self.queues.iter().filter(|(_, state)| hangs(state));
        let hanging: Vec<DeliveryQueue> = hanging.map(|(queue, _)| queue.clone()).collect();
        for queue in hanging {
            self.update_queue(&queue, |state| state.set_speed(QueueSpeed::Slow));
        }
    }

    /// Removes idle queues until half of [`REMEMBERED_MAX`] is left, first from the account that has the most queues.
    /// Within an account, queues that are not quick are removed first, and the oldest before newer ones.
    fn evict_idle_queues(&mut self, waiting: &[WaitingQueue]) {
        let waiting: HashSet<&DeliveryQueue> = waiting.iter().map(|one| &one.queue).collect();
        let is_idle = |(queue, state): &(&DeliveryQueue, &QueueState)| {
            state.under_way.total() == 0 && !waiting.contains(queue)
        };
        let mut idle: Vec<(usize, bool, u64, DeliveryQueue)> = self
            .queues
            .iter()
            .filter(is_idle)
            .map(|(queue, state)| {
                let account = self.accounts.get(&queue.account);
                let others = usize::MAX.saturating_sub(account.map_or(0, |account| account.queues));
                (others, state.speed == QueueSpeed::Quick, state.turn, queue.clone())
            })
            .collect();
        idle.sort_unstable();
        idle.truncate(idle.len().saturating_sub(REMEMBERED_MAX / 2));
        for (_, _, _, queue) in idle {
            self.remove_queue(&queue);
        }
    }

    /// Adds a queue. Returns `true` if the queue was added, and `false` if it existed.
    fn add_queue(&mut self, queue: &DeliveryQueue) -> bool {
        if self.queues.contains_key(queue) {
            return false;
        }
        self.queues.insert(queue.clone(), QueueState::default());
        let account = self.accounts.entry(queue.account).or_default();
        account.queues = account.queues.saturating_add(1);
        true
    }

    /// Removes an idle queue. If this was the account's last queue, removes the account.
    fn remove_queue(&mut self, queue: &DeliveryQueue) {
        self.queues.remove(queue);
        if let Some(account) = self.accounts.get_mut(&queue.account) {
            account.queues = account.queues.saturating_sub(1);
            if account.queues == 0 {
                self.accounts.remove(&queue.account);
            }
        }
    }

    /// Changes a queue, and updates the attempt counts of its account and of all accounts.
    fn update_queue(&mut self, queue: &DeliveryQueue, change: impl FnOnce(&mut QueueState)) {
        let Some(state) = self.queues.get_mut(queue) else {
            return;
        };
        let before = *state;
        change(state);
        self.under_way.replace_in_total(before.under_way, state.under_way);
        if let Some(account) = self.accounts.get_mut(&queue.account) {
            account.under_way.replace_in_total(before.under_way, state.under_way);
        }
    }
}

/// Returns the number of attempts that an account may still begin. The account has `own` attempts under way, all
/// accounts have `used`, and the limit for all accounts is `most`. An account may begin attempts only while it has
/// fewer attempts under way than are free.
fn free_slots_of_account(most: usize, used: usize, own: usize) -> usize {
    most.saturating_sub(used).saturating_sub(own)
}

#[cfg(test)]
#[expect(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]
mod tests;

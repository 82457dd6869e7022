//! The state of one queue of webhooks, and its attempts under way.

use super::FAILURES_MAX;
use crate::service::webhooks::DeliveryQueue;

pub(in crate::worker) struct QueueAttempt {
    pub(super) queue: DeliveryQueue,
    pub(super) speed: QueueSpeed,
}

impl QueueAttempt {
    pub(in crate::worker) fn queue(&self) -> &DeliveryQueue {
        &self.queue
    }
}

/// Numbers of attempts under way. Each attempt is counted under the speed that its queue had when the attempt began.
///
/// If a queue becomes quick, its earlier attempts keep their speed, because they may still hang. If a queue becomes
/// slow, all its attempts become slow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct AttemptCounts {
    pub(super) unknown: usize,
    pub(super) quick: usize,
    pub(super) slow: usize,
}

#[derive(Clone, Copy, Default)]
pub(super) struct QueueState {
    pub(super) under_way: AttemptCounts,
    /// Maximum number of attempts that the queue may have under way. Depends only on the receiver's answers.
    pub(super) share: usize,
    pub(super) speed: QueueSpeed,
    /// Sequence number of the queue's last attempt among all attempts. 0 if there was none.
    pub(super) turn: u64,
    pub(super) row: FailureStreak,
    /// Start of the time without an answer from the receiver, in milliseconds of uptime. Set when an attempt ends,
    /// and when an attempt begins while no quick attempt is under way.
    pub(super) alive_ms: i64,
}

/// Speed of a queue, measured by the latency of its attempts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum QueueSpeed {
    /// No attempt has ended yet.
    #[default]
    Unknown,
    Quick,
    Slow,
}

/// The number of failures in a row, and the time of the last attempt.
#[derive(Clone, Copy, Default)]
pub(super) struct FailureStreak {
    pub(super) failures: u32,
    /// Time when the last attempt began, in milliseconds of uptime.
    pub(super) begun_ms: i64,
}

impl FailureStreak {
    pub(super) fn record_result(&mut self, is_success: bool) {
        self.failures = if is_success { 0 } else { self.failures.saturating_add(1) };
    }

    /// Returns how long the pause still lasts, in milliseconds.
    pub(super) fn remaining_pause_ms(self, pause_ms: i64, now_ms: i64) -> i64 {
        if self.failures < FAILURES_MAX {
            return 0;
        }
        let passed_ms = now_ms.saturating_sub(self.begun_ms);
        pause_ms.saturating_sub(passed_ms).max(0)
    }
}

impl AttemptCounts {
    pub(super) fn total(self) -> usize {
        self.slow_or_unknown_count().saturating_add(self.quick)
    }

    pub(super) fn slow_or_unknown_count(self) -> usize {
        self.unknown.saturating_add(self.slow)
    }

    fn count_mut(&mut self, speed: QueueSpeed) -> &mut usize {
        match speed {
            QueueSpeed::Unknown => &mut self.unknown,
            QueueSpeed::Quick => &mut self.quick,
            QueueSpeed::Slow => &mut self.slow,
        }
    }

    /// Updates the totals of several queues after one queue has changed: subtracts the counts `before` and adds the
    /// counts `after`.
    pub(super) fn replace_in_total(&mut self, mut before: AttemptCounts, mut after: AttemptCounts) {
        for speed in [QueueSpeed::Unknown, QueueSpeed::Quick, QueueSpeed::Slow] {
            let sum = self.count_mut(speed);
            *sum = sum
                .saturating_sub(*before.count_mut(speed))
                .saturating_add(*after.count_mut(speed));
        }
    }
}

impl QueueState {
    pub(super) fn add_attempt(&mut self) {
        let count = self.under_way.count_mut(self.speed);
        *count = count.saturating_add(1);
    }

    pub(super) fn remove_attempt(&mut self, began: QueueSpeed) {
        // If the queue has become slow since the attempt began, the attempt is counted as slow.
        let speed = match *self.under_way.count_mut(began) {
            0 => QueueSpeed::Slow,
            _ => began,
        };
        let count = self.under_way.count_mut(speed);
        *count = count.saturating_sub(1);
    }

    pub(super) fn set_speed(&mut self, speed: QueueSpeed) {
        self.speed = speed;
        if speed == QueueSpeed::Slow {
            let slow = self.under_way.total();
            self.under_way = AttemptCounts { slow, ..AttemptCounts::default() };
        }
    }
}

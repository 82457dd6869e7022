//! The state of one queue of webhooks, and its attempts under way.

use super::FAILURES_MAX;

/// An attempt under way.
pub(in crate::worker) struct QueueAttempt {
    pub(super) queue: String,
    /// Speed of the queue when the attempt began.
    pub(super) speed: Speed,
}

/// Numbers of attempts under way, by the speed of their queue when they began.
///
/// An attempt never moves to a faster speed: otherwise it would leave its sum while it hangs. It moves to slow when
/// its queue becomes slow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct UnderWay {
    pub(super) unknown: usize,
    pub(super) quick: usize,
    pub(super) slow: usize,
}

/// The state of one queue.
#[derive(Clone, Copy, Default)]
pub(super) struct Queue {
    pub(super) under_way: UnderWay,
    /// Maximum number of attempts under way, judged only by the answers of the receiver.
    pub(super) share: usize,
    pub(super) speed: Speed,
    /// Sequence number of the queue's last attempt among all attempts. 0 if there was none.
    pub(super) turn: u64,
    pub(super) row: Row,
    /// Time of the last sign of life, in milliseconds of uptime: an attempt ended, or the first quick attempt began.
    pub(super) alive_ms: i64,
}

/// Speed of a queue's last attempt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Speed {
    /// No attempt has ended yet.
    #[default]
    Unknown,
    Quick,
    Slow,
}

/// The number of failures in a row, and the time of the last attempt.
#[derive(Clone, Copy, Default)]
pub(super) struct Row {
    pub(super) failures: u32,
    /// Time when the last attempt began, in milliseconds of uptime.
    pub(super) begun_ms: i64,
}

impl Row {
    pub(super) fn end(&mut self, is_success: bool) {
        self.failures = if is_success {
            0
        } else {
            self.failures.saturating_add(1)
        };
    }

    /// Returns the rest of the pause, in milliseconds.
    pub(super) fn pause_ms(self, pause_ms: i64, now_ms: i64) -> i64 {
        if self.failures < FAILURES_MAX {
            return 0;
        }
        let passed_ms = now_ms.saturating_sub(self.begun_ms);
        pause_ms.saturating_sub(passed_ms).max(0)
    }
}

impl UnderWay {
    pub(super) fn all(self) -> usize {
        self.others().saturating_add(self.quick)
    }

    /// Returns the number of attempts of queues that are not known to be quick.
    pub(super) fn others(self) -> usize {
        self.unknown.saturating_add(self.slow)
    }

    fn of_speed(&mut self, speed: Speed) -> &mut usize {
        match speed {
            Speed::Unknown => &mut self.unknown,
            Speed::Quick => &mut self.quick,
            Speed::Slow => &mut self.slow,
        }
    }

    /// Replaces the attempts of one queue in a sum over several queues.
    pub(super) fn recount(&mut self, mut before: UnderWay, mut after: UnderWay) {
        for speed in [Speed::Unknown, Speed::Quick, Speed::Slow] {
            let sum = self.of_speed(speed);
            *sum = sum
                .saturating_sub(*before.of_speed(speed))
                .saturating_add(*after.of_speed(speed));
        }
    }
}

impl Queue {
    pub(super) fn begin(&mut self) {
        let count = self.under_way.of_speed(self.speed);
        *count = count.saturating_add(1);
    }

    pub(super) fn end(&mut self, began: Speed) {
        // If no attempt of this speed is left, the attempt has been moved to slow.
        let speed = match *self.under_way.of_speed(began) {
            0 => Speed::Slow,
            _ => began,
        };
        let count = self.under_way.of_speed(speed);
        *count = count.saturating_sub(1);
    }

    pub(super) fn set_speed(&mut self, speed: Speed) {
        self.speed = speed;
        if speed == Speed::Slow {
            let slow = self.under_way.all();
            self.under_way = UnderWay {
                slow,
                ..UnderWay::default()
            };
        }
    }
}

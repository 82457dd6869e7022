//! Tracks for how long no step of a chain has succeeded. After too long, the coins of the chain leave the offer.

use super::FollowerState;
use crate::domain::Time;
use crate::domain::stale_head::unread_ms_max;
use std::time::Duration;

/// The time for which a chain could not be read. All times are uptimes.
#[derive(Default)]
pub(super) struct Outage {
    /// Time at which the latest step began to ask the node.
    step_began: Option<Time>,
    /// Time at which the first of the consecutive failed steps began. `None` if the latest step succeeded.
    since: Option<Time>,
}

impl FollowerState {
    /// Records that a step begins to ask the node. A node that hangs fails only at its time limit, so an outage counts
    /// from here.
    pub(super) fn note_step_begin(&mut self) {
        self.outage.step_began = Some(self.clock.uptime());
    }

    /// Records a failed step. Returns `true` if the chain could not be read for too long.
    pub(super) fn note_failed_step(&mut self) -> bool {
        let began = self.outage.step_began.unwrap_or_else(|| self.clock.uptime());
        self.outage.since.get_or_insert(began);
        self.is_unread_for_long()
    }

    /// Records a step that succeeded. A step of a rescan says nothing about new blocks.
    pub(super) fn note_good_step(&mut self) {
        if !self.watch.was_rescan {
            self.outage.since = None;
        }
    }

    /// Returns `true` if no step has succeeded for too long.
    pub(super) fn is_unread_for_long(&self) -> bool {
        self.outage_ms().is_some_and(|ms| ms > unread_ms_max(self.watch.chain))
    }

    /// Shortens a pause after a failure, so that the chain is asked once more before its coins leave the offer.
    pub(super) fn pause_until_unread(&self, pause: Duration) -> Duration {
        let left = unread_ms_max(self.watch.chain).saturating_sub(self.outage_ms().unwrap_or(0));
        match u64::try_from(left) {
            Ok(left) => pause.min(Duration::from_millis(left.saturating_add(1))),
            // The coins are off the offer already.
            Err(_) => pause,
        }
    }

    /// Returns the time since the first of the consecutive failed steps began, in milliseconds.
    fn outage_ms(&self) -> Option<i64> {
        let uptime = self.clock.uptime();
        self.outage.since.map(|since| uptime.since_ms(since))
    }
}

//! How much each receiver of webhooks may have under way.
//!
//! What lives here: counting, by lane. What does not: sending. What always holds: a lane that hangs uses up its own
//! share, and all that hang together leave room for one that answers.

use super::senders::THREADS_MAX;
use crate::domain::time::Time;
use std::collections::{HashMap, HashSet};

/// What a receiver that nothing is known of may have under way.
const SHARE_FIRST: usize = 4;
/// What a receiver that answers well may have under way: its share doubles with every success.
const SHARE_MAX: usize = 32;
/// From this many under way on, a receiver that nothing is known of gets one at a time.
const CROWD: usize = THREADS_MAX / 2;
/// What all the receivers together may have under way whose last attempt failed: each one at a time.
const FAILED_MAX: usize = THREADS_MAX / 4 * 3;

/// Every lane with something under way or waiting.
#[derive(Default)]
pub(super) struct Lanes {
    lanes: HashMap<String, Lane>,
    under_way: usize,
    /// Of those, the ones of lanes whose last attempt failed.
    failed_under_way: usize,
}

#[derive(Default)]
struct Lane {
    under_way: usize,
    known: Known,
}

/// What is known of a receiver.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Known {
    /// Nothing yet.
    #[default]
    Nothing,
    /// Its last attempt was taken; it may have so many under way.
    Good(usize),
    /// Its last attempt was not taken.
    Failed,
}

impl Lanes {
    /// How much of a lane is under way.
    pub(super) fn under_way(&self, name: &str) -> usize {
        self.lanes.get(name).map_or(0, |lane| lane.under_way)
    }

    /// How much more of a lane may be begun.
    pub(super) fn room(&self, name: &str) -> usize {
        let lane = self.lanes.get(name);
        let (under_way, known) =
            lane.map_or((0, Known::Nothing), |lane| (lane.under_way, lane.known));
        let (share, free) = match known {
            Known::Good(share) => (share, THREADS_MAX.saturating_sub(self.under_way)),
            Known::Nothing if self.under_way < CROWD => {
                (SHARE_FIRST, CROWD.saturating_sub(self.under_way))
            }
            Known::Nothing => (1, THREADS_MAX.saturating_sub(self.under_way)),
            Known::Failed => (1, FAILED_MAX.saturating_sub(self.failed_under_way)),
        };
        share
            .saturating_sub(under_way)
            .min(free)
            .min(THREADS_MAX.saturating_sub(self.under_way))
    }

    /// One more is under way.
    pub(super) fn began(&mut self, name: &str) {
        self.count(name, |lane| {
            lane.under_way = lane.under_way.saturating_add(1);
        });
    }

    /// One has ended.
    pub(super) fn ended(&mut self, name: &str, success: bool) {
        self.count(name, |lane| {
            lane.under_way = lane.under_way.saturating_sub(1);
            lane.known = match (success, lane.known) {
                (true, Known::Good(share)) => Known::Good(share.saturating_mul(2).min(SHARE_MAX)),
                (true, Known::Nothing | Known::Failed) => Known::Good(SHARE_FIRST),
                (false, _) => Known::Failed,
            };
        });
    }

    /// Forgets the lanes that have nothing under way and nothing waiting.
    pub(super) fn keep(&mut self, waiting: &[(String, Time)]) {
        let waiting: HashSet<&str> = waiting.iter().map(|(name, _)| name.as_str()).collect();
        self.lanes
            .retain(|name, lane| lane.under_way > 0 || waiting.contains(name.as_str()));
    }

    /// Changes a lane and the sums with it.
    fn count(&mut self, name: &str, change: impl FnOnce(&mut Lane)) {
        let lane = self.lanes.entry(name.to_owned()).or_default();
        let failed = |lane: &Lane| match lane.known {
            Known::Failed => lane.under_way,
            Known::Nothing | Known::Good(_) => 0,
        };
        let before = (lane.under_way, failed(lane));
        change(lane);
        let after = (lane.under_way, failed(lane));
        self.under_way = self
            .under_way
            .saturating_sub(before.0)
            .saturating_add(after.0);
        self.failed_under_way = self
            .failed_under_way
            .saturating_sub(before.1)
            .saturating_add(after.1);
    }
}

#[cfg(test)]
mod tests {
    use super::{CROWD, FAILED_MAX, Lanes, SHARE_FIRST, SHARE_MAX, THREADS_MAX};

    /// Begins all that a lane has room for.
    fn fill(lanes: &mut Lanes, name: &str) -> usize {
        let room = lanes.room(name);
        (0..room).for_each(|_| lanes.began(name));
        room
    }

    #[test]
    fn a_share_grows_with_success_and_falls_with_failure() {
        let mut lanes = Lanes::default();
        let mut seen = Vec::new();
        for success in [true, true, true, true, true, false, true] {
            seen.push(lanes.room("a"));
            lanes.began("a");
            lanes.ended("a", success);
        }
        assert_eq!(seen, [SHARE_FIRST, 4, 8, 16, SHARE_MAX, SHARE_MAX, 1]);
        assert_eq!(fill(&mut lanes, "a"), SHARE_FIRST);
        assert_eq!((lanes.room("a"), lanes.under_way("a")), (0, SHARE_FIRST));
        lanes.keep(&[]);
        assert_eq!(
            lanes.under_way("a"),
            SHARE_FIRST,
            "what is under way is not forgotten"
        );
    }

    #[test]
    fn many_that_hang_leave_room_for_one_that_answers() {
        let mut lanes = Lanes::default();
        for hanging in 0..100 {
            assert!(fill(&mut lanes, &hanging.to_string()) > 0);
        }
        assert!((CROWD..THREADS_MAX).contains(&lanes.under_way));
        assert_eq!(fill(&mut lanes, "new"), 1, "one at a time in a crowd");
        lanes.ended("new", true);
        assert_eq!(lanes.room("new"), SHARE_FIRST);
    }

    #[test]
    fn all_that_failed_leave_a_quarter_of_the_threads() {
        let mut lanes = Lanes::default();
        for dead in 0..THREADS_MAX.saturating_mul(2) {
            let name = dead.to_string();
            lanes.began(&name);
            lanes.ended(&name, false);
            fill(&mut lanes, &name);
        }
        assert_eq!(
            (lanes.under_way, lanes.failed_under_way),
            (FAILED_MAX, FAILED_MAX)
        );
        assert_eq!(lanes.room("new"), 1);
        for dead in 0..FAILED_MAX {
            lanes.ended(&dead.to_string(), false);
        }
        assert_eq!((lanes.under_way, lanes.failed_under_way), (0, 0));
    }
}

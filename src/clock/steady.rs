//! Time that ignores jumps of the wall clock.
//!
//! Invariant: time never goes back, except when it is set to the wall clock. A small difference to the wall clock is
//! corrected slowly. After a large difference, the time is set to the wall clock an hour later, or when the operator
//! accepts the wall clock. The time of a server starts no earlier than the latest time in its database.

/// One second, in microseconds.
const SECOND: i64 = 1_000_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
/// Seconds in which one second of difference to the wall clock is corrected.
const SLEW: i64 = 10;

/// The state of a wall clock that is not trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UntrustedWallClock {
    /// Milliseconds by which the wall clock is ahead of the steady time; negative if it is behind.
    pub ahead_ms: i64,
    /// Milliseconds until the wall clock is adopted if its difference to the steady time stays. `None` until the wall
    /// clock passes the latest time in the database.
    pub adopted_in_ms: Option<i64>,
}

impl std::fmt::Display for UntrustedWallClock {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let seconds = self.ahead_ms.unsigned_abs() / 1000;
        let side = if self.ahead_ms < 0 { "behind" } else { "ahead of" };
        write!(out, "the wall clock is {seconds} s {side} the time that Coffer goes by")?;
        match self.adopted_in_ms {
            Some(ms) => write!(out, "; it is adopted in {} s", ms / 1000)?,
            None => out.write_str("; it is adopted once it has passed what the file has seen")?,
        }
        out.write_str(", or at once by `coffer doctor --accept-clock`")
    }
}

/// A difference between the wall clock and the steady time that is too large to be corrected slowly.
#[derive(Clone, Copy, Debug)]
struct LargeDifference {
    since_boot_us: i64,
    drift_us: i64,
}

/// A steady time with the time since boot at which it was computed, and its difference to the wall clock. All fields
/// are in microseconds.
#[derive(Debug)]
pub(super) struct SteadyClock {
    boot_us: i64,
    now_us: i64,
    /// Difference that is still to be corrected, in microseconds; at most a minute.
    drift_us: i64,
    off: Option<LargeDifference>,
    /// Latest time in the database; `None` once the wall clock has passed this time. Before that, the wall clock is
    /// not trusted.
    unpassed_us: Option<i64>,
    /// Microseconds by which adopting the wall clock changed the steady time; `None` once the caller has taken this
    /// value.
    adopted_us: Option<i64>,
}

impl SteadyClock {
    /// Starts at the time of the wall clock, or at the latest time in the database if that is later.
    pub(super) fn start(boot_us: i64, wall_us: i64, seen_us: i64) -> SteadyClock {
        SteadyClock {
            boot_us,
            now_us: wall_us.max(seen_us),
            drift_us: 0,
            off: None,
            unpassed_us: Some(seen_us).filter(|seen| wall_us < seen.saturating_sub(MINUTE)),
            adopted_us: None,
        }
    }

    /// Returns the steady time. Reads the wall clock at most once a second.
    pub(super) fn now(&mut self, boot_us: i64, wall_us: impl FnOnce() -> i64) -> i64 {
        let passed = boot_us.saturating_sub(self.boot_us).max(0);
        let slewed = passed / SLEW;
        let worked_off = self.drift_us.clamp(slewed.saturating_neg(), slewed);
        let now = self.now_us.saturating_add(passed).saturating_add(worked_off);
        if passed < SECOND {
            return now;
        }
        (self.boot_us, self.now_us) = (boot_us, now);
        self.compare_with_wall(wall_us());
        self.now_us
    }

    /// Compares the wall clock with the steady time, and decides whether to correct or adopt a difference.
    fn compare_with_wall(&mut self, wall_us: i64) {
        let drift = wall_us.saturating_sub(self.now_us);
        self.drift_us = 0;
        if let Some(seen) = self.unpassed_us {
            if wall_us < seen {
                return;
            }
            self.unpassed_us = None;
            if drift > MINUTE {
                self.adopt(wall_us);
                return;
            }
        }
        if drift.saturating_abs() <= MINUTE {
            (self.drift_us, self.off) = (drift, None);
            return;
        }
        let stays =
            |off: &LargeDifference| off.drift_us.saturating_sub(drift).saturating_abs() <= MINUTE;
        match self.off.filter(stays) {
            Some(off) if self.boot_us.saturating_sub(off.since_boot_us) >= HOUR => {
                self.adopt(wall_us);
            }
            Some(_) => {}
            None => {
                self.off = Some(LargeDifference { since_boot_us: self.boot_us, drift_us: drift });
            }
        }
    }

    fn adopt(&mut self, wall_us: i64) {
        let moved = wall_us.saturating_sub(self.now_us);
        self.adopted_us = Some(self.adopted_us.unwrap_or(0).saturating_add(moved));
        self.now_us = wall_us;
        (self.drift_us, self.off, self.unpassed_us) = (0, None, None);
    }

    /// Trusts the wall clock. A difference above a minute is adopted now, and a smaller difference is corrected
    /// slowly.
    pub(super) fn accept_wall_clock(&mut self, boot_us: i64, wall_us: i64) {
        self.now(boot_us, || wall_us);
        if wall_us.saturating_sub(self.now_us).saturating_abs() > MINUTE {
            self.adopt(wall_us);
        }
        (self.off, self.unpassed_us) = (None, None);
    }

    /// Returns the milliseconds by which adopting the wall clock has moved the time since the last call. `None` if
    /// the wall clock was not adopted.
    pub(super) fn take_time_jump_ms(&mut self) -> Option<i64> {
        self.adopted_us.take().map(|us| us / 1000)
    }

    /// Returns the difference to a wall clock that is not trusted; `None` if the wall clock is trusted.
    pub(super) fn untrusted_wall_clock(
        &mut self,
        boot_us: i64,
        wall_us: i64,
    ) -> Option<UntrustedWallClock> {
        let now = self.now(boot_us, || wall_us);
        let ahead_ms = wall_us.saturating_sub(now) / 1000;
        if self.unpassed_us.is_some() {
            return Some(UntrustedWallClock { ahead_ms, adopted_in_ms: None });
        }
        self.off.map(|off| {
            let stayed = boot_us.saturating_sub(off.since_boot_us);
            UntrustedWallClock {
                ahead_ms,
                adopted_in_ms: Some(HOUR.saturating_sub(stayed).max(0) / 1000),
            }
        })
    }
}

#[cfg(test)]
#[expect(clippy::arithmetic_side_effects, reason = "the numbers of a test are its own")]
mod tests {
    use super::{HOUR, MINUTE, SECOND, SteadyClock};

    const YEAR: i64 = 365 * 24 * HOUR;

    /// A steady clock with the two clocks that it reads, in microseconds.
    struct Clocks {
        steady: SteadyClock,
        boot: i64,
        wall: i64,
    }

    impl Clocks {
        fn start(wall: i64, seen: i64) -> Clocks {
            Clocks { steady: SteadyClock::start(0, wall, seen), boot: 0, wall }
        }

        /// Advances both clocks in steps of ten seconds, and returns the steady time.
        fn advance_clocks(&mut self, span: i64) -> i64 {
            let mut left = span;
            let mut before = self.now();
            while left > 0 {
                let step = left.min(10 * SECOND);
                (self.boot, self.wall) = (self.boot + step, self.wall + step);
                left -= step;
                let now = self.now();
                assert!(now >= before || self.steady.adopted_us.is_some());
                before = now;
            }
            before
        }

        fn now(&mut self) -> i64 {
            self.steady.now(self.boot, || self.wall)
        }

        fn distrusts_wall_clock(&mut self) -> bool {
            self.steady.untrusted_wall_clock(self.boot, self.wall).is_some()
        }
    }

    #[test]
    fn jump_of_wall_clock_is_followed_after_an_hour() {
        for jump in [2 * HOUR, YEAR, -2 * HOUR, 61 * SECOND, -61 * SECOND] {
            let mut clocks = Clocks::start(YEAR, 0);
            clocks.wall += jump;
            assert_eq!(clocks.advance_clocks(HOUR), YEAR + HOUR, "{jump}");
            assert!(clocks.distrusts_wall_clock());
            assert_eq!(clocks.advance_clocks(10 * SECOND), clocks.wall);
            assert_eq!(clocks.steady.take_time_jump_ms(), Some(jump / 1000));
            assert_eq!(clocks.steady.take_time_jump_ms(), None);
            assert!(!clocks.distrusts_wall_clock());
        }
    }

    #[test]
    fn corrected_jump_is_ignored_and_second_jump_waits_an_hour() {
        let mut clocks = Clocks::start(0, 0);
        clocks.wall += YEAR;
        clocks.advance_clocks(59 * MINUTE);
        clocks.wall += YEAR;
        assert_eq!(clocks.advance_clocks(59 * MINUTE), 118 * MINUTE);
        clocks.wall -= 2 * YEAR;
        assert_eq!(clocks.advance_clocks(HOUR), 178 * MINUTE);
        assert!(!clocks.distrusts_wall_clock() && clocks.steady.adopted_us.is_none());
    }

    #[test]
    fn small_difference_is_corrected_without_going_back() {
        for drift in [59 * SECOND, -59 * SECOND, 3, -3] {
            let mut clocks = Clocks::start(0, 0);
            clocks.wall += drift;
            clocks.advance_clocks(10 * SECOND);
            assert_eq!(clocks.advance_clocks(11 * MINUTE), clocks.wall, "{drift}");
            assert!(!clocks.distrusts_wall_clock());
        }
        // After a year without a call, the whole difference of 5 seconds is corrected, and no more.
        let mut clocks = Clocks::start(0, 0);
        clocks.wall += 5 * SECOND;
        clocks.advance_clocks(10 * SECOND);
        (clocks.boot, clocks.wall) = (clocks.boot + YEAR, clocks.wall + YEAR);
        assert_eq!(clocks.now(), clocks.wall);
    }

    #[test]
    fn new_clock_distrusts_wall_clock_behind_file_time() {
        // Some machines start with the wall clock at 1970, and get the time from the network later.
        let mut clocks = Clocks::start(0, YEAR);
        assert_eq!(clocks.advance_clocks(5 * HOUR), YEAR + 5 * HOUR);
        assert!(clocks.distrusts_wall_clock());
        clocks.wall = YEAR + 9 * HOUR;
        assert_eq!(clocks.advance_clocks(10 * SECOND), clocks.wall);
        assert!(!clocks.distrusts_wall_clock());
        // The wall clock starts an hour behind the latest time in the database.
        let mut clocks = Clocks::start(YEAR - HOUR, YEAR);
        assert_eq!(clocks.advance_clocks(2 * HOUR - 10 * SECOND), YEAR + 2 * HOUR - 10 * SECOND);
        assert!(clocks.distrusts_wall_clock(), "it has passed, and is an hour off");
        clocks.advance_clocks(20 * SECOND);
        assert_eq!(clocks.now(), clocks.wall);
        // A wall clock that is behind by less than a minute is corrected, not distrusted.
        let mut clocks = Clocks::start(YEAR - 50 * SECOND, YEAR);
        assert_eq!(clocks.now(), YEAR);
        assert!(!clocks.distrusts_wall_clock());
    }

    #[test]
    fn accepted_wall_clock_is_followed_at_once() {
        for (wall, seen, jump) in [(0, YEAR, 0), (YEAR, 0, 2 * HOUR), (YEAR, 0, -2 * HOUR)] {
            let mut clocks = Clocks::start(wall, seen);
            clocks.wall += jump;
            clocks.advance_clocks(20 * SECOND);
            assert!(clocks.distrusts_wall_clock());
            clocks.steady.accept_wall_clock(clocks.boot, clocks.wall);
            assert_eq!(clocks.now(), clocks.wall);
            assert!(!clocks.distrusts_wall_clock());
            assert!(clocks.steady.take_time_jump_ms().is_some());
            clocks.steady.accept_wall_clock(clocks.boot, clocks.wall);
            assert_eq!(clocks.steady.take_time_jump_ms(), None);
        }
    }
}

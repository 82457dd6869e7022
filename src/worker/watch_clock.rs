//! Watches the wall clock and stores its time. Logs when the wall clock is doubted, trusted again, or adopted.
//!
//! Invariant: the stored time is at most a minute old. After a restart, the time is at most a minute earlier than
//! before.

use super::{NextStep, Wakers, Worker};
use crate::clock::{Clock, UntrustedWallClock};
use crate::domain::Time;
use crate::domain::time::{MINUTE_MS, SECOND_MS};
use crate::service::{Error, Service};
use std::sync::Arc;

/// Maximum time between two checks of the wall clock, in milliseconds.
const CHECK_EVERY_MS: i64 = 10 * SECOND_MS;

/// The worker that watches the wall clock.
pub struct ClockWatcher {
    service: Arc<Service>,
    clock: Arc<Clock>,
    wakers: Wakers,
    /// Number of times that the operator has accepted the wall clock, as of the last check.
    accepted: i64,
    /// `true` if the wall clock was doubted at the last check.
    doubted: bool,
    /// `true` if the clock was set back and the change is not stored yet.
    set_back: bool,
    /// Time of the next write to the file.
    next: Time,
}

impl ClockWatcher {
    /// Creates a worker for this clock. `accepted` is the number of times that the operator has accepted the wall
    /// clock so far.
    pub fn new(
        service: Arc<Service>,
        clock: Arc<Clock>,
        wakers: Wakers,
        accepted: i64,
    ) -> ClockWatcher {
        ClockWatcher {
            service,
            clock,
            wakers,
            accepted,
            doubted: false,
            set_back: false,
            next: Time(0),
        }
    }

    /// Checks whether the operator has accepted the wall clock, and logs changes. Returns the current doubt about the
    /// wall clock, and `true` if something has changed since the last check.
    fn check_clock(&mut self) -> Result<(Option<UntrustedWallClock>, bool), Error> {
        let accepted = self.service.clock_accept_count()?;
        let mut changed = accepted != self.accepted;
        if changed {
            self.accepted = accepted;
            self.clock.accept_wall_clock();
        }
        let doubt = self.clock.untrusted_wall_clock();
        if let Some(moved_ms) = self.clock.take_time_jump_ms() {
            let (seconds, side) = (moved_ms.unsigned_abs() / 1000, direction_word(moved_ms));
            log::warn!("wall clock adopted: set={side} seconds={seconds}");
            self.set_back |= moved_ms < 0;
            changed = true;
            // Sleeping workers computed their waiting time before the clock was changed.
            self.wakers.wake_all();
        }
        if doubt.is_some() != self.doubted {
            self.doubted = doubt.is_some();
            match doubt {
                Some(doubt) => log::error!("wall clock in doubt: reason={doubt}"),
                None => log::warn!("wall clock trusted again"),
            }
            changed = true;
        }
        Ok((doubt, changed))
    }

    /// Stores the current time, and the doubt about the wall clock.
    async fn store_clock_doubt(&mut self, doubt: Option<UntrustedWallClock>) -> Result<(), Error> {
        let now = self.clock.now();
        // If the write fails, the next step writes again.
        self.next = now;
        let ahead_ms = doubt.map(|doubt| doubt.ahead_ms);
        self.service.store_clock_reading(now, self.set_back, ahead_ms).await?;
        self.set_back = false;
        self.next = now.plus_ms(MINUTE_MS);
        Ok(())
    }
}

fn direction_word(moved_ms: i64) -> &'static str {
    if moved_ms < 0 { "back" } else { "forward" }
}

impl Worker for ClockWatcher {
    const NAME: &'static str = "clock";

    async fn tick(&mut self, now: Time) -> Result<NextStep, Error> {
        let (doubt, changed) = self.check_clock()?;
        if changed || now >= self.next {
            self.store_clock_doubt(doubt).await?;
        }
        Ok(NextStep::At(self.next.min(now.plus_ms(CHECK_EVERY_MS))))
    }

    async fn finish(&mut self) -> Result<(), Error> {
        let doubt = self.clock.untrusted_wall_clock();
        self.store_clock_doubt(doubt).await
    }
}

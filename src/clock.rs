//! What time it is: the only place that asks the system.
//!
//! What lives here: real time, the sandbox's movable time, and stopwatches. What always holds: outside the sandbox
//! the offset is zero and nothing stands still, so `now` is real time.

use crate::domain::time::Time;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Stands for "not frozen".
const RUNNING: i64 = i64::MIN;

/// Real time, or real time plus an offset, or standing still.
#[derive(Debug)]
pub struct Clock {
    offset_ms: AtomicI64,
    frozen_at: AtomicI64,
}

/// Measures how long something takes, whatever the clock shows.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Microseconds since it was started.
    pub fn us(self) -> i64 {
        i64::try_from(self.0.elapsed().as_micros()).unwrap_or(i64::MAX)
    }

    /// Milliseconds since it was started.
    pub fn ms(self) -> i64 {
        i64::try_from(self.0.elapsed().as_millis()).unwrap_or(i64::MAX)
    }
}

impl Clock {
    /// A clock that shows real time plus an offset, or stands still.
    pub fn new(offset_ms: i64, frozen_at: Option<Time>) -> Clock {
        let frozen_at = frozen_at.map_or(RUNNING, |at| at.0);
        Clock {
            offset_ms: AtomicI64::new(offset_ms),
            frozen_at: AtomicI64::new(frozen_at),
        }
    }

    /// The time that everything but signatures goes by.
    pub fn now(&self) -> Time {
        match self.frozen_at() {
            Some(at) => at,
            None => self.real_now().plus_ms(self.offset_ms()),
        }
    }

    /// Real time: for signatures, which receivers check against their own clock.
    pub fn real_now(&self) -> Time {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or(Duration::ZERO);
        Time(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    /// Starts a stopwatch.
    pub fn stopwatch(&self) -> Stopwatch {
        Stopwatch(Instant::now())
    }

    /// How long until a moment; nothing while the clock stands still before it.
    pub fn until(&self, at: Time) -> Option<Duration> {
        let wait_ms = u64::try_from(at.since_ms(self.now())).unwrap_or(0);
        (wait_ms == 0 || self.frozen_at().is_none()).then(|| Duration::from_millis(wait_ms))
    }

    /// Milliseconds ahead of real time, while it runs.
    pub fn offset_ms(&self) -> i64 {
        self.offset_ms.load(Ordering::SeqCst)
    }

    /// Where it stands still, if it does.
    pub fn frozen_at(&self) -> Option<Time> {
        match self.frozen_at.load(Ordering::SeqCst) {
            RUNNING => None,
            at => Some(Time(at)),
        }
    }

    /// Stands still at this moment.
    pub fn freeze(&self, at: Time) {
        self.frozen_at.store(at.0, Ordering::SeqCst);
    }

    /// Runs on from this moment.
    pub fn run_from(&self, at: Time) {
        self.offset_ms
            .store(at.since_ms(self.real_now()), Ordering::SeqCst);
        self.frozen_at.store(RUNNING, Ordering::SeqCst);
    }

    /// Shows real time again.
    pub fn reset(&self) {
        self.offset_ms.store(0, Ordering::SeqCst);
        self.frozen_at.store(RUNNING, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::{Clock, Duration, Time};

    #[test]
    fn it_stands_still_and_runs_on() {
        let clock = Clock::new(0, Some(Time(5_000)));
        assert_eq!((clock.now(), clock.until(Time(6_000))), (Time(5_000), None));
        assert_eq!(
            clock.until(Time(4_000)),
            Some(Duration::ZERO),
            "what is past needs no waiting"
        );
        clock.run_from(Time(9_000));
        assert!(clock.now() >= Time(9_000) && clock.now() < Time(60_000));
        clock.reset();
        assert!(clock.now().since_ms(clock.real_now()).abs() < 1_000);
    }
}

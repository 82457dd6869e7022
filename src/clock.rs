//! The only place that reads the system clocks: wall clock, time since boot, stopwatches, and the adjustable time of a
//! sandbox.
//!
//! Invariant: outside the sandbox the offset is zero, time never stops, and `now` does not follow jumps of the wall
//! clock.

mod steady;

pub use steady::Doubt;

use crate::domain::time::Time;
use rustix::time::{ClockId, clock_gettime};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use steady::SteadyClock;

/// Value of `frozen_at` while time runs.
const RUNNING: i64 = i64::MIN;

/// Includes the time while the system is suspended.
#[cfg(target_os = "linux")]
const BOOT: ClockId = ClockId::Boottime;
#[cfg(not(target_os = "linux"))]
const BOOT: ClockId = ClockId::Monotonic;

/// Source of the time.
#[derive(Clone, Debug, Default)]
pub enum TimeSource {
    /// System clocks.
    #[default]
    System,
    /// Clocks of a test.
    Manual(Arc<ManualTime>),
}

/// A wall clock and a time since boot that change only when a test says so.
#[derive(Debug)]
pub struct ManualTime {
    wall_ms: AtomicI64,
    boot_ms: AtomicI64,
}

impl ManualTime {
    /// Creates clocks at this wall time.
    pub fn new(wall: Time) -> ManualTime {
        ManualTime {
            wall_ms: AtomicI64::new(wall.0),
            boot_ms: AtomicI64::new(0),
        }
    }

    /// Advances both clocks.
    pub fn pass(&self, ms: i64) {
        self.boot_ms.fetch_add(ms, Ordering::SeqCst);
        self.jump(ms);
    }

    /// Changes the wall clock only. A negative `ms` sets it back.
    pub fn jump(&self, ms: i64) {
        self.wall_ms.fetch_add(ms, Ordering::SeqCst);
    }
}

impl TimeSource {
    /// Returns the wall clock, in microseconds since 1970.
    fn wall_us(&self) -> i64 {
        match self {
            TimeSource::System => {
                let since = SystemTime::now()
                    .duration_since(UNIX_EPOCH)
                    .unwrap_or(Duration::ZERO);
                i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
            }
            TimeSource::Manual(manual) => {
                let ms = manual.wall_ms.load(Ordering::SeqCst);
                ms.saturating_mul(1000)
            }
        }
    }

    /// Returns the microseconds since boot, including suspended time.
    fn boot_us(&self) -> i64 {
        match self {
            TimeSource::System => {
                let since = clock_gettime(BOOT);
                let seconds = since.tv_sec.saturating_mul(1_000_000);
                seconds.saturating_add(since.tv_nsec / 1000)
            }
            TimeSource::Manual(manual) => {
                let ms = manual.boot_ms.load(Ordering::SeqCst);
                ms.saturating_mul(1000)
            }
        }
    }
}

/// A clock that shows steady or wall time, with an offset, or stopped.
#[derive(Debug)]
pub struct Clock {
    source: TimeSource,
    /// Correction of the wall clock; `None` to trust it fully.
    steady: Option<Mutex<SteadyClock>>,
    offset_ms: AtomicI64,
    frozen_at: AtomicI64,
}

/// Measures durations, independent of the wall clock.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts a stopwatch.
    pub fn start() -> Stopwatch {
        Stopwatch(Instant::now())
    }

    /// Returns the microseconds since the start.
    pub fn us(self) -> i64 {
        i64::try_from(self.0.elapsed().as_micros()).unwrap_or(i64::MAX)
    }

    /// Returns the milliseconds since the start.
    pub fn ms(self) -> i64 {
        i64::try_from(self.0.elapsed().as_millis()).unwrap_or(i64::MAX)
    }
}

impl Clock {
    /// Creates a clock with an offset, or a stopped one. For the sandbox and for commands.
    pub fn new(offset_ms: i64, frozen_at: Option<Time>) -> Clock {
        let frozen_at = frozen_at.map_or(RUNNING, |at| at.0);
        Clock {
            source: TimeSource::System,
            steady: None,
            offset_ms: AtomicI64::new(offset_ms),
            frozen_at: AtomicI64::new(frozen_at),
        }
    }

    /// Creates a clock that ignores jumps of the wall clock. It starts no earlier than `seen`, the latest time in the
    /// database.
    pub fn steady(source: TimeSource, seen: Time) -> Clock {
        let (boot_us, wall_us) = (source.boot_us(), source.wall_us());
        let steady = SteadyClock::start(boot_us, wall_us, seen.0.saturating_mul(1000));
        Clock {
            source,
            steady: Some(Mutex::new(steady)),
            ..Clock::new(0, None)
        }
    }

    /// Returns the time for everything except signatures.
    pub fn now(&self) -> Time {
        match self.frozen_at() {
            Some(at) => at,
            None => self.base().plus_ms(self.offset_ms()),
        }
    }

    /// Returns the time without the offset.
    fn base(&self) -> Time {
        self.believed(|steady, source| steady.now(source.boot_us(), || source.wall_us()))
            .map_or_else(|| self.real_now(), |us| Time(us.div_euclid(1000)))
    }

    /// Returns the wall clock, for signatures that receivers compare with their own clock.
    pub fn real_now(&self) -> Time {
        Time(self.source.wall_us().div_euclid(1000))
    }

    /// Returns a monotonic time for throttles, also in a sandbox with changed time. It is not a date.
    pub fn uptime(&self) -> Time {
        Time(self.source.boot_us().div_euclid(1000))
    }

    /// Returns why the wall clock is not trusted; `None` if it is.
    pub fn doubt(&self) -> Option<Doubt> {
        self.believed(|steady, source| steady.doubt(source.boot_us(), source.wall_us()))?
    }

    /// Accepts the wall clock, on request of an operator.
    pub fn accept(&self) {
        self.believed(|steady, source| steady.accept(source.boot_us(), source.wall_us()));
    }

    /// Returns by how many milliseconds time moved when the wall clock was adopted; `None` if it was not since the last
    /// call.
    pub fn take_adopted_ms(&self) -> Option<i64> {
        self.believed(|steady, _| steady.take_adopted_ms())?
    }

    /// Runs a function on the steady clock; `None` if the wall clock is always trusted.
    fn believed<T>(&self, ask: impl FnOnce(&mut SteadyClock, &TimeSource) -> T) -> Option<T> {
        let steady = self.steady.as_ref()?;
        let mut steady = steady.lock().unwrap_or_else(PoisonError::into_inner);
        Some(ask(&mut steady, &self.source))
    }

    /// Starts a stopwatch.
    pub fn stopwatch(&self) -> Stopwatch {
        Stopwatch::start()
    }

    /// Returns the duration until a time; `None` while the clock is stopped before it.
    pub fn until(&self, at: Time) -> Option<Duration> {
        let wait_ms = u64::try_from(at.since_ms(self.now())).unwrap_or(0);
        (wait_ms == 0 || self.frozen_at().is_none()).then(|| Duration::from_millis(wait_ms))
    }

    /// Returns the milliseconds by which the running clock is ahead of real time.
    pub fn offset_ms(&self) -> i64 {
        self.offset_ms.load(Ordering::SeqCst)
    }

    /// Returns the time at which the clock is stopped, if it is.
    pub fn frozen_at(&self) -> Option<Time> {
        match self.frozen_at.load(Ordering::SeqCst) {
            RUNNING => None,
            at => Some(Time(at)),
        }
    }

    /// Stops the clock at this time.
    pub fn freeze(&self, at: Time) {
        self.frozen_at.store(at.0, Ordering::SeqCst);
    }

    /// Lets the clock run from this time.
    pub fn run_from(&self, at: Time) {
        self.offset_ms
            .store(at.since_ms(self.base()), Ordering::SeqCst);
        self.frozen_at.store(RUNNING, Ordering::SeqCst);
    }

    /// Returns to real time.
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

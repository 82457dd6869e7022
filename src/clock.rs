//! The only code that reads the system clocks. Provides wall time, time since boot, stopwatches, and the adjustable
//! clock of a sandbox.
//!
//! Invariant: outside the sandbox the offset is zero and the clock never stops. `now` does not follow jumps of the
//! wall clock.

mod steady;

pub use steady::UntrustedWallClock;

use crate::domain::Time;
use rustix::time::{ClockId, clock_gettime};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use steady::SteadyClock;

/// Value of `frozen_at` while time runs.
const RUNNING: i64 = i64::MIN;

/// This clock also counts the time in which the system is suspended.
#[cfg(target_os = "linux")]
const BOOT: ClockId = ClockId::Boottime;
#[cfg(not(target_os = "linux"))]
const BOOT: ClockId = ClockId::Monotonic;

/// Clocks that a [`Clock`] reads.
#[derive(Clone, Debug, Default)]
pub enum TimeSource {
    /// The system's wall clock and its clock since boot.
    #[default]
    System,
    /// Clocks that a test sets.
    Manual(Arc<ManualTime>),
}

/// A wall clock and a time since boot that only change when a test changes them.
#[derive(Debug)]
pub struct ManualTime {
    wall_ms: AtomicI64,
    boot_ms: AtomicI64,
}

impl ManualTime {
    /// Creates clocks with this wall time and zero time since boot.
    pub fn new(wall: Time) -> ManualTime {
        ManualTime { wall_ms: AtomicI64::new(wall.0), boot_ms: AtomicI64::new(0) }
    }

    /// Advances both clocks by `ms` milliseconds.
    pub fn advance(&self, ms: i64) {
        self.boot_ms.fetch_add(ms, Ordering::SeqCst);
        self.jump_wall_clock(ms);
    }

    /// Moves only the wall clock, by `ms` milliseconds. A negative `ms` moves it back.
    pub fn jump_wall_clock(&self, ms: i64) {
        self.wall_ms.fetch_add(ms, Ordering::SeqCst);
    }
}

impl TimeSource {
    /// Returns the time of the wall clock, in microseconds since 1970.
    fn wall_us(&self) -> i64 {
        match self {
            TimeSource::System => {
                let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
                i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
            }
            TimeSource::Manual(manual) => {
                let ms = manual.wall_ms.load(Ordering::SeqCst);
                ms.saturating_mul(1000)
            }
        }
    }

    /// Returns the time since boot, including suspended time, in microseconds.
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

/// A clock that returns steady time or wall time. The clock may have an offset or be stopped.
#[derive(Debug)]
pub struct Clock {
    source: TimeSource,
    /// Steady time, which ignores jumps of the wall clock; `None` if the clock shows wall time.
    steady: Option<Mutex<SteadyClock>>,
    offset_ms: AtomicI64,
    frozen_at: AtomicI64,
}

/// A stopwatch, which is independent of the wall clock.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts a stopwatch.
    pub fn start() -> Stopwatch {
        Stopwatch(Instant::now())
    }

    /// Returns the microseconds since the start.
    pub fn elapsed_us(self) -> i64 {
        i64::try_from(self.0.elapsed().as_micros()).unwrap_or(i64::MAX)
    }

    /// Returns the milliseconds since the start.
    pub fn elapsed_ms(self) -> i64 {
        i64::try_from(self.0.elapsed().as_millis()).unwrap_or(i64::MAX)
    }
}

impl Clock {
    /// Creates a clock that shows wall time plus an offset, or is stopped. For the sandbox and for commands.
    pub fn new(offset_ms: i64, frozen_at: Option<Time>) -> Clock {
        let frozen_at = frozen_at.map_or(RUNNING, |at| at.0);
        Clock {
            source: TimeSource::System,
            steady: None,
            offset_ms: AtomicI64::new(offset_ms),
            frozen_at: AtomicI64::new(frozen_at),
        }
    }

    /// Creates a clock that ignores jumps of the wall clock. Its time starts no earlier than `seen`, the latest time
    /// in the database.
    pub fn steady(source: TimeSource, seen: Time) -> Clock {
        let (boot_us, wall_us) = (source.boot_us(), source.wall_us());
        let steady = SteadyClock::start(boot_us, wall_us, seen.0.saturating_mul(1000));
        Clock { source, steady: Some(Mutex::new(steady)), ..Clock::new(0, None) }
    }

    /// Returns the current time of this clock. Signatures use [`Clock::real_now`] instead.
    pub fn now(&self) -> Time {
        match self.frozen_at() {
            Some(at) => at,
            None => self.time_without_offset().plus_ms(self.offset_ms()),
        }
    }

    fn time_without_offset(&self) -> Time {
        self.with_steady_clock(|steady, source| steady.now(source.boot_us(), || source.wall_us()))
            .map_or_else(|| self.real_now(), |us| Time(us.div_euclid(1000)))
    }

    /// Returns the time of the wall clock. For signatures, which receivers compare with their own clocks.
    pub fn real_now(&self) -> Time {
        Time(self.source.wall_us().div_euclid(1000))
    }

    /// Returns the time since boot, for throttles. This time never goes back, even if a sandbox's clock is changed.
    pub fn uptime(&self) -> Time {
        Time(self.source.boot_us().div_euclid(1000))
    }

    /// Returns the difference to a wall clock that is not trusted; `None` if the wall clock is trusted.
    pub fn untrusted_wall_clock(&self) -> Option<UntrustedWallClock> {
        self.with_steady_clock(|steady, source| {
            steady.untrusted_wall_clock(source.boot_us(), source.wall_us())
        })?
    }

    /// Makes the clock follow the wall clock now, because the operator accepts it.
    pub fn accept_wall_clock(&self) {
        self.with_steady_clock(|steady, source| {
            steady.accept_wall_clock(source.boot_us(), source.wall_us())
        });
    }

    /// Returns the milliseconds by which adopting the wall clock has moved this clock since the last call. `None` if
    /// the wall clock was not adopted.
    pub fn take_time_jump_ms(&self) -> Option<i64> {
        self.with_steady_clock(|steady, _| steady.take_time_jump_ms())?
    }

    /// Calls `ask` with the steady clock. Returns `None` if this clock shows wall time.
    fn with_steady_clock<T>(
        &self,
        ask: impl FnOnce(&mut SteadyClock, &TimeSource) -> T,
    ) -> Option<T> {
        let steady = self.steady.as_ref()?;
        let mut steady = steady.lock().unwrap_or_else(PoisonError::into_inner);
        Some(ask(&mut steady, &self.source))
    }

    /// Starts a stopwatch.
    pub fn stopwatch(&self) -> Stopwatch {
        Stopwatch::start()
    }

    /// Returns the duration until a time. `None` if the clock is stopped before that time.
    pub fn duration_until(&self, at: Time) -> Option<Duration> {
        let wait_ms = u64::try_from(at.since_ms(self.now())).unwrap_or(0);
        (wait_ms == 0 || self.frozen_at().is_none()).then(|| Duration::from_millis(wait_ms))
    }

    /// Returns the milliseconds by which a running clock is ahead of real time.
    pub fn offset_ms(&self) -> i64 {
        self.offset_ms.load(Ordering::SeqCst)
    }

    /// Returns the time at which the clock is stopped; `None` while it runs.
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

    /// Makes the clock run, starting at this time.
    pub fn run_from(&self, at: Time) {
        self.offset_ms.store(at.since_ms(self.time_without_offset()), Ordering::SeqCst);
        self.frozen_at.store(RUNNING, Ordering::SeqCst);
    }

    /// Makes the clock show real time.
    pub fn reset(&self) {
        self.offset_ms.store(0, Ordering::SeqCst);
        self.frozen_at.store(RUNNING, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::{Clock, Duration, Time};

    #[test]
    fn frozen_clock_keeps_its_time_until_it_runs() {
        let clock = Clock::new(0, Some(Time(5_000)));
        assert_eq!((clock.now(), clock.duration_until(Time(6_000))), (Time(5_000), None));
        assert_eq!(
            clock.duration_until(Time(4_000)),
            Some(Duration::ZERO),
            "what is past needs no waiting"
        );
        clock.run_from(Time(9_000));
        assert!(clock.now() >= Time(9_000) && clock.now() < Time(60_000));
        clock.reset();
        assert!(clock.now().since_ms(clock.real_now()).abs() < 1_000);
    }
}

//! What time it is: the only place that asks the system.
//!
//! What lives here: the wall clock, the time since the system was started, the sandbox's movable time, and
//! stopwatches. What does not: how far the wall clock is believed (`steady`). What always holds: outside the
//! sandbox the offset is zero, the clock never stops, and `now` does not follow a wall clock that jumps.

mod steady;

pub use steady::Doubt;

use crate::domain::time::Time;
use rustix::time::{ClockId, clock_gettime};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use steady::Steady;

/// Stands for "not frozen".
const RUNNING: i64 = i64::MIN;

/// Counts on while the system sleeps.
#[cfg(target_os = "linux")]
const BOOT: ClockId = ClockId::Boottime;
#[cfg(not(target_os = "linux"))]
const BOOT: ClockId = ClockId::Monotonic;

/// Where the time comes from.
#[derive(Clone, Debug, Default)]
pub enum TimeSource {
    /// The system.
    #[default]
    System,
    /// A test.
    Manual(Arc<ManualTime>),
}

/// A wall clock and a time since the start that stand still until a test moves them.
#[derive(Debug)]
pub struct ManualTime {
    wall_ms: AtomicI64,
    boot_ms: AtomicI64,
}

impl ManualTime {
    /// A wall clock that shows this.
    pub fn new(wall: Time) -> ManualTime {
        ManualTime {
            wall_ms: AtomicI64::new(wall.0),
            boot_ms: AtomicI64::new(0),
        }
    }

    /// Time passes, by both clocks.
    pub fn pass(&self, ms: i64) {
        self.boot_ms.fetch_add(ms, Ordering::SeqCst);
        self.jump(ms);
    }

    /// Somebody sets the wall clock: forward, or where `ms` is less than nothing, back.
    pub fn jump(&self, ms: i64) {
        self.wall_ms.fetch_add(ms, Ordering::SeqCst);
    }
}

impl TimeSource {
    /// The wall clock, in microseconds since 1970.
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

    /// Microseconds since the system was started, those asleep too.
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

/// Even time, or the wall clock's, plus an offset, or stopped.
#[derive(Debug)]
pub struct Clock {
    source: TimeSource,
    /// What is believed of the wall clock; nothing: everything.
    steady: Option<Mutex<Steady>>,
    offset_ms: AtomicI64,
    frozen_at: AtomicI64,
}

/// Measures how long something takes, whatever the clock shows.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// One that starts now.
    pub fn start() -> Stopwatch {
        Stopwatch(Instant::now())
    }

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
    /// A clock that shows the wall clock's time plus an offset, or stands still: the sandbox's, and a command's.
    pub fn new(offset_ms: i64, frozen_at: Option<Time>) -> Clock {
        let frozen_at = frozen_at.map_or(RUNNING, |at| at.0);
        Clock {
            source: TimeSource::System,
            steady: None,
            offset_ms: AtomicI64::new(offset_ms),
            frozen_at: AtomicI64::new(frozen_at),
        }
    }

    /// A clock that goes on evenly where the wall clock jumps, and begins no earlier than the file has `seen`.
    pub fn steady(source: TimeSource, seen: Time) -> Clock {
        let (boot_us, wall_us) = (source.boot_us(), source.wall_us());
        let steady = Steady::start(boot_us, wall_us, seen.0.saturating_mul(1000));
        Clock {
            source,
            steady: Some(Mutex::new(steady)),
            ..Clock::new(0, None)
        }
    }

    /// The time that everything but signatures goes by.
    pub fn now(&self) -> Time {
        match self.frozen_at() {
            Some(at) => at,
            None => self.base().plus_ms(self.offset_ms()),
        }
    }

    /// The time without an offset.
    fn base(&self) -> Time {
        self.believed(|steady, source| steady.now(source.boot_us(), || source.wall_us()))
            .map_or_else(|| self.real_now(), |us| Time(us.div_euclid(1000)))
    }

    /// What the wall clock shows: for signatures, which receivers check against their own.
    pub fn real_now(&self) -> Time {
        Time(self.source.wall_us().div_euclid(1000))
    }

    /// A count that only goes forward, evenly, also in a sandbox whose clock is moved: for throttles. It is no date.
    pub fn uptime(&self) -> Time {
        Time(self.source.boot_us().div_euclid(1000))
    }

    /// Why the wall clock is not believed, where it is not.
    pub fn doubt(&self) -> Option<Doubt> {
        self.believed(|steady, source| steady.doubt(source.boot_us(), source.wall_us()))?
    }

    /// A person says that the wall clock is right.
    pub fn accept(&self) {
        self.believed(|steady, source| steady.accept(source.boot_us(), source.wall_us()));
    }

    /// How far time was moved in milliseconds, where the wall clock was adopted since this was last asked.
    pub fn take_adopted_ms(&self) -> Option<i64> {
        self.believed(|steady, _| steady.take_adopted_ms())?
    }

    /// Asks what is believed of the wall clock; nothing where it is believed whatever it shows.
    fn believed<T>(&self, ask: impl FnOnce(&mut Steady, &TimeSource) -> T) -> Option<T> {
        let steady = self.steady.as_ref()?;
        let mut steady = steady.lock().unwrap_or_else(PoisonError::into_inner);
        Some(ask(&mut steady, &self.source))
    }

    /// Starts a stopwatch.
    pub fn stopwatch(&self) -> Stopwatch {
        Stopwatch::start()
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
            .store(at.since_ms(self.base()), Ordering::SeqCst);
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

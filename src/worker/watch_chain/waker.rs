//! Wakes the thread that follows a chain: to stop, to poll because money is expected, or to begin because rates are
//! known.
//!
//! Invariant: expected money never shortens a pause below its `expected` length.

use crate::clock::Clock;
use crate::domain::asset::Chain;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

/// Interval at which a node is checked for a notification.
const NOTIFICATION_CHECK_EVERY: Duration = Duration::from_millis(500);

/// The length of a pause between two steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    pub most: Duration,
    /// Longest pause while money is expected. `None` if expected money does not shorten the pause.
    pub expected: Option<Duration>,
}

impl Pause {
    /// Returns a pause that expected money does not shorten.
    pub const fn fixed(most: Duration) -> Pause {
        Pause { most, expected: None }
    }
}

/// The waker of one chain.
#[derive(Default)]
pub struct ChainWaker {
    woken: Mutex<WakeSignals>,
    changed: Condvar,
}

#[derive(Default)]
struct WakeSignals {
    stop: bool,
    money: bool,
    /// `true` once the first rates are known, not needed, or overdue.
    rates: bool,
}

impl ChainWaker {
    fn lock_signals(&self) -> MutexGuard<'_, WakeSignals> {
        self.woken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a waker with the same signals, except the signal to end.
    fn without_stop(&self) -> ChainWaker {
        let WakeSignals { money, rates, .. } = *self.lock_signals();
        let woken = Mutex::new(WakeSignals { stop: false, money, rates });
        ChainWaker { woken, changed: Condvar::new() }
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.lock_signals().stop
    }

    /// Signals that a payment is newly expected.
    pub fn signal_expected_payment(&self) {
        self.lock_signals().money = true;
        self.changed.notify_all();
    }

    /// Signals that the first rates are known or not needed.
    pub fn signal_rates_ready(&self) {
        self.lock_signals().rates = true;
        self.changed.notify_all();
    }

    /// Returns `true` if the first rates are known, not needed, or overdue.
    pub(super) fn is_rates_wait_over(&self) -> bool {
        self.lock_signals().rates
    }

    pub(super) fn ask_to_stop(&self) {
        self.lock_signals().stop = true;
        self.changed.notify_all();
    }

    /// Returns `true` if money became expected since the last call.
    pub(super) fn take_expected_payment_signal(&self) -> bool {
        std::mem::take(&mut self.lock_signals().money)
    }

    /// Waits up to `most` for the first rates. Calls `begins` first if the rates are not known yet. Later calls
    /// return at once. Returns `false` if the thread must end.
    pub(super) fn wait_for_rates(
        &self,
        clock: &Clock,
        most: Duration,
        begins: impl FnOnce(),
    ) -> bool {
        let since = clock.stopwatch();
        let mut woken = self.lock_signals();
        if !woken.rates {
            begins();
        }
        while !woken.stop && !woken.rates {
            let passed =
                Duration::from_millis(u64::try_from(since.elapsed_ms()).unwrap_or_default());
            let left = most.saturating_sub(passed);
            if left.is_zero() {
                woken.rates = true;
                break;
            }
            let waited = self.changed.wait_timeout(woken, left);
            woken = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        !woken.stop
    }

    /// Waits until the pause is over, or until `news` returns `true`. `news` is called at intervals. Returns `false`
    /// if the thread must end.
    pub(super) fn wait_pause(
        &self,
        clock: &Clock,
        pause: Pause,
        mut news: Option<impl FnMut() -> bool>,
    ) -> bool {
        let since = clock.stopwatch();
        loop {
            let woken = self.lock_signals();
            let most = match pause.expected {
                Some(expected) if woken.money => expected.min(pause.most),
                Some(_) | None => pause.most,
            };
            let passed =
                Duration::from_millis(u64::try_from(since.elapsed_ms()).unwrap_or_default());
            let left = most.saturating_sub(passed);
            if woken.stop || left.is_zero() {
                return !woken.stop;
            }
            let left = if news.is_some() { left.min(NOTIFICATION_CHECK_EVERY) } else { left };
            let rested = self.changed.wait_timeout(woken, left);
            let (woken, waited) = rested.unwrap_or_else(PoisonError::into_inner);
            let stop = woken.stop;
            drop(woken);
            // `news` is checked only after a full interval, so a node that always has a notification causes no busy
            // loop.
            if waited.timed_out() && !stop && news.as_mut().is_some_and(|news| news()) {
                return true;
            }
        }
    }
}

/// The wakers of all chains.
pub struct ChainWakers(RwLock<Vec<(Chain, Arc<ChainWaker>)>>);

impl Default for ChainWakers {
    fn default() -> ChainWakers {
        let waker = |chain: &Chain| (*chain, Arc::default());
        ChainWakers(RwLock::new(Chain::ALL.iter().map(waker).collect()))
    }
}

impl ChainWakers {
    /// Returns the waker of a chain.
    pub fn for_chain(&self, chain: Chain) -> Arc<ChainWaker> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let found = all.iter().find(|(of, _)| *of == chain);
        found.map_or_else(Arc::default, |(_, waker)| Arc::clone(waker))
    }

    /// Replaces the waker of a chain, for a new thread. The old waker may have asked its thread to end.
    pub fn renew_for_chain(&self, chain: Chain) -> Arc<ChainWaker> {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let found = all.iter_mut().find(|(of, _)| *of == chain);
        found.map_or_else(Arc::default, |(_, waker)| {
            *waker = Arc::new(waker.without_stop());
            Arc::clone(waker)
        })
    }

    /// Signals all chains that the first rates are known or not needed.
    pub fn signal_rates_ready(&self) {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        for (_, waker) in all.iter() {
            waker.signal_rates_ready();
        }
    }

    /// Wakes the follower of a chain, because a new payment is expected.
    pub fn signal_expected_payment(&self, chain: Chain) {
        self.for_chain(chain).signal_expected_payment();
    }
}

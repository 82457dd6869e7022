//! Wakes whoever follows a chain: to end, to look because money is expected now, or to begin because rates are known.
//!
//! What always holds: whoever rests is never woken sooner than it allows, however often somebody wakes it.

use crate::clock::Clock;
use crate::domain::asset::Chain;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Time between two looks whether a node has news.
const NEWS_EVERY: Duration = Duration::from_millis(500);

/// How long to rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// So long at most.
    pub most: Duration,
    /// So long only, where money becomes expected; nothing: that changes nothing.
    pub expected: Option<Duration>,
}

impl Pause {
    /// So long, whatever is expected.
    pub const fn of(most: Duration) -> Pause {
        Pause {
            most,
            expected: None,
        }
    }
}

/// The waker of one chain.
#[derive(Default)]
pub struct ChainWaker {
    woken: Mutex<Woken>,
    changed: Condvar,
}

#[derive(Default)]
struct Woken {
    stop: bool,
    money: bool,
    /// The first rates are there, or there are none to wait for.
    rates: bool,
}

impl ChainWaker {
    fn woken(&self) -> MutexGuard<'_, Woken> {
        self.woken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Money is expected that may not have been before.
    pub fn wake(&self) {
        self.woken().money = true;
        self.changed.notify_all();
    }

    /// The first rates are there, or none are to be waited for.
    pub fn hear_of_rates(&self) {
        self.woken().rates = true;
        self.changed.notify_all();
    }

    /// Returns `true` if the first rates are there, or none are to be waited for.
    pub(super) fn has_rates(&self) -> bool {
        self.woken().rates
    }

    /// It is to end.
    pub(super) fn ask_to_stop(&self) {
        self.woken().stop = true;
        self.changed.notify_all();
    }

    /// Has it been woken for money, since this was asked last?
    pub(super) fn take_money(&self) -> bool {
        std::mem::take(&mut self.woken().money)
    }

    /// Waits until the first rates are there, so long at most, and never again; says so where it has to, by `begins`. False
    /// where it is to end.
    pub(super) fn wait_for_rates(
        &self,
        clock: &Clock,
        most: Duration,
        begins: impl FnOnce(),
    ) -> bool {
        let since = clock.stopwatch();
        let mut woken = self.woken();
        if !woken.rates {
            begins();
        }
        while !woken.stop && !woken.rates {
            let passed = Duration::from_millis(u64::try_from(since.ms()).unwrap_or_default());
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

    /// Rests until the pause is over, or until `news`, which is asked now and then, says that the node has some; `false` where
    /// the chain is to end.
    pub(super) fn rest(
        &self,
        clock: &Clock,
        pause: Pause,
        mut news: Option<impl FnMut() -> bool>,
    ) -> bool {
        let since = clock.stopwatch();
        loop {
            let woken = self.woken();
            let most = match pause.expected {
                Some(expected) if woken.money => expected.min(pause.most),
                Some(_) | None => pause.most,
            };
            let passed = Duration::from_millis(u64::try_from(since.ms()).unwrap_or_default());
            let left = most.saturating_sub(passed);
            if woken.stop || left.is_zero() {
                return !woken.stop;
            }
            let left = if news.is_some() {
                left.min(NEWS_EVERY)
            } else {
                left
            };
            let rested = self.changed.wait_timeout(woken, left);
            let (woken, waited) = rested.unwrap_or_else(PoisonError::into_inner);
            let stop = woken.stop;
            drop(woken);
            // Never sooner: a node that always has news makes nobody spin.
            if waited.timed_out() && !stop && news.as_mut().is_some_and(|news| news()) {
                return true;
            }
        }
    }
}

/// The chain_wakers of all chains.
pub struct ChainWakers(Vec<(Chain, Arc<ChainWaker>)>);

impl Default for ChainWakers {
    fn default() -> ChainWakers {
        let waker = |chain: &Chain| (*chain, Arc::default());
        ChainWakers(Chain::ALL.iter().map(waker).collect())
    }
}

impl ChainWakers {
    /// The waker of a chain.
    pub fn of(&self, chain: Chain) -> Arc<ChainWaker> {
        let found = self.0.iter().find(|(of, _)| *of == chain);
        found.map_or_else(Arc::default, |(_, waker)| Arc::clone(waker))
    }

    /// The first rates are there, or none are to be waited for.
    pub fn hear_of_rates(&self) {
        for (_, waker) in &self.0 {
            waker.hear_of_rates();
        }
    }

    /// Money is expected on a chain that may not have been before.
    pub fn wake(&self, chain: Chain) {
        if let Some((_, waker)) = self.0.iter().find(|(of, _)| *of == chain) {
            waker.wake();
        }
    }
}

//! Starts the workers that watch the wall clock, the WAL and the rate sources in production.

use super::{Config, Shared};
use crate::store::Kind;
use crate::worker::rates::Rates;
use crate::worker::watch_clock::WatchClock;
use crate::worker::watch_log::WatchLog;
use crate::worker::{Waker, run};
use std::sync::Arc;
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio::task::JoinHandle;

impl Shared {
    /// Starts the workers that watch the wall clock and the size of the WAL. A sandbox has neither.
    pub(super) fn start_watching_clock(
        &self,
        runtime: &Runtime,
        kind: Kind,
        stop: &watch::Receiver<bool>,
    ) -> Option<JoinHandle<()>> {
        let (service, clock) = (Arc::clone(&self.service), Arc::clone(&self.clock));
        let watch = WatchClock::new(
            service,
            Arc::clone(&clock),
            self.wakers.clone(),
            self.clock_accepted,
        );
        let log = WatchLog::new(Arc::clone(&self.service));
        let log = run(log, Arc::clone(&clock), Waker::default(), stop.clone());
        let watch = run(watch, clock, self.wakers.clock.clone(), stop.clone());
        (kind == Kind::Production).then(|| {
            runtime.spawn(async {
                tokio::join!(watch, log);
            })
        })
    }

    /// Starts the worker that requests live rates. A sandbox has fixed rates.
    pub(super) fn start_rate_worker(
        &self,
        runtime: &Runtime,
        config: &Config,
        stop: &watch::Receiver<bool>,
    ) -> Option<JoinHandle<()>> {
        let (service, clock) = (Arc::clone(&self.service), Arc::clone(&self.clock));
        let (from, waker) = (config.rates.clone(), self.wakers.rates.clone());
        let timeout_ms = config.rates_timeout_ms;
        (config.kind == Kind::Production).then(|| {
            let wakers = (waker.clone(), Arc::clone(&self.chain_wakers));
            let rates = Rates::new(service, Arc::clone(&clock), from, timeout_ms, wakers);
            runtime.spawn(run(rates, clock, waker, stop.clone()))
        })
    }
}

//! Starts the workers that watch the wall clock, the WAL and the rate sources in production.

use super::{Config, SharedParts};
use crate::store::FileKind;
use crate::worker::rates::RateWorker;
use crate::worker::watch_clock::ClockWatcher;
use crate::worker::watch_log::WalWatcher;
use crate::worker::{Waker, run_worker};
use std::sync::Arc;
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio::task::JoinHandle;

impl SharedParts {
    /// Starts the workers that watch the wall clock and the size of the WAL. A sandbox has neither.
    pub(super) fn start_watching_clock(
        &self,
        runtime: &Runtime,
        kind: FileKind,
        stop: &watch::Receiver<bool>,
    ) -> Option<JoinHandle<()>> {
        let (service, clock) = (Arc::clone(&self.service), Arc::clone(&self.clock));
        let watch = ClockWatcher::new(
            service,
            Arc::clone(&clock),
            self.wakers.clone(),
            self.clock_accepted,
        );
        let log = WalWatcher::new(Arc::clone(&self.service));
        let log = run_worker(log, Arc::clone(&clock), Waker::default(), stop.clone());
        let watch = run_worker(watch, clock, self.wakers.clock.clone(), stop.clone());
        (kind == FileKind::Production).then(|| {
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
        (config.kind == FileKind::Production).then(|| {
            let rates = RateWorker::new(
                service,
                Arc::clone(&clock),
                from,
                timeout_ms,
                waker.clone(),
                Arc::clone(&self.chain_wakers),
            );
            runtime.spawn(run_worker(rates, clock, waker, stop.clone()))
        })
    }
}

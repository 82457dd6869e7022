//! Runs background work that falls due with time.
//!
//! One loop serves every worker: it waits, wakes, backs off, logs and stops. Invariant: a step is bounded and returns
//! the time of the next step. A test can therefore wait until all due work is done.

pub mod certificate;
pub mod command;
pub mod command_job;
pub mod deliver;
pub mod expire;
pub mod mail;
pub mod mail_alarms;
pub mod provision;
pub mod prune;
pub mod rates;
mod receivers;
pub mod send;
mod senders;
pub mod watch_chain;
pub mod watch_clock;
pub mod watch_log;

use crate::clock::Clock;
use crate::domain::Time;
use crate::service::Error;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// Pause of a worker after a failed step. A wake-up does not end the pause.
const BACK_OFF: Duration = Duration::from_secs(1);
/// Longest sleep of a worker. During a sleep, the clock may be set, or the system may be suspended, which can stop
/// timers.
const SLEEP_MAX: Duration = Duration::from_secs(60);
/// Maximum number of repetitions in [`Wakers::wait_until_settled`]. Finished work may make other work due.
const SETTLE_ROUNDS_MAX: u32 = 10_000;

/// The time at which the next step of a worker is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextStep {
    /// The next step is due at once.
    Again,
    /// The next step is due at this time, or when the worker is woken.
    At(Time),
    /// The next step is due only when the worker is woken.
    Idle,
}

/// A background task that runs in steps.
pub trait Worker: Send + 'static {
    /// Name of the worker in the log.
    const NAME: &'static str;

    /// Makes one bounded step.
    fn tick(&mut self, now: Time) -> impl Future<Output = Result<NextStep, Error>> + Send;

    /// Returns `true` if work continues after the step, for example on another thread. The end of that work wakes the
    /// worker.
    fn is_busy(&self) -> bool {
        false
    }

    /// Returns the time until the next step, in real time instead of the clock's time. Returns `None` if only the
    /// clock or a wake-up starts the next step.
    fn time_until_step(&self) -> Option<Duration> {
        None
    }

    /// Ends the work that is in progress, within seconds. Called once, after the last step.
    fn finish(&mut self) -> impl Future<Output = Result<(), Error>> + Send {
        std::future::ready(Ok(()))
    }
}

/// Wakes one worker, and tracks which wake-ups the worker has handled.
#[derive(Clone)]
pub struct Waker {
    woken: Arc<watch::Sender<u64>>,
    rested: Arc<watch::Sender<IdleState>>,
}

/// The state of a worker when it last became idle.
#[derive(Clone, Copy, Debug, Default)]
struct IdleState {
    /// Number of wake-ups that the worker had handled.
    seen: u64,
    /// Time of the next step. `None` if only a wake-up starts the next step.
    until: Option<Time>,
}

impl Default for Waker {
    fn default() -> Waker {
        Waker {
            woken: Arc::new(watch::Sender::new(1)),
            rested: Arc::new(watch::Sender::new(IdleState::default())),
        }
    }
}

impl Waker {
    /// Wakes the worker.
    pub fn wake(&self) {
        self.woken.send_modify(|count| *count = count.wrapping_add(1));
    }

    fn wake_count(&self) -> u64 {
        *self.woken.borrow()
    }

    /// Returns a receiver that changes at each wake-up.
    fn subscribe(&self) -> watch::Receiver<u64> {
        self.woken.subscribe()
    }

    /// Waits until the worker has handled every wake-up so far and has nothing to do.
    async fn wait_until_idle(&self) {
        let woken = *self.woken.borrow();
        let mut rested = self.rested.subscribe();
        // The wait fails only if the worker has stopped and has nothing more to do.
        let _ = rested.wait_for(|rest| rest.seen >= woken).await;
    }

    /// Returns `true` if the worker has handled every wake-up and has nothing to do.
    fn is_idle(&self) -> bool {
        self.rested.borrow().seen >= *self.woken.borrow()
    }
}

/// The wakers of all workers.
#[derive(Clone, Default)]
pub struct Wakers {
    /// Waker of the webhook worker.
    pub deliver: Waker,
    /// Waker of the expiry worker.
    pub expire: Waker,
    /// Waker of the worker that sends e-mail.
    pub mail: Waker,
    /// Waker of the worker that looks for alarms and sums up days.
    pub mail_alarms: Waker,
    /// Waker of the pruning worker.
    pub prune: Waker,
    /// Waker of the worker that runs the provisioner. A sandbox has no such worker.
    pub provision: Waker,
    /// Waker of the worker that runs the signer. A sandbox has no such worker.
    pub send: Waker,
    /// Waker of the worker that watches the wall clock. A sandbox has no such worker.
    pub clock: Waker,
    /// Waker of the worker for live rates. A sandbox has no such worker.
    pub rates: Waker,
}

impl Wakers {
    fn sandbox_wakers(&self) -> [&Waker; 5] {
        [&self.expire, &self.deliver, &self.prune, &self.mail_alarms, &self.mail]
    }

    /// Wakes all workers. Called after the clock has moved, or after a commit that may have changed any data.
    pub fn wake_all(&self) {
        for waker in self.sandbox_wakers() {
            waker.wake();
        }
        self.provision.wake();
        self.send.wake();
        self.clock.wake();
        self.rates.wake();
    }

    /// Waits until all due work is done, including work that becomes due during the wait.
    pub async fn wait_until_settled(&self) {
        for _ in 0..SETTLE_ROUNDS_MAX {
            for waker in self.sandbox_wakers() {
                waker.wait_until_idle().await;
            }
            if self.sandbox_wakers().iter().all(|waker| waker.is_idle()) {
                return;
            }
        }
        log::warn!("settling stopped: new work kept falling due");
    }

    /// Returns the next time at which work is due. Pruning has no due time: it runs at every wake-up.
    pub fn next_due(&self) -> Option<Time> {
        [&self.expire, &self.deliver].iter().filter_map(|waker| waker.rested.borrow().until).min()
    }
}

/// Runs the steps of a worker until `stop` is `true`.
pub async fn run_worker<W: Worker>(
    mut worker: W,
    clock: Arc<Clock>,
    waker: Waker,
    mut stop: watch::Receiver<bool>,
) {
    let mut woken = waker.subscribe();
    let mut failed = None;
    while !*stop.borrow_and_update() {
        let seen = *woken.borrow_and_update();
        let stepped = worker.tick(clock.now()).await;
        if stepped.is_ok() {
            failed = None;
        }
        let until = match stepped {
            Ok(NextStep::Again) => continue,
            Ok(NextStep::At(at)) if at <= clock.now() => continue,
            Ok(NextStep::At(at)) => Some(at),
            Ok(NextStep::Idle) => None,
            Err(error) => {
                // The step is retried every second, so an error is logged only when its message changes.
                let said = error.to_string();
                if failed.as_ref() != Some(&said) {
                    log::error!("worker failed: worker={} error={said}", W::NAME);
                    failed = Some(said);
                }
                tokio::select! {
                    () = tokio::time::sleep(BACK_OFF) => {}
                    _ = stop.changed() => {}
                }
                continue;
            }
        };
        if !worker.is_busy() {
            waker.rested.send_replace(IdleState { seen, until });
        }
        let due = async {
            match until.and_then(|at| clock.duration_until(at)) {
                Some(wait) => tokio::time::sleep(wait.min(SLEEP_MAX)).await,
                None => std::future::pending().await,
            }
        };
        let pause = async {
            match worker.time_until_step() {
                Some(pause) => tokio::time::sleep(pause).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = due => {}
            () = pause => {}
            _ = woken.changed() => {}
            _ = stop.changed() => {}
        }
    }
    if let Err(error) = worker.finish().await {
        log::error!("worker failed at its end: worker={} error={error}", W::NAME);
    }
}

//! The workers: what happens because time passes or something falls due.
//!
//! What lives here: the one loop that waits, wakes, backs off, logs and stops; and the workers that it steps. What
//! does not: rules and statements. What always holds: a step is bounded and says when it wants the next, so that a
//! test can have everything done that is due and know when it is.

pub mod command;
pub mod command_job;
pub mod deliver;
pub mod expire;
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
use crate::domain::time::Time;
use crate::service::Error;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// How long a worker rests after a failed step, unless it is woken.
const BACK_OFF: Duration = Duration::from_secs(1);
/// The longest sleep: the clock may be set meanwhile, and a timer may stand still while the system sleeps.
const SLEEP_MAX: Duration = Duration::from_secs(60);
/// How often settling looks again for work that its own work made.
const SETTLE_ROUNDS_MAX: u32 = 10_000;

/// When a worker wants its next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// At once.
    Again,
    /// At this moment, or when woken.
    At(Time),
    /// When woken.
    Idle,
}

/// Something that is done in steps.
pub trait Worker: Send + 'static {
    /// The name in the log.
    const NAME: &'static str;

    /// One bounded step.
    fn tick(&mut self, now: Time) -> impl Future<Output = Result<Next, Error>> + Send;

    /// Is something of its under way outside its steps? It wakes the worker when it ends.
    fn is_busy(&self) -> bool {
        false
    }

    /// How long in real time, whatever the clock shows, until it wants its next step; nothing: not before it is woken.
    fn pause(&self) -> Option<Duration> {
        None
    }

    /// Brings what is under way to an end, within seconds; called once, after the last step.
    fn finish(&mut self) -> impl Future<Output = Result<(), Error>> + Send {
        std::future::ready(Ok(()))
    }
}

/// Wakes one worker, and knows how far it has come.
#[derive(Clone)]
pub struct Waker {
    /// How often the worker was woken.
    woken: Arc<watch::Sender<u64>>,
    rested: Arc<watch::Sender<Rest>>,
}

/// The last time a worker had nothing to do.
#[derive(Clone, Copy, Debug, Default)]
struct Rest {
    /// How often it had been woken by then, as far as it knew.
    seen: u64,
    /// When it wants to be woken.
    until: Option<Time>,
}

impl Default for Waker {
    fn default() -> Waker {
        Waker {
            woken: Arc::new(watch::Sender::new(1)),
            rested: Arc::new(watch::Sender::new(Rest::default())),
        }
    }
}

impl Waker {
    /// Wakes the worker.
    pub fn wake(&self) {
        self.woken
            .send_modify(|count| *count = count.wrapping_add(1));
    }

    /// Returns how often the worker was woken.
    fn count(&self) -> u64 {
        *self.woken.borrow()
    }

    /// What changes whenever the worker is woken.
    fn subscribe(&self) -> watch::Receiver<u64> {
        self.woken.subscribe()
    }

    /// Waits until the worker has seen every wake-up so far and has nothing to do.
    async fn rest(&self) {
        let woken = *self.woken.borrow();
        let mut rested = self.rested.subscribe();
        // The only error is that the worker has stopped, which is rest of a kind.
        let _ = rested.wait_for(|rest| rest.seen >= woken).await;
    }

    /// Has the worker seen every wake-up, and nothing to do?
    fn is_resting(&self) -> bool {
        self.rested.borrow().seen >= *self.woken.borrow()
    }
}

/// Wakes all the workers, and waits for all of them.
#[derive(Clone, Default)]
pub struct Wakers {
    /// Webhooks.
    pub deliver: Waker,
    /// Expiry.
    pub expire: Waker,
    /// Pruning.
    pub prune: Waker,
    /// The provisioner; in the sandbox it wakes nobody, so nobody waits for it.
    pub provision: Waker,
    /// The signer; in the sandbox it wakes nobody either.
    pub send: Waker,
    /// The watch on the wall clock; a sandbox has none.
    pub clock: Waker,
    /// Rates of live mode; a sandbox asks for none.
    pub rates: Waker,
}

impl Wakers {
    /// Those whose workers run in the sandbox too.
    fn all(&self) -> [&Waker; 3] {
        [&self.expire, &self.deliver, &self.prune]
    }

    /// Wakes everybody: the clock has moved, or anything may be different.
    pub fn wake_all(&self) {
        for waker in self.all() {
            waker.wake();
        }
        self.provision.wake();
        self.send.wake();
        self.clock.wake();
        self.rates.wake();
    }

    /// Waits until all that is due is done, also what doing it made due.
    pub async fn settle(&self) {
        for _ in 0..SETTLE_ROUNDS_MAX {
            for waker in self.all() {
                waker.rest().await;
            }
            if self.all().iter().all(|waker| waker.is_resting()) {
                return;
            }
        }
        log::warn!("new work kept falling due while everything due was waited for");
    }

    /// The next moment at which something is due. Pruning never is: it happens on the way, whenever it is woken.
    pub fn next_due(&self) -> Option<Time> {
        [&self.expire, &self.deliver]
            .iter()
            .filter_map(|waker| waker.rested.borrow().until)
            .min()
    }
}

/// The one loop: steps a worker until `stop` is true.
pub async fn run<W: Worker>(
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
            Ok(Next::Again) => continue,
            Ok(Next::At(at)) if at <= clock.now() => continue,
            Ok(Next::At(at)) => Some(at),
            Ok(Next::Idle) => None,
            Err(error) => {
                // What goes wrong each time is said once: the step is tried again every second.
                let said = error.to_string();
                if failed.as_ref() != Some(&said) {
                    log::error!("{}: {said}", W::NAME);
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
            waker.rested.send_replace(Rest { seen, until });
        }
        let due = async {
            match until.and_then(|at| clock.until(at)) {
                Some(wait) => tokio::time::sleep(wait.min(SLEEP_MAX)).await,
                None => std::future::pending().await,
            }
        };
        let pause = async {
            match worker.pause() {
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
        log::error!("{}: {error}", W::NAME);
    }
}

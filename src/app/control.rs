//! Controls of a sandbox: moving the clock, reset, snapshot and restore.
//!
//! Invariant: a moving clock stops at each due time, so that all work sees the time at which it falls due. Clock
//! moves run one at a time, and each runs to its end even if its caller no longer waits.

use crate::clock::Clock;
use crate::domain::{Refusal, RefusalCode, Time};
use crate::http::{Inboxes, Throttle, routes};
use crate::render::activity::RunCause;
use crate::service::sandbox::controls::{ClockChange, ControlChange, SandboxControls};
use crate::service::sandbox::snapshots;
use crate::service::{Error, Json, Service};
use crate::worker::Wakers;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::{Mutex, watch};

/// Latest time to which the clock can be moved, 9000-01-01. Deadlines computed from this time can still be
/// represented.
const LATEST: Time = Time(221_845_392_000_000);

/// The clock and snapshot operations of a sandbox.
pub(super) struct SandboxControl {
    controls: Arc<ControlOperations>,
}

/// The control operations, which run one at a time.
struct ControlOperations {
    service: Arc<Service>,
    clock: Arc<Clock>,
    wakers: Wakers,
    file: PathBuf,
    inboxes: Arc<Inboxes>,
    throttle: Arc<Throttle>,
    one_at_a_time: Mutex<()>,
    /// Number of resets and restores so far. Each reset or restore cancels a clock move in progress.
    resets: watch::Sender<u64>,
    /// `true` once the sandbox is stopping. This ends a clock move in progress.
    stop: watch::Receiver<bool>,
}

impl SandboxControl {
    /// Creates the operations of a sandbox. A reset empties `inboxes` and `throttle`. A clock move ends early when `stop`
    /// is `true`.
    pub(super) fn new(
        service: Arc<Service>,
        clock: Arc<Clock>,
        wakers: Wakers,
        file: PathBuf,
        inboxes: Arc<Inboxes>,
        throttle: Arc<Throttle>,
        stop: watch::Receiver<bool>,
    ) -> SandboxControl {
        let (one_at_a_time, resets) = (Mutex::new(()), watch::Sender::new(0));
        SandboxControl {
            controls: Arc::new(ControlOperations {
                service,
                clock,
                wakers,
                file,
                inboxes,
                throttle,
                one_at_a_time,
                resets,
                stop,
            }),
        }
    }

    /// Runs `work` to its end, even if the caller stops waiting.
    fn run_to_end<F>(&self, work: impl FnOnce(Arc<ControlOperations>) -> F) -> ControlChange
    where
        F: Future<Output = Result<(), Error>> + Send + 'static,
    {
        let work = work(Arc::clone(&self.controls));
        Box::pin(async move {
            let done = tokio::spawn(work).await;
            done.unwrap_or_else(|error| Err(Error::Failed(error.to_string())))
        })
    }
}

impl ControlOperations {
    /// Waits for the clock changes that were requested earlier, then performs one clock change.
    async fn advance(&self, step: ClockChange) -> Result<(), Error> {
        let mut resets = self.resets.subscribe();
        let _alone = self.one_at_a_time.lock().await;
        let now = self.clock.now();
        let walk = match step {
            ClockChange::Advance(span_ms) => {
                Some(check_clock_target(now, now.plus_ms(span_ms), "advance")?)
            }
            ClockChange::Set(at) => Some(check_clock_target(now, at, "set")?),
            ClockChange::Freeze(true) => {
                self.clock.freeze(now);
                None
            }
            ClockChange::Freeze(false) => {
                self.clock.run_from(now);
                None
            }
        };
        if let Some(target) = walk {
            let (was_frozen, _moving) =
                (self.clock.frozen_at().is_some(), self.service.begin_clock_move());
            tokio::select! {
                () = self.advance_to(target) => {}
                // A reset or restore has set the clock, so the move ends here.
                _ = resets.changed() => return Ok(()),
                () = self.wait_for_stop() => return self.end_move_early(was_frozen).await,
            }
        }
        // Sleeping workers must see the new time.
        self.wakers.wake_all();
        self.store_clock().await
    }

    /// Waits until the sandbox is stopping.
    async fn wait_for_stop(&self) {
        // The wait fails only if the server is gone.
        let _ = self.stop.clone().wait_for(|is_stopping| *is_stopping).await;
    }

    /// Stores the time that a clock move has reached, and refuses the rest of the move.
    async fn end_move_early(&self, was_frozen: bool) -> Result<(), Error> {
        let reached = self.clock.now();
        if !was_frozen {
            self.clock.run_from(reached);
        }
        self.store_clock().await?;
        let message = format!("the sandbox is stopping; its clock has reached {reached}");
        Err(Refusal::new(RefusalCode::Overloaded, message).into())
    }

    /// Moves the clock to `target`. Stops at each due time until the due work is done.
    async fn advance_to(&self, target: Time) {
        let was_frozen = self.clock.frozen_at().is_some();
        self.freeze_clock_and_wait(self.clock.now()).await;
        while let Some(due) =
            self.wakers.next_due().filter(|due| *due <= target && *due > self.clock.now())
        {
            self.freeze_clock_and_wait(due).await;
        }
        self.freeze_clock_and_wait(target).await;
        if !was_frozen {
            self.clock.run_from(target);
        }
    }

    /// Freezes the clock at this time, and waits until all due work is done.
    async fn freeze_clock_and_wait(&self, at: Time) {
        self.clock.freeze(at);
        self.wakers.wake_all();
        self.wakers.wait_until_settled().await;
    }

    async fn store_clock(&self) -> Result<(), Error> {
        self.service.store_sandbox_clock(self.clock.offset_ms(), self.clock.frozen_at()).await
    }

    /// Resets the state to the seed, and the clock to real time.
    async fn reset(&self) -> Result<(), Error> {
        self.inboxes.clear();
        self.resets.send_modify(|count| *count = count.wrapping_add(1));
        let _alone = self.one_at_a_time.lock().await;
        self.clock.reset();
        self.service.reset_sandbox(self.clock.now()).await?;
        self.throttle.clear();
        self.begin_run(RunCause::Reset);
        Ok(())
    }

    /// Stores the whole state under a name.
    async fn snapshot(&self, name: String) -> Result<(), Error> {
        let _alone = self.one_at_a_time.lock().await;
        let (file, now) = (self.file.clone(), self.clock.now());
        run_blocking(move || snapshots::save_snapshot(&file, &name, now)).await
    }

    async fn restore(&self, name: String) -> Result<(), Error> {
        self.resets.send_modify(|count| *count = count.wrapping_add(1));
        let _alone = self.one_at_a_time.lock().await;
        let (file, wanted) = (self.file.clone(), name.clone());
        let (at, stood_still) =
            run_blocking(move || snapshots::snapshot_clock(&file, &wanted)).await?;
        let (before, stood_still_before) = (self.clock.now(), self.clock.frozen_at().is_some());
        self.clock.freeze(at);
        let (file, service) = (self.file.clone(), Arc::clone(&self.service));
        let restored = run_blocking(move || service.restore_snapshot(&file, &name)).await;
        let (shows, stands_still) = match restored {
            Ok(()) => (at, stood_still),
            Err(_) => (before, stood_still_before),
        };
        if stands_still {
            self.clock.freeze(shows);
        } else {
            self.clock.run_from(shows);
        }
        restored?;
        self.store_clock().await?;
        self.wakers.wake_all();
        self.begin_run(RunCause::Restore);
        Ok(())
    }

    /// Tells the listeners of the activity that the state is another one.
    fn begin_run(&self, cause: RunCause) {
        if let Some(activity) = self.service.activity() {
            activity.begin_run(cause);
        }
    }
}

fn check_clock_target(now: Time, target: Time, param: &str) -> Result<Time, Refusal> {
    if (now..=LATEST).contains(&target) {
        Ok(target)
    } else {
        let message = format!("must lead to a time from the clock's {now} to {LATEST}");
        Err(Refusal::field(param, message))
    }
}

/// Runs blocking work, such as waiting for the disk, on a blocking thread.
async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|error| Err(Error::Failed(error.to_string())))
}

impl SandboxControls for SandboxControl {
    fn move_clock(&self, step: ClockChange) -> ControlChange {
        self.run_to_end(|controls| async move { controls.advance(step).await })
    }

    fn reset(&self) -> ControlChange {
        self.run_to_end(|controls| async move { controls.reset().await })
    }

    fn snapshot(&self, name: String) -> ControlChange {
        self.run_to_end(|controls| async move { controls.snapshot(name).await })
    }

    fn restore(&self, name: String) -> ControlChange {
        self.run_to_end(|controls| async move { controls.restore(name).await })
    }

    fn state(&self) -> Result<Json, Error> {
        let clock = &self.controls.clock;
        self.controls.service.sandbox_state(clock.now(), clock.frozen_at().is_some())
    }

    fn is_operation(&self, text: &str) -> bool {
        let named = text.split_once(' ');
        routes(false).any(|route| named == Some((route.method, route.path)))
    }
}

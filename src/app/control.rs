//! What the sandbox can do to itself, across clock, workers and file.
//!
//! What always holds: while the clock is moved it stands still at each due time in turn, so every step sees exactly
//! its own; and only one such move is under way.

use crate::clock::Clock;
use crate::domain::refusal::Refusal;
use crate::domain::time::{SPAN_MS_MAX, Time};
use crate::http::{Boxed, ClockStep, Control, InboxState};
use crate::service::{Error, Service};
use crate::worker::Bells;
use std::sync::Arc;
use tokio::sync::Mutex;

/// The sandbox's handle on itself.
pub(super) struct SandboxControl {
    service: Arc<Service>,
    clock: Arc<Clock>,
    bells: Bells,
    inboxes: InboxState,
    one_at_a_time: Mutex<()>,
}

impl SandboxControl {
    /// A handle on these parts.
    pub(super) fn new(service: Arc<Service>, clock: Arc<Clock>, bells: Bells) -> SandboxControl {
        SandboxControl {
            service,
            clock,
            bells,
            inboxes: InboxState::default(),
            one_at_a_time: Mutex::new(()),
        }
    }

    /// Does everything that is due up to `target`, each at its own time.
    async fn walk_to(&self, target: Time) {
        let was_frozen = self.clock.frozen_at().is_some();
        self.stop_at(self.clock.now()).await;
        while let Some(due) = self
            .bells
            .next_due()
            .filter(|due| *due <= target && *due > self.clock.now())
        {
            self.stop_at(due).await;
        }
        self.stop_at(target).await;
        if !was_frozen {
            self.clock.run_from(target);
        }
    }

    /// Stands still at this moment until all that is due is done.
    async fn stop_at(&self, at: Time) {
        self.clock.freeze(at);
        self.bells.ring_all();
        self.bells.settle().await;
    }
}

impl Control for SandboxControl {
    fn advance(&self, step: ClockStep) -> Boxed<'_, Result<(), Error>> {
        Box::pin(async move {
            let _alone = self.one_at_a_time.lock().await;
            let now = self.clock.now();
            match step {
                ClockStep::Advance(span_ms) => self.walk_to(now.plus_ms(span_ms)).await,
                ClockStep::Set(at) if at < now => {
                    return Err(Refusal::field(
                        "set",
                        format!("must not be before the clock's {now}"),
                    )
                    .into());
                }
                ClockStep::Set(at) if at > now.plus_ms(SPAN_MS_MAX) => {
                    return Err(Refusal::field("set", "must be at most 3650d ahead").into());
                }
                ClockStep::Set(at) => self.walk_to(at).await,
                ClockStep::Freeze(true) => self.clock.freeze(now),
                ClockStep::Freeze(false) => self.clock.run_from(now),
            }
            // Whoever sleeps sleeps by the old clock.
            self.bells.ring_all();
            self.service
                .keep_clock(self.clock.offset_ms(), self.clock.frozen_at())
                .await
        })
    }

    fn reset(&self) -> Boxed<'_, Result<(), Error>> {
        Box::pin(async move {
            let _alone = self.one_at_a_time.lock().await;
            self.clock.reset();
            self.inboxes.clear();
            self.service.reset(self.clock.now()).await
        })
    }

    fn inboxes(&self) -> &InboxState {
        &self.inboxes
    }
}

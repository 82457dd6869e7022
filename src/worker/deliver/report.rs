//! Reports the outcome of an attempt from its thread to the worker.

use crate::domain::Time;
use crate::service::webhooks::{DeliveryAttempt, FinishedAttempt};
use crate::worker::Waker;
use tokio::sync::mpsc::UnboundedSender;

/// A finished attempt.
#[derive(Clone)]
pub(super) struct AttemptReport {
    pub(super) done: FinishedAttempt,
    /// `true` if the time limit of the attempt ended it.
    pub(super) timed_out: bool,
}

/// The channel that receives the outcome of an attempt, and the waker to call after that.
pub(super) struct ReportChannel {
    pub(super) finished: UnboundedSender<AttemptReport>,
    pub(super) waker: Waker,
}

/// A submitted attempt. Dropping the value reports the outcome of the attempt, even after a panic.
pub(super) struct PendingAttempt {
    channel: ReportChannel,
    report: Option<AttemptReport>,
}

impl PendingAttempt {
    pub(super) fn new(
        channel: ReportChannel,
        delivery: String,
        number: u32,
        at: Time,
    ) -> PendingAttempt {
        let lost = DeliveryAttempt {
            at,
            status: None,
            latency_ms: 0,
            error: Some("sending failed".to_owned()),
            answer: None,
            signed: None,
        };
        let done = FinishedAttempt { delivery, number, attempt: lost };
        PendingAttempt { channel, report: Some(AttemptReport { done, timed_out: false }) }
    }

    pub(super) fn complete(mut self, attempt: DeliveryAttempt, timed_out: bool) {
        if let Some(report) = &mut self.report {
            report.done.attempt = attempt;
            report.timed_out = timed_out;
        }
    }
}

impl Drop for PendingAttempt {
    fn drop(&mut self) {
        if let Some(report) = self.report.take() {
            // The send fails once the server is stopping. The delivery is then sent again after the next start.
            let _ = self.channel.finished.send(report);
            self.channel.waker.wake();
        }
    }
}

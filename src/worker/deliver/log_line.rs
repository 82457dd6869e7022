//! Logs the attempts to deliver webhooks, one line for each.
//!
//! Invariant: a line names the host of the receiver and never its whole URL, which may contain secrets.

use crate::domain::{EventType, SiteUrl};
use crate::service::webhooks::{AttemptOutcome, DeliveryQueue, DueDelivery, FinishedAttempt};

/// The event and the receiver of an attempt.
pub(super) struct AttemptLabel {
    kind: EventType,
    event: String,
    /// Host and port of the receiver.
    host: String,
}

impl AttemptLabel {
    pub(super) fn new(queue: &DeliveryQueue, due: &DueDelivery) -> AttemptLabel {
        AttemptLabel { kind: due.kind, event: due.event.clone(), host: host(&queue.origin) }
    }
}

/// Returns host and port of an origin. An origin that is not a URL may contain anything, so it is not shown.
fn host(origin: &str) -> String {
    let site = SiteUrl::parse(origin).map(|site| site.origin()).unwrap_or_default();
    site.split_once("://").map_or("unknown", |(_, host)| host).to_owned()
}

/// Logs an attempt after its outcome was stored.
pub(super) fn log_attempt(label: &AttemptLabel, done: &FinishedAttempt, outcome: AttemptOutcome) {
    let (attempt, number) = (&done.attempt, done.number);
    let result = match (&attempt.error, attempt.status) {
        (Some(error), _) => format!("error={error:?}"),
        (None, Some(status)) => format!("status={status}"),
        (None, None) => "error=none".to_owned(),
    };
    let AttemptLabel { kind, event, host } = label;
    let about =
        format!("type={} event={event} host={host} {result} attempt={number}", kind.as_str());
    match outcome {
        AttemptOutcome::Delivered => log::debug!("webhook delivered: {about}"),
        AttemptOutcome::Deferred(next) => log::warn!("webhook failed: {about} next={next}"),
        AttemptOutcome::GivenUp => log::warn!("webhook given up: {about}"),
        AttemptOutcome::Gone => log::debug!("webhook of an earlier state: {about}"),
    }
}

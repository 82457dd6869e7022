//! Makes one attempt to deliver a webhook.

use crate::clock::Clock;
use crate::outbound::{NoResponse, OutboundClient};
use crate::render::activity::AttemptView;
use crate::service::activity::{ActivityEntry, body_view};
use crate::service::webhooks::{DeliveryAttempt, DueDelivery, OutgoingDelivery, prepare_delivery};
use std::time::Duration;

/// Time limit of a cut attempt, in real time.
const CUT: Duration = Duration::from_millis(100);
/// Error of a cut attempt without a response.
const CUT_REASON: &str =
    "cut after 100 ms: the receiver timed out earlier in this move of the clock";

pub(super) fn attempt_notification(
    due: &DueDelivery,
    number: u32,
    attempt: &DeliveryAttempt,
    sent: OutgoingDelivery,
) -> ActivityEntry {
    let attempt = attempt.clone();
    ActivityEntry::Attempt(AttemptView {
        kind: "delivery",
        delivery: due.id.clone(),
        event: due.event.clone(),
        number,
        url: due.url.clone(),
        headers: sent.headers.into_iter().collect(),
        sent: body_view(sent.body.as_bytes()),
        at: attempt.at,
        status: attempt.status,
        ms: attempt.latency_ms,
        error: attempt.error,
        answer: attempt.answer,
    })
}

/// An attempt that has ended.
pub(super) struct EndedAttempt {
    pub(super) attempt: DeliveryAttempt,
    /// `true` if the time limit ended the attempt.
    pub(super) timed_out: bool,
    /// The request, if it could be built.
    pub(super) sent: Option<OutgoingDelivery>,
}

/// Makes one attempt. The attempt is cut after [`CUT`] if `is_cut`.
pub(super) fn make_attempt(
    clock: &Clock,
    outbound: &OutboundClient,
    due: &DueDelivery,
    is_cut: bool,
) -> EndedAttempt {
    let (at, stopwatch) = (clock.now(), clock.stopwatch());
    let outgoing = prepare_delivery(due, clock.real_now()).map_err(|error| NoResponse {
        reason: error.to_string(),
        was_sent: false,
        timed_out: false,
    });
    let answer = outgoing.as_ref().map_err(NoResponse::clone).and_then(|outgoing| {
        let headers: Vec<(&str, &str)> =
            outgoing.headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        outbound.post_within(&due.url, &headers, outgoing.body.as_bytes(), is_cut.then_some(CUT))
    });
    let latency_ms = stopwatch.elapsed_ms();
    let outgoing = outgoing.ok();
    let signed = outgoing.as_ref().map(|sent| sent.signed.clone());
    let timed_out = match &answer {
        Ok(answer) => answer.timed_out,
        Err(none) => none.timed_out,
    };
    let attempt = match answer {
        Ok(answer) => DeliveryAttempt {
            at,
            status: Some(answer.status),
            latency_ms,
            error: None,
            answer: Some(answer.start),
            signed,
        },
        Err(NoResponse { reason, was_sent, .. }) => DeliveryAttempt {
            at,
            status: None,
            latency_ms,
            error: Some(if is_cut && timed_out { CUT_REASON.to_owned() } else { reason }),
            answer: None,
            signed: signed.filter(|_| was_sent),
        },
    };
    EndedAttempt { attempt, timed_out, sent: outgoing }
}

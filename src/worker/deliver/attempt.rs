//! Makes one attempt to deliver a webhook.

use crate::clock::Clock;
use crate::outbound::{NoResponse, OutboundClient};
use crate::render::activity::AttemptView;
use crate::service::activity::{ActivityEntry, body_view};
use crate::service::webhooks::{DeliveryAttempt, DueDelivery, OutgoingDelivery, prepare_delivery};

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

/// Makes one attempt. Also returns the request, if it could be built.
pub(super) fn make_attempt(
    clock: &Clock,
    outbound: &OutboundClient,
    due: &DueDelivery,
) -> (DeliveryAttempt, Option<OutgoingDelivery>) {
    let (at, stopwatch) = (clock.now(), clock.stopwatch());
    let outgoing = prepare_delivery(due, clock.real_now())
        .map_err(|error| NoResponse { reason: error.to_string(), was_sent: false });
    let answer = outgoing.as_ref().map_err(NoResponse::clone).and_then(|outgoing| {
        let headers: Vec<(&str, &str)> =
            outgoing.headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        outbound.post(&due.url, &headers, outgoing.body.as_bytes())
    });
    let latency_ms = stopwatch.elapsed_ms();
    let outgoing = outgoing.ok();
    let signed = outgoing.as_ref().map(|sent| sent.signed.clone());
    let attempt = match answer {
        Ok(answer) => DeliveryAttempt {
            at,
            status: Some(answer.status),
            latency_ms,
            error: None,
            answer: Some(answer.start),
            signed,
        },
        Err(NoResponse { reason, was_sent }) => DeliveryAttempt {
            at,
            status: None,
            latency_ms,
            error: Some(reason),
            answer: None,
            signed: signed.filter(|_| was_sent),
        },
    };
    (attempt, outgoing)
}

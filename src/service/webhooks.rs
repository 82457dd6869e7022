//! Webhook deliveries: finds due deliveries, signs requests, and records attempts.
//!
//! `outbound` opens the connections, and `worker` waits for due deliveries.
//!
//! Invariant: a delivery stays pending until its attempt is in the file. After a crash the delivery is sent again and
//! never lost.

pub mod clock_moves;
mod order;
pub mod resending;

use super::page::{self, Page};
use super::{Error, Json, Service};
use crate::domain::retry::{ATTEMPTS_MAX, next_attempt};
use crate::domain::signature::{service_signature, standard_webhooks_signature};
use crate::domain::{DeliveryState, ResourceKind, Time, WebhookFormat};
use crate::render::event_body::render_legacy_body;
use crate::render::sandbox_deliveries::{SandboxAttemptView, SandboxDeliveryView};
use crate::store::deliveries::{self, DeliveryRow};
pub use crate::store::deliveries::{
    AttemptSignatures, DeliveryAttempt, DeliveryQueue, DueDelivery, WaitingQueue,
};
use crate::store::{FileKind, PageBounds, Reader, Tx, delivery_pages};
use serde_json::value::to_raw_value;
use std::sync::Arc;

/// A delivery ready to be sent.
pub struct OutgoingDelivery {
    /// Body of the request.
    pub body: String,
    /// All headers, including the signatures.
    pub headers: Vec<(&'static str, String)>,
    /// Format and signatures of the request, for the stored attempt.
    pub signed: AttemptSignatures,
}

/// A finished delivery attempt, with its result.
#[derive(Clone, Debug)]
pub struct FinishedAttempt {
    /// Id of the delivery.
    pub delivery: String,
    /// Number of the attempt within the delivery, from 1. Sending a delivery again continues the count.
    pub number: u32,
    /// Result of the attempt.
    pub attempt: DeliveryAttempt,
}

/// The state of a delivery after an attempt was stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptOutcome {
    /// The receiver has accepted the delivery.
    Delivered,
    /// The attempt failed, and the next attempt is due at this time.
    Deferred(Time),
    /// The attempt failed, and no further attempt follows.
    GivenUp,
    /// The delivery no longer exists, so the attempt was not stored.
    Gone,
}

/// Returns the body and the headers of a delivery, signed with the real time of the attempt.
///
/// # Errors
///
/// [`Error::Failed`] if the stored event cannot be parsed, or the endpoint's format does not include the event.
pub fn prepare_delivery(due: &DueDelivery, real_now: Time) -> Result<OutgoingDelivery, Error> {
    let (secret, format) = match &due.endpoint {
        Some((secret, format)) => (secret.as_str(), *format),
        None => (due.legacy_secret.as_str(), WebhookFormat::Event),
    };
    let body = request_body(&due.body, format, due.invoice.as_deref())?;
    let body = body.ok_or_else(|| Error::Failed("the format does not tell of this".to_owned()))?;
    let old = due.old_secret.as_deref();
    let secrets: Vec<&str> = std::iter::once(secret).chain(old).collect();
    let at = real_now.unix_seconds();
    let service = service_signature(at, body.as_bytes(), &secrets);
    let standard = standard_webhooks_signature(&due.event, at, body.as_bytes(), &secrets);
    let signed = AttemptSignatures { format, signed_at: at, service, standard };
    Ok(OutgoingDelivery { headers: request_headers(&due.event, &signed), body, signed })
}

/// Returns the request body for a stored event in a format. `None` if the format does not include the event.
///
/// # Errors
///
/// [`Error::Failed`] if the stored event cannot be parsed.
pub(super) fn request_body(
    stored: &str,
    format: WebhookFormat,
    invoice: Option<&str>,
) -> Result<Option<String>, Error> {
    Ok(match format {
        WebhookFormat::Event => Some(stored.to_owned()),
        WebhookFormat::Legacy => render_legacy_body(stored, invoice)?,
    })
}

pub(super) fn request_headers(
    event: &str,
    signed: &AttemptSignatures,
) -> Vec<(&'static str, String)> {
    vec![
        ("Content-Type", "application/json".to_owned()),
        ("X-Service-Signature", signed.service.clone()),
        ("webhook-id", event.to_owned()),
        ("webhook-timestamp", signed.signed_at.to_string()),
        ("webhook-signature", signed.standard.clone()),
    ]
}

impl Service {
    /// Returns at most `limit` queues with pending deliveries, in the order of their creation. Begins after the queue
    /// with the `seq` `after`.
    pub fn waiting_queues(&self, after: i64, limit: usize) -> Result<Vec<WaitingQueue>, Error> {
        self.read(|db| Ok(deliveries::waiting_queues(db, after, limit)?))
    }

    /// Returns the due deliveries of one queue. In the sandbox this is at most one, the next in order.
    pub fn due_deliveries(
        &self,
        queue: &DeliveryQueue,
        now: Time,
        limit: usize,
    ) -> Result<Vec<DueDelivery>, Error> {
        match self.kind {
            FileKind::Sandbox => self.next_delivery_in_order(queue, now),
            FileKind::Production => {
                self.read(|db| Ok(deliveries::due(db, queue.seq, now, None, limit)?))
            }
        }
    }

    /// Stores the results of attempts, and the times of the next attempts. Returns one outcome for each attempt.
    pub async fn record_attempts(
        self: &Arc<Self>,
        done: Vec<FinishedAttempt>,
    ) -> Result<Vec<AttemptOutcome>, Error> {
        let service = Arc::clone(self);
        self.store
            .write_repeatable(move |tx| {
                done.iter().map(|one| service.record_attempt(tx, one)).collect()
            })
            .await
    }

    fn record_attempt(&self, tx: &Tx<'_>, done: &FinishedAttempt) -> Result<AttemptOutcome, Error> {
        let FinishedAttempt { delivery, number, attempt } = done;
        let Some((seq, before, state, account, mode)) = deliveries::find_attempted(tx, delivery)?
        else {
            return Ok(AttemptOutcome::Gone);
        };
        tx.note_resource_change(Some(account), mode, ResourceKind::Deliveries);
        let of_round = number.saturating_sub(before).min(ATTEMPTS_MAX);
        let shorter = self.backoff_reduction_percent(delivery, of_round);
        let next = next_attempt(of_round, attempt.at, shorter);
        let number = before.saturating_add(of_round);
        deliveries::record_attempt(tx, seq, number, attempt, next)?;
        Ok(match (state, next) {
            _ if attempt.is_success() => AttemptOutcome::Delivered,
            (DeliveryState::Delivered, _) => AttemptOutcome::Delivered,
            (DeliveryState::Pending, Some(next)) => AttemptOutcome::Deferred(next),
            (DeliveryState::Pending | DeliveryState::Failed, _) => AttemptOutcome::GivenUp,
        })
    }

    /// Marks deliveries as failed whose endpoint is removed, or whose format does not include the event.
    pub async fn give_up_deliveries(self: &Arc<Self>, orphans: Vec<String>) -> Result<(), Error> {
        self.store
            .write(move |tx| {
                Ok(orphans.iter().try_for_each(|delivery| deliveries::mark_failed(tx, delivery))?)
            })
            .await
    }

    /// Returns the percentage by which to shorten the wait before the next attempt, 0 to 10. The value depends only
    /// on the delivery and the attempt. Always 0 in the sandbox, whose times are exact.
    fn backoff_reduction_percent(&self, delivery: &str, number: u32) -> u8 {
        match self.kind {
            FileKind::Sandbox => 0,
            FileKind::Production => {
                let spread = delivery
                    .bytes()
                    .fold(number, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(byte)));
                u8::try_from(spread % 11).unwrap_or(0)
            }
        }
    }

    /// Returns a page of deliveries of all accounts, with their attempts, oldest first.
    ///
    /// The page contains the newest deliveries before `before`, at most `limit`.
    ///
    /// # Errors
    ///
    /// `invalid_request` if `before` is not the id of a delivery.
    pub fn deliveries(&self, before: Option<&str>, limit: u32) -> Result<Page, Error> {
        self.read_snapshot(|db| {
            let before = page::find_page_start(before, |id| {
                deliveries::position_among_all_accounts(db, id)
            })?;
            let rows = deliveries::newest(db, PageBounds::with_one_more_row(before, limit))?;
            let entries = rows.iter().map(|row| Ok((row.id.clone(), render_delivery(db, row)?)));
            let mut page = Page::from_entries(entries, limit)?;
            page.data.reverse();
            Ok(page)
        })
    }
}

/// Returns a delivery with its attempts, as the sandbox shows it.
fn render_delivery(db: &Reader<'_>, row: &DeliveryRow) -> Result<Json, Error> {
    let attempts = delivery_pages::attempts(db, &row.id)?;
    let attempts = attempts.iter().map(|(_, attempt)| SandboxAttemptView {
        at: attempt.at,
        status: attempt.status,
        latency_ms: attempt.latency_ms,
        error: attempt.error.as_deref(),
        answer: attempt.answer.as_deref(),
    });
    Ok(to_raw_value(&SandboxDeliveryView {
        id: &row.id,
        event: &row.event,
        r#type: row.kind,
        endpoint: row.endpoint.as_deref(),
        url: &row.url,
        state: row.state,
        next_attempt_at: row.next_attempt_at,
        attempts: attempts.collect(),
    })?)
}

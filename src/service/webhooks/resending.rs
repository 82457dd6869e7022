//! Webhook deliveries in the operator interface: lists them, shows a delivery as it was sent, and sends deliveries
//! again.
//!
//! Invariant: sending a delivery again adds attempts and keeps the earlier attempts.

use crate::domain::fields::rule::described;
use crate::domain::fields::text_rule::text;
use crate::domain::fields::view::OmittedIfNone;
use crate::domain::fields::{Fields, Keywords, Rule, Schema, input, schema};
use crate::domain::retry::DELIVERY_ATTEMPTS_MAX;
use crate::domain::{
    DeliveryState, Mode, Refusal, RefusalCode, ResourceKind, Time, WebhookFormat, id,
};
use crate::render::deliveries::{
    AttemptDetailView, AttemptView, DeliveryDetailView, DeliveryFields, DeliveryView, ResentView,
};
use crate::service::events::delivery_receiver;
use crate::service::page::{self, Page};
use crate::service::webhooks::{DeliveryAttempt, request_body, request_headers};
use crate::service::{Error, Json, Scope, Service, Step, audit_log};
use crate::store::delivery_pages::{
    self, Delivery, DeliveryPosition, ResendQuery, ResendableDelivery,
};
use crate::store::page::Position;
use crate::store::{PageBounds, Reader, Tx, endpoints, events};
use serde_json::json;
use serde_json::value::to_raw_value;
use std::sync::Arc;

/// Largest number of deliveries that one transaction sends again.
const RESEND_BATCH: u32 = 200;

input! {
    /// Deliveries to send again. Null means absent.
    pub Resend, checked since, endpoint; unknown refused {
        /// Only deliveries of events since this time.
        required since: Time = SinceRule, "2026-11-21T09:00:00.000Z";
        /// Only deliveries to this endpoint; default: to all.
        optional endpoint: String = described(text(1..=36), Schema::Nullable(&Schema::UUID)), null;
    }
}

/// Rule of the request field `since`, which holds a time.
struct SinceRule;

impl Rule for SinceRule {
    type Value = Time;

    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<Time>, Refusal> {
        let moment = fields.text(name, 1..=40)?.map(str::parse).transpose();
        moment.map_err(|problem: String| Refusal::field(name, problem))
    }

    fn json_schema(&self) -> Keywords {
        let schema: Schema = schema!({ "type": "string", "format": "date-time", "maxLength": 40 });
        schema.json_schema()
    }
}

/// Query for a page of deliveries.
#[derive(Clone, Debug)]
pub struct DeliveryListQuery {
    /// Only deliveries to the endpoint with this ID.
    pub endpoint: Option<String>,
    /// Only deliveries with this status.
    pub state: Option<DeliveryState>,
    /// Only deliveries of the event with this ID.
    pub event: Option<String>,
    /// Only deliveries older than the one with this ID.
    pub before: Option<String>,
    /// Largest number of deliveries.
    pub limit: u32,
}

impl Service {
    /// Returns a page of deliveries, newest first. May read many rows, so the caller needs a thread that can block.
    ///
    /// # Errors
    ///
    /// `invalid_request` if `before` or `event` is unknown to the caller.
    pub fn account_deliveries(
        &self,
        scope: &Scope,
        wanted: &DeliveryListQuery,
    ) -> Result<Page, Error> {
        let (account, mode) = (scope.account(), scope.mode());
        self.read_snapshot(|db| {
            let position = |id: &str| delivery_pages::position(db, account, mode, id);
            let before = page::find_page_start(wanted.before.as_deref(), position)?;
            let event = match &wanted.event {
                None => None,
                Some(id) => Some(events::seq_by_id(db, account, mode, id)?.ok_or_else(|| {
                    Refusal::field("event", "must be the id of an event of this account")
                })?),
            };
            let page = delivery_pages::DeliveryQuery {
                endpoint: wanted.endpoint.as_deref(),
                state: wanted.state,
                event,
                page: PageBounds::with_one_more_row(before, wanted.limit),
            };
            let found = delivery_pages::page(db, account, mode, &page)?;
            let rendered = found.into_iter().map(|delivery| {
                let json = render_delivery(db, &delivery)?;
                Ok((delivery.id, json))
            });
            Page::from_entries(rendered, wanted.limit)
        })
    }

    /// Returns a delivery with its exact body, and the headers of its attempts.
    ///
    /// # Errors
    /// `not_found` if the delivery does not belong to the caller.
    pub fn delivery_detail(&self, scope: &Scope, id: &str) -> Result<Json, Error> {
        let nothing = || Error::from(Refusal::not_found("delivery"));
        let id = id::parse(id).ok_or_else(nothing)?;
        self.read_snapshot(|db| {
            let found = delivery_pages::by_id(db, scope.account(), scope.mode(), &id)?;
            let delivery = found.ok_or_else(nothing)?;
            let attempts = delivery_pages::attempts(db, &id)?;
            let source = delivery_pages::content(db, &id)?.ok_or_else(nothing)?;
            // Uses the format of the newest attempt, because the endpoint's format may have changed after that
            // attempt.
            let mut newest = attempts.iter().rev();
            let newest = newest.find_map(|(_, attempt)| attempt.signed.as_ref());
            let format = newest.map(|signed| signed.format).or(source.format);
            let invoice = source.invoice.as_deref();
            let format = format.unwrap_or(WebhookFormat::Event);
            // If the current format has no body for this event, the delivery was sent in the event format.
            let (format, body) = match request_body(&source.body, format, invoice)? {
                Some(body) => (format, body),
                None => (WebhookFormat::Event, source.body),
            };
            let attempts = attempts.iter().map(|(number, attempt)| {
                let signed = attempt.signed.as_ref();
                let signed = signed.filter(|signed| signed.format == format);
                let sent = signed.map(|signed| request_headers(&delivery.event, signed));
                AttemptDetailView {
                    base: attempt_view(*number, attempt),
                    headers: OmittedIfNone(sent.map(|sent| sent.into_iter().collect())),
                }
            });
            Ok(to_raw_value(&DeliveryDetailView {
                base: delivery_view(&delivery),
                attempts: attempts.collect(),
                body: &body,
            })?)
        })
    }

    /// Sends a delivery again, whatever its state.
    ///
    /// # Errors
    ///
    /// `not_found`. `invalid_transition` if the endpoint is removed or does not receive the event, or if the delivery
    /// had too many attempts.
    pub async fn resend_delivery(
        self: &Arc<Self>,
        now: Time,
        scope: &Scope,
        actor: &str,
        id: &str,
    ) -> Result<Json, Error> {
        let (scope, actor, id) = (*scope, actor.to_owned(), id::parse(id));
        let written = self.write(now, move |step| {
            let Step { tx, .. } = *step;
            let nothing = || Error::from(Refusal::not_found("delivery"));
            let id = id.ok_or_else(nothing)?;
            let (account, mode) = (scope.account(), scope.mode());
            let again =
                delivery_pages::resendable_by_id(tx, account, mode, &id)?.ok_or_else(nothing)?;
            check_resendable(&again)?;
            restart_delivery(tx, account, &again, now)?;
            let action = "delivery.resend";
            audit_log::record(tx, now, &actor, action, Some(account), Some(&id), &json!({}))?;
            let delivery = delivery_pages::by_id(tx, account, mode, &id)?.ok_or_else(nothing)?;
            let attempts = delivery_pages::attempts(tx, &id)?;
            Ok((delivery, attempts))
        });
        // The response is rendered outside the writer thread, so that other writes do not wait.
        let (delivery, attempts) = written.await?;
        render_with_attempts(&delivery, &attempts)
    }

    /// Sends deliveries again: those of events created at or after a given time, to one endpoint or to all existing
    /// endpoints. Returns the number of deliveries.
    ///
    /// Works in batches, oldest first. After a failure, the batches before the failure remain sent.
    ///
    /// # Errors
    ///
    /// `invalid_request`.
    pub async fn resend_deliveries_since(
        self: &Arc<Self>,
        now: Time,
        scope: &Scope,
        actor: &str,
        body: &Resend,
    ) -> Result<Json, Error> {
        let (which, mut after) = self.read_resend_query(scope, body)?;
        let (mut count, mut more) = (0_u64, true);
        while more {
            let (account, mode) = (scope.account(), scope.mode());
            let (actor, which) = (actor.to_owned(), which.clone());
            let (sent, last) = self
                .write(now, move |step| { let Step { tx, .. } = *step;
                    let batch = delivery_pages::resendable_after(
                        tx,
                        account,
                        mode,
                        &which,
                        after,
                        RESEND_BATCH,
                    )?;
                    for again in &batch {
                        restart_delivery(tx, account, again, now)?;
                    }
                    let sent = u32::try_from(batch.len()).unwrap_or(u32::MAX);
                    if sent > 0 {
                        let detail = json!({
                            "mode": mode, "since": which.since, "endpoint": which.endpoint, "count": sent
                        });
                        audit_log::record(tx, now, &actor, "deliveries.resend", Some(account), None, &detail)?;
                    }
                    Ok((sent, batch.last().map(|again| again.position)))
                })
                .await?;
            count = count.saturating_add(u64::from(sent));
            after = last.unwrap_or(after);
            more = sent == RESEND_BATCH;
        }
        Ok(to_raw_value(&ResentView { count })?)
    }

    /// Returns the query that a request body describes, and the position before the first delivery.
    fn read_resend_query(
        &self,
        scope: &Scope,
        body: &Resend,
    ) -> Result<(ResendQuery, DeliveryPosition), Error> {
        let since = body.since;
        let endpoint = body.endpoint.as_deref().map(str::to_ascii_lowercase);
        let (account, mode) = (scope.account(), scope.mode());
        self.read(|db| {
            if let Some(endpoint) = &endpoint {
                let known = endpoints::of_account(db, account)?;
                if !known.iter().any(|one| one.id == *endpoint) {
                    let problem = "must be the id of an endpoint of this account";
                    return Err(Refusal::field("endpoint", problem).into());
                }
            }
            let which =
                ResendQuery { since, endpoint: endpoint.clone(), until: events::last_seq(db)? };
            let first = DeliveryPosition {
                event: events::last_seq_before(db, account, mode, since)?,
                ..DeliveryPosition::END
            };
            Ok((which, first))
        })
    }
}

/// Starts further attempts of a delivery, to the endpoint's current URL.
fn restart_delivery(
    tx: &Tx<'_>,
    account: i64,
    again: &ResendableDelivery,
    now: Time,
) -> Result<(), Error> {
    let receiver = delivery_receiver(&again.url, account, again.endpoint);
    for mode in Mode::ALL {
        tx.note_resource_change(Some(account), *mode, ResourceKind::Deliveries);
    }
    Ok(delivery_pages::resend(tx, &again.id, &again.url, &receiver, now)?)
}

/// Refuses a delivery that cannot be sent again.
///
/// # Errors
/// `invalid_transition`.
fn check_resendable(again: &ResendableDelivery) -> Result<(), Refusal> {
    let message = if again.is_removed {
        "the endpoint of this delivery has been removed".to_owned()
    } else if again.is_untold {
        "events of the account are not sent in the legacy format, which the endpoint has now"
            .to_owned()
    } else if again.tried >= DELIVERY_ATTEMPTS_MAX {
        let tried = again.tried;
        format!("this delivery was tried {tried} times and is not sent again; read its event")
    } else {
        return Ok(());
    };
    Err(Refusal::new(RefusalCode::InvalidTransition, message))
}

/// Returns a delivery as JSON, with its newest attempts.
fn render_delivery(db: &Reader<'_>, delivery: &Delivery) -> Result<Json, Error> {
    render_with_attempts(delivery, &delivery_pages::attempts(db, &delivery.id)?)
}

fn render_with_attempts(
    delivery: &Delivery,
    attempts: &[(u32, DeliveryAttempt)],
) -> Result<Json, Error> {
    let attempts = attempts.iter();
    let attempts = attempts.map(|(number, attempt)| attempt_view(*number, attempt));
    Ok(to_raw_value(&DeliveryView { base: delivery_view(delivery), attempts: attempts.collect() })?)
}

/// Returns the fields of a delivery, without its attempts.
fn delivery_view(delivery: &Delivery) -> DeliveryFields<'_> {
    DeliveryFields {
        id: &delivery.id,
        event: &delivery.event,
        r#type: delivery.kind,
        object_id: &delivery.object,
        endpoint: delivery.endpoint.as_deref(),
        url: &delivery.url,
        state: delivery.state,
        next_attempt_at: delivery.next_attempt_at,
        created_at: delivery.created_at,
    }
}

fn attempt_view(number: u32, attempt: &DeliveryAttempt) -> AttemptView<'_> {
    AttemptView {
        number,
        at: attempt.at,
        status: attempt.status,
        latency_ms: attempt.latency_ms,
        error: attempt.error.as_deref(),
        answer: attempt.answer.as_deref(),
    }
}

//! The sandbox's controls, `/sandbox/…`.
//!
//! What lives here: their handlers. What does not: the guard before them and their state (`front::sandbox`), what they
//! change. What always holds: outside `coffer sandbox` none of these paths exists.

pub(super) mod chains;
pub(super) mod faults;
pub(super) mod webhooks;

use super::front::inbox::{Behaviour, Message};
use super::front::sandbox::{ClockStep, Sandbox};
use super::reply::Reply;
use super::request::Call;
use crate::domain::fields::Fields;
use crate::domain::refusal::{Code, Refusal};
use crate::domain::time::parse_span_ms;
use crate::domain::transfer::TransferKind;
use crate::service::{Error, Json};
use hyper::StatusCode;
use serde_json::value::to_raw_value;
use std::sync::Arc;
use std::time::Duration;

/// The longest wait for a message.
const WAIT_MS_MAX: i64 = 60_000;
/// What the name of a snapshot looks like.
pub(super) const SNAPSHOT_PATTERN: &str = "^[A-Za-z0-9._-]{1,64}$";

/// GET /sandbox
pub(super) async fn state(call: Call, sandbox: Arc<Sandbox>) -> Result<Reply, Error> {
    answer_state(&call, &sandbox)
}

/// The state, as `GET /sandbox` answers it, at this moment.
fn answer_state(call: &Call, sandbox: &Sandbox) -> Result<Reply, Error> {
    let (clock, service) = (&call.front.clock, &call.front.service);
    let faults = sandbox.faults.view(service.faults());
    service
        .sandbox_state(clock.now(), clock.frozen_at().is_some(), faults)
        .map(Reply::ok)
}

/// POST /sandbox/reset
pub(super) async fn reset(call: Call, sandbox: Arc<Sandbox>) -> Result<Reply, Error> {
    sandbox.control.reset().await?;
    sandbox.faults.clear();
    call.front.throttle.forget();
    answer_state(&call, &sandbox)
}

/// POST /sandbox/snapshots/{name}
pub(super) async fn snapshot(call: Call, sandbox: Arc<Sandbox>) -> Result<Reply, Error> {
    sandbox.control.snapshot(snapshot_name(&call)?).await?;
    answer_state(&call, &sandbox)
}

/// POST /sandbox/snapshots/{name}/restore
pub(super) async fn restore(call: Call, sandbox: Arc<Sandbox>) -> Result<Reply, Error> {
    sandbox.control.restore(snapshot_name(&call)?).await?;
    answer_state(&call, &sandbox)
}

/// The name of a snapshot, which becomes part of a file's name.
fn snapshot_name(call: &Call) -> Result<String, Refusal> {
    let name = call.id();
    let plain = name
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    if plain && (1..=64).contains(&name.len()) {
        Ok(name.to_owned())
    } else {
        Err(Refusal::field(
            "name",
            "must have 1 to 64 letters, digits, '.', '_' or '-'",
        ))
    }
}

/// POST /sandbox/clock
pub(super) async fn clock(call: Call, sandbox: Arc<Sandbox>) -> Result<Reply, Error> {
    let body = call.object()?;
    let fields = Fields::of(&body);
    fields.only(&["advance", "set", "frozen"])?;
    let advance = fields
        .text("advance", 1..=40)?
        .map(parse_span_ms)
        .transpose();
    let advance = advance.map_err(|problem| Refusal::field("advance", problem))?;
    let set = fields.text("set", 1..=40)?.map(str::parse).transpose();
    let set = set.map_err(|problem: String| Refusal::field("set", problem))?;
    let step = match (advance, set, fields.flag("frozen")?) {
        (Some(span_ms), None, None) => ClockStep::Advance(span_ms),
        (None, Some(at), None) => ClockStep::Set(at),
        (None, None, Some(frozen)) => ClockStep::Freeze(frozen),
        _ => {
            return Err(
                Refusal::new(Code::InvalidRequest, "give one of advance, set and frozen").into(),
            );
        }
    };
    sandbox.control.advance(step).await?;
    answer_state(&call, &sandbox)
}

/// PATCH /sandbox/account
pub(super) async fn account(call: Call, sandbox: Arc<Sandbox>) -> Result<Reply, Error> {
    call.front
        .service
        .patch_sandbox_account(call.now, call.object()?)
        .await?;
    answer_state(&call, &sandbox)
}

/// POST /sandbox/invoices/{id}/cancel
pub(super) async fn cancel_invoice(call: Call, _: Arc<Sandbox>) -> Result<Reply, Error> {
    call.front
        .service
        .cancel_invoice(call.now, &call.uuid("invoice")?)
        .await
        .map(Reply::ok)
}

/// POST /sandbox/payouts/{id}
pub(super) async fn move_payout(call: Call, _: Arc<Sandbox>) -> Result<Reply, Error> {
    move_transfer(call, TransferKind::Payout).await
}

/// POST /sandbox/refunds/{id}
pub(super) async fn move_refund(call: Call, _: Arc<Sandbox>) -> Result<Reply, Error> {
    move_transfer(call, TransferKind::Refund).await
}

/// One step of a payout or refund.
async fn move_transfer(call: Call, kind: TransferKind) -> Result<Reply, Error> {
    let (service, body) = (&call.front.service, call.object()?);
    service
        .move_sandbox_transfer(call.now, kind, call.id(), body)
        .await
        .map(Reply::ok)
}

/// POST /sandbox/refunds
pub(super) async fn put_refund(call: Call, _: Arc<Sandbox>) -> Result<Reply, Error> {
    let (service, body) = (&call.front.service, call.object()?);
    let refund = service.create_sandbox_refund(call.now, body).await?;
    Ok(Reply {
        status: StatusCode::CREATED,
        ..Reply::ok(refund)
    })
}

/// POST /sandbox/inbox/{name}
pub(super) async fn receive(call: Call, sandbox: Arc<Sandbox>) -> Result<Reply, Error> {
    let message = Message::new(&call.headers, &call.body, call.now);
    let behaviour = sandbox.control.inboxes().receive(call.id(), message);
    let behaviour =
        behaviour.ok_or_else(|| Refusal::new(Code::Overloaded, "there are too many inboxes"))?;
    let delay = tokio::time::sleep(Duration::from_millis(behaviour.delay_ms));
    call.front.unless_closed(delay).await;
    let status = StatusCode::from_u16(behaviour.status).unwrap_or(StatusCode::OK);
    Ok(Reply {
        status,
        ..Reply::nothing()
    })
}

/// GET /sandbox/inbox/{name}
pub(super) async fn messages(call: Call, sandbox: Arc<Sandbox>) -> Result<Reply, Error> {
    let wait_ms = call.query.text("wait").map(parse_span_ms).transpose();
    let wait_ms = wait_ms
        .ok()
        .filter(|wait_ms| wait_ms.unwrap_or(0) <= WAIT_MS_MAX);
    let wait_ms = wait_ms
        .ok_or_else(|| Refusal::field("wait", "must be a span of at most 60s, like \"5s\""))?;
    let inboxes = sandbox.control.inboxes();
    let (name, kind) = (call.id(), call.query.text("type"));
    let mut arrivals = inboxes.arrivals();
    let first_match = async {
        while inboxes.messages(name, kind).is_empty() {
            if arrivals.changed().await.is_err() {
                return;
            }
        }
    };
    let wait = Duration::from_millis(u64::try_from(wait_ms.unwrap_or(0)).unwrap_or(0));
    // Nothing in time is an answer too: an empty list.
    let first_match = tokio::time::timeout(wait, first_match);
    call.front.unless_closed(first_match).await;
    let found = inboxes.messages(name, kind);
    let data = found.iter().map(|message| Ok(to_raw_value(message)?));
    Reply::list(&data.collect::<Result<Vec<Json>, Error>>()?)
}

/// PUT /sandbox/inbox/{name}
pub(super) async fn behave(call: Call, sandbox: Arc<Sandbox>) -> Result<Reply, Error> {
    let body = call.object()?;
    let fields = Fields::of(&body);
    fields.only(&["status", "delayMs", "times"])?;
    let status = fields.integer("status", 200..=599)?.unwrap_or(200);
    let delay_ms = fields.integer("delayMs", 0..=60_000)?.unwrap_or(0);
    let times = fields.integer("times", 1..=1_000_000)?;
    let behaviour = Behaviour {
        status: u16::try_from(status).unwrap_or(200),
        delay_ms: u64::try_from(delay_ms).unwrap_or(0),
        times: times.and_then(|times| u64::try_from(times).ok()),
    };
    sandbox.control.inboxes().behave(call.id(), behaviour);
    Ok(Reply::nothing())
}

/// DELETE /sandbox/inbox/{name}
pub(super) async fn empty(call: Call, sandbox: Arc<Sandbox>) -> Result<Reply, Error> {
    sandbox.control.inboxes().empty(call.id());
    Ok(Reply::nothing())
}

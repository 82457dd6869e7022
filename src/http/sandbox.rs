//! The sandbox's controls, `/sandbox/…`.
//!
//! What lives here: their handlers and the guard before them. What does not: what they change. What always holds:
//! outside `coffer sandbox` none of these paths exists, and a page of another site cannot reach them.

pub(super) mod chains;
pub(super) mod faults;
mod inbox;
pub(super) mod webhooks;

pub use inbox::InboxState;

use super::Boxed;
use super::hosts::{AllowedHost, Hosts};
use super::reply::Reply;
use super::request::Call;
use crate::domain::fields::Fields;
use crate::domain::refusal::{Code, Refusal};
use crate::domain::time::{Time, parse_span_ms};
use crate::domain::transfer::TransferKind;
use crate::service::{Error, Json};
use hyper::{HeaderMap, StatusCode};
use inbox::{Behaviour, Message};
use serde_json::value::to_raw_value;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// The longest wait for a message.
const WAIT_MS_MAX: i64 = 60_000;
/// What is said to pages of other sites.
pub(super) const NOT_FOR_PAGES: &str = "the sandbox's controls are not for pages of other sites";
/// What the name of a snapshot looks like.
pub(super) const SNAPSHOT_PATTERN: &str = "^[A-Za-z0-9._-]{1,64}$";

/// What the sandbox can do to itself: given by `app`, which alone knows clock, workers and file together.
pub trait Control: Send + Sync {
    /// Moves the clock forward, from due time to due time; answers when all that fell due is done.
    fn advance(&self, step: ClockStep) -> Boxed<'_, Result<(), Error>>;
    /// Back to the seed and to real time.
    fn reset(&self) -> Boxed<'_, Result<(), Error>>;
    /// Keeps the whole state under a name.
    fn snapshot(&self, name: String) -> Boxed<'_, Result<(), Error>>;
    /// Back to the state that was kept under a name.
    fn restore(&self, name: String) -> Boxed<'_, Result<(), Error>>;
    /// Where inboxes are kept.
    fn inboxes(&self) -> &InboxState;
}

/// What makes a sandbox's front different.
pub struct SandboxSettings {
    /// Its handle on itself.
    pub control: Arc<dyn Control>,
    /// The addresses it listens on.
    pub listen: Vec<IpAddr>,
    /// Hosts that it answers to beside those it always does.
    pub allow_host: Vec<AllowedHost>,
    /// May it be reached off loopback? Then every address is a host that it answers to.
    pub allow_remote: bool,
}

/// What is done to the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockStep {
    /// So many milliseconds further.
    Advance(i64),
    /// To this moment, which must not be past.
    Set(Time),
    /// Stand still, or run on.
    Freeze(bool),
}

/// The sandbox's part of the front.
pub(super) struct Sandbox {
    control: Arc<dyn Control>,
    pub(super) hosts: Hosts,
    pub(super) faults: faults::FaultState,
}

impl Sandbox {
    /// A sandbox that is known by this url.
    pub(super) fn new(settings: SandboxSettings, public_url: &str) -> Sandbox {
        let SandboxSettings {
            control,
            listen,
            allow_host,
            allow_remote,
        } = settings;
        Sandbox {
            control,
            hosts: Hosts::new(&listen, public_url, allow_host, allow_remote),
            faults: faults::FaultState::default(),
        }
    }

    /// Keeps pages of other sites out of the controls: browsers tell their `Origin`. Their `Host` is checked before.
    pub(super) fn admit(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let text = |name: &str| {
            headers
                .get(name)
                .and_then(|value| value.to_str().ok())
                .map(str::to_ascii_lowercase)
        };
        let forbidden = |message: &str| Err(Refusal::new(Code::Forbidden, message));
        if text("sec-fetch-site").is_some_and(|site| site == "cross-site") {
            return forbidden(NOT_FOR_PAGES);
        }
        let host = text("host").unwrap_or_default();
        match text("origin")
            .as_deref()
            .map(|origin| origin.split_once("://"))
        {
            None => Ok(()),
            Some(Some((_, origin))) if origin == host => Ok(()),
            Some(_) => forbidden("Origin must be the sandbox's own"),
        }
    }
}

/// The control of a call that the guard has let in.
fn control(call: &Call) -> Result<&dyn Control, Error> {
    let sandbox = call
        .front
        .sandbox
        .as_ref()
        .ok_or_else(|| Refusal::not_found("path"))?;
    Ok(sandbox.control.as_ref())
}

/// GET /sandbox
pub(super) async fn state(call: Call) -> Result<Reply, Error> {
    answer_state(&call)
}

/// The state, as `GET /sandbox` answers it, at this moment.
fn answer_state(call: &Call) -> Result<Reply, Error> {
    let front = &call.front;
    let (clock, service) = (&front.clock, &front.service);
    let faults = front.sandbox.as_ref();
    let faults = faults.map(|sandbox| sandbox.faults.view(service.faults()));
    service
        .sandbox_state(
            clock.now(),
            clock.frozen_at().is_some(),
            faults.unwrap_or_default(),
        )
        .map(Reply::ok)
}

/// POST /sandbox/reset
pub(super) async fn reset(call: Call) -> Result<Reply, Error> {
    control(&call)?.reset().await?;
    if let Some(sandbox) = &call.front.sandbox {
        sandbox.faults.clear();
    }
    call.front.throttle.forget();
    answer_state(&call)
}

/// POST /sandbox/snapshots/{name}
pub(super) async fn snapshot(call: Call) -> Result<Reply, Error> {
    control(&call)?.snapshot(snapshot_name(&call)?).await?;
    answer_state(&call)
}

/// POST /sandbox/snapshots/{name}/restore
pub(super) async fn restore(call: Call) -> Result<Reply, Error> {
    control(&call)?.restore(snapshot_name(&call)?).await?;
    answer_state(&call)
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
pub(super) async fn clock(call: Call) -> Result<Reply, Error> {
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
    control(&call)?.advance(step).await?;
    answer_state(&call)
}

/// PATCH /sandbox/account
pub(super) async fn account(call: Call) -> Result<Reply, Error> {
    call.front
        .service
        .patch_sandbox_account(call.now, call.object()?)
        .await?;
    answer_state(&call)
}

/// POST /sandbox/invoices/{id}/cancel
pub(super) async fn cancel_invoice(call: Call) -> Result<Reply, Error> {
    call.front
        .service
        .cancel_invoice(call.now, &call.uuid("invoice")?)
        .await
        .map(Reply::ok)
}

/// POST /sandbox/payouts/{id}
pub(super) async fn move_payout(call: Call) -> Result<Reply, Error> {
    move_transfer(call, TransferKind::Payout).await
}

/// POST /sandbox/refunds/{id}
pub(super) async fn move_refund(call: Call) -> Result<Reply, Error> {
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
pub(super) async fn put_refund(call: Call) -> Result<Reply, Error> {
    let (service, body) = (&call.front.service, call.object()?);
    let refund = service.create_sandbox_refund(call.now, body).await?;
    Ok(Reply {
        status: StatusCode::CREATED,
        ..Reply::ok(refund)
    })
}

/// POST /sandbox/inbox/{name}
pub(super) async fn receive(call: Call) -> Result<Reply, Error> {
    let message = Message::new(&call.headers, &call.body, call.now);
    let behaviour = control(&call)?.inboxes().receive(call.id(), message);
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
pub(super) async fn messages(call: Call) -> Result<Reply, Error> {
    let wait_ms = call.query.text("wait").map(parse_span_ms).transpose();
    let wait_ms = wait_ms
        .ok()
        .filter(|wait_ms| wait_ms.unwrap_or(0) <= WAIT_MS_MAX);
    let wait_ms = wait_ms
        .ok_or_else(|| Refusal::field("wait", "must be a span of at most 60s, like \"5s\""))?;
    let inboxes = control(&call)?.inboxes();
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
pub(super) async fn behave(call: Call) -> Result<Reply, Error> {
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
    control(&call)?.inboxes().behave(call.id(), behaviour);
    Ok(Reply::nothing())
}

/// DELETE /sandbox/inbox/{name}
pub(super) async fn empty(call: Call) -> Result<Reply, Error> {
    control(&call)?.inboxes().empty(call.id());
    Ok(Reply::nothing())
}

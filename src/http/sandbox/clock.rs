//! The sandbox's clock: moving it forward, stopping it, letting it run.

use super::state::{STATE, answer_state};
use crate::domain::fields::Fields;
use crate::domain::refusal::{Code, Refusal};
use crate::domain::time::parse_span_ms;
use crate::http::front::sandbox::{ClockStep, Sandbox};
use crate::http::reply::Reply;
use crate::http::request::Call;
use crate::http::route::{Body, Handler, PLAIN, Resource, Route, Tag};
use crate::service::Error;
use std::sync::Arc;

/// Its operations.
pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[Route {
        operation: "sandboxClock",
        tag: Some(Tag::SandboxState),
        method: "POST",
        path: "/sandbox/clock",
        summary: "Moves the clock forward, doing on the way what falls due; or stops it, or lets it run.",
        body: Some(Body::required("SandboxClock")),
        answers: STATE,
        handler: Handler::Sandbox(|call, sandbox| Box::pin(clock(call, sandbox))),
        ..PLAIN
    }],
};

/// POST /sandbox/clock
async fn clock(call: Call, sandbox: Arc<Sandbox>) -> Result<Reply, Error> {
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

//! Simulated faults, for seeing how a shop behaves then.
//!
//! What lives here: setting and ending them. What does not: faults of calls (`front::faults`); the empty pool and
//! the stale rates (`service`), which use cases ask for. What always holds: a body that is not understood sets
//! nothing.

use super::DONE;
use super::state::{STATE, answer_state};
use crate::domain::fields::Fields;
use crate::domain::refusal::{Code, Refusal};
use crate::http::front::faults::{Fault, FaultState};
use crate::http::front::sandbox::Sandbox;
use crate::http::reply::Reply;
use crate::http::request::Call;
use crate::http::route::{Body, Handler, PLAIN, Resource, Route, Tag};
use crate::service::{Error, Faults};
use hyper::StatusCode;
use std::sync::Arc;
use std::time::Duration;

/// What may be sent.
const FIELDS: [&str; 7] = [
    "route",
    "status",
    "delayMs",
    "dropAnswer",
    "times",
    "pool",
    "rates",
];

/// Its operations.
pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[
        Route {
            operation: "sandboxAddFault",
            tag: Some(Tag::SandboxState),
            method: "POST",
            path: "/sandbox/faults",
            summary: "Lets the next calls fail, wait or go unanswered; or empties the pool, or makes rates stale.",
            body: Some(Body::required("SandboxFault")),
            answers: STATE,
            handler: Handler::Sandbox(|call, sandbox| Box::pin(add(call, sandbox))),
            ..PLAIN
        },
        Route {
            operation: "sandboxEndFaults",
            tag: Some(Tag::SandboxState),
            method: "DELETE",
            path: "/sandbox/faults",
            summary: "Ends every fault.",
            answers: DONE,
            handler: Handler::Sandbox(|call, sandbox| Box::pin(end(call, sandbox))),
            ..PLAIN
        },
    ],
};

/// POST /sandbox/faults
async fn add(call: Call, sandbox: Arc<Sandbox>) -> Result<Reply, Error> {
    let body = call.object()?;
    let fields = Fields::of(&body);
    fields.only(&FIELDS)?;
    let mut pretended = call.front.service.faults();
    pretended.pool_empty |= only_text(&fields, "pool", "empty")?;
    pretended.rates_stale |= only_text(&fields, "rates", "stale")?;
    let faults = &sandbox.faults;
    let fault = fault(&fields, faults)?;
    if fault.is_none() && !fields.names("pool") && !fields.names("rates") {
        let message = "give status, delayMs or dropAnswer with times, or pool, or rates";
        return Err(Refusal::new(Code::InvalidRequest, message).into());
    }
    call.front.service.set_faults(pretended);
    if let Some(fault) = fault {
        faults.add(fault);
    }
    answer_state(&call, &sandbox)
}

/// DELETE /sandbox/faults
async fn end(call: Call, sandbox: Arc<Sandbox>) -> Result<Reply, Error> {
    call.front.service.set_faults(Faults::default());
    sandbox.faults.clear();
    Ok(Reply::nothing())
}

/// Is the field there? It has one possible text.
fn only_text(fields: &Fields<'_>, name: &str, only: &str) -> Result<bool, Refusal> {
    match fields.text(name, 0..=40)? {
        None => Ok(false),
        Some(text) if text == only => Ok(true),
        Some(_) => Err(Refusal::field(name, format!("must be \"{only}\""))),
    }
}

/// The fault of calls, where one is asked for.
fn fault(fields: &Fields<'_>, faults: &FaultState) -> Result<Option<Fault>, Refusal> {
    let status = fields.integer("status", 400..=599)?;
    let status = status
        .and_then(|status| u16::try_from(status).ok())
        .and_then(|status| StatusCode::from_u16(status).ok());
    let delay_ms = fields.integer("delayMs", 0..=60_000)?;
    let drops_answer = fields.flag("dropAnswer")?.unwrap_or(false);
    let operation = match fields.text("route", 1..=200)? {
        None => None,
        Some(text) => Some(faults.operation(text).ok_or_else(|| {
            Refusal::field(
                "route",
                "must be a method and a path of the document outside /sandbox, like \"POST /v1/invoices\"",
            )
        })?),
    };
    let times = fields.integer("times", 1..=1_000_000)?;
    if status.is_none() && delay_ms.is_none() && !drops_answer {
        let about_calls = operation.is_some() || times.is_some();
        return if about_calls {
            Err(Refusal::field(
                "status",
                "must be given, or delayMs, or dropAnswer: what happens to the calls",
            ))
        } else {
            Ok(None)
        };
    }
    if status.is_some() && drops_answer {
        return Err(Refusal::field(
            "dropAnswer",
            "lets the work be done, so it does not go with status",
        ));
    }
    let times = times.ok_or_else(|| Refusal::field("times", "must be given: how many calls"))?;
    Ok(Some(Fault {
        operation,
        status,
        delay: Duration::from_millis(delay_ms.and_then(|ms| u64::try_from(ms).ok()).unwrap_or(0)),
        drops_answer,
        times: u64::try_from(times).unwrap_or(1),
    }))
}

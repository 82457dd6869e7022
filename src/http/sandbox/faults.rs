//! `/sandbox/faults`: simulates faults of the next calls.
//!
//! Invariant: a refused body changes nothing.

use super::DONE;
use super::state::{STATE, state_reply};
use crate::domain::fields::input;
use crate::domain::fields::rule::{FlagOrFalseRule, integer};
use crate::domain::fields::text_rule::{constant, text};
use crate::domain::{Refusal, RefusalCode};
use crate::http::reply::Reply;
use crate::http::request::Call;
use crate::http::route::{Body, Handler, PLAIN, Resource, Route, Tag};
use crate::http::state::faults::{Fault, FaultState};
use crate::http::state::sandbox::Sandbox;
use crate::service::{Error, Faults};
use hyper::StatusCode;
use std::sync::Arc;
use std::time::Duration;

input! {
    /// A fault of the next calls, or a state that lasts until the faults are ended.
    pub(super) SandboxFault, checked pool, rates, status, delay_ms, drop_answer, route, times; unknown refused {
        /// Method and path of an operation outside /sandbox, like "POST /v1/invoices"; default: every call.
        optional route: String = text(1..=200), "POST /v1/invoices";
        /// HTTP status, answered instead of the operation.
        optional status: i64 = integer(400..=599), 503;
        /// Delay before the call, in milliseconds.
        optional delay_ms: i64 = integer(0..=60_000);
        /// Whether the call is done and the connection closed without an answer; not with status.
        filled drop_answer: bool = FlagOrFalseRule;
        /// Number of calls; required with status, delayMs or dropAnswer.
        optional times: i64 = integer(1..=1_000_000), 2;
        /// empty: no address is left for new customers and selected coins.
        change pool: &'static str = constant("empty");
        /// stale: no rate is fresh enough to quote a coin of live mode.
        change rates: &'static str = constant("stale");
    }
}

pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[
        Route {
            operation: "sandboxAddFault",
            tag: Some(Tag::SandboxState),
            method: "POST",
            path: "/sandbox/faults",
            summary: "Makes the next calls fail, wait or stay without an answer; or empties the pool, or makes rates stale.",
            body: Body::required(&SandboxFault::COMPONENT),
            answers: STATE,
            handler: Handler::Sandbox(|call, sandbox| Box::pin(add_fault(call, sandbox))),
            ..PLAIN
        },
        Route {
            operation: "sandboxEndFaults",
            tag: Some(Tag::SandboxState),
            method: "DELETE",
            path: "/sandbox/faults",
            summary: "Ends every fault.",
            answers: DONE,
            handler: Handler::Sandbox(|call, sandbox| Box::pin(clear_faults(call, sandbox))),
            ..PLAIN
        },
    ],
};

async fn add_fault(call: Call, sandbox: Arc<Sandbox>) -> Result<Reply, Error> {
    let input = SandboxFault::read(&call.body_fields()?)?;
    let names_state = input.pool.is_some() || input.rates.is_some();
    let mut pretended = call.http.service.faults();
    pretended.pool_empty |= input.pool.flatten().is_some();
    pretended.rates_stale |= input.rates.flatten().is_some();
    let fault = read_fault(input, &sandbox.faults)?;
    if fault.is_none() && !names_state {
        let message = "give status, delayMs or dropAnswer with times, or pool, or rates";
        return Err(Refusal::new(RefusalCode::InvalidRequest, message).into());
    }
    call.http.service.set_faults(pretended);
    if let Some(fault) = fault {
        sandbox.faults.add(fault);
    }
    state_reply(&call, &sandbox)
}

async fn clear_faults(call: Call, sandbox: Arc<Sandbox>) -> Result<Reply, Error> {
    call.http.service.set_faults(Faults::default());
    sandbox.faults.clear();
    Ok(Reply::no_content())
}

/// Reads a fault of the next calls from the body. Returns `None` if the body describes no fault of calls.
fn read_fault(input: SandboxFault, faults: &FaultState) -> Result<Option<Fault>, Refusal> {
    let operation = match input.route {
        None => None,
        Some(text) => Some(faults.find_operation(&text).ok_or_else(|| {
            Refusal::field(
                "route",
                "must be a method and a path of the document outside /sandbox, like \"POST /v1/invoices\"",
            )
        })?),
    };
    if input.status.is_none() && input.delay_ms.is_none() && !input.drop_answer {
        if operation.is_none() && input.times.is_none() {
            return Ok(None);
        }
        let problem = "must be given, or delayMs, or dropAnswer: what happens to the calls";
        return Err(Refusal::field("status", problem));
    }
    if input.status.is_some() && input.drop_answer {
        let problem = "does the work, so it is not allowed with status";
        return Err(Refusal::field("dropAnswer", problem));
    }
    let times = input.times;
    let times = times.ok_or_else(|| Refusal::field("times", "must be given: how many calls"))?;
    let status = input.status.and_then(|status| u16::try_from(status).ok());
    let delay_ms = input.delay_ms.and_then(|ms| u64::try_from(ms).ok());
    Ok(Some(Fault {
        operation,
        status: status.and_then(|status| StatusCode::from_u16(status).ok()),
        delay: Duration::from_millis(delay_ms.unwrap_or(0)),
        drops_answer: input.drop_answer,
        times: u64::try_from(times).unwrap_or(1),
    }))
}

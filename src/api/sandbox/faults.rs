//! Simulates faults of the next calls: `/sandbox/faults`.
//!
//! Invariant: a refused body changes nothing.

use super::state::STATE;
use crate::api::operation::{
    Answer, Body, Context, Controls, Job, Operation, OperationFn, Outcome, PLAIN,
};
use crate::api::tag::Tag;
use crate::domain::fields::input;
use crate::domain::fields::rule::{FlagOrFalseRule, integer};
use crate::domain::fields::text_rule::{constant, text};
use crate::domain::{Refusal, RefusalCode};
use crate::render::sandbox::CallFaultView;
use crate::service::Error;

input! {
    /// A fault of the next calls, or a state that lasts until the faults are ended.
    pub SandboxFault, checked pool, rates, deliveries, status, delay_ms, drop_answer, route, times; unknown refused {
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
        /// shuffled: the first attempts to deliver webhooks are made in a shuffled order.
        change deliveries: &'static str = constant("shuffled");
    }
}

pub const OPERATIONS: [&Operation; 2] = [&ADD, &END];

const ADD: Operation = Operation {
    id: "sandboxAddFault",
    method: "POST",
    path: "/sandbox/faults",
    summary: "Makes the next calls fail, wait or stay without an answer; or empties the pool, makes rates stale, or shuffles webhooks.",
    body: Body::required(&SandboxFault::COMPONENT),
    run: OperationFn::Controls(add_fault),
    ..STATE
};

const END: Operation = Operation {
    id: "sandboxEndFaults",
    tag: Tag::SandboxState,
    method: "DELETE",
    path: "/sandbox/faults",
    summary: "Ends every fault.",
    answers: &[Answer::no_content("Done.")],
    run: OperationFn::Sandbox(clear_faults),
    ..PLAIN
};

fn add_fault(context: &Context<'_>, controls: &Controls) -> Result<Job, Error> {
    let input = SandboxFault::read(&context.body_fields()?)?;
    let names_state = input.pool.is_some() || input.rates.is_some() || input.deliveries.is_some();
    let service = context.service;
    let mut pretended = service.faults();
    pretended.pool_empty |= input.pool.flatten().is_some();
    pretended.rates_stale |= input.rates.flatten().is_some();
    pretended.deliveries_shuffled |= input.deliveries.flatten().is_some();
    let fault = read_fault(input, controls)?;
    if fault.is_none() && !names_state {
        let message = "give status, delayMs or dropAnswer with times, or pool, rates or deliveries";
        return Err(Refusal::new(RefusalCode::InvalidRequest, message).into());
    }
    service.set_faults(pretended);
    if let Some(fault) = fault {
        service.add_call_fault(fault);
    }
    controls.state().map(Outcome::resource).map(Job::Done)
}

fn clear_faults(context: &Context<'_>) -> Result<Job, Error> {
    context.service.clear_faults();
    Ok(Job::Done(Outcome::NO_CONTENT))
}

/// Reads a fault of the next calls from the body. Returns `None` if the body describes no fault of calls.
fn read_fault(input: SandboxFault, controls: &Controls) -> Result<Option<CallFaultView>, Refusal> {
    if input.route.as_ref().is_some_and(|route| !controls.is_operation(route)) {
        let problem = "must be a method and a path of the document outside /sandbox, like \"POST /v1/invoices\"";
        return Err(Refusal::field("route", problem));
    }
    if input.status.is_none() && input.delay_ms.is_none() && !input.drop_answer {
        if input.route.is_none() && input.times.is_none() {
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
    Ok(Some(CallFaultView {
        route: input.route,
        status: input.status.and_then(|status| u16::try_from(status).ok()),
        delay_ms: input.delay_ms.and_then(|ms| u64::try_from(ms).ok()).unwrap_or(0),
        drop_answer: input.drop_answer,
        times: u64::try_from(times).unwrap_or(1),
    }))
}

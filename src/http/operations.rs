//! Does the operations of `api`: one asynchronous function for all of them.

use super::reply::{Reply, status};
use super::request::{Call, idempotency_key};
use super::route::Route;
use crate::api::operation::{Context, Job, Outcome, OutcomeBody};
use crate::service::Error;

/// Calls the function of an operation, does the transaction that it leaves, and returns the answer.
pub(super) async fn perform(
    call: Call,
    route: &'static Route,
    run: impl FnOnce(&Context<'_>) -> Result<Job, Error>,
) -> Result<Reply, Error> {
    let service = &call.front.service;
    let job = run(&Context {
        service,
        now: call.now,
        path: &call.path,
        query: &call.query,
        body: &call.body,
        idempotency_key: if route.is_idempotent {
            idempotency_key(&call.headers)
        } else {
            Ok(None)
        },
        may_body_be_empty: route.body.as_ref().is_none_or(|body| !body.required),
    })?;
    let Outcome { success, body } = match job {
        Job::Done(outcome) => outcome,
        Job::Write(work) => service.write(work).await?,
        Job::Wait(step) => step.await?,
    };
    let status = status(success);
    Ok(match body {
        OutcomeBody::Empty => Reply::json(status, ""),
        OutcomeBody::Own(json) => Reply::json(status, Box::<str>::from(json).into_string()),
        OutcomeBody::Shared(json) => Reply::shared(json),
        OutcomeBody::Kept(text) => Reply::json(status, text),
        OutcomeBody::Page(data, next_before) => Reply::page_of(&data, next_before.as_deref())?,
    })
}

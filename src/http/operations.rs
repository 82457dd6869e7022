//! Does the operations of `api`: one asynchronous function for all of them.

use super::reply::{Reply, status};
use super::request::Call;
use super::route::Route;
use crate::api::operation::{Context, Job, Outcome};
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
        may_body_be_empty: route.body.as_ref().is_none_or(|body| !body.required),
    })?;
    let Outcome { success, json } = match job {
        Job::Done(outcome) => outcome,
        Job::Write(work) => service.write(work).await?,
    };
    let text = json.map_or_else(String::new, |json| Box::<str>::from(json).into_string());
    Ok(Reply::json(status(success), text))
}

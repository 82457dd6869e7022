//! Runs the operations of `api`.

use super::password::{ClientIdentity, hash_password};
use super::reply::{Reply, status};
use super::request::{Call, idempotency_key};
use super::route::{ReplyFuture, Route};
use crate::api::operation::{Context, Job, Outcome, OutcomeBody};
use crate::service::{Error, QuotaOwner};
use hyper::header::{HeaderName, HeaderValue};
use std::future::ready;
use std::sync::Arc;

/// Header of an answer that an earlier request with the same Idempotency-Key got.
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// Calls the function of an operation, runs the job that the function returns, and returns the future answer.
pub(super) fn run_operation(
    call: &Call,
    route: &Route,
    quota_owner: Option<QuotaOwner>,
    run: impl FnOnce(&Context<'_>) -> Result<Job, Error>,
) -> ReplyFuture {
    let service = &call.http.service;
    let job = run(&Context {
        operation: route.operation,
        template: route.path,
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
        may_body_be_empty: route.body.as_ref().is_none_or(|body| !body.is_required),
    });
    match job {
        Err(error) => Box::pin(ready(Err(error))),
        Ok(Job::Done(outcome)) => Box::pin(ready(outcome_reply(outcome))),
        Ok(Job::Wait(step)) => Box::pin(async move { outcome_reply(step.await?) }),
        Ok(Job::Hash(member, password, work)) => {
            let http = Arc::clone(&call.http);
            Box::pin(async move {
                let turn = ClientIdentity::for_member(&member);
                outcome_reply(work(hash_password(&http, &turn, password).await?).await?)
            })
        }
        Ok(Job::Read(work)) => {
            let (http, service) = (Arc::clone(&call.http), Arc::clone(service));
            Box::pin(async move {
                let work = move || work(&service);
                outcome_reply(match quota_owner {
                    Some(quota_owner) => http.long_reads.read(quota_owner, work).await?,
                    None => work()?,
                })
            })
        }
        Ok(Job::Write(work)) => {
            let (service, now) = (Arc::clone(service), call.now);
            Box::pin(async move { outcome_reply(service.write(now, work).await?) })
        }
    }
}

fn outcome_reply(Outcome { success, body }: Outcome) -> Result<Reply, Error> {
    let status = status(success);
    Ok(match body {
        OutcomeBody::Empty => Reply::json(status, ""),
        OutcomeBody::Absent => Reply { status, ..Reply::no_content() },
        OutcomeBody::Unshared(json) => Reply::json(status, Box::<str>::from(json).into_string()),
        OutcomeBody::Shared(json) => Reply::shared(json),
        OutcomeBody::Stored(text) => Reply::json(status, text),
        OutcomeBody::Replayed(text) => {
            let mut reply = Reply::json(status, text);
            reply.headers.push((REPLAYED, HeaderValue::from_static("true")));
            reply
        }
        OutcomeBody::Page(data, next_before) => {
            Reply::page_from_parts(&data, next_before.as_deref())?
        }
        OutcomeBody::UnsharedPage(page) => Reply::page(&page)?,
    })
}

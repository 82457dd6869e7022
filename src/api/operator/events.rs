//! Events of an account: `/dashboard/api/accounts/{account}/events`.

use crate::api::events::{EVENT_PAGE, LIMIT, OBJECT, TYPE, event_query};
use crate::api::operation::{Answer, Context, Job, Operation, OperationFn, Outcome, PLAIN};
use crate::api::params::{BEFORE, MODE};
use crate::api::tag::Tag;
use crate::service::{Error, Member};

pub const OPERATIONS: [&Operation; 1] = [&LIST];

const LIST: Operation = Operation {
    id: "listAccountEvents",
    path: "/dashboard/api/accounts/{account}/events",
    tag: Tag::OperatorBooks,
    summary: "Returns a page of an account's events, newest first, as webhooks deliver them.",
    query: &[MODE, LIMIT, BEFORE, TYPE, OBJECT],
    answers: &[Answer::ok("A page of events.", &EVENT_PAGE)],
    run: OperationFn::Session(list),
    ..PLAIN
};

fn list(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let scope = context.scope(member)?;
    let page = context.service.events(&scope, &event_query(context.query)?)?;
    Ok(Job::Done(Outcome::from_page(page)))
}

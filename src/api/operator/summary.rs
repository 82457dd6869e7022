//! Summaries of the service and of one account: `/dashboard/api/summary`,
//! `/dashboard/api/accounts/{account}/summary`.

use crate::api::operation::{Answer, Context, Job, Operation, OperationFn, Outcome, PLAIN};
use crate::api::params::MODE;
use crate::api::tag::Tag;
use crate::domain::Mode;
use crate::render::summary::{AccountSummaryView, SummaryView};
use crate::service::{Error, Member};

pub const OPERATIONS: [&Operation; 2] = [&GET_OF_ACCOUNT, &GET];

const GET_OF_ACCOUNT: Operation = Operation {
    id: "getAccountSummary",
    path: "/dashboard/api/accounts/{account}/summary",
    tag: Tag::OperatorBooks,
    summary: "Returns an account's balances, invoices, open payouts and refunds, and failing endpoints.",
    query: &[MODE],
    answers: &[Answer::ok("The summary.", &AccountSummaryView::COMPONENT)],
    run: OperationFn::Session(get_account_summary),
    ..PLAIN
};

const GET: Operation = Operation {
    id: "getSummary",
    path: "/dashboard/api/summary",
    tag: Tag::OperatorService,
    summary: "Returns the counts of items that wait for an operator, over all accounts.",
    query: &[MODE],
    answers: &[Answer::ok("The counts.", &SummaryView::COMPONENT)],
    run: OperationFn::Operator(get),
    ..PLAIN
};

fn get_account_summary(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let (scope, now) = (context.scope(member)?, context.now);
    Job::read(move |service| service.account_summary(now, &scope).map(Outcome::resource))
}

fn get(context: &Context<'_>, _: &Member) -> Result<Job, Error> {
    let now = context.now;
    let mode = context.query.enum_value("mode")?.unwrap_or(Mode::Live);
    Job::read(move |service| service.summary(now, mode).map(Outcome::resource))
}

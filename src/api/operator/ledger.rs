//! Balances and ledger of an account: `/dashboard/api/accounts/{account}/balances`, `…/ledger`, `…/adjustments`.

use crate::api::account::{BALANCE_LIST, LEDGER_PAGE, LIMIT_DEFAULT, ledger_query};
use crate::api::operation::{
    Answer, Body, Context, Job, Operation, OperationFn, Outcome, PLAIN, RecentPassword,
};
use crate::api::params::{BEFORE, CURRENCY, MODE};
use crate::api::query::Param;
use crate::api::tag::Tag;
use crate::domain::RefusalCode;
use crate::domain::ledger::adjustment::CreateAdjustment;
use crate::render::account::LedgerEntryView;
use crate::service::{Error, Member};
use std::sync::Arc;

pub const OPERATIONS: [&Operation; 3] = [&LIST_BALANCES, &LIST, &ADJUST];

const LIST_BALANCES: Operation = Operation {
    id: "listAccountBalances",
    path: "/dashboard/api/accounts/{account}/balances",
    tag: Tag::OperatorBooks,
    summary: "Returns both balances of an account.",
    query: &[MODE],
    answers: &[Answer::ok("One balance for each currency.", &BALANCE_LIST)],
    run: OperationFn::Session(list_balances),
    ..PLAIN
};

const LIST: Operation = Operation {
    id: "listAccountLedger",
    path: "/dashboard/api/accounts/{account}/ledger",
    tag: Tag::OperatorBooks,
    summary: "Returns a page of an account's ledger, newest first.",
    query: &[MODE, Param::limit(200, LIMIT_DEFAULT), BEFORE, CURRENCY],
    answers: &[Answer::ok("A page of entries.", &LEDGER_PAGE)],
    run: OperationFn::Session(list),
    ..PLAIN
};

const ADJUST: Operation = Operation {
    id: "createAdjustment",
    method: "POST",
    path: "/dashboard/api/accounts/{account}/adjustments",
    tag: Tag::OperatorBooks,
    summary: "Adds a positive or negative correction to an account's ledger, with a reason.",
    query: &[MODE],
    body: Body::required(&CreateAdjustment::COMPONENT),
    answers: &[Answer::created("The ledger entry.", &LedgerEntryView::COMPONENT)],
    refusals: &[RefusalCode::IdempotencyConflict],
    is_idempotent: true,
    recent_password: RecentPassword::Always,
    run: OperationFn::Operator(create_adjustment),
    ..PLAIN
};

fn list_balances(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let scope = context.scope(member)?;
    Job::list(&context.service.balances(&scope)?)
}

fn list(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let scope = context.scope(member)?;
    let page = context.service.ledger(&scope, &ledger_query(context.query)?)?;
    Ok(Job::Done(Outcome::from_page(page)))
}

fn create_adjustment(context: &Context<'_>, operator: &Member) -> Result<Job, Error> {
    let scope = context.scope(operator)?;
    let request = context.idempotent_request(context.body_fields()?)?;
    let (service, now, actor) = (Arc::clone(context.service), context.now, operator.actor());
    Job::wait(async move {
        let made = service.create_adjustment(now, &scope, &actor, request);
        made.await.map(Outcome::from_idempotent)
    })
}

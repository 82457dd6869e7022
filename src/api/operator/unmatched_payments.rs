//! Unmatched payments: `/dashboard/api/unmatched-payments`.

use crate::api::operation::{
    Answer, Body, Context, Job, Operation, OperationFn, Outcome, PLAIN, RecentPassword,
};
use crate::api::query::{Param, ParamKind};
use crate::api::tag::Tag;
use crate::domain::fields::{Component, Schema};
use crate::domain::unmatched::{AssignUnmatchedPayment, ResolveUnmatchedPayment};
use crate::domain::{Refusal, RefusalCode};
use crate::render::unmatched::{AssignmentView, UnmatchedPaymentView};
use crate::service::idempotency::{IdempotentResponse, KeyOwner};
use crate::service::intake::assign::{Assignee, assign_unmatched_payment};
use crate::service::intake::undo::undo_outcome;
use crate::service::intake::unmatched::{
    UnmatchedFilter, UnmatchedQuery, resolve_unmatched_payment,
};
use crate::service::{Error, Member};
use serde_json::Map;

/// Default of the parameter `limit`.
const LIMIT_DEFAULT: u32 = 50;

/// Name of the resource in errors.
const RESOURCE_NAME: &str = "unmatched payment";

const UNMATCHED_PAYMENT_PAGE: Component = Component::Page {
    name: "UnmatchedPaymentPage",
    item: &UnmatchedPaymentView::COMPONENT,
    about: [
        "One page of the unmatched payments, newest first.",
        "The payments of this page, newest first.",
        "Whether older items follow.",
        "Value of `before` for the next page; null on the last page.",
    ],
    before: &Schema::UUID,
};

pub const OPERATIONS: [&Operation; 4] = [&LIST, &RESOLVE, &ASSIGN, &UNDO];

const LIST: Operation = Operation {
    id: "listUnmatchedPayments",
    path: "/dashboard/api/unmatched-payments",
    tag: Tag::OperatorService,
    summary: "Returns a page of unmatched payments, newest first.",
    query: &[
        Param::limit(200, LIMIT_DEFAULT),
        Param {
            name: "before",
            about: "Only older payments: nextBefore of the previous page.",
            kind: ParamKind::Id,
        },
        Param {
            name: "status",
            about: "Only payments without an outcome, or all; default all.",
            kind: ParamKind::OneOf(UnmatchedFilter::TEXTS),
        },
    ],
    answers: &[Answer::ok("A page of payments.", &UNMATCHED_PAYMENT_PAGE)],
    run: OperationFn::Operator(list),
    ..PLAIN
};

const RESOLVE: Operation = Operation {
    id: "resolveUnmatchedPayment",
    method: "POST",
    path: "/dashboard/api/unmatched-payments/{id}",
    tag: Tag::OperatorService,
    summary: "Marks an unmatched payment as returned, or as needing no action. A second note replaces the first.",
    body: Body::required(&ResolveUnmatchedPayment::COMPONENT),
    answers: &[Answer::ok("The payment.", &UnmatchedPaymentView::COMPONENT)],
    refusals: &[RefusalCode::InvalidTransition],
    recent_password: RecentPassword::Always,
    run: OperationFn::Operator(resolve),
    ..PLAIN
};

const ASSIGN: Operation = Operation {
    id: "assignUnmatchedPayment",
    method: "POST",
    path: "/dashboard/api/unmatched-payments/{id}/assign",
    tag: Tag::OperatorService,
    summary: "Assigns an unmatched payment to an invoice or a customer, with the time at which it was seen.",
    body: Body::required(&AssignUnmatchedPayment::COMPONENT),
    answers: &[Answer::ok("The payment or deposit.", &AssignmentView::COMPONENT)],
    refusals: &[
        RefusalCode::CoinUnavailable,
        RefusalCode::InvalidTransition,
        RefusalCode::IdempotencyConflict,
    ],
    is_idempotent: true,
    recent_password: RecentPassword::Always,
    run: OperationFn::Operator(assign),
    ..PLAIN
};

const UNDO: Operation = Operation {
    id: "undoUnmatchedPayment",
    method: "POST",
    path: "/dashboard/api/unmatched-payments/{id}/undo",
    tag: Tag::OperatorService,
    summary: "Undoes the outcome of an unmatched payment. An assignment can be undone until it is first confirmed.",
    answers: &[Answer::ok("The payment.", &UnmatchedPaymentView::COMPONENT)],
    refusals: &[RefusalCode::InvalidTransition, RefusalCode::IdempotencyConflict],
    is_idempotent: true,
    recent_password: RecentPassword::Always,
    run: OperationFn::Operator(reopen),
    ..PLAIN
};

fn list(context: &Context<'_>, _: &Member) -> Result<Job, Error> {
    let query = context.query;
    let wanted = UnmatchedQuery {
        outcome_filter: query.enum_value("status")?.unwrap_or(UnmatchedFilter::All),
        before: query.text("before").map(str::to_owned),
        limit: query.limit(LIMIT_DEFAULT),
    };
    let page = context.service.unmatched_payments(context.now, &wanted)?;
    Ok(Job::Done(Outcome::from_page(page)))
}

fn resolve(context: &Context<'_>, operator: &Member) -> Result<Job, Error> {
    let body = ResolveUnmatchedPayment::read(&context.body_fields()?)?;
    let (id, outcome) = (context.uuid(RESOURCE_NAME)?, body.resolution()?);
    let actor = operator.actor();
    Job::write(move |step| {
        let resolved = resolve_unmatched_payment(step, &actor, &id, outcome, &body)?;
        Ok(Outcome::resource(resolved))
    })
}

fn assign(context: &Context<'_>, operator: &Member) -> Result<Job, Error> {
    let request = context.idempotent_request(context.body_fields()?)?;
    let to = assignee(AssignUnmatchedPayment::read(&request.body)?)?;
    let (actor, id) = (operator.actor(), context.uuid(RESOURCE_NAME)?);
    Job::write(move |step| {
        let assigned = request.run_once(step, KeyOwner::OPERATORS, || {
            let assigned = assign_unmatched_payment(step, &actor, &id, &to)?;
            Ok(IdempotentResponse::existing(assigned))
        });
        assigned.map(Outcome::from_idempotent)
    })
}

fn assignee(body: AssignUnmatchedPayment) -> Result<Assignee, Refusal> {
    match (body.invoice, body.account, body.customer) {
        (Some(invoice), None, None) => Ok(Assignee::Invoice(invoice)),
        (None, Some(account), Some(customer)) => Ok(Assignee::Customer(account, customer)),
        (None, Some(_), None) => Err(Refusal::field("customer", "must be given with account")),
        (None, None, Some(_)) => Err(Refusal::field("account", "must be given with customer")),
        (None, None, None) | (Some(_), _, _) => {
            let problem = "must be given, or account and customer instead";
            Err(Refusal::field("invoice", problem))
        }
    }
}

fn reopen(context: &Context<'_>, operator: &Member) -> Result<Job, Error> {
    let request = context.idempotent_request(Map::new())?;
    let (actor, id) = (operator.actor(), context.uuid(RESOURCE_NAME)?);
    Job::write(move |step| {
        let reopened = request.run_once(step, KeyOwner::OPERATORS, || {
            undo_outcome(step, &actor, &id).map(IdempotentResponse::existing)
        });
        reopened.map(Outcome::from_idempotent)
    })
}

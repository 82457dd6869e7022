//! Deposits of a shop's customers: `/v1/deposits`.

use super::operation::{Answer, Context, Job, Operation, OperationFn, Outcome, PLAIN};
use super::query::{Param, ParamKind, Query};
use super::tag::Tag;
use crate::domain::customer::REF_CHARS_MAX;
use crate::domain::fields::Component;
use crate::render::customer::DepositView;
use crate::service::deposits::DepositQuery;
use crate::service::{Caller, Error};
use std::sync::Arc;

const LIMIT_DEFAULT: u32 = 25;

pub const LIMIT: Param = Param::limit(100, LIMIT_DEFAULT);

pub const CUSTOMER: Param = Param {
    name: "customer",
    about: "Only deposits of the customer with this reference.",
    kind: ParamKind::Text { chars_max: REF_CHARS_MAX },
};

pub const DEPOSIT_LIST: Component = Component::List {
    name: "DepositList",
    item: &DepositView::COMPONENT,
    about: "Deposits in the key's mode, newest first.",
    about_data: "The deposits, newest first.",
};

pub const OPERATIONS: [&Operation; 2] = [&LIST, &GET];

const LIST: Operation = Operation {
    id: "listDeposits",
    path: "/v1/deposits",
    tag: Tag::Customers,
    summary: "Lists deposits, newest first.",
    query: &[LIMIT, CUSTOMER],
    answers: &[Answer::ok("The deposits.", &DEPOSIT_LIST)],
    run: OperationFn::Secret(list),
    ..PLAIN
};

const GET: Operation = Operation {
    id: "getDeposit",
    path: "/v1/deposits/{id}",
    tag: Tag::Customers,
    summary: "Returns a deposit.",
    answers: &[Answer::ok("The deposit.", &DepositView::COMPONENT)],
    run: OperationFn::Secret(get),
    ..PLAIN
};

pub fn deposit_query(query: &Query) -> DepositQuery {
    DepositQuery {
        customer: query.text("customer").map(str::to_owned),
        limit: query.limit(LIMIT_DEFAULT),
    }
}

fn list(context: &Context<'_>, caller: &Arc<Caller>) -> Result<Job, Error> {
    Job::list(&context.service.deposits(caller, &deposit_query(context.query))?)
}

fn get(context: &Context<'_>, caller: &Arc<Caller>) -> Result<Job, Error> {
    let deposit = context.service.deposit(caller, &context.uuid("deposit")?)?;
    Ok(Job::Done(Outcome::resource(deposit)))
}

//! Customers of an account and their deposits: `/dashboard/api/accounts/{account}/customers`, `…/deposits`.

use crate::api::deposits::{CUSTOMER, DEPOSIT_LIST, LIMIT, deposit_query};
use crate::api::operation::{Answer, Context, Job, Operation, OperationFn, Outcome, PLAIN};
use crate::api::params::MODE;
use crate::api::tag::Tag;
use crate::domain::RefusalCode;
use crate::render::customer::CustomerAddressesView;
use crate::service::{Error, Member};

pub const OPERATIONS: [&Operation; 2] = [&LIST_DEPOSITS, &GET];

const LIST_DEPOSITS: Operation = Operation {
    id: "listAccountDeposits",
    path: "/dashboard/api/accounts/{account}/deposits",
    tag: Tag::OperatorBooks,
    summary: "Lists an account's deposits, newest first.",
    query: &[MODE, LIMIT, CUSTOMER],
    answers: &[Answer::ok("The deposits.", &DEPOSIT_LIST)],
    run: OperationFn::Session(list_deposits),
    ..PLAIN
};

const GET: Operation = Operation {
    id: "getAccountCustomer",
    path: "/dashboard/api/accounts/{account}/customers/{ref}",
    tag: Tag::OperatorBooks,
    summary: "Returns the static addresses of an account's customer.",
    query: &[MODE],
    answers: &[Answer::ok("The customer's addresses.", &CustomerAddressesView::COMPONENT)],
    refusals: &[RefusalCode::InvalidRequest, RefusalCode::CustomersDisabled],
    run: OperationFn::Session(get),
    ..PLAIN
};

fn list_deposits(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let scope = context.scope(member)?;
    Job::list(&context.service.deposits(&scope, &deposit_query(context.query))?)
}

fn get(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let scope = context.scope(member)?;
    let found = context.service.customer_addresses(&scope, context.second_param())?;
    Ok(Job::Done(Outcome::resource(found)))
}

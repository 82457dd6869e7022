//! Customers and their deposits in the operator interface.
//!
//! What always holds: they are shown as the operations of the same name under `/v1` show them.

use crate::api::deposits::{self, CUSTOMER, LIMIT};
use crate::api::params::MODE;
use crate::domain::refusal::{Code, Refusal};
use crate::http::reply::Reply;
use crate::http::request::Call;
use crate::http::route::{Answer, Handler, PRIVATE, Resource, Route, Tag};
use crate::service::{Error, Member};

/// Its operations.
pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[
        Route {
            operation: "listAccountDeposits",
            tag: Some(Tag::OperatorBooks),
            path: "/dashboard/api/accounts/{account}/deposits",
            summary: "Lists an account's deposits, newest first.",
            query: &[MODE, LIMIT, CUSTOMER],
            answers: &[Answer::json(200, "The deposits.", "DepositList")],
            handler: Handler::Session(|call, member| Box::pin(list(call, member))),
            ..PRIVATE
        },
        Route {
            operation: "getAccountCustomer",
            tag: Some(Tag::OperatorBooks),
            path: "/dashboard/api/accounts/{account}/customers/{ref}",
            summary: "Reads the static addresses of an account's customer.",
            query: &[MODE],
            answers: &[Answer::json(
                200,
                "The customer's addresses.",
                "CustomerAddresses",
            )],
            refusals: &[Code::InvalidRequest, Code::CustomersDisabled],
            handler: Handler::Session(|call, member| Box::pin(addresses(call, member))),
            ..PRIVATE
        },
    ],
};

/// GET /dashboard/api/accounts/{account}/deposits
async fn list(call: Call, member: Member) -> Result<Reply, Error> {
    let wanted = deposits::wanted(&call.query);
    let scope = call.scope(&member)?;
    Reply::list(&call.front.service.deposits(&scope, &wanted)?)
}

/// GET /dashboard/api/accounts/{account}/customers/{ref}
async fn addresses(call: Call, member: Member) -> Result<Reply, Error> {
    let scope = call.scope(&member)?;
    let reference = call.path.get(1).map(String::as_str);
    let reference = reference.ok_or_else(|| Refusal::not_found("customer"))?;
    call.front
        .service
        .customer_addresses(&scope, reference)
        .map(Reply::ok)
}

//! The overview in the operator interface: an account in numbers, and what waits for an operator.
//!
//! What always holds: counting never makes other requests wait.

use crate::api::params::MODE;
use crate::domain::asset::Mode;
use crate::http::auth::Operator;
use crate::http::reply::Reply;
use crate::http::request::Call;
use crate::http::route::{Answer, Handler, PRIVATE, Resource, Route, Tag};
use crate::service::{Error, Member};
use std::sync::Arc;

/// Its operations.
pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[
        Route {
            operation: "getAccountSummary",
            tag: Some(Tag::OperatorBooks),
            path: "/dashboard/api/accounts/{account}/summary",
            summary: "Reads an account in numbers: balances, invoices, open payouts and refunds, endpoints that fail.",
            query: &[MODE],
            answers: &[Answer::json(200, "The numbers.", "AccountSummary")],
            handler: Handler::Session(|call, member| Box::pin(of_account(call, member))),
            ..PRIVATE
        },
        Route {
            operation: "getSummary",
            tag: Some(Tag::OperatorService),
            path: "/dashboard/api/summary",
            summary: "Counts what waits for an operator, over all accounts.",
            query: &[MODE],
            answers: &[Answer::json(200, "The counts.", "Summary")],
            handler: Handler::Operator(|call, operator| Box::pin(of_all(call, operator))),
            ..PRIVATE
        },
    ],
};

/// GET /dashboard/api/accounts/{account}/summary
async fn of_account(call: Call, member: Member) -> Result<Reply, Error> {
    let (scope, now) = (call.scope(&member)?, call.now);
    let service = Arc::clone(&call.front.service);
    let read = move || service.account_summary(now, &scope);
    call.long_read(&member, read).await.map(Reply::ok)
}

/// GET /dashboard/api/summary
async fn of_all(call: Call, operator: Operator) -> Result<Reply, Error> {
    let (now, mode) = (call.now, call.query.choice("mode")?.unwrap_or(Mode::Live));
    let service = Arc::clone(&call.front.service);
    let read = move || service.summary(now, mode);
    call.long_read(&operator, read).await.map(Reply::ok)
}

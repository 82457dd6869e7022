//! Balances, ledger and events of an account in the operator interface, and correcting its ledger.

use crate::api::params::{BEFORE, CURRENCY, MODE};
use crate::api::{account, events};
use crate::domain::refusal::Code;
use crate::http::auth::Operator;
use crate::http::reply::Reply;
use crate::http::request::{Call, Param, idempotency_key};
use crate::http::route::{Answer, Body, Handler, PRIVATE, RecentPassword, Resource, Route, Tag};
use crate::service::{Error, Member};

/// Its operations.
pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[
        Route {
            operation: "listAccountBalances",
            tag: Some(Tag::OperatorBooks),
            path: "/dashboard/api/accounts/{account}/balances",
            summary: "Reads both balances of an account.",
            query: &[MODE],
            answers: &[Answer::json(
                200,
                "One balance for each currency.",
                "BalanceList",
            )],
            handler: Handler::Session(|call, member| Box::pin(balances(call, member))),
            ..PRIVATE
        },
        Route {
            operation: "listAccountLedger",
            tag: Some(Tag::OperatorBooks),
            path: "/dashboard/api/accounts/{account}/ledger",
            summary: "Pages through an account's ledger, newest first.",
            query: &[
                MODE,
                Param::limit(200, account::LIMIT_DEFAULT),
                BEFORE,
                CURRENCY,
            ],
            answers: &[Answer::json(200, "A page of entries.", "LedgerPage")],
            handler: Handler::Session(|call, member| Box::pin(ledger(call, member))),
            ..PRIVATE
        },
        Route {
            operation: "createAdjustment",
            tag: Some(Tag::OperatorBooks),
            method: "POST",
            path: "/dashboard/api/accounts/{account}/adjustments",
            summary: "Corrects an account's ledger by an amount of either sign, for a reason that is kept.",
            query: &[MODE],
            body: Some(Body::required("CreateAdjustment")),
            answers: &[Answer::json(
                201,
                "The entry that was booked.",
                "LedgerEntry",
            )],
            refusals: &[Code::IdempotencyConflict],
            is_idempotent: true,
            recent_password: RecentPassword::Always,
            handler: Handler::Operator(|call, operator| Box::pin(adjust(call, operator))),
            ..PRIVATE
        },
        Route {
            operation: "listAccountEvents",
            tag: Some(Tag::OperatorBooks),
            path: "/dashboard/api/accounts/{account}/events",
            summary: "Pages through an account's events, newest first, in the bodies of their webhooks.",
            query: &[MODE, events::LIMIT, BEFORE, events::TYPE, events::OBJECT],
            answers: &[Answer::json(200, "A page of events.", "EventPage")],
            handler: Handler::Session(|call, member| Box::pin(events(call, member))),
            ..PRIVATE
        },
    ],
};

/// GET /dashboard/api/accounts/{account}/balances
async fn balances(call: Call, member: Member) -> Result<Reply, Error> {
    Reply::list(&call.front.service.balances(&call.scope(&member)?)?)
}

/// GET /dashboard/api/accounts/{account}/ledger
async fn ledger(call: Call, member: Member) -> Result<Reply, Error> {
    let (scope, wanted) = (call.scope(&member)?, account::wanted(&call.query)?);
    Reply::page(&call.front.service.ledger(&scope, &wanted)?)
}

/// GET /dashboard/api/accounts/{account}/events
async fn events(call: Call, member: Member) -> Result<Reply, Error> {
    let (scope, wanted) = (call.scope(&member)?, events::wanted(&call.query)?);
    Reply::page(&call.front.service.events(&scope, &wanted)?)
}

/// POST /dashboard/api/accounts/{account}/adjustments
async fn adjust(call: Call, operator: Operator) -> Result<Reply, Error> {
    let (scope, body) = (call.scope(&operator)?, call.object()?);
    let client_key = idempotency_key(&call.headers)?;
    let actor = operator.user().email.as_str();
    let service = &call.front.service;
    let (outcome, json) = service
        .create_adjustment(call.now, &scope, actor, body, client_key)
        .await?;
    Ok(Reply::made(outcome, json))
}

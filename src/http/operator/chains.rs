//! The chains that are followed, in the operator interface.

use crate::domain::refusal::Code;
use crate::http::auth::Operator;
use crate::http::reply::Reply;
use crate::http::request::{Call, Param};
use crate::http::route::{Answer, Body, Handler, PRIVATE, RecentPassword, Resource, Route, Tag};
use crate::service::Error;

/// `limit` where none is given.
const LIMIT_DEFAULT: u32 = 50;

/// Its operations.
pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[
        Route {
            operation: "listChains",
            tag: Some(Tag::OperatorService),
            path: "/dashboard/api/chains",
            summary: "Lists the chains that have a node: how far each has been read, and what is wrong.",
            answers: &[Answer::json(200, "The chains.", "ChainList")],
            handler: Handler::Operator(|call, operator| Box::pin(list(call, operator))),
            ..PRIVATE
        },
        Route {
            operation: "listClaims",
            tag: Some(Tag::OperatorService),
            path: "/dashboard/api/chains/{chain}/claims",
            summary: "Lists what was claimed on a chain, newest first, and what came of it.",
            query: &[Param::limit(200, LIMIT_DEFAULT)],
            answers: &[Answer::json(200, "The claims.", "ClaimList")],
            handler: Handler::Operator(|call, operator| Box::pin(claims(call, operator))),
            ..PRIVATE
        },
        Route {
            operation: "claimPayment",
            tag: Some(Tag::OperatorService),
            method: "POST",
            path: "/dashboard/api/chains/{chain}/claims",
            summary: "Claims a payment that a contract sent and the chain's node does not tell of: the node is asked for its transaction with the next step of the chain.",
            body: Some(Body::required("ClaimPayment")),
            answers: &[Answer::json(201, "The claim.", "Claim")],
            refusals: &[Code::InvalidTransition],
            recent_password: RecentPassword::Always,
            handler: Handler::Operator(|call, operator| Box::pin(claim(call, operator))),
            ..PRIVATE
        },
    ],
};

/// GET /dashboard/api/chains
async fn list(call: Call, _: Operator) -> Result<Reply, Error> {
    Reply::list(&call.front.service.chains_shown(call.now)?)
}

/// GET /dashboard/api/chains/{chain}/claims
async fn claims(call: Call, _: Operator) -> Result<Reply, Error> {
    let limit = call.query.limit(LIMIT_DEFAULT);
    Reply::list(&call.front.service.claims(call.id(), limit)?)
}

/// POST /dashboard/api/chains/{chain}/claims
async fn claim(call: Call, operator: Operator) -> Result<Reply, Error> {
    let body = call.object()?;
    let service = &call.front.service;
    let claim = service.claim_payment(call.now, &operator, call.id(), body);
    claim.await.map(Reply::created)
}

//! Resellers' tokens in the operator interface.

use crate::http::reply::Reply;
use crate::http::request::Call;
use crate::http::route::{Answer, Handler, PRIVATE, RecentPassword, Resource, Route, Tag};
use crate::service::{Error, Member};
use hyper::StatusCode;

/// Its operations.
pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[
        Route {
            operation: "listResellerTokens",
            tag: Some(Tag::OperatorServers),
            path: "/dashboard/api/accounts/{account}/reseller-tokens",
            summary: "Lists an account's reseller tokens, oldest first, by their last four characters.",
            answers: &[Answer::json(200, "The tokens.", "ResellerTokenList")],
            handler: Handler::Session(|call, member| Box::pin(list(call, member))),
            ..PRIVATE
        },
        Route {
            operation: "createResellerToken",
            tag: Some(Tag::OperatorServers),
            method: "POST",
            path: "/dashboard/api/accounts/{account}/reseller-tokens",
            summary: "Makes a token of the reseller interface and shows it, once.",
            answers: &[Answer::json(201, "The token.", "CreatedResellerToken")],
            recent_password: RecentPassword::Always,
            handler: Handler::Session(|call, member| Box::pin(create(call, member))),
            ..PRIVATE
        },
        Route {
            operation: "revokeResellerToken",
            tag: Some(Tag::OperatorServers),
            method: "DELETE",
            path: "/dashboard/api/accounts/{account}/reseller-tokens/{id}",
            summary: "Revokes a reseller token at once; the servers that were ordered with it stay.",
            answers: &[Answer::empty(204, "Revoked.")],
            recent_password: RecentPassword::Always,
            handler: Handler::Session(|call, member| Box::pin(revoke(call, member))),
            ..PRIVATE
        },
    ],
};

/// GET /dashboard/api/accounts/{account}/reseller-tokens
async fn list(call: Call, member: Member) -> Result<Reply, Error> {
    Reply::list(
        &call
            .front
            .service
            .reseller_tokens_of(&call.scope(&member)?)?,
    )
}

/// POST /dashboard/api/accounts/{account}/reseller-tokens
async fn create(call: Call, member: Member) -> Result<Reply, Error> {
    let (scope, member) = (call.scope(&member)?, &member);
    let service = &call.front.service;
    let made = service
        .create_reseller_token(call.now, &scope, member)
        .await?;
    Ok(Reply::created(made))
}

/// DELETE /dashboard/api/accounts/{account}/reseller-tokens/{id}
async fn revoke(call: Call, member: Member) -> Result<Reply, Error> {
    let (scope, member) = (call.scope(&member)?, &member);
    let service = &call.front.service;
    service
        .revoke_reseller_token(call.now, &scope, member, call.second())
        .await?;
    Ok(Reply::json(StatusCode::NO_CONTENT, ""))
}

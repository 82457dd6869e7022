//! Keys in the operator interface.

use crate::domain::refusal::Code;
use crate::http::reply::Reply;
use crate::http::request::Call;
use crate::http::route::{Answer, Body, Handler, PRIVATE, RecentPassword, Resource, Route, Tag};
use crate::service::{Error, Member};
use hyper::StatusCode;

/// Its operations.
pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[
        Route {
            operation: "listKeys",
            tag: Some(Tag::OperatorAccounts),
            path: "/dashboard/api/accounts/{account}/keys",
            summary: "Lists an account's keys of both modes, oldest first, by their last four characters.",
            answers: &[Answer::json(200, "The keys.", "KeyList")],
            handler: Handler::Session(|call, member| Box::pin(list(call, member))),
            ..PRIVATE
        },
        Route {
            operation: "createKey",
            tag: Some(Tag::OperatorAccounts),
            method: "POST",
            path: "/dashboard/api/accounts/{account}/keys",
            summary: "Makes a key and shows it, once; or takes over a legacy one that a shop has.",
            body: Some(Body::required("CreateKey")),
            answers: &[Answer::json(201, "The key.", "CreatedKey")],
            recent_password: RecentPassword::Always,
            handler: Handler::Session(|call, member| Box::pin(create(call, member))),
            ..PRIVATE
        },
        Route {
            operation: "rollKey",
            tag: Some(Tag::OperatorAccounts),
            method: "POST",
            path: "/dashboard/api/accounts/{account}/keys/{id}/roll",
            summary: "Makes the successor of a key and shows it, once; the old one works on for a while.",
            body: Some(Body {
                schema: "RollKey",
                required: false,
            }),
            answers: &[Answer::json(201, "The new key.", "CreatedKey")],
            refusals: &[Code::InvalidTransition],
            recent_password: RecentPassword::Always,
            handler: Handler::Session(|call, member| Box::pin(roll(call, member))),
            ..PRIVATE
        },
        Route {
            operation: "revokeKey",
            tag: Some(Tag::OperatorAccounts),
            method: "DELETE",
            path: "/dashboard/api/accounts/{account}/keys/{id}",
            summary: "Revokes a key at once.",
            answers: &[Answer::empty(204, "Revoked.")],
            recent_password: RecentPassword::Always,
            handler: Handler::Session(|call, member| Box::pin(revoke(call, member))),
            ..PRIVATE
        },
    ],
};

/// GET /dashboard/api/accounts/{account}/keys
async fn list(call: Call, member: Member) -> Result<Reply, Error> {
    Reply::list(&call.front.service.keys_of(&call.scope(&member)?)?)
}

/// POST /dashboard/api/accounts/{account}/keys
async fn create(call: Call, member: Member) -> Result<Reply, Error> {
    let (scope, member, body) = (call.scope(&member)?, &member, call.object()?);
    let service = &call.front.service;
    let made = service.create_key(call.now, &scope, member, body).await?;
    Ok(Reply::created(made))
}

/// POST /dashboard/api/accounts/{account}/keys/{id}/roll
async fn roll(call: Call, member: Member) -> Result<Reply, Error> {
    let (scope, member, body) = (call.scope(&member)?, &member, call.optional_object()?);
    let service = &call.front.service;
    let made = service
        .roll_key(call.now, &scope, member, call.second(), body)
        .await?;
    Ok(Reply::created(made))
}

/// DELETE /dashboard/api/accounts/{account}/keys/{id}
async fn revoke(call: Call, member: Member) -> Result<Reply, Error> {
    let (scope, member) = (call.scope(&member)?, &member);
    let service = &call.front.service;
    service
        .revoke_key(call.now, &scope, member, call.second())
        .await?;
    Ok(Reply::json(StatusCode::NO_CONTENT, ""))
}

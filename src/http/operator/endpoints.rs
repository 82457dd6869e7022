//! Webhook endpoints in the operator interface.

use crate::http::reply::Reply;
use crate::http::request::Call;
use crate::http::route::{Answer, Body, Handler, PRIVATE, RecentPassword, Resource, Route, Tag};
use crate::service::{Error, Member};
use hyper::StatusCode;

/// Its operations.
pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[
        Route {
            operation: "listEndpoints",
            tag: Some(Tag::OperatorWebhooks),
            path: "/dashboard/api/accounts/{account}/endpoints",
            summary: "Lists an account's webhook endpoints, oldest first.",
            answers: &[Answer::json(200, "The endpoints.", "EndpointList")],
            handler: Handler::Session(|call, member| Box::pin(list(call, member))),
            ..PRIVATE
        },
        Route {
            operation: "createEndpoint",
            tag: Some(Tag::OperatorWebhooks),
            method: "POST",
            path: "/dashboard/api/accounts/{account}/endpoints",
            summary: "Makes a webhook endpoint and its secret.",
            body: Some(Body::required("CreateEndpoint")),
            answers: &[Answer::json(
                201,
                "The endpoint, with its secret.",
                "CreatedEndpoint",
            )],
            recent_password: RecentPassword::Always,
            handler: Handler::Session(|call, member| Box::pin(create(call, member))),
            ..PRIVATE
        },
        Route {
            operation: "changeEndpoint",
            tag: Some(Tag::OperatorWebhooks),
            method: "PATCH",
            path: "/dashboard/api/accounts/{account}/endpoints/{id}",
            summary: "Changes a webhook endpoint, or switches it on or off.",
            body: Some(Body::required("ChangeEndpoint")),
            answers: &[Answer::json(200, "The endpoint.", "Endpoint")],
            recent_password: RecentPassword::Always,
            handler: Handler::Session(|call, member| Box::pin(change(call, member))),
            ..PRIVATE
        },
        Route {
            operation: "removeEndpoint",
            tag: Some(Tag::OperatorWebhooks),
            method: "DELETE",
            path: "/dashboard/api/accounts/{account}/endpoints/{id}",
            summary: "Removes a webhook endpoint; what was still to be sent to it is given up.",
            answers: &[Answer::empty(204, "Removed.")],
            handler: Handler::Session(|call, member| Box::pin(remove(call, member))),
            ..PRIVATE
        },
        Route {
            operation: "getEndpointSecret",
            tag: Some(Tag::OperatorWebhooks),
            path: "/dashboard/api/accounts/{account}/endpoints/{id}/secret",
            summary: "Shows an endpoint's secret; the audit log notes to whom.",
            answers: &[Answer::json(200, "The secret.", "SigningSecret")],
            recent_password: RecentPassword::Always,
            handler: Handler::Session(|call, member| Box::pin(show_secret(call, member))),
            ..PRIVATE
        },
        Route {
            operation: "rollEndpointSecret",
            tag: Some(Tag::OperatorWebhooks),
            method: "POST",
            path: "/dashboard/api/accounts/{account}/endpoints/{id}/roll-secret",
            summary: "Makes an endpoint's new secret; for 24 hours the old one signs too.",
            answers: &[Answer::json(200, "The new secret.", "SigningSecret")],
            recent_password: RecentPassword::Always,
            handler: Handler::Session(|call, member| Box::pin(roll_secret(call, member))),
            ..PRIVATE
        },
    ],
};

/// GET /dashboard/api/accounts/{account}/endpoints
async fn list(call: Call, member: Member) -> Result<Reply, Error> {
    Reply::list(&call.front.service.endpoints(&call.scope(&member)?)?)
}

/// POST /dashboard/api/accounts/{account}/endpoints
async fn create(call: Call, member: Member) -> Result<Reply, Error> {
    let (scope, member, body) = (call.scope(&member)?, &member, call.object()?);
    let service = &call.front.service;
    let made = service
        .create_endpoint(call.now, &scope, member, body)
        .await?;
    Ok(Reply::created(made))
}

/// PATCH /dashboard/api/accounts/{account}/endpoints/{id}
async fn change(call: Call, member: Member) -> Result<Reply, Error> {
    let (scope, member, body) = (call.scope(&member)?, &member, call.object()?);
    let service = &call.front.service;
    service
        .change_endpoint(call.now, &scope, member, call.second(), body)
        .await
        .map(Reply::ok)
}

/// DELETE /dashboard/api/accounts/{account}/endpoints/{id}
async fn remove(call: Call, member: Member) -> Result<Reply, Error> {
    let (scope, member) = (call.scope(&member)?, &member);
    let service = &call.front.service;
    service
        .remove_endpoint(call.now, &scope, member, call.second())
        .await?;
    Ok(Reply::json(StatusCode::NO_CONTENT, ""))
}

/// GET /dashboard/api/accounts/{account}/endpoints/{id}/secret
async fn show_secret(call: Call, member: Member) -> Result<Reply, Error> {
    let (scope, member) = (call.scope(&member)?, &member);
    let service = &call.front.service;
    service
        .show_endpoint_secret(call.now, &scope, member, call.second())
        .await
        .map(Reply::ok)
}

/// POST /dashboard/api/accounts/{account}/endpoints/{id}/roll-secret
async fn roll_secret(call: Call, member: Member) -> Result<Reply, Error> {
    let (scope, member) = (call.scope(&member)?, &member);
    let service = &call.front.service;
    service
        .roll_endpoint_secret(call.now, &scope, member, call.second())
        .await
        .map(Reply::ok)
}

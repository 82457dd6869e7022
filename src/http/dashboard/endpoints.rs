//! Webhook endpoints in the operator interface.

use crate::http::reply::Reply;
use crate::http::request::Call;
use crate::service::Error;
use crate::service::Member;
use hyper::StatusCode;

/// GET /dashboard/api/accounts/{account}/endpoints
pub(in crate::http) async fn list(call: Call, member: Member) -> Result<Reply, Error> {
    Reply::list(&call.front.service.endpoints(&call.scope(&member)?)?)
}

/// POST /dashboard/api/accounts/{account}/endpoints
pub(in crate::http) async fn create(call: Call, member: Member) -> Result<Reply, Error> {
    let (scope, member, body) = (call.scope(&member)?, &member, call.object()?);
    let service = &call.front.service;
    let made = service
        .create_endpoint(call.now, &scope, member, body)
        .await?;
    Ok(Reply::created(made))
}

/// PATCH /dashboard/api/accounts/{account}/endpoints/{id}
pub(in crate::http) async fn change(call: Call, member: Member) -> Result<Reply, Error> {
    let (scope, member, body) = (call.scope(&member)?, &member, call.object()?);
    let service = &call.front.service;
    service
        .change_endpoint(call.now, &scope, member, call.second(), body)
        .await
        .map(Reply::ok)
}

/// DELETE /dashboard/api/accounts/{account}/endpoints/{id}
pub(in crate::http) async fn remove(call: Call, member: Member) -> Result<Reply, Error> {
    let (scope, member) = (call.scope(&member)?, &member);
    let service = &call.front.service;
    service
        .remove_endpoint(call.now, &scope, member, call.second())
        .await?;
    Ok(Reply::json(StatusCode::NO_CONTENT, ""))
}

/// GET /dashboard/api/accounts/{account}/endpoints/{id}/secret
pub(in crate::http) async fn show_secret(call: Call, member: Member) -> Result<Reply, Error> {
    let (scope, member) = (call.scope(&member)?, &member);
    let service = &call.front.service;
    service
        .show_endpoint_secret(call.now, &scope, member, call.second())
        .await
        .map(Reply::ok)
}

/// POST /dashboard/api/accounts/{account}/endpoints/{id}/roll-secret
pub(in crate::http) async fn roll_secret(call: Call, member: Member) -> Result<Reply, Error> {
    let (scope, member) = (call.scope(&member)?, &member);
    let service = &call.front.service;
    service
        .roll_endpoint_secret(call.now, &scope, member, call.second())
        .await
        .map(Reply::ok)
}

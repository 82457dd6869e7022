//! Keys in the operator interface.

use crate::http::reply::Reply;
use crate::http::request::Call;
use crate::service::Error;
use crate::service::Member;
use hyper::StatusCode;

/// GET /dashboard/api/accounts/{account}/keys
pub(in crate::http) async fn list(call: Call, member: Member) -> Result<Reply, Error> {
    Reply::list(&call.front.service.keys_of(&call.scope(&member)?)?)
}

/// POST /dashboard/api/accounts/{account}/keys
pub(in crate::http) async fn create(call: Call, member: Member) -> Result<Reply, Error> {
    let (scope, member, body) = (call.scope(&member)?, &member, call.object()?);
    let service = &call.front.service;
    let made = service.create_key(call.now, &scope, member, body).await?;
    Ok(Reply::created(made))
}

/// POST /dashboard/api/accounts/{account}/keys/{id}/roll
pub(in crate::http) async fn roll(call: Call, member: Member) -> Result<Reply, Error> {
    let (scope, member, body) = (call.scope(&member)?, &member, call.optional_object()?);
    let service = &call.front.service;
    let made = service
        .roll_key(call.now, &scope, member, call.second(), body)
        .await?;
    Ok(Reply::created(made))
}

/// DELETE /dashboard/api/accounts/{account}/keys/{id}
pub(in crate::http) async fn revoke(call: Call, member: Member) -> Result<Reply, Error> {
    let (scope, member) = (call.scope(&member)?, &member);
    let service = &call.front.service;
    service
        .revoke_key(call.now, &scope, member, call.second())
        .await?;
    Ok(Reply::json(StatusCode::NO_CONTENT, ""))
}

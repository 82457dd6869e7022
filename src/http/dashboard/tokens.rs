//! Resellers' tokens in the operator interface.

use crate::http::reply::Reply;
use crate::http::request::Call;
use crate::service::Error;
use crate::service::Member;
use hyper::StatusCode;

/// GET /dashboard/api/accounts/{account}/reseller-tokens
pub(in crate::http) async fn list(call: Call, member: Member) -> Result<Reply, Error> {
    Reply::list(
        &call
            .front
            .service
            .reseller_tokens_of(&call.scope(&member)?)?,
    )
}

/// POST /dashboard/api/accounts/{account}/reseller-tokens
pub(in crate::http) async fn create(call: Call, member: Member) -> Result<Reply, Error> {
    let (scope, member) = (call.scope(&member)?, &member);
    let service = &call.front.service;
    let made = service
        .create_reseller_token(call.now, &scope, member)
        .await?;
    Ok(Reply::created(made))
}

/// DELETE /dashboard/api/accounts/{account}/reseller-tokens/{id}
pub(in crate::http) async fn revoke(call: Call, member: Member) -> Result<Reply, Error> {
    let (scope, member) = (call.scope(&member)?, &member);
    let service = &call.front.service;
    service
        .revoke_reseller_token(call.now, &scope, member, call.second())
        .await?;
    Ok(Reply::json(StatusCode::NO_CONTENT, ""))
}

//! Resellers' tokens in the operator interface.

use crate::http::reply::Reply;
use crate::http::request::Call;
use crate::service::Error;
use hyper::StatusCode;

/// GET /dashboard/api/accounts/{account}/reseller-tokens
pub(in crate::http) async fn list(call: Call) -> Result<Reply, Error> {
    Reply::list(&call.front.service.reseller_tokens_of(&call.scope()?)?)
}

/// POST /dashboard/api/accounts/{account}/reseller-tokens
pub(in crate::http) async fn create(call: Call) -> Result<Reply, Error> {
    let (scope, member) = (call.scope()?, call.member()?);
    let service = &call.front.service;
    let made = service
        .create_reseller_token(call.now, &scope, member)
        .await?;
    Ok(Reply::created(made))
}

/// DELETE /dashboard/api/accounts/{account}/reseller-tokens/{id}
pub(in crate::http) async fn revoke(call: Call) -> Result<Reply, Error> {
    let (scope, member) = (call.scope()?, call.member()?);
    let service = &call.front.service;
    service
        .revoke_reseller_token(call.now, &scope, member, call.second())
        .await?;
    Ok(Reply::json(StatusCode::NO_CONTENT, ""))
}

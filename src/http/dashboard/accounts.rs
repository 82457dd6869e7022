//! Accounts in the operator interface: what they are, what is decided of them, where their payouts go.

use crate::http::auth::Operator;
use crate::http::reply::Reply;
use crate::http::request::Call;
use crate::service::Error;
use crate::service::Member;
use hyper::StatusCode;

/// GET /dashboard/api/accounts
pub(in crate::http) async fn list(call: Call, _: Operator) -> Result<Reply, Error> {
    Reply::list(&call.front.service.desk_accounts()?)
}

/// POST /dashboard/api/accounts
pub(in crate::http) async fn create(call: Call, operator: Operator) -> Result<Reply, Error> {
    let (member, body) = (&operator, call.object()?);
    let service = &call.front.service;
    let made = service.create_account(call.now, member, body).await?;
    Ok(Reply::created(made))
}

/// GET /dashboard/api/accounts/{account}
pub(in crate::http) async fn read(call: Call, member: Member) -> Result<Reply, Error> {
    Ok(Reply::ok(
        call.front.service.desk_account(&call.scope(&member)?)?,
    ))
}

/// PATCH /dashboard/api/accounts/{account}
pub(in crate::http) async fn change(call: Call, member: Member) -> Result<Reply, Error> {
    let (scope, member, body) = (call.scope(&member)?, &member, call.object()?);
    let service = &call.front.service;
    service
        .change_account(call.now, &scope, member, body)
        .await
        .map(Reply::ok)
}

/// POST /dashboard/api/accounts/{account}/status
pub(in crate::http) async fn decide(call: Call, operator: Operator) -> Result<Reply, Error> {
    let (scope, member, body) = (call.scope(&operator)?, &operator, call.object()?);
    let service = &call.front.service;
    service
        .decide_on_account(call.now, &scope, member, body)
        .await
        .map(Reply::ok)
}

/// PUT /dashboard/api/accounts/{account}/payout-addresses/{chain}
pub(in crate::http) async fn set_payout_address(
    call: Call,
    member: Member,
) -> Result<Reply, Error> {
    let (scope, member, body) = (call.scope(&member)?, &member, call.object()?);
    let service = &call.front.service;
    service
        .set_payout_address(call.now, &scope, member, call.second(), body)
        .await
        .map(Reply::ok)
}

/// DELETE /dashboard/api/accounts/{account}/payout-addresses/{chain}
pub(in crate::http) async fn remove_payout_address(
    call: Call,
    member: Member,
) -> Result<Reply, Error> {
    let (scope, member) = (call.scope(&member)?, &member);
    let service = &call.front.service;
    service
        .remove_payout_address(call.now, &scope, member, call.second())
        .await?;
    Ok(Reply::json(StatusCode::NO_CONTENT, ""))
}

/// GET /dashboard/api/accounts/{account}/legacy-secret
pub(in crate::http) async fn show_legacy_secret(
    call: Call,
    member: Member,
) -> Result<Reply, Error> {
    let (scope, member) = (call.scope(&member)?, &member);
    let service = &call.front.service;
    service
        .show_legacy_secret(call.now, &scope, member)
        .await
        .map(Reply::ok)
}

/// POST /dashboard/api/accounts/{account}/legacy-secret/roll
pub(in crate::http) async fn roll_legacy_secret(
    call: Call,
    member: Member,
) -> Result<Reply, Error> {
    let (scope, member) = (call.scope(&member)?, &member);
    let service = &call.front.service;
    service
        .roll_legacy_secret(call.now, &scope, member)
        .await
        .map(Reply::ok)
}

//! Payouts and refunds in the operator interface: listing, requesting, and each step.

use crate::domain::asset::Mode;
use crate::domain::transfer::TransferKind;
use crate::http::api::invoices::made;
use crate::http::api::transfers::{LIMIT_DEFAULT, wanted};
use crate::http::auth::Operator;
use crate::http::reply::Reply;
use crate::http::request::{Call, idempotency_key};
use crate::service::Error;
use crate::service::Member;

/// GET /dashboard/api/accounts/{account}/payouts
pub(in crate::http) async fn payouts(call: Call, member: Member) -> Result<Reply, Error> {
    list(&call, &member, TransferKind::Payout)
}

/// GET /dashboard/api/accounts/{account}/refunds
pub(in crate::http) async fn refunds(call: Call, member: Member) -> Result<Reply, Error> {
    list(&call, &member, TransferKind::Refund)
}

/// The newest of an account.
fn list(call: &Call, member: &Member, kind: TransferKind) -> Result<Reply, Error> {
    let (scope, wanted) = (call.scope(member)?, wanted(call, kind));
    Reply::list(
        &call
            .front
            .service
            .transfers_for_dashboard(&scope, &wanted)?,
    )
}

/// POST /dashboard/api/accounts/{account}/payouts
pub(in crate::http) async fn request_payout(call: Call, member: Member) -> Result<Reply, Error> {
    let (scope, body) = (call.scope(&member)?, call.object()?);
    let client_key = idempotency_key(&call.headers)?;
    let person = Some(member.user().email.as_str());
    let service = &call.front.service;
    let (outcome, json) = service
        .create_payout(call.now, &scope, person, body, client_key)
        .await?;
    Ok(Reply::json(made(outcome), json))
}

/// POST /dashboard/api/accounts/{account}/refunds
pub(in crate::http) async fn request_refund(call: Call, member: Member) -> Result<Reply, Error> {
    let (scope, body) = (call.scope(&member)?, call.object()?);
    let client_key = idempotency_key(&call.headers)?;
    let person = member.user().email.as_str();
    let service = &call.front.service;
    let (outcome, json) = service
        .create_refund(call.now, &scope, person, body, client_key)
        .await?;
    Ok(Reply::json(made(outcome), json))
}

/// GET /dashboard/api/payouts
pub(in crate::http) async fn all_payouts(call: Call, _: Operator) -> Result<Reply, Error> {
    list_all(&call, TransferKind::Payout)
}

/// GET /dashboard/api/refunds
pub(in crate::http) async fn all_refunds(call: Call, _: Operator) -> Result<Reply, Error> {
    list_all(&call, TransferKind::Refund)
}

/// The newest of all accounts.
fn list_all(call: &Call, kind: TransferKind) -> Result<Reply, Error> {
    let mode = call.query.choice("mode")?.unwrap_or(Mode::Live);
    let (status, limit) = (
        call.query.choice("status")?,
        call.query.limit(LIMIT_DEFAULT),
    );
    let service = &call.front.service;
    Reply::list(&service.transfers_of_all(mode, kind, status, limit)?)
}

/// POST /dashboard/api/payouts/{id}
pub(in crate::http) async fn move_payout(call: Call, operator: Operator) -> Result<Reply, Error> {
    step(call, &operator, TransferKind::Payout).await
}

/// POST /dashboard/api/refunds/{id}
pub(in crate::http) async fn move_refund(call: Call, operator: Operator) -> Result<Reply, Error> {
    step(call, &operator, TransferKind::Refund).await
}

/// One step.
async fn step(call: Call, operator: &Operator, kind: TransferKind) -> Result<Reply, Error> {
    let (service, body) = (&call.front.service, call.object()?);
    let actor = operator.user().email.as_str();
    service
        .move_transfer(call.now, actor, kind, call.id(), body)
        .await
        .map(Reply::ok)
}

//! Balances, ledger and events of an account in the operator interface, and correcting its ledger.

use crate::http::api;
use crate::http::api::invoices::made;
use crate::http::auth::Operator;
use crate::http::reply::Reply;
use crate::http::request::{Call, idempotency_key};
use crate::service::Error;
use crate::service::Member;

/// GET /dashboard/api/accounts/{account}/balances
pub(in crate::http) async fn balances(call: Call, member: Member) -> Result<Reply, Error> {
    Reply::list(&call.front.service.balances(&call.scope(&member)?)?)
}

/// GET /dashboard/api/accounts/{account}/ledger
pub(in crate::http) async fn ledger(call: Call, member: Member) -> Result<Reply, Error> {
    let (scope, wanted) = (call.scope(&member)?, api::account::wanted(&call)?);
    Reply::page(&call.front.service.ledger(&scope, &wanted)?)
}

/// GET /dashboard/api/accounts/{account}/events
pub(in crate::http) async fn events(call: Call, member: Member) -> Result<Reply, Error> {
    let (scope, wanted) = (call.scope(&member)?, api::events::wanted(&call)?);
    Reply::page(&call.front.service.events(&scope, &wanted)?)
}

/// POST /dashboard/api/accounts/{account}/adjustments
pub(in crate::http) async fn adjust(call: Call, operator: Operator) -> Result<Reply, Error> {
    let (scope, body) = (call.scope(&operator)?, call.object()?);
    let client_key = idempotency_key(&call.headers)?;
    let actor = operator.user().email.as_str();
    let service = &call.front.service;
    let (outcome, json) = service
        .create_adjustment(call.now, &scope, actor, body, client_key)
        .await?;
    Ok(Reply::json(made(outcome), json))
}

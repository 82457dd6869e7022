//! Balances, ledger and events of an account in the operator interface, and correcting its ledger.

use crate::http::api;
use crate::http::api::invoices::made;
use crate::http::reply::Reply;
use crate::http::request::{Call, idempotency_key};
use crate::service::Error;

/// GET /dashboard/api/accounts/{account}/balances
pub(in crate::http) async fn balances(call: Call) -> Result<Reply, Error> {
    Reply::list(&call.front.service.balances(&call.scope()?)?)
}

/// GET /dashboard/api/accounts/{account}/ledger
pub(in crate::http) async fn ledger(call: Call) -> Result<Reply, Error> {
    let (scope, wanted) = (call.scope()?, api::account::wanted(&call)?);
    Reply::page(&call.front.service.ledger(&scope, &wanted)?)
}

/// GET /dashboard/api/accounts/{account}/events
pub(in crate::http) async fn events(call: Call) -> Result<Reply, Error> {
    let (scope, wanted) = (call.scope()?, api::events::wanted(&call)?);
    Reply::page(&call.front.service.events(&scope, &wanted)?)
}

/// POST /dashboard/api/accounts/{account}/adjustments
pub(in crate::http) async fn adjust(call: Call) -> Result<Reply, Error> {
    let (scope, body) = (call.scope()?, call.object()?);
    let client_key = idempotency_key(&call.headers)?;
    let actor = call.member()?.user().email.as_str();
    let service = &call.front.service;
    let (outcome, json) = service
        .create_adjustment(call.now, &scope, actor, body, client_key)
        .await?;
    Ok(Reply::json(made(outcome), json))
}

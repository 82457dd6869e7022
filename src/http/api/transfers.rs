//! `/v1/payouts` and `/v1/refunds`.

use super::invoices::made;
use crate::domain::transfer::TransferKind;
use crate::http::reply::Reply;
use crate::http::request::{Call, idempotency_key};
use crate::service::Caller;
use crate::service::Error;
use crate::service::transfers::TransfersWanted;
use std::sync::Arc;

/// `limit` where none is given.
pub(in crate::http) const LIMIT_DEFAULT: u32 = 25;

/// POST /v1/payouts
pub(in crate::http) async fn create_payout(
    call: Call,
    caller: Arc<Caller>,
) -> Result<Reply, Error> {
    let body = call.object()?;
    let client_key = idempotency_key(&call.headers)?;
    let service = &call.front.service;
    let (outcome, json) = service
        .create_payout(call.now, &caller, None, body, client_key)
        .await?;
    Ok(Reply::json(made(outcome), json))
}

/// GET /v1/payouts
pub(in crate::http) async fn payouts(call: Call, caller: Arc<Caller>) -> Result<Reply, Error> {
    list(&call, &caller, TransferKind::Payout)
}

/// GET /v1/payouts/{id}
pub(in crate::http) async fn payout(call: Call, caller: Arc<Caller>) -> Result<Reply, Error> {
    get(&call, &caller, TransferKind::Payout)
}

/// GET /v1/refunds
pub(in crate::http) async fn refunds(call: Call, caller: Arc<Caller>) -> Result<Reply, Error> {
    list(&call, &caller, TransferKind::Refund)
}

/// GET /v1/refunds/{id}
pub(in crate::http) async fn refund(call: Call, caller: Arc<Caller>) -> Result<Reply, Error> {
    get(&call, &caller, TransferKind::Refund)
}

/// The newest of a kind.
fn list(call: &Call, caller: &Caller, kind: TransferKind) -> Result<Reply, Error> {
    let wanted = wanted(call, kind);
    Reply::list(&call.front.service.transfers(caller, &wanted)?)
}

/// What a query asks for.
pub(in crate::http) fn wanted(call: &Call, kind: TransferKind) -> TransfersWanted {
    TransfersWanted {
        kind,
        invoice: call.query.text("invoiceId").map(str::to_owned),
        limit: call.query.limit(LIMIT_DEFAULT),
    }
}

/// One of a kind.
fn get(call: &Call, caller: &Caller, kind: TransferKind) -> Result<Reply, Error> {
    let service = &call.front.service;
    service.transfer(caller, kind, call.id()).map(Reply::ok)
}

//! The controls over simulated chains: what is put on them, what becomes of it, and how far they have been looked at.

use crate::http::front::sandbox::Sandbox;
use crate::http::reply::Reply;
use crate::http::request::Call;
use crate::service::Error;
use hyper::StatusCode;
use std::sync::Arc;

/// PATCH /sandbox/chains/{chain}
pub(in crate::http) async fn chain(call: Call, _: Arc<Sandbox>) -> Result<Reply, Error> {
    call.front
        .service
        .patch_sandbox_chain(call.now, call.id(), call.object()?)
        .await
        .map(Reply::ok)
}

/// POST /sandbox/payments
pub(in crate::http) async fn put_payment(call: Call, _: Arc<Sandbox>) -> Result<Reply, Error> {
    let (is_new, json) = call
        .front
        .service
        .put_payment(call.now, call.object()?)
        .await?;
    let status = if is_new {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    Ok(Reply {
        status,
        ..Reply::ok(json)
    })
}

/// POST /sandbox/payments/{id}
pub(in crate::http) async fn move_payment(call: Call, _: Arc<Sandbox>) -> Result<Reply, Error> {
    call.front
        .service
        .move_payment(call.now, call.id(), call.object()?)
        .await
        .map(Reply::ok)
}

//! Payouts and refunds of either mode: requesting refunds, and each step.

use crate::domain::refusal::Code;
use crate::domain::transfer::TransferKind;
use crate::http::front::sandbox::Sandbox;
use crate::http::reply::Reply;
use crate::http::request::{Call, idempotency_key};
use crate::http::route::{Answer, Body, Handler, PLAIN, Resource, Route, Tag};
use crate::service::Error;
use std::sync::Arc;

/// Its operations.
pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[
        Route {
            operation: "sandboxMovePayout",
            tag: Some(Tag::SandboxMoney),
            method: "POST",
            path: "/sandbox/payouts/{id}",
            summary: "Approves, processes, pays, fails, rejects or cancels a payout.",
            body: Some(Body::required("SandboxMoveTransfer")),
            answers: &[Answer::json(200, "The payout.", "Payout")],
            refusals: &[Code::InvalidTransition],
            handler: Handler::Sandbox(|call, sandbox| Box::pin(move_payout(call, sandbox))),
            ..PLAIN
        },
        Route {
            operation: "sandboxPutRefund",
            tag: Some(Tag::SandboxMoney),
            method: "POST",
            path: "/sandbox/refunds",
            summary: "Requests a refund of an invoice of either mode.",
            body: Some(Body::required("SandboxRefund")),
            answers: &[Answer::json(201, "The refund was requested.", "Refund")],
            refusals: &[
                Code::NotFound,
                Code::InvoiceNotRefundable,
                Code::InvalidAmount,
                Code::IdempotencyConflict,
            ],
            is_idempotent: true,
            handler: Handler::Sandbox(|call, sandbox| Box::pin(put_refund(call, sandbox))),
            ..PLAIN
        },
        Route {
            operation: "sandboxMoveRefund",
            tag: Some(Tag::SandboxMoney),
            method: "POST",
            path: "/sandbox/refunds/{id}",
            summary: "Approves, processes, pays, fails, rejects or cancels a refund.",
            body: Some(Body::required("SandboxMoveTransfer")),
            answers: &[Answer::json(200, "The refund.", "Refund")],
            refusals: &[Code::InvalidTransition],
            handler: Handler::Sandbox(|call, sandbox| Box::pin(move_refund(call, sandbox))),
            ..PLAIN
        },
    ],
};

/// POST /sandbox/payouts/{id}
async fn move_payout(call: Call, _: Arc<Sandbox>) -> Result<Reply, Error> {
    move_transfer(call, TransferKind::Payout).await
}

/// POST /sandbox/refunds/{id}
async fn move_refund(call: Call, _: Arc<Sandbox>) -> Result<Reply, Error> {
    move_transfer(call, TransferKind::Refund).await
}

/// One step of a payout or refund.
async fn move_transfer(call: Call, kind: TransferKind) -> Result<Reply, Error> {
    let (service, body) = (&call.front.service, call.object()?);
    service
        .move_sandbox_transfer(call.now, kind, call.id(), body)
        .await
        .map(Reply::ok)
}

/// POST /sandbox/refunds
async fn put_refund(call: Call, _: Arc<Sandbox>) -> Result<Reply, Error> {
    let (service, body) = (&call.front.service, call.object()?);
    let client_key = idempotency_key(&call.headers)?;
    let (outcome, json) = service
        .create_sandbox_refund(call.now, body, client_key)
        .await?;
    Ok(Reply::made(outcome, json))
}

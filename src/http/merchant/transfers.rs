//! `/v1/payouts` and `/v1/refunds`.

use crate::domain::refusal::Code;
use crate::domain::transfer::TransferKind;
use crate::http::reply::Reply;
use crate::http::request::{Call, Param, ParamKind, idempotency_key};
use crate::http::route::{Answer, Body, Handler, PRIVATE, Resource, Route, Tag};
use crate::service::payouts::Requester;
use crate::service::{Caller, Error};
use std::sync::Arc;

/// `limit` where none is given.
pub(in crate::http) const LIMIT_DEFAULT: u32 = 25;

/// `limit` of a list.
pub(in crate::http) const LIMIT: Param = Param::limit(100, LIMIT_DEFAULT);

/// `invoiceId` of a list of refunds.
pub(in crate::http) const INVOICE_ID: Param = Param {
    name: "invoiceId",
    about: "Only refunds of the invoice with this id.",
    kind: ParamKind::Uuid,
};

/// What a request for a payout is refused for, beside what is wrong with its body.
pub(in crate::http) const PAYOUT_REFUSALS: &[Code] = &[
    Code::TestMode,
    Code::AccountNotActive,
    Code::Maintenance,
    Code::InvalidAmount,
    Code::PayoutOpen,
    Code::NoAddress,
    Code::BelowMinimum,
    Code::InsufficientBalance,
    Code::DailyLimit,
    Code::IdempotencyConflict,
];

/// Its operations.
pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[
        Route {
            operation: "createPayout",
            tag: Some(Tag::Transfers),
            method: "POST",
            path: "/v1/payouts",
            summary: "Requests a payout of the balance to the account's payout address. Live keys only.",
            body: Some(Body::required("CreatePayout")),
            answers: &[Answer::json(201, "The payout was requested.", "Payout")],
            refusals: PAYOUT_REFUSALS,
            is_idempotent: true,
            handler: Handler::Secret(|call, caller| Box::pin(create_payout(call, caller))),
            ..PRIVATE
        },
        Route {
            operation: "listPayouts",
            tag: Some(Tag::Transfers),
            path: "/v1/payouts",
            summary: "Lists payouts, newest first.",
            query: &[LIMIT],
            answers: &[Answer::json(200, "The payouts.", "PayoutList")],
            handler: Handler::Secret(|call, caller| Box::pin(payouts(call, caller))),
            ..PRIVATE
        },
        Route {
            operation: "getPayout",
            tag: Some(Tag::Transfers),
            path: "/v1/payouts/{id}",
            summary: "Reads a payout.",
            answers: &[Answer::json(200, "The payout.", "Payout")],
            handler: Handler::Secret(|call, caller| Box::pin(payout(call, caller))),
            ..PRIVATE
        },
        Route {
            operation: "listRefunds",
            tag: Some(Tag::Transfers),
            path: "/v1/refunds",
            summary: "Lists refunds, newest first. They are requested in the operator interface.",
            query: &[LIMIT, INVOICE_ID],
            answers: &[Answer::json(200, "The refunds.", "RefundList")],
            handler: Handler::Secret(|call, caller| Box::pin(refunds(call, caller))),
            ..PRIVATE
        },
        Route {
            operation: "getRefund",
            tag: Some(Tag::Transfers),
            path: "/v1/refunds/{id}",
            summary: "Reads a refund.",
            answers: &[Answer::json(200, "The refund.", "Refund")],
            handler: Handler::Secret(|call, caller| Box::pin(refund(call, caller))),
            ..PRIVATE
        },
    ],
};

/// POST /v1/payouts
async fn create_payout(call: Call, caller: Arc<Caller>) -> Result<Reply, Error> {
    let body = call.object()?;
    let client_key = idempotency_key(&call.headers)?;
    let service = &call.front.service;
    let (outcome, json) = service
        .create_payout(
            call.now,
            &caller,
            Requester::Key(caller.key()),
            body,
            client_key,
        )
        .await?;
    Ok(Reply::made(outcome, json))
}

/// GET /v1/payouts
async fn payouts(call: Call, caller: Arc<Caller>) -> Result<Reply, Error> {
    list(&call, &caller, TransferKind::Payout)
}

/// GET /v1/payouts/{id}
async fn payout(call: Call, caller: Arc<Caller>) -> Result<Reply, Error> {
    get(&call, &caller, TransferKind::Payout)
}

/// GET /v1/refunds
async fn refunds(call: Call, caller: Arc<Caller>) -> Result<Reply, Error> {
    list(&call, &caller, TransferKind::Refund)
}

/// GET /v1/refunds/{id}
async fn refund(call: Call, caller: Arc<Caller>) -> Result<Reply, Error> {
    get(&call, &caller, TransferKind::Refund)
}

/// The newest of a kind.
fn list(call: &Call, caller: &Caller, kind: TransferKind) -> Result<Reply, Error> {
    let (invoice, limit) = (
        call.query.text("invoiceId"),
        call.query.limit(LIMIT_DEFAULT),
    );
    let service = &call.front.service;
    Reply::list(&service.transfers(caller, kind, invoice, limit)?)
}

/// One of a kind.
fn get(call: &Call, caller: &Caller, kind: TransferKind) -> Result<Reply, Error> {
    let service = &call.front.service;
    service.transfer(caller, kind, call.id()).map(Reply::ok)
}

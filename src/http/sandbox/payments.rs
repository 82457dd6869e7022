//! What happens on simulated chains, and cancelling invoices.

use crate::domain::refusal::Code;
use crate::http::front::sandbox::Sandbox;
use crate::http::reply::Reply;
use crate::http::request::Call;
use crate::http::route::{Answer, Body, Handler, PLAIN, Resource, Route, Tag};
use crate::service::Error;
use hyper::StatusCode;
use std::sync::Arc;

/// Its operations.
pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[
        Route {
            operation: "sandboxPutPayment",
            tag: Some(Tag::SandboxMoney),
            method: "POST",
            path: "/sandbox/payments",
            summary: "Puts a payment on a simulated chain, or a transaction of several, for invoices or customers of either mode, or for nobody.",
            body: Some(Body::required("SandboxPayment")),
            answers: &[
                Answer::json(
                    201,
                    "It is seen, or kept as a payment that matched nothing; so is each output.",
                    "SandboxPaymentsSeen",
                ),
                Answer::json(
                    200,
                    "Nothing is new: all of it was recorded before.",
                    "SandboxPaymentsSeen",
                ),
            ],
            refusals: &[Code::CoinUnavailable, Code::NotFound],
            handler: Handler::Sandbox(|call, sandbox| Box::pin(put_payment(call, sandbox))),
            ..PLAIN
        },
        Route {
            operation: "sandboxMovePayment",
            tag: Some(Tag::SandboxMoney),
            method: "POST",
            path: "/sandbox/payments/{id}",
            summary: "Confirms, drops, orphans or replaces a payment, or lets a dropped one be seen again.",
            body: Some(Body::required("SandboxPaymentState")),
            answers: &[Answer::json(200, "The payment.", "SandboxPaymentSeen")],
            refusals: &[Code::InvalidTransition],
            handler: Handler::Sandbox(|call, sandbox| Box::pin(move_payment(call, sandbox))),
            ..PLAIN
        },
        Route {
            operation: "sandboxCancelInvoice",
            tag: Some(Tag::SandboxMoney),
            method: "POST",
            path: "/sandbox/invoices/{id}/cancel",
            summary: "Cancels an invoice, as the operator interface does.",
            answers: &[Answer::json(200, "The invoice.", "Invoice")],
            refusals: &[Code::InvoiceNotCancellable],
            handler: Handler::Sandbox(|call, sandbox| Box::pin(cancel_invoice(call, sandbox))),
            ..PLAIN
        },
    ],
};

/// POST /sandbox/payments
async fn put_payment(call: Call, _: Arc<Sandbox>) -> Result<Reply, Error> {
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
async fn move_payment(call: Call, _: Arc<Sandbox>) -> Result<Reply, Error> {
    call.front
        .service
        .move_payment(call.now, call.id(), call.object()?)
        .await
        .map(Reply::ok)
}

/// POST /sandbox/invoices/{id}/cancel
async fn cancel_invoice(call: Call, _: Arc<Sandbox>) -> Result<Reply, Error> {
    call.front
        .service
        .cancel_invoice(call.now, &call.uuid("invoice")?)
        .await
        .map(Reply::ok)
}

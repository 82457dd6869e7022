//! Payments on simulated chains, and the cancellation of invoices: `/sandbox/payments`, `/sandbox/invoices`.

use crate::api::operation::{Answer, Body, Context, Job, Operation, OperationFn, Outcome, PLAIN};
use crate::api::tag::Tag;
use crate::domain::RefusalCode;
use crate::domain::fields::{Component, schema};
use crate::domain::payment::inputs::{SandboxPayment, SandboxPaymentState};
use crate::render::InvoiceView;
use crate::render::sandbox::SandboxPaymentSeenView;
use crate::service::Error;
use serde_json::Map;
use std::sync::Arc;

const PAYMENTS_SEEN: Component = Component::Other {
    name: "SandboxPaymentsSeen",
    schema: schema!({
        "description": "The payment; for outputs, all payments.",
        "oneOf": [
            { "$ref": "#/components/schemas/SandboxPaymentSeen" },
            {
                "type": "object",
                "additionalProperties": false,
                "required": ["data"],
                "properties": {
                    "data": {
                        "type": "array",
                        "description": "The payments in the order of the outputs, without worthless ones.",
                        "items": { "$ref": "#/components/schemas/SandboxPaymentSeen" }
                    }
                }
            }
        ]
    }),
    example: r#"{"id":"01a1fd71-e3f0-740f-bd59-25d40e11c67b","txid":"040ffd5925d40e11c67b7238a7fc9957850b8b9a46e9729fab88c24d6a98aff2","state":"seen","confirmations":0,"confirmationsNeeded":3}"#,
    parts: &[&SandboxPaymentSeenView::COMPONENT],
};

pub const OPERATIONS: [&Operation; 3] = [&PUT_PAYMENT, &MOVE_PAYMENT, &CANCEL_INVOICE];

const PUT_PAYMENT: Operation = Operation {
    id: "sandboxPutPayment",
    method: "POST",
    path: "/sandbox/payments",
    tag: Tag::SandboxMoney,
    summary: "Puts a payment on a simulated chain, or a transaction with several outputs. Recipients are invoices or customers of either mode, or unknown addresses.",
    body: Body::required(&SandboxPayment::COMPONENT),
    answers: &[
        Answer::created(
            "The payment is seen, or kept as unmatched; likewise each output.",
            &PAYMENTS_SEEN,
        ),
        Answer::ok("All of it was recorded before.", &PAYMENTS_SEEN),
    ],
    refusals: &[
        RefusalCode::CoinUnavailable,
        RefusalCode::NotFound,
        RefusalCode::IdempotencyConflict,
    ],
    is_idempotent: true,
    run: OperationFn::Sandbox(add_transaction),
    ..PLAIN
};

const MOVE_PAYMENT: Operation = Operation {
    id: "sandboxMovePayment",
    method: "POST",
    path: "/sandbox/payments/{id}",
    tag: Tag::SandboxMoney,
    summary: "Confirms, drops, orphans or replaces a payment, shows a dropped one again, or gives it confirmations.",
    body: Body::required(&SandboxPaymentState::COMPONENT),
    answers: &[Answer::ok("The payment.", &SandboxPaymentSeenView::COMPONENT)],
    refusals: &[RefusalCode::InvalidTransition, RefusalCode::IdempotencyConflict],
    is_idempotent: true,
    run: OperationFn::Sandbox(change_payment),
    ..PLAIN
};

const CANCEL_INVOICE: Operation = Operation {
    id: "sandboxCancelInvoice",
    method: "POST",
    path: "/sandbox/invoices/{id}/cancel",
    tag: Tag::SandboxMoney,
    summary: "Cancels an invoice, as the operator interface does.",
    answers: &[Answer::ok("The invoice.", &InvoiceView::COMPONENT)],
    refusals: &[RefusalCode::InvoiceNotCancellable, RefusalCode::IdempotencyConflict],
    is_idempotent: true,
    run: OperationFn::Sandbox(cancel_invoice),
    ..PLAIN
};

fn add_transaction(context: &Context<'_>) -> Result<Job, Error> {
    let request = context.idempotent_request(context.body_fields()?)?;
    let (service, now) = (Arc::clone(context.service), context.now);
    Job::wait(async move {
        let added = service.add_transaction(now, request);
        added.await.map(Outcome::from_idempotent)
    })
}

fn change_payment(context: &Context<'_>) -> Result<Job, Error> {
    let request = context.idempotent_request(context.body_fields()?)?;
    let (service, now) = (Arc::clone(context.service), context.now);
    let id = context.first_param().to_owned();
    Job::wait(async move {
        let moved = service.change_payment_state(now, &id, request);
        moved.await.map(Outcome::from_idempotent)
    })
}

fn cancel_invoice(context: &Context<'_>) -> Result<Job, Error> {
    let (service, now) = (Arc::clone(context.service), context.now);
    let (id, request) = (context.uuid("invoice")?, context.idempotent_request(Map::new())?);
    Job::wait(async move {
        let cancelled = service.cancel_sandbox_invoice(now, id, request);
        cancelled.await.map(Outcome::from_idempotent)
    })
}

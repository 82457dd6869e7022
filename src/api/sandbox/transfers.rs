//! Payouts and refunds of test and live mode in a sandbox: `/sandbox/payouts`, `/sandbox/refunds`.

use crate::api::operation::{Answer, Body, Context, Job, Operation, OperationFn, Outcome, PLAIN};
use crate::api::tag::Tag;
use crate::domain::transfer::inputs::{SandboxMoveTransfer, SandboxRefund};
use crate::domain::{RefusalCode, TransferKind};
use crate::render::transfers::{PayoutView, RefundView};
use crate::service::Error;
use std::sync::Arc;

pub const OPERATIONS: [&Operation; 3] = [&MOVE_PAYOUT, &PUT_REFUND, &MOVE_REFUND];

const MOVE_PAYOUT: Operation = Operation {
    id: "sandboxMovePayout",
    method: "POST",
    path: "/sandbox/payouts/{id}",
    tag: Tag::SandboxMoney,
    summary: "Approves, processes, pays, fails, rejects or cancels a payout.",
    body: Body::required(&SandboxMoveTransfer::COMPONENT),
    answers: &[Answer::ok("The payout.", &PayoutView::COMPONENT)],
    refusals: &[RefusalCode::InvalidTransition, RefusalCode::IdempotencyConflict],
    is_idempotent: true,
    run: OperationFn::Sandbox(|context| change_status(context, TransferKind::Payout)),
    ..PLAIN
};

const PUT_REFUND: Operation = Operation {
    id: "sandboxPutRefund",
    method: "POST",
    path: "/sandbox/refunds",
    tag: Tag::SandboxMoney,
    summary: "Requests a refund of an invoice of either mode.",
    body: Body::required(&SandboxRefund::COMPONENT),
    answers: &[Answer::created("The refund.", &RefundView::COMPONENT)],
    refusals: &[
        RefusalCode::NotFound,
        RefusalCode::InvoiceNotRefundable,
        RefusalCode::InvalidAmount,
        RefusalCode::IdempotencyConflict,
    ],
    is_idempotent: true,
    run: OperationFn::Sandbox(create_refund),
    ..PLAIN
};

const MOVE_REFUND: Operation = Operation {
    id: "sandboxMoveRefund",
    method: "POST",
    path: "/sandbox/refunds/{id}",
    tag: Tag::SandboxMoney,
    summary: "Approves, processes, pays, fails, rejects or cancels a refund.",
    body: Body::required(&SandboxMoveTransfer::COMPONENT),
    answers: &[Answer::ok("The refund.", &RefundView::COMPONENT)],
    refusals: &[RefusalCode::InvalidTransition, RefusalCode::IdempotencyConflict],
    is_idempotent: true,
    run: OperationFn::Sandbox(|context| change_status(context, TransferKind::Refund)),
    ..PLAIN
};

fn change_status(context: &Context<'_>, kind: TransferKind) -> Result<Job, Error> {
    let request = context.idempotent_request(context.body_fields()?)?;
    let change = SandboxMoveTransfer::read(&request.body)?.into();
    let (service, now, id) =
        (Arc::clone(context.service), context.now, context.first_param().to_owned());
    Job::wait(async move {
        let moved = service.apply_sandbox_step(now, kind, &id, change, request);
        moved.await.map(Outcome::from_idempotent)
    })
}

fn create_refund(context: &Context<'_>) -> Result<Job, Error> {
    let request = context.idempotent_request(context.body_fields()?)?;
    let (service, now) = (Arc::clone(context.service), context.now);
    Job::wait(async move {
        let made = service.create_sandbox_refund(now, request);
        made.await.map(Outcome::from_idempotent)
    })
}

//! Payouts and refunds in the operator interface: listing, reading, requesting, and each step.

use crate::api::params::{BEFORE_ID as BEFORE, MODE};
use crate::domain::asset::Mode;
use crate::domain::refusal::Code;
use crate::domain::render::approvals::ApprovalView;
use crate::domain::render::{self, Begun, ToSend};
use crate::domain::transfer::on_chain::OnChainState;
use crate::domain::transfer::{TransferKind, TransferStatus};
use crate::http::auth::Operator;
use crate::http::merchant::transfers::{INVOICE_ID, LIMIT, LIMIT_DEFAULT, PAYOUT_REFUSALS};
use crate::http::operator::qr_code;
use crate::http::reply::Reply;
use crate::http::request::{Call, Param, ParamKind, idempotency_key};
use crate::http::route::{Answer, Body, Handler, PRIVATE, RecentPassword, Resource, Route, Tag};
use crate::service::operator::transfers::TransfersWanted;
use crate::service::payouts::Requester;
use crate::service::{Error, Member};

/// `status` of a list.
const STATUS: Param = Param {
    name: "status",
    about: "Only those with this status.",
    kind: ParamKind::OneOf(TransferStatus::TEXTS),
};

/// `onChain` of a list.
const ON_CHAIN: Param = Param {
    name: "onChain",
    about: "needs_review: only those that a person has to look at.",
    kind: ParamKind::OneOf(&[NEEDS_REVIEW]),
};
const NEEDS_REVIEW: &str = OnChainState::NeedsReview.as_str();

/// Its operations.
pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[
        Route {
            operation: "listAccountPayouts",
            tag: Some(Tag::OperatorTransfers),
            path: "/dashboard/api/accounts/{account}/payouts",
            summary: "Pages through an account's payouts, newest first.",
            query: &[LIMIT, BEFORE, STATUS, ON_CHAIN, MODE],
            answers: &[Answer::json(
                200,
                "A page of payouts.",
                "DashboardPayoutPage",
            )],
            handler: Handler::Session(|call, member| Box::pin(payouts(call, member))),
            ..PRIVATE
        },
        Route {
            operation: "getAccountPayout",
            tag: Some(Tag::OperatorTransfers),
            path: "/dashboard/api/accounts/{account}/payouts/{id}",
            summary: "Reads a payout; while it is sent by hand, with what a wallet is given to send it.",
            query: &[MODE],
            answers: &[Answer::json(200, "The payout.", "DashboardPayoutDetail")],
            handler: Handler::Session(|call, member| Box::pin(payout(call, member))),
            ..PRIVATE
        },
        Route {
            operation: "createAccountPayout",
            tag: Some(Tag::OperatorTransfers),
            method: "POST",
            path: "/dashboard/api/accounts/{account}/payouts",
            summary: "Requests a payout, with the checks of POST /v1/payouts.",
            query: &[MODE],
            body: Some(Body::required("CreatePayout")),
            answers: &[Answer::json(
                201,
                "The payout was requested.",
                "DashboardPayout",
            )],
            refusals: PAYOUT_REFUSALS,
            is_idempotent: true,
            recent_password: RecentPassword::Always,
            handler: Handler::Session(|call, member| Box::pin(request_payout(call, member))),
            ..PRIVATE
        },
        Route {
            operation: "listAccountRefunds",
            tag: Some(Tag::OperatorTransfers),
            path: "/dashboard/api/accounts/{account}/refunds",
            summary: "Pages through an account's refunds, newest first.",
            query: &[LIMIT, BEFORE, INVOICE_ID, STATUS, ON_CHAIN, MODE],
            answers: &[Answer::json(
                200,
                "A page of refunds.",
                "DashboardRefundPage",
            )],
            handler: Handler::Session(|call, member| Box::pin(refunds(call, member))),
            ..PRIVATE
        },
        Route {
            operation: "getAccountRefund",
            tag: Some(Tag::OperatorTransfers),
            path: "/dashboard/api/accounts/{account}/refunds/{id}",
            summary: "Reads a refund; while it is sent by hand, with what a wallet is given to send it.",
            query: &[MODE],
            answers: &[Answer::json(200, "The refund.", "DashboardRefundDetail")],
            handler: Handler::Session(|call, member| Box::pin(refund(call, member))),
            ..PRIVATE
        },
        Route {
            operation: "requestRefund",
            tag: Some(Tag::OperatorTransfers),
            method: "POST",
            path: "/dashboard/api/accounts/{account}/refunds",
            summary: "Requests a refund of an invoice: at most what was confirmed on it, less its other refunds.",
            query: &[MODE],
            body: Some(Body::required("RequestRefund")),
            answers: &[Answer::json(
                201,
                "The refund was requested.",
                "DashboardRefund",
            )],
            refusals: &[
                Code::InvoiceNotRefundable,
                Code::InvalidAmount,
                Code::IdempotencyConflict,
            ],
            is_idempotent: true,
            recent_password: RecentPassword::Always,
            handler: Handler::Session(|call, member| Box::pin(request_refund(call, member))),
            ..PRIVATE
        },
        Route {
            operation: "listAllPayouts",
            tag: Some(Tag::OperatorTransfers),
            path: "/dashboard/api/payouts",
            summary: "Pages through the payouts of all accounts, newest first.",
            query: &[LIMIT, BEFORE, STATUS, ON_CHAIN, MODE],
            answers: &[Answer::json(
                200,
                "A page of payouts.",
                "DashboardPayoutPage",
            )],
            handler: Handler::Operator(|call, operator| Box::pin(all_payouts(call, operator))),
            ..PRIVATE
        },
        Route {
            operation: "movePayout",
            tag: Some(Tag::OperatorTransfers),
            method: "POST",
            path: "/dashboard/api/payouts/{id}",
            summary: "Moves a payout: approves, sends, attaches or checks its transaction, or ends it.",
            body: Some(Body::required("MoveTransfer")),
            answers: &[Answer::json(200, "The payout.", "DashboardPayout")],
            refusals: &[Code::InvalidTransition],
            recent_password: RecentPassword::Always,
            handler: Handler::Operator(|call, operator| Box::pin(move_payout(call, operator))),
            ..PRIVATE
        },
        Route {
            operation: "listAllRefunds",
            tag: Some(Tag::OperatorTransfers),
            path: "/dashboard/api/refunds",
            summary: "Pages through the refunds of all accounts, newest first.",
            query: &[LIMIT, BEFORE, STATUS, ON_CHAIN, MODE],
            answers: &[Answer::json(
                200,
                "A page of refunds.",
                "DashboardRefundPage",
            )],
            handler: Handler::Operator(|call, operator| Box::pin(all_refunds(call, operator))),
            ..PRIVATE
        },
        Route {
            operation: "moveRefund",
            tag: Some(Tag::OperatorTransfers),
            method: "POST",
            path: "/dashboard/api/refunds/{id}",
            summary: "Moves a refund: approves, sends, attaches or checks its transaction, or ends it.",
            body: Some(Body::required("MoveTransfer")),
            answers: &[Answer::json(200, "The refund.", "DashboardRefund")],
            refusals: &[Code::InvalidTransition],
            recent_password: RecentPassword::Always,
            handler: Handler::Operator(|call, operator| Box::pin(move_refund(call, operator))),
            ..PRIVATE
        },
    ],
};

/// GET /dashboard/api/accounts/{account}/payouts
async fn payouts(call: Call, member: Member) -> Result<Reply, Error> {
    list(&call, &member, TransferKind::Payout)
}

/// GET /dashboard/api/accounts/{account}/refunds
async fn refunds(call: Call, member: Member) -> Result<Reply, Error> {
    list(&call, &member, TransferKind::Refund)
}

/// A page of an account's.
fn list(call: &Call, member: &Member, kind: TransferKind) -> Result<Reply, Error> {
    let (scope, wanted) = (call.scope(member)?, wanted(call, kind)?);
    Reply::page(
        &call
            .front
            .service
            .transfers_for_operator(call.now, &scope, &wanted)?,
    )
}

/// Which page a query asks for.
fn wanted(call: &Call, kind: TransferKind) -> Result<TransfersWanted, Error> {
    Ok(TransfersWanted {
        kind,
        invoice: call.query.text("invoiceId").map(str::to_owned),
        status: call.query.choice("status")?,
        needs_review: call.query.text("onChain") == Some(NEEDS_REVIEW),
        before: call.query.text("before").map(str::to_owned),
        limit: call.query.limit(LIMIT_DEFAULT),
    })
}

/// GET /dashboard/api/accounts/{account}/payouts/{id}
async fn payout(call: Call, member: Member) -> Result<Reply, Error> {
    read(&call, &member, TransferKind::Payout)
}

/// GET /dashboard/api/accounts/{account}/refunds/{id}
async fn refund(call: Call, member: Member) -> Result<Reply, Error> {
    read(&call, &member, TransferKind::Refund)
}

/// One of an account's.
fn read(call: &Call, member: &Member, kind: TransferKind) -> Result<Reply, Error> {
    let scope = call.scope(member)?;
    let service = &call.front.service;
    let opened = service.transfer_to_send(call.now, member, &scope, (kind, call.second()))?;
    let to_send = opened.to_send.as_ref();
    let begun = opened.begun.as_ref();
    let approval = opened.approval.as_ref();
    let shown = ToSend {
        approval: approval
            .map(|(proposal, conditions)| ApprovalView::of(&opened.transfer, proposal, conditions)),
        payment_uri: to_send.and_then(|to_send| to_send.uri.as_deref()),
        qr: to_send.and_then(|to_send| qr_code(&to_send.code)),
        begun: begun.map(|(by, at)| Begun { by, at: *at }),
    };
    let json = render::transfer_to_send(&opened.transfer, &opened.chain_told, shown)?;
    Ok(Reply::ok(json))
}

/// POST /dashboard/api/accounts/{account}/payouts
async fn request_payout(call: Call, member: Member) -> Result<Reply, Error> {
    let (scope, body) = (call.scope(&member)?, call.object()?);
    let client_key = idempotency_key(&call.headers)?;
    let requester = Requester::Person(member.user().email.as_str());
    let service = &call.front.service;
    let (outcome, json) = service
        .create_payout(call.now, &scope, requester, body, client_key)
        .await?;
    Ok(Reply::made(outcome, json))
}

/// POST /dashboard/api/accounts/{account}/refunds
async fn request_refund(call: Call, member: Member) -> Result<Reply, Error> {
    let (scope, body) = (call.scope(&member)?, call.object()?);
    let client_key = idempotency_key(&call.headers)?;
    let person = member.user().email.as_str();
    let service = &call.front.service;
    let (outcome, json) = service
        .create_refund(call.now, &scope, person, body, client_key)
        .await?;
    Ok(Reply::made(outcome, json))
}

/// GET /dashboard/api/payouts
async fn all_payouts(call: Call, _: Operator) -> Result<Reply, Error> {
    list_all(&call, TransferKind::Payout)
}

/// GET /dashboard/api/refunds
async fn all_refunds(call: Call, _: Operator) -> Result<Reply, Error> {
    list_all(&call, TransferKind::Refund)
}

/// A page of all accounts'.
fn list_all(call: &Call, kind: TransferKind) -> Result<Reply, Error> {
    let mode = call.query.choice("mode")?.unwrap_or(Mode::Live);
    let (service, wanted) = (&call.front.service, wanted(call, kind)?);
    Reply::page(&service.transfers_of_all(call.now, mode, &wanted)?)
}

/// POST /dashboard/api/payouts/{id}
async fn move_payout(call: Call, operator: Operator) -> Result<Reply, Error> {
    step(call, &operator, TransferKind::Payout).await
}

/// POST /dashboard/api/refunds/{id}
async fn move_refund(call: Call, operator: Operator) -> Result<Reply, Error> {
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

//! Payouts and refunds in the operator interface: `/dashboard/api/…/payouts`, `/dashboard/api/…/refunds`.

use crate::api::operation::{
    Answer, Body, Context, Job, Operation, OperationFn, Outcome, PLAIN, RecentPassword,
};
use crate::api::params::{BEFORE_ID, MODE};
use crate::api::query::{Param, ParamKind};
use crate::api::tag::Tag;
use crate::api::transfers::{INVOICE_ID, LIMIT, LIMIT_DEFAULT, PAYOUT_REFUSALS};
use crate::domain::fields::{Component, Schema};
use crate::domain::qr::Qr;
use crate::domain::transfer::inputs::{CreatePayout, MoveTransfer, RequestRefund};
use crate::domain::{Mode, OnChainState, RefusalCode, TransferKind, TransferStatus};
use crate::render::approvals::ApprovalView;
use crate::render::transfers::{
    BegunView, DashboardPayoutDetailView, DashboardPayoutView, DashboardRefundDetailView,
    DashboardRefundView,
};
use crate::render::{self, ToSend};
use crate::service::transfers::listing::TransferListFilter;
use crate::service::{Error, Member, Requester};
use std::sync::Arc;

const STATUS: Param = Param {
    name: "status",
    about: "Only items with this status.",
    kind: ParamKind::OneOf(TransferStatus::TEXTS),
};

const ON_CHAIN: Param = Param {
    name: "onChain",
    about: "needs_review: only items that an operator has to review.",
    kind: ParamKind::OneOf(&[NEEDS_REVIEW]),
};
const NEEDS_REVIEW: &str = OnChainState::NeedsReview.as_str();

const PAYOUT_PAGE: Component = Component::Page {
    name: "DashboardPayoutPage",
    item: &DashboardPayoutView::COMPONENT,
    about: [
        "One page of payouts, newest first.",
        "The payouts of this page, newest first.",
        "Whether older payouts follow.",
        "Value of `before` for the next page; null on the last page.",
    ],
    before: &Schema::STRING,
};

const REFUND_PAGE: Component = Component::Page {
    name: "DashboardRefundPage",
    item: &DashboardRefundView::COMPONENT,
    about: [
        "One page of refunds, newest first.",
        "The refunds of this page, newest first.",
        "Whether older refunds follow.",
        "Value of `before` for the next page; null on the last page.",
    ],
    before: &Schema::STRING,
};

pub const OPERATIONS: [&Operation; 10] = [
    &LIST_PAYOUTS,
    &GET_PAYOUT,
    &CREATE_PAYOUT,
    &LIST_REFUNDS,
    &GET_REFUND,
    &REQUEST_REFUND,
    &LIST_ALL_PAYOUTS,
    &MOVE_PAYOUT,
    &LIST_ALL_REFUNDS,
    &MOVE_REFUND,
];

const LIST_PAYOUTS: Operation = Operation {
    id: "listAccountPayouts",
    path: "/dashboard/api/accounts/{account}/payouts",
    tag: Tag::OperatorTransfers,
    summary: "Returns a page of an account's payouts, newest first.",
    query: &[LIMIT, BEFORE_ID, STATUS, ON_CHAIN, MODE],
    answers: &[Answer::ok("A page of payouts.", &PAYOUT_PAGE)],
    run: OperationFn::Session(|context, member| list(context, member, TransferKind::Payout)),
    ..PLAIN
};

const GET_PAYOUT: Operation = Operation {
    id: "getAccountPayout",
    path: "/dashboard/api/accounts/{account}/payouts/{id}",
    tag: Tag::OperatorTransfers,
    summary: "Returns a payout, with the payment data for a wallet while it is sent by hand.",
    query: &[MODE],
    answers: &[Answer::ok("The payout.", &DashboardPayoutDetailView::COMPONENT)],
    run: OperationFn::Session(|context, member| get(context, member, TransferKind::Payout)),
    ..PLAIN
};

const CREATE_PAYOUT: Operation = Operation {
    id: "createAccountPayout",
    method: "POST",
    path: "/dashboard/api/accounts/{account}/payouts",
    tag: Tag::OperatorTransfers,
    summary: "Requests a payout, with the checks of POST /v1/payouts.",
    query: &[MODE],
    body: Body::required(&CreatePayout::COMPONENT),
    answers: &[Answer::created("The payout.", &DashboardPayoutView::COMPONENT)],
    refusals: PAYOUT_REFUSALS,
    is_idempotent: true,
    recent_password: RecentPassword::Always,
    run: OperationFn::Session(create_payout),
    ..PLAIN
};

const LIST_REFUNDS: Operation = Operation {
    id: "listAccountRefunds",
    path: "/dashboard/api/accounts/{account}/refunds",
    tag: Tag::OperatorTransfers,
    summary: "Returns a page of an account's refunds, newest first.",
    query: &[LIMIT, BEFORE_ID, INVOICE_ID, STATUS, ON_CHAIN, MODE],
    answers: &[Answer::ok("A page of refunds.", &REFUND_PAGE)],
    run: OperationFn::Session(|context, member| list(context, member, TransferKind::Refund)),
    ..PLAIN
};

const GET_REFUND: Operation = Operation {
    id: "getAccountRefund",
    path: "/dashboard/api/accounts/{account}/refunds/{id}",
    tag: Tag::OperatorTransfers,
    summary: "Returns a refund, with the payment data for a wallet while it is sent by hand.",
    query: &[MODE],
    answers: &[Answer::ok("The refund.", &DashboardRefundDetailView::COMPONENT)],
    run: OperationFn::Session(|context, member| get(context, member, TransferKind::Refund)),
    ..PLAIN
};

const REQUEST_REFUND: Operation = Operation {
    id: "requestRefund",
    method: "POST",
    path: "/dashboard/api/accounts/{account}/refunds",
    tag: Tag::OperatorTransfers,
    summary: "Requests a refund of an invoice, at most its confirmed amount less its other refunds.",
    query: &[MODE],
    body: Body::required(&RequestRefund::COMPONENT),
    answers: &[Answer::created("The refund.", &DashboardRefundView::COMPONENT)],
    refusals: &[
        RefusalCode::InvoiceNotRefundable,
        RefusalCode::InvalidAmount,
        RefusalCode::IdempotencyConflict,
    ],
    is_idempotent: true,
    recent_password: RecentPassword::Always,
    run: OperationFn::Session(request_refund),
    ..PLAIN
};

const LIST_ALL_PAYOUTS: Operation = Operation {
    id: "listAllPayouts",
    path: "/dashboard/api/payouts",
    tag: Tag::OperatorTransfers,
    summary: "Returns a page of the payouts of all accounts, newest first.",
    query: &[LIMIT, BEFORE_ID, STATUS, ON_CHAIN, MODE],
    answers: &[Answer::ok("A page of payouts.", &PAYOUT_PAGE)],
    run: OperationFn::Operator(|context, _| list_all(context, TransferKind::Payout)),
    ..PLAIN
};

const MOVE_PAYOUT: Operation = Operation {
    id: "movePayout",
    method: "POST",
    path: "/dashboard/api/payouts/{id}",
    tag: Tag::OperatorTransfers,
    summary: "Changes a payout: approves, sends or ends it, or attaches or checks its transaction.",
    body: Body::required(&MoveTransfer::COMPONENT),
    answers: &[Answer::ok("The payout.", &DashboardPayoutView::COMPONENT)],
    refusals: &[RefusalCode::InvalidTransition, RefusalCode::IdempotencyConflict],
    is_idempotent: true,
    recent_password: RecentPassword::Always,
    run: OperationFn::Operator(|context, operator| {
        change_status(context, operator, TransferKind::Payout)
    }),
    ..PLAIN
};

const LIST_ALL_REFUNDS: Operation = Operation {
    id: "listAllRefunds",
    path: "/dashboard/api/refunds",
    tag: Tag::OperatorTransfers,
    summary: "Returns a page of the refunds of all accounts, newest first.",
    query: &[LIMIT, BEFORE_ID, STATUS, ON_CHAIN, MODE],
    answers: &[Answer::ok("A page of refunds.", &REFUND_PAGE)],
    run: OperationFn::Operator(|context, _| list_all(context, TransferKind::Refund)),
    ..PLAIN
};

const MOVE_REFUND: Operation = Operation {
    id: "moveRefund",
    method: "POST",
    path: "/dashboard/api/refunds/{id}",
    tag: Tag::OperatorTransfers,
    summary: "Changes a refund: approves, sends or ends it, or attaches or checks its transaction.",
    body: Body::required(&MoveTransfer::COMPONENT),
    answers: &[Answer::ok("The refund.", &DashboardRefundView::COMPONENT)],
    refusals: &[RefusalCode::InvalidTransition, RefusalCode::IdempotencyConflict],
    is_idempotent: true,
    recent_password: RecentPassword::Always,
    run: OperationFn::Operator(|context, operator| {
        change_status(context, operator, TransferKind::Refund)
    }),
    ..PLAIN
};

fn list(context: &Context<'_>, member: &Member, kind: TransferKind) -> Result<Job, Error> {
    let (scope, wanted) = (context.scope(member)?, transfer_query(context, kind)?);
    let service = context.service;
    let page = service.transfers_for_operator(context.now, &scope, &wanted)?;
    Ok(Job::Done(Outcome::from_page(page)))
}

fn list_all(context: &Context<'_>, kind: TransferKind) -> Result<Job, Error> {
    let mode = context.query.enum_value("mode")?.unwrap_or(Mode::Live);
    let wanted = transfer_query(context, kind)?;
    let service = context.service;
    let page = service.transfers_of_all_accounts(context.now, mode, &wanted)?;
    Ok(Job::Done(Outcome::from_page(page)))
}

/// Reads the query parameters that select a page of payouts or refunds.
fn transfer_query(context: &Context<'_>, kind: TransferKind) -> Result<TransferListFilter, Error> {
    let query = context.query;
    Ok(TransferListFilter {
        kind,
        invoice: query.text("invoiceId").map(str::to_owned),
        status: query.enum_value("status")?,
        needs_review: query.text("onChain") == Some(NEEDS_REVIEW),
        before: query.text("before").map(str::to_owned),
        limit: query.limit(LIMIT_DEFAULT),
    })
}

fn get(context: &Context<'_>, member: &Member, kind: TransferKind) -> Result<Job, Error> {
    let (scope, service) = (context.scope(member)?, context.service);
    let opened =
        service.transfer_detail(context.now, member, &scope, kind, context.second_param())?;
    let to_send = opened.to_send.as_ref();
    let begun = opened.sending_start.as_ref();
    let approval = opened.approval.as_ref();
    let shown = ToSend {
        approval: approval.map(|(proposal, conditions)| {
            ApprovalView::new(&opened.transfer, proposal, conditions)
        }),
        payment_uri: to_send.and_then(|to_send| to_send.uri.as_deref()),
        qr: to_send.and_then(|to_send| Qr::encode(&to_send.code)),
        begun: begun.map(|(by, at)| BegunView { by, at: *at }),
    };
    let json = render::transfer_to_send(&opened.transfer, &opened.chain_state, shown)?;
    Ok(Job::Done(Outcome::resource(json)))
}

fn create_payout(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let scope = context.scope(member)?;
    let request = context.idempotent_request(context.body_fields()?)?;
    let (service, now, person) = (Arc::clone(context.service), context.now, member.actor());
    Job::wait(async move {
        let requester = Requester::Person(&person);
        let made = service.create_payout(now, &scope, requester, request);
        made.await.map(Outcome::from_idempotent)
    })
}

fn request_refund(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let scope = context.scope(member)?;
    let request = context.idempotent_request(context.body_fields()?)?;
    let (service, now, person) = (Arc::clone(context.service), context.now, member.actor());
    Job::wait(async move {
        let made = service.create_refund(now, &scope, &person, request);
        made.await.map(Outcome::from_idempotent)
    })
}

fn change_status(
    context: &Context<'_>,
    operator: &Member,
    kind: TransferKind,
) -> Result<Job, Error> {
    let request = context.idempotent_request(context.body_fields()?)?;
    let change = MoveTransfer::read(&request.body)?.into();
    let (service, now) = (Arc::clone(context.service), context.now);
    let (actor, id) = (operator.actor(), context.first_param().to_owned());
    Job::wait(async move {
        let moved = service.apply_operator_step(now, &actor, kind, &id, change, request);
        moved.await.map(Outcome::from_idempotent)
    })
}

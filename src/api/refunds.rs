//! Refunds of a shop: `/v1/refunds`.

use super::operation::{Answer, Operation, OperationFn, PLAIN};
use super::tag::Tag;
use super::transfers::{INVOICE_ID, LIMIT, get, list};
use crate::domain::TransferKind;
use crate::domain::fields::Component;
use crate::render::transfers::RefundView;

const REFUND_LIST: Component = Component::List {
    name: "RefundList",
    item: &RefundView::COMPONENT,
    about: "Refunds of the account in the key's mode, newest first.",
    about_data: "Items of the list, newest first.",
};

pub const OPERATIONS: [&Operation; 2] = [&LIST, &GET];

const LIST: Operation = Operation {
    id: "listRefunds",
    path: "/v1/refunds",
    tag: Tag::Transfers,
    summary: "Lists refunds, newest first. Refunds are requested in the operator interface.",
    query: &[LIMIT, INVOICE_ID],
    answers: &[Answer::ok("The refunds.", &REFUND_LIST)],
    run: OperationFn::Secret(|context, caller| list(context, caller, TransferKind::Refund)),
    ..PLAIN
};

const GET: Operation = Operation {
    id: "getRefund",
    path: "/v1/refunds/{id}",
    tag: Tag::Transfers,
    summary: "Returns a refund.",
    answers: &[Answer::ok("The refund.", &RefundView::COMPONENT)],
    run: OperationFn::Secret(|context, caller| get(context, caller, TransferKind::Refund)),
    ..PLAIN
};

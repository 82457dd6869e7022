//! Payments that matched nothing in the operator interface.

use crate::domain::customer::REF_CHARS_MAX;
use crate::domain::fields::Fields;
use crate::domain::refusal::{Code, Refusal};
use crate::domain::transfer::request::TXID_CHARS_MAX;
use crate::domain::unmatched::NOTE_CHARS_MAX;
use crate::http::auth::Operator;
use crate::http::reply::Reply;
use crate::http::request::{Call, ID_CHARS_MAX, Param, ParamKind};
use crate::http::route::{Answer, Body, Handler, PRIVATE, RecentPassword, Resource, Route, Tag};
use crate::service::Error;
use crate::service::intake::assign::Assignee;
use crate::service::operator::unmatched::{Looked, Wanted};

/// `limit` where none is given.
const LIMIT_DEFAULT: u32 = 50;

/// Its operations.
pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[
        Route {
            operation: "listUnmatchedPayments",
            tag: Some(Tag::OperatorService),
            path: "/dashboard/api/unmatched-payments",
            summary: "Pages through the payments that matched nothing, newest first.",
            query: &[
                Param::limit(200, LIMIT_DEFAULT),
                Param {
                    name: "before",
                    about: "The nextBefore of the previous page: only payments older than it.",
                    kind: ParamKind::Id,
                },
                Param {
                    name: "status",
                    about: "Only those nobody has looked at, or all; all where it is left out.",
                    kind: ParamKind::OneOf(Looked::TEXTS),
                },
            ],
            answers: &[Answer::json(
                200,
                "A page of payments.",
                "UnmatchedPaymentPage",
            )],
            handler: Handler::Operator(|call, operator| Box::pin(list(call, operator))),
            ..PRIVATE
        },
        Route {
            operation: "resolveUnmatchedPayment",
            tag: Some(Tag::OperatorService),
            method: "POST",
            path: "/dashboard/api/unmatched-payments/{id}",
            summary: "Marks a payment that matched nothing as paid back, or as nothing to be done about; a second note takes the place of the first.",
            body: Some(Body::required("ResolveUnmatchedPayment")),
            answers: &[Answer::json(200, "The payment.", "UnmatchedPayment")],
            refusals: &[Code::InvalidTransition],
            recent_password: RecentPassword::Always,
            handler: Handler::Operator(|call, operator| Box::pin(resolve(call, operator))),
            ..PRIVATE
        },
        Route {
            operation: "assignUnmatchedPayment",
            tag: Some(Tag::OperatorService),
            method: "POST",
            path: "/dashboard/api/unmatched-payments/{id}/assign",
            summary: "Gives a payment that matched nothing to an invoice or to a customer; it counts as seen when it was seen.",
            body: Some(Body::required("AssignUnmatchedPayment")),
            answers: &[Answer::json(
                200,
                "What it has become.",
                "UnmatchedPaymentAssignment",
            )],
            refusals: &[Code::CoinUnavailable, Code::InvalidTransition],
            recent_password: RecentPassword::Always,
            handler: Handler::Operator(|call, operator| Box::pin(assign(call, operator))),
            ..PRIVATE
        },
        Route {
            operation: "undoUnmatchedPayment",
            tag: Some(Tag::OperatorService),
            method: "POST",
            path: "/dashboard/api/unmatched-payments/{id}/undo",
            summary: "Undoes what was made of a payment that matched nothing; where it was given to somebody, until it has once been confirmed.",
            answers: &[Answer::json(200, "The payment.", "UnmatchedPayment")],
            refusals: &[Code::InvalidTransition],
            recent_password: RecentPassword::Always,
            handler: Handler::Operator(|call, operator| Box::pin(undo(call, operator))),
            ..PRIVATE
        },
    ],
};

/// GET /dashboard/api/unmatched-payments
async fn list(call: Call, _: Operator) -> Result<Reply, Error> {
    let wanted = Wanted {
        looked: call.query.choice("status")?.unwrap_or(Looked::All),
        before: call.query.text("before").map(str::to_owned),
        limit: call.query.limit(LIMIT_DEFAULT),
    };
    Reply::page(&call.front.service.unmatched_payments(call.now, &wanted)?)
}

/// POST /dashboard/api/unmatched-payments/{id}
async fn resolve(call: Call, operator: Operator) -> Result<Reply, Error> {
    let body = call.object()?;
    let fields = Fields::of(&body);
    fields.only(&["note", "returnTxid"])?;
    let note = fields.text("note", 1..=NOTE_CHARS_MAX)?;
    let return_txid = fields.text("returnTxid", 1..=TXID_CHARS_MAX)?;
    let words = (note.map(str::to_owned), return_txid.map(str::to_owned));
    let id = call.uuid("unmatched payment")?;
    call.front
        .service
        .resolve_unmatched(call.now, &operator, &id, words)
        .await
        .map(Reply::ok)
}

/// POST /dashboard/api/unmatched-payments/{id}/assign
async fn assign(call: Call, operator: Operator) -> Result<Reply, Error> {
    let body = call.object()?;
    let fields = Fields::of(&body);
    fields.only(&["invoice", "account", "customer"])?;
    let invoice = fields.text("invoice", 1..=ID_CHARS_MAX)?;
    let account = fields.text("account", 1..=ID_CHARS_MAX)?;
    let customer = fields.text("customer", 1..=REF_CHARS_MAX)?;
    let to = match (invoice, account, customer) {
        (Some(invoice), None, None) => Assignee::Invoice(invoice.to_owned()),
        (None, Some(account), Some(customer)) => {
            Assignee::Customer(account.to_owned(), customer.to_owned())
        }
        (None, Some(_), None) => {
            return Err(Refusal::field("customer", "must be given with account").into());
        }
        (None, None, Some(_)) => {
            return Err(Refusal::field("account", "must be given with customer").into());
        }
        (None, None, None) | (Some(_), _, _) => {
            let problem = "must be given, or account and customer in its place";
            return Err(Refusal::field("invoice", problem).into());
        }
    };
    let id = call.uuid("unmatched payment")?;
    call.front
        .service
        .assign_unmatched(call.now, &operator, &id, to)
        .await
        .map(Reply::ok)
}

/// POST /dashboard/api/unmatched-payments/{id}/undo
async fn undo(call: Call, operator: Operator) -> Result<Reply, Error> {
    let id = call.uuid("unmatched payment")?;
    call.front
        .service
        .undo_unmatched(call.now, &operator, &id)
        .await
        .map(Reply::ok)
}

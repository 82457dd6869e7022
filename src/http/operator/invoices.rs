//! Invoices in the operator interface: searching, reading, the timeline, cancelling.

use crate::api::params::{BEFORE, CURRENCY, FROM, MODE, TO};
use crate::domain::refusal::Code;
use crate::domain::status::InvoiceStatus;
use crate::http::reply::Reply;
use crate::http::request::{Call, Param, ParamKind};
use crate::http::route::{Answer, Handler, PRIVATE, Resource, Route, Tag};
use crate::service::operator::invoices::Search;
use crate::service::{Error, Member};
use std::sync::Arc;

/// `limit` where none is given.
const LIMIT_DEFAULT: u32 = 50;

/// Its operations.
pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[
        Route {
            operation: "searchInvoices",
            tag: Some(Tag::OperatorInvoices),
            path: "/dashboard/api/accounts/{account}/invoices",
            summary: "Searches an account's invoices, newest first. One call looks through 50000 of them at most: a page may be short or empty and have more, which nextBefore goes on with.",
            query: &[
                MODE,
                Param::limit(200, LIMIT_DEFAULT),
                BEFORE,
                Param {
                    name: "status",
                    about: "Only invoices of this status.",
                    kind: ParamKind::OneOf(InvoiceStatus::TEXTS),
                },
                CURRENCY,
                FROM,
                TO,
                Param {
                    name: "text",
                    about: "A whole id, address or txid names its invoices, and only these are answered. Any other text: only invoices with it in id, orderId, description, customerEmail or a value of the metadata; key=value fits a whole value of the metadata, too.",
                    kind: ParamKind::Text { chars_max: 200 },
                },
            ],
            answers: &[Answer::json(200, "A page of invoices.", "InvoicePage")],
            handler: Handler::Session(|call, member| Box::pin(search(call, member))),
            ..PRIVATE
        },
        Route {
            operation: "getInvoiceDetail",
            tag: Some(Tag::OperatorInvoices),
            path: "/dashboard/api/accounts/{account}/invoices/{id}",
            summary: "Reads an invoice with its quotes, its payments and the sums that its status follows from.",
            query: &[MODE],
            answers: &[Answer::json(
                200,
                "The invoice with everything that is known of it.",
                "InvoiceDetail",
            )],
            handler: Handler::Session(|call, member| Box::pin(get(call, member))),
            ..PRIVATE
        },
        Route {
            operation: "getInvoiceTimeline",
            tag: Some(Tag::OperatorInvoices),
            path: "/dashboard/api/accounts/{account}/invoices/{id}/timeline",
            summary: "Tells what happened to an invoice, oldest first, and why its status changed, in numbers.",
            query: &[MODE],
            answers: &[Answer::json(200, "What happened.", "Timeline")],
            handler: Handler::Session(|call, member| Box::pin(timeline(call, member))),
            ..PRIVATE
        },
        Route {
            operation: "cancelInvoice",
            tag: Some(Tag::OperatorInvoices),
            method: "POST",
            path: "/dashboard/api/accounts/{account}/invoices/{id}/cancel",
            summary: "Cancels an invoice that is open and has no payment.",
            query: &[MODE],
            answers: &[Answer::json(200, "The invoice, cancelled.", "Invoice")],
            refusals: &[Code::InvoiceNotCancellable],
            handler: Handler::Session(|call, member| Box::pin(cancel(call, member))),
            ..PRIVATE
        },
    ],
};

/// GET /dashboard/api/accounts/{account}/invoices
async fn search(call: Call, member: Member) -> Result<Reply, Error> {
    let scope = call.scope(&member)?;
    let search = Search {
        status: call.query.choice("status")?,
        currency: call.query.choice("currency")?,
        from: call.query.moment("from")?,
        to: call.query.moment("to")?,
        text: call.query.text("text").map(str::to_owned),
        before: call.query.text("before").map(str::to_owned),
        limit: call.query.limit(LIMIT_DEFAULT),
    };
    let service = Arc::clone(&call.front.service);
    let read = move || service.search_invoices(&scope, &search);
    Reply::page(&call.long_read(&member, read).await?)
}

/// GET /dashboard/api/accounts/{account}/invoices/{id}
async fn get(call: Call, member: Member) -> Result<Reply, Error> {
    let scope = call.scope(&member)?;
    let detail = call.front.service.invoice_detail(&scope, call.second())?;
    Ok(Reply::ok(detail))
}

/// GET /dashboard/api/accounts/{account}/invoices/{id}/timeline
async fn timeline(call: Call, member: Member) -> Result<Reply, Error> {
    let scope = call.scope(&member)?;
    let service = &call.front.service;
    Reply::list(&service.timeline(&scope, call.second(), call.now)?)
}

/// POST /dashboard/api/accounts/{account}/invoices/{id}/cancel
async fn cancel(call: Call, member: Member) -> Result<Reply, Error> {
    let scope = call.scope(&member)?;
    let actor = member.user().email.as_str();
    let service = &call.front.service;
    service
        .cancel_owned(call.now, &scope, actor, call.second())
        .await
        .map(Reply::ok)
}

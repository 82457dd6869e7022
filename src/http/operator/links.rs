//! Payment links in the operator interface.

use crate::api::params::MODE;
use crate::domain::refusal::Code;
use crate::http::reply::Reply;
use crate::http::request::{Call, Param, ParamKind};
use crate::http::route::{Answer, Body, Handler, PRIVATE, Resource, Route, Tag};
use crate::service::{Error, Member};

/// `limit` where none is given.
const LIMIT_DEFAULT: u32 = 50;

/// Its operations.
pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[
        Route {
            operation: "createPaymentLink",
            tag: Some(Tag::OperatorInvoices),
            method: "POST",
            path: "/dashboard/api/accounts/{account}/payment-links",
            summary: "Makes a payment link: whoever opens its url makes an invoice, of the link's mode, and pays it.",
            query: &[MODE],
            body: Some(Body::required("CreatePaymentLink")),
            answers: &[Answer::json(201, "The link.", "PaymentLink")],
            refusals: &[Code::AmountTooLarge],
            handler: Handler::Session(|call, member| Box::pin(create(call, member))),
            ..PRIVATE
        },
        Route {
            operation: "listPaymentLinks",
            tag: Some(Tag::OperatorInvoices),
            path: "/dashboard/api/accounts/{account}/payment-links",
            summary: "Pages through an account's payment links, newest first.",
            query: &[
                Param::limit(200, LIMIT_DEFAULT),
                Param {
                    name: "before",
                    about: "The nextBefore of the previous page: only links older than it.",
                    kind: ParamKind::Id,
                },
                MODE,
            ],
            answers: &[Answer::json(200, "A page of links.", "PaymentLinkPage")],
            handler: Handler::Session(|call, member| Box::pin(list(call, member))),
            ..PRIVATE
        },
        Route {
            operation: "getPaymentLink",
            tag: Some(Tag::OperatorInvoices),
            path: "/dashboard/api/accounts/{account}/payment-links/{id}",
            summary: "Reads a payment link.",
            query: &[MODE],
            answers: &[Answer::json(200, "The link.", "PaymentLink")],
            handler: Handler::Session(|call, member| Box::pin(get(call, member))),
            ..PRIVATE
        },
        Route {
            operation: "changePaymentLink",
            tag: Some(Tag::OperatorInvoices),
            method: "PATCH",
            path: "/dashboard/api/accounts/{account}/payment-links/{id}",
            summary: "Changes a payment link, or switches it off or on; invoices that it made stay as they are.",
            query: &[MODE],
            body: Some(Body::required("ChangePaymentLink")),
            answers: &[Answer::json(200, "The link.", "PaymentLink")],
            refusals: &[Code::AmountTooLarge],
            handler: Handler::Session(|call, member| Box::pin(change(call, member))),
            ..PRIVATE
        },
    ],
};

/// POST /dashboard/api/accounts/{account}/payment-links
async fn create(call: Call, member: Member) -> Result<Reply, Error> {
    let (scope, body) = (call.scope(&member)?, call.object()?);
    let actor = member.user().email.as_str();
    let service = &call.front.service;
    let link = service.create_link(call.now, &scope, actor, body).await?;
    Ok(Reply::created(link))
}

/// GET /dashboard/api/accounts/{account}/payment-links
async fn list(call: Call, member: Member) -> Result<Reply, Error> {
    let (before, limit) = (call.query.text("before"), call.query.limit(LIMIT_DEFAULT));
    let service = &call.front.service;
    Reply::page(&service.links(&call.scope(&member)?, before, limit)?)
}

/// GET /dashboard/api/accounts/{account}/payment-links/{id}
async fn get(call: Call, member: Member) -> Result<Reply, Error> {
    let service = &call.front.service;
    service
        .link(&call.scope(&member)?, call.second())
        .map(Reply::ok)
}

/// PATCH /dashboard/api/accounts/{account}/payment-links/{id}
async fn change(call: Call, member: Member) -> Result<Reply, Error> {
    let (scope, body) = (call.scope(&member)?, call.object()?);
    let actor = member.user().email.as_str();
    let service = &call.front.service;
    service
        .change_link(call.now, &scope, actor, call.second(), body)
        .await
        .map(Reply::ok)
}

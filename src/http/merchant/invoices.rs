//! `/v1/invoices`.

use crate::domain::fields::Fields;
use crate::domain::invoice::draft::PaymentCase;
use crate::domain::refusal::{Code, Refusal};
use crate::domain::status::InvoiceStatus;
use crate::http::params::BEFORE_ID;
use crate::http::reply::Reply;
use crate::http::request::{Call, Param, ParamKind, idempotency_key};
use crate::http::route::{Answer, Body, Handler, PRIVATE, Resource, Route, Tag};
use crate::service::invoices::Wanted;
use crate::service::{Caller, Error};
use std::sync::Arc;

/// `limit` where none is given.
const LIMIT_DEFAULT: u32 = 25;

/// Its operations.
pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[
        Route {
            operation: "createInvoice",
            tag: Some(Tag::Invoices),
            method: "POST",
            path: "/v1/invoices",
            summary: "Creates an invoice. The same orderId again answers 200 with the invoice as it is now.",
            body: Some(Body::required("CreateInvoice")),
            answers: &[
                Answer::json(201, "The invoice was created.", "CreatedInvoice"),
                Answer::json(
                    200,
                    "An invoice with this orderId exists; nothing was changed.",
                    "CreatedInvoice",
                ),
            ],
            refusals: &[
                Code::AmountTooLarge,
                Code::AccountNotApproved,
                Code::AccountSuspended,
                Code::IdempotencyConflict,
                Code::RateLimited,
                Code::Maintenance,
            ],
            is_rate_limited: true,
            is_idempotent: true,
            handler: Handler::Secret(|call, caller| Box::pin(create(call, caller))),
            ..PRIVATE
        },
        Route {
            operation: "listInvoices",
            tag: Some(Tag::Invoices),
            path: "/v1/invoices",
            summary: "Pages through the invoices, newest first.",
            query: &[
                Param::limit(100, LIMIT_DEFAULT),
                BEFORE_ID,
                Param {
                    name: "status",
                    about: "Only invoices of this status.",
                    kind: ParamKind::OneOf(InvoiceStatus::TEXTS),
                },
                Param {
                    name: "orderId",
                    about: "Only the invoice with this reference.",
                    kind: ParamKind::Text { chars_max: 200 },
                },
            ],
            answers: &[Answer::json(200, "A page of invoices.", "InvoiceList")],
            handler: Handler::Secret(|call, caller| Box::pin(list(call, caller))),
            ..PRIVATE
        },
        Route {
            operation: "getInvoice",
            tag: Some(Tag::Invoices),
            path: "/v1/invoices/{id}",
            summary: "Reads an invoice; usable for polling where webhooks cannot be received.",
            answers: &[Answer::json(200, "The invoice.", "Invoice")],
            handler: Handler::Secret(|call, caller| Box::pin(get(call, caller))),
            ..PRIVATE
        },
        Route {
            operation: "selectCoin",
            tag: Some(Tag::Invoices),
            method: "POST",
            path: "/v1/invoices/{id}/select",
            summary: "Picks the coin: locks the rate, claims a deposit address, sets amountExpected.",
            body: Some(Body::required("SelectCoin")),
            answers: &[Answer::json(
                200,
                "The invoice with depositAddress and amountExpected.",
                "Invoice",
            )],
            refusals: &[
                Code::CoinUnavailable,
                Code::PaymentInFlight,
                Code::InvoiceClosed,
            ],
            handler: Handler::Secret(|call, caller| Box::pin(select(call, caller))),
            ..PRIVATE
        },
        Route {
            operation: "simulatePayment",
            tag: Some(Tag::Invoices),
            method: "POST",
            path: "/v1/invoices/{id}/simulate",
            summary: "Pays a test invoice: status changes, ledger and webhooks as for a real payment.",
            body: Some(Body {
                schema: "SimulatePayment",
                required: false,
            }),
            answers: &[Answer::json(
                200,
                "The invoice after the payment.",
                "Invoice",
            )],
            refusals: &[Code::CoinUnavailable, Code::NotTestInvoice],
            handler: Handler::Secret(|call, caller| Box::pin(simulate(call, caller))),
            ..PRIVATE
        },
    ],
};

/// POST /v1/invoices
async fn create(call: Call, caller: Arc<Caller>) -> Result<Reply, Error> {
    let body = call.object()?;
    let client_key = idempotency_key(&call.headers)?;
    let service = &call.front.service;
    let (outcome, json) = service
        .create_invoice(call.now, &caller, body, client_key)
        .await?;
    Ok(Reply::made(outcome, json))
}

/// GET /v1/invoices
async fn list(call: Call, caller: Arc<Caller>) -> Result<Reply, Error> {
    let wanted = Wanted {
        status: call.query.choice("status")?,
        order_id: call.query.text("orderId").map(str::to_owned),
        before: call.query.text("before").map(str::to_owned),
        limit: call.query.limit(LIMIT_DEFAULT),
    };
    let page = call.front.service.invoices(&caller, &wanted)?;
    Reply::page_of(&page.data, page.next_before.as_deref())
}

/// GET /v1/invoices/{id}
async fn get(call: Call, caller: Arc<Caller>) -> Result<Reply, Error> {
    let invoice = call
        .front
        .service
        .invoice(&caller, &call.uuid("invoice")?)?;
    Ok(Reply::shared(invoice))
}

/// POST /v1/invoices/{id}/select
async fn select(call: Call, caller: Arc<Caller>) -> Result<Reply, Error> {
    let body = call.object()?;
    let asset = Fields::of(&body).text("asset", 1..=40)?;
    let asset = asset.ok_or_else(|| {
        Refusal::field("asset", "must be given: an asset id of the currencies list")
    })?;
    let service = &call.front.service;
    service
        .select(call.now, &caller, call.id(), asset.to_owned())
        .await
        .map(Reply::ok)
}

/// POST /v1/invoices/{id}/simulate
async fn simulate(call: Call, caller: Arc<Caller>) -> Result<Reply, Error> {
    let body = call.optional_object()?;
    let fields = Fields::of(&body);
    let case = fields.choice("case")?.unwrap_or(PaymentCase::Exact);
    let asset = fields.text("asset", 1..=40)?.map(str::to_owned);
    call.front
        .service
        .simulate(call.now, &caller, call.id(), case, asset)
        .await
        .map(Reply::ok)
}

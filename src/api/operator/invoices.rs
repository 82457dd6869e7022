//! Invoices of an account, for users of the dashboard: `/dashboard/api/accounts/{account}/invoices`.

use crate::api::invoices::CREATE_ANSWERS;
use crate::api::operation::{Answer, Body, Context, Job, Operation, OperationFn, Outcome, PLAIN};
use crate::api::params::{BEFORE, CURRENCY, FROM, MODE, TO};
use crate::api::query::{Param, ParamKind};
use crate::api::tag::Tag;
use crate::domain::fields::{Component, Schema};
use crate::domain::invoice::draft::CreateInvoice;
use crate::domain::{InvoiceStatus, RefusalCode};
use crate::render::{InvoiceDetailView, InvoiceView, TimelineEntryView};
use crate::service::invoices::listing::InvoiceSearch;
use crate::service::{Error, Member, Requester};
use serde_json::Map;
use std::sync::Arc;

/// Default of the parameter `limit`.
const LIMIT_DEFAULT: u32 = 50;

const INVOICE_PAGE: Component = Component::Exemplified {
    component: &Component::Page {
        name: "InvoicePage",
        item: &InvoiceView::COMPONENT,
        about: [
            "One page of an account's invoices, newest first.",
            "The entries of this page, newest first.",
            "Whether older entries follow.",
            "Value of `before` for the next page; null on the last page.",
        ],
        before: &Schema::STRING,
    },
    differs: r#"{ "hasMore": true, "nextBefore": "01a1fd70-f1c0-72d6-a3de-4fa0dcc29946" }"#,
};

const TIMELINE: Component = Component::Exemplified {
    component: &Component::List {
        name: "Timeline",
        item: &TimelineEntryView::COMPONENT,
        about: "Timeline of an invoice.",
        about_data: "Entries of the timeline, oldest first.",
    },
    differs: r#"{"data": [{"at": "2026-11-21T09:31:12.400Z", "kind": "payment", "text": "payment of 0.25 LTC confirmed: worth 20.00 EUR at 80, in time", "status": null, "sums": null, "coin": null, "payment": {"id": "01a1fd71-0a11-7c40-9d3e-5a2b6c7d8e90", "asset": "LTC", "amount": "0.25", "rate": "80", "pricedBy": {"source": "fixed", "at": "2026-11-21T09:30:20.000Z", "spreadBps": 0, "figures": []}, "value": "20.00", "onTime": true, "txid": "5e3b5e3b5e3b5e3b5e3b5e3b5e3b5e3b5e3b5e3b5e3b5e3b5e3b5e3b5e3b5e3b", "step": "confirmed", "confirmations": null, "confirmationsNeeded": null, "explorerUrl": null}, "booking": null, "refund": null}, {"at": "2026-11-21T09:31:12.400Z", "kind": "status", "text": "confirmed: confirmed 20.00 of 20.00 EUR due, tolerance 0.10", "status": "confirmed", "sums": {"due": "20.00", "paidFrom": "19.90", "paidUpTo": "20.10", "confirmedOnTime": "20.00", "unconfirmedOnTime": "0.00", "confirmedLate": "0.00"}, "coin": null, "payment": null, "booking": null, "refund": null}]}"#,
};

pub const OPERATIONS: [&Operation; 5] = [&SEARCH, &GET, &GET_TIMELINE, &CANCEL, &CREATE];

const SEARCH: Operation = Operation {
    id: "searchInvoices",
    path: "/dashboard/api/accounts/{account}/invoices",
    tag: Tag::OperatorInvoices,
    summary: "Searches an account's invoices, newest first. One call searches at most 50000 invoices: a page may be short or empty while hasMore is true.",
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
            about: "A whole id, address or txid returns only the invoices that have it. Those whose orderId or customerEmail is the text are first. Any text matches a part of id, orderId, description, customerEmail or a metadata value; key=value matches a whole metadata value.",
            kind: ParamKind::Text { chars_max: 200 },
        },
    ],
    answers: &[Answer::ok("A page of invoices.", &INVOICE_PAGE)],
    run: OperationFn::Session(search),
    ..PLAIN
};

const GET: Operation = Operation {
    id: "getInvoiceDetail",
    path: "/dashboard/api/accounts/{account}/invoices/{id}",
    tag: Tag::OperatorInvoices,
    summary: "Returns an invoice with its quotes, its payments and the sums that determine its status.",
    query: &[MODE],
    answers: &[Answer::ok("The invoice with all details.", &InvoiceDetailView::COMPONENT)],
    run: OperationFn::Session(get),
    ..PLAIN
};

const GET_TIMELINE: Operation = Operation {
    id: "getInvoiceTimeline",
    path: "/dashboard/api/accounts/{account}/invoices/{id}/timeline",
    tag: Tag::OperatorInvoices,
    summary: "Returns the timeline of an invoice, oldest first, with the sums behind each change of status.",
    query: &[MODE],
    answers: &[Answer::ok("The timeline.", &TIMELINE)],
    run: OperationFn::Session(timeline),
    ..PLAIN
};

const CANCEL: Operation = Operation {
    id: "cancelAccountInvoice",
    method: "POST",
    path: "/dashboard/api/accounts/{account}/invoices/{id}/cancel",
    tag: Tag::OperatorInvoices,
    summary: "Cancels an open invoice without payments.",
    query: &[MODE],
    answers: &[Answer::ok("The invoice.", &InvoiceView::COMPONENT)],
    refusals: &[RefusalCode::InvoiceNotCancellable, RefusalCode::IdempotencyConflict],
    is_idempotent: true,
    run: OperationFn::Session(cancel),
    ..PLAIN
};

const CREATE: Operation = Operation {
    id: "createAccountInvoice",
    method: "POST",
    path: "/dashboard/api/accounts/{account}/invoices",
    tag: Tag::OperatorInvoices,
    summary: "Creates an invoice by hand, by the rules of createInvoice. A known orderId answers 200 with the existing invoice.",
    query: &[MODE],
    body: Body::required(&CreateInvoice::COMPONENT),
    answers: CREATE_ANSWERS,
    refusals: &[
        RefusalCode::AmountTooLarge,
        RefusalCode::AccountNotApproved,
        RefusalCode::AccountSuspended,
        RefusalCode::IdempotencyConflict,
        RefusalCode::Maintenance,
    ],
    is_idempotent: true,
    run: OperationFn::Session(create),
    ..PLAIN
};

fn search(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let (scope, query) = (context.scope(member)?, context.query);
    let search = InvoiceSearch {
        status: query.enum_value("status")?,
        currency: query.enum_value("currency")?,
        from: query.moment("from")?,
        to: query.moment("to")?,
        text: query.text("text").map(str::to_owned),
        before: query.text("before").map(str::to_owned),
        limit: query.limit(LIMIT_DEFAULT),
    };
    Job::read(move |service| {
        let page = service.search_invoices(&scope, &search)?;
        Ok(Outcome::from_page(page))
    })
}

fn get(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let scope = context.scope(member)?;
    let detail = context.service.invoice_detail(&scope, context.second_param())?;
    Ok(Job::Done(Outcome::resource(detail)))
}

fn timeline(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let scope = context.scope(member)?;
    let service = context.service;
    Job::list(&service.timeline(&scope, context.second_param(), context.now)?)
}

fn cancel(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let scope = context.scope(member)?;
    let request = context.idempotent_request(Map::new())?;
    let (service, now) = (Arc::clone(context.service), context.now);
    let (actor, id) = (member.actor(), context.second_param().to_owned());
    Job::wait(async move {
        let cancelled = service.cancel_invoice(now, &scope, actor, id, request);
        cancelled.await.map(Outcome::from_idempotent)
    })
}

fn create(context: &Context<'_>, member: &Member) -> Result<Job, Error> {
    let scope = context.scope(member)?;
    let request = context.idempotent_request(context.body_fields()?)?;
    let (service, now, actor) = (Arc::clone(context.service), context.now, member.actor());
    Job::wait(async move {
        let requester = Requester::Person(&actor);
        let created = service.create_invoice(now, &scope, requester, request);
        Ok(Outcome::from_idempotent(created.await?))
    })
}

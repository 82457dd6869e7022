//! Invoices of a shop: `/v1/invoices`.

use super::operation::{Answer, Body, Context, Job, Operation, OperationFn, Outcome, PLAIN};
use super::params::BEFORE_ID;
use super::query::{Param, ParamKind};
use super::tag::Tag;
use crate::domain::fields::rule::{RequiredAssetIdRule, choice};
use crate::domain::fields::text_rule::text;
use crate::domain::fields::{Component, Schema, input};
use crate::domain::invoice::draft::CreateInvoice;
use crate::domain::{InvoiceStatus, RefusalCode, SimulatedAmount};
use crate::render::{CreatedInvoiceView, InvoiceView};
use crate::service::invoices::InvoiceListQuery;
use crate::service::{Caller, Error, Requester};
use serde_json::Map;
use std::sync::Arc;

const LIMIT_DEFAULT: u32 = 25;

input! {
    /// The coin to pay an invoice in. Unknown fields are ignored.
    pub SelectCoin, checked asset; unknown ignored {
        /// Asset id from currencies.
        required asset: String = RequiredAssetIdRule, "LTC";
    }
}

input! {
    /// A test payment of an invoice. Null means absent; unknown fields are ignored.
    pub SimulatePayment, checked case, asset; unknown ignored {
        /// Amount of the payment: exactly what is due, half of it, or one and a half times as much; default exact.
        or(SimulatedAmount::Exact) case: SimulatedAmount = choice().described_by_one_of(), "exact";
        /// Asset id of the coin to pay with if none is selected; default: the first coin that accepts the amount.
        optional asset: String = text(1..=40), "LTC";
    }
}

const INVOICE_LIST: Component = Component::Page {
    name: "InvoiceList",
    item: &InvoiceView::COMPONENT,
    about: [
        "One page of the invoices in the key's mode, newest first.",
        "The invoices of this page, newest first.",
        "Whether older invoices follow.",
        "Value of `before` for the next page; null on the last page.",
    ],
    before: &Schema::UUID,
};

pub const OPERATIONS: [&Operation; 6] = [&CREATE, &LIST, &GET, &SELECT, &CANCEL, &SIMULATE];

pub(in crate::api) const CREATE_ANSWERS: &[Answer] = &[
    Answer::created("The invoice was created.", &CreatedInvoiceView::COMPONENT),
    Answer::ok(
        "The existing invoice with this orderId, unchanged.",
        &CreatedInvoiceView::COMPONENT,
    ),
];

const CREATE: Operation = Operation {
    id: "createInvoice",
    method: "POST",
    path: "/v1/invoices",
    tag: Tag::Invoices,
    summary: "Creates an invoice. A known orderId answers 200 with the existing invoice.",
    body: Body::required(&CreateInvoice::COMPONENT),
    answers: CREATE_ANSWERS,
    refusals: &[
        RefusalCode::AmountTooLarge,
        RefusalCode::AccountNotApproved,
        RefusalCode::AccountSuspended,
        RefusalCode::IdempotencyConflict,
        RefusalCode::RateLimited,
        RefusalCode::Maintenance,
    ],
    is_rate_limited: true,
    is_idempotent: true,
    run: OperationFn::Secret(create),
    ..PLAIN
};

const LIST: Operation = Operation {
    id: "listInvoices",
    path: "/v1/invoices",
    tag: Tag::Invoices,
    summary: "Returns a page of invoices, newest first.",
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
            about: "Only the invoice with this orderId.",
            kind: ParamKind::Text { chars_max: 200 },
        },
    ],
    answers: &[Answer::ok("A page of invoices.", &INVOICE_LIST)],
    run: OperationFn::Secret(list),
    ..PLAIN
};

const GET: Operation = Operation {
    id: "getInvoice",
    path: "/v1/invoices/{id}",
    tag: Tag::Invoices,
    summary: "Returns an invoice. Shops that cannot receive webhooks may poll it.",
    answers: &[Answer::ok("The invoice.", &InvoiceView::COMPONENT)],
    run: OperationFn::Secret(get),
    ..PLAIN
};

const SELECT: Operation = Operation {
    id: "selectCoin",
    method: "POST",
    path: "/v1/invoices/{id}/select",
    tag: Tag::Invoices,
    summary: "Selects the coin: fixes the rate, assigns a deposit address and sets amountExpected.",
    body: Body::required(&SelectCoin::COMPONENT),
    answers: &[Answer::ok(
        "The invoice, with depositAddress and amountExpected.",
        &InvoiceView::COMPONENT,
    )],
    refusals: &[
        RefusalCode::CoinUnavailable,
        RefusalCode::PaymentInFlight,
        RefusalCode::InvoiceClosed,
    ],
    run: OperationFn::Secret(select_coin),
    ..PLAIN
};

const CANCEL: Operation = Operation {
    id: "cancelInvoice",
    method: "POST",
    path: "/v1/invoices/{id}/cancel",
    tag: Tag::Invoices,
    summary: "Cancels an open invoice without payments.",
    answers: &[Answer::ok("The cancelled invoice.", &InvoiceView::COMPONENT)],
    refusals: &[RefusalCode::InvoiceNotCancellable, RefusalCode::IdempotencyConflict],
    is_idempotent: true,
    run: OperationFn::Secret(cancel),
    ..PLAIN
};

const SIMULATE: Operation = Operation {
    id: "simulatePayment",
    method: "POST",
    path: "/v1/invoices/{id}/simulate",
    tag: Tag::Invoices,
    summary: "Pays a test invoice. Status, ledger and webhooks follow as for a real payment.",
    body: Body::optional(&SimulatePayment::COMPONENT),
    answers: &[Answer::ok("The invoice.", &InvoiceView::COMPONENT)],
    refusals: &[
        RefusalCode::CoinUnavailable,
        RefusalCode::NotTestInvoice,
        RefusalCode::IdempotencyConflict,
    ],
    is_idempotent: true,
    run: OperationFn::Secret(simulate_payment),
    ..PLAIN
};

fn create(context: &Context<'_>, caller: &Arc<Caller>) -> Result<Job, Error> {
    let request = context.idempotent_request(context.body_fields()?)?;
    let (service, caller, now) = (Arc::clone(context.service), Arc::clone(caller), context.now);
    Job::wait(async move {
        let requester = Requester::Key(caller.key_id());
        let created = service.create_invoice(now, &caller, requester, request);
        Ok(Outcome::from_idempotent(created.await?))
    })
}

fn list(context: &Context<'_>, caller: &Arc<Caller>) -> Result<Job, Error> {
    let query = context.query;
    let wanted = InvoiceListQuery {
        status: query.enum_value("status")?,
        order_id: query.text("orderId").map(str::to_owned),
        before: query.text("before").map(str::to_owned),
        limit: query.limit(LIMIT_DEFAULT),
    };
    let page = context.service.invoices(caller, &wanted)?;
    Ok(Job::Done(Outcome::page(page.data, page.next_before)))
}

fn get(context: &Context<'_>, caller: &Arc<Caller>) -> Result<Job, Error> {
    let invoice = context.service.invoice(caller, &context.uuid("invoice")?)?;
    Ok(Job::Done(Outcome::shared(invoice)))
}

fn select_coin(context: &Context<'_>, caller: &Arc<Caller>) -> Result<Job, Error> {
    let SelectCoin { asset } = SelectCoin::read(&context.body_fields()?)?;
    let (service, caller, now) = (Arc::clone(context.service), Arc::clone(caller), context.now);
    let id = context.first_param().to_owned();
    Job::wait(async move {
        let invoice = service.select_coin(now, &caller, &id, asset).await?;
        Ok(Outcome::resource(invoice))
    })
}

fn cancel(context: &Context<'_>, caller: &Arc<Caller>) -> Result<Job, Error> {
    let (id, request) = (context.uuid("invoice")?, context.idempotent_request(Map::new())?);
    let (service, caller, now) = (Arc::clone(context.service), Arc::clone(caller), context.now);
    Job::wait(async move {
        let actor = format!("key {}", caller.key_id());
        let cancelled = service.cancel_invoice(now, &caller, actor, id, request);
        cancelled.await.map(Outcome::from_idempotent)
    })
}

fn simulate_payment(context: &Context<'_>, caller: &Arc<Caller>) -> Result<Job, Error> {
    let request = context.idempotent_request(context.body_fields()?)?;
    let SimulatePayment { case, asset } = SimulatePayment::read(&request.body)?;
    let (service, caller, now) = (Arc::clone(context.service), Arc::clone(caller), context.now);
    let id = context.first_param().to_owned();
    Job::wait(async move {
        let paid = service.simulate_payment(now, &caller, &id, case, asset, request);
        paid.await.map(Outcome::from_idempotent)
    })
}

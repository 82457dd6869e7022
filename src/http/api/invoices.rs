//! `/v1/invoices` and `/v1/currencies`.

use crate::domain::fields::Fields;
use crate::domain::invoice::draft::PaymentCase;
use crate::domain::refusal::Refusal;
use crate::http::reply::Reply;
use crate::http::request::{Call, idempotency_key};
use crate::service::Caller;
use crate::service::Error;
use crate::service::idempotency::Outcome;
use crate::service::invoices::Wanted;
use hyper::StatusCode;
use std::sync::Arc;

/// `limit` where none is given.
pub(in crate::http) const LIMIT_DEFAULT: u32 = 25;

/// POST /v1/invoices
pub(in crate::http) async fn create(call: Call, caller: Arc<Caller>) -> Result<Reply, Error> {
    let body = call.object()?;
    let client_key = idempotency_key(&call.headers)?;
    let service = &call.front.service;
    let (outcome, json) = service
        .create_invoice(call.now, &caller, body, client_key)
        .await?;
    Ok(Reply::json(made(outcome), json))
}

/// GET /v1/invoices
pub(in crate::http) async fn list(call: Call, caller: Arc<Caller>) -> Result<Reply, Error> {
    let wanted = Wanted {
        status: call.query.choice("status")?,
        order_id: call.query.text("orderId").map(str::to_owned),
        limit: call.query.limit(LIMIT_DEFAULT),
    };
    Reply::list(&call.front.service.invoices(&caller, &wanted)?)
}

/// GET /v1/invoices/{id}
pub(in crate::http) async fn get(call: Call, caller: Arc<Caller>) -> Result<Reply, Error> {
    let invoice = call
        .front
        .service
        .invoice(&caller, &call.uuid("invoice")?)?;
    Ok(Reply::shared(invoice))
}

/// POST /v1/invoices/{id}/select
pub(in crate::http) async fn select(call: Call, caller: Arc<Caller>) -> Result<Reply, Error> {
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
pub(in crate::http) async fn simulate(call: Call, caller: Arc<Caller>) -> Result<Reply, Error> {
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

/// GET /v1/currencies
pub(in crate::http) async fn currencies(call: Call, caller: Arc<Caller>) -> Result<Reply, Error> {
    Reply::list(&call.front.service.currencies(call.now, &caller)?)
}

/// The status of a POST that creates.
pub(in crate::http) fn made(outcome: Outcome) -> StatusCode {
    match outcome {
        Outcome::Created => StatusCode::CREATED,
        Outcome::Existing => StatusCode::OK,
    }
}

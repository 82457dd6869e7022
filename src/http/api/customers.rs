//! `/v1/customers`.

use crate::domain::fields::Fields;
use crate::domain::refusal::Refusal;
use crate::http::reply::Reply;
use crate::http::request::Call;
use crate::service::Caller;
use crate::service::deposits::Simulated;
use crate::service::{Error, Json};
use hyper::StatusCode;
use std::sync::Arc;

/// POST /v1/customers/{ref}/addresses
pub(in crate::http) async fn make_addresses(
    call: Call,
    caller: Arc<Caller>,
) -> Result<Reply, Error> {
    let service = &call.front.service;
    let made = service
        .make_customer_addresses(call.now, &caller, call.id())
        .await?;
    Ok(created(made))
}

/// GET /v1/customers/{ref}/addresses
pub(in crate::http) async fn addresses(call: Call, caller: Arc<Caller>) -> Result<Reply, Error> {
    let service = &call.front.service;
    service
        .customer_addresses(&caller, call.id())
        .map(Reply::ok)
}

/// POST /v1/customers/{ref}/simulate
pub(in crate::http) async fn simulate(call: Call, caller: Arc<Caller>) -> Result<Reply, Error> {
    let body = call.object()?;
    let fields = Fields::of(&body);
    fields.only(&["asset", "amount"])?;
    let asset = fields.text("asset", 1..=40)?;
    let asset = asset.ok_or_else(|| {
        Refusal::field("asset", "must be given: an asset id of the currencies list")
    })?;
    let amount = fields.get("amount").and_then(|value| {
        let number = value.as_number().map(serde_json::Number::as_str);
        value.as_str().or(number)
    });
    let amount = amount.ok_or_else(|| {
        Refusal::field(
            "amount",
            "must be given: a plain decimal of whole coins like \"0.25\"",
        )
    })?;
    let paid = Simulated {
        asset: asset.to_owned(),
        amount: amount.to_owned(),
    };
    let deposit = call
        .front
        .service
        .simulate_deposit(call.now, &caller, call.id(), paid)
        .await?;
    Ok(created(deposit))
}

/// 201 with a resource.
fn created(json: Json) -> Reply {
    Reply {
        status: StatusCode::CREATED,
        ..Reply::ok(json)
    }
}

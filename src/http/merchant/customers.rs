//! `/v1/customers`: their addresses, and simulated deposits.

use crate::domain::fields::Fields;
use crate::domain::refusal::{Code, Refusal};
use crate::http::reply::Reply;
use crate::http::request::Call;
use crate::http::route::{Answer, Body, Handler, PRIVATE, Resource, Route, Tag};
use crate::service::deposits::Simulated;
use crate::service::{Caller, Error};
use std::sync::Arc;

/// Its operations.
pub(in crate::http) static RESOURCE: Resource = Resource {
    routes: &[
        Route {
            operation: "makeCustomerAddresses",
            tag: Some(Tag::Customers),
            method: "POST",
            path: "/v1/customers/{ref}/addresses",
            summary: "Makes or fetches a customer's static addresses, one for each chain family; the same for ever.",
            answers: &[Answer::json(
                201,
                "The customer's addresses, whether or not they were there before.",
                "CustomerAddresses",
            )],
            refusals: &[Code::CustomersDisabled, Code::PoolRefilling],
            handler: Handler::Secret(|call, caller| Box::pin(make_addresses(call, caller))),
            ..PRIVATE
        },
        Route {
            operation: "getCustomerAddresses",
            tag: Some(Tag::Customers),
            path: "/v1/customers/{ref}/addresses",
            summary: "Reads a customer's static addresses.",
            answers: &[Answer::json(
                200,
                "The customer's addresses.",
                "CustomerAddresses",
            )],
            refusals: &[Code::InvalidRequest, Code::CustomersDisabled],
            handler: Handler::Secret(|call, caller| Box::pin(addresses(call, caller))),
            ..PRIVATE
        },
        Route {
            operation: "simulateDeposit",
            tag: Some(Tag::Customers),
            method: "POST",
            path: "/v1/customers/{ref}/simulate",
            summary: "Pays to a test customer's address: one deposit, seen and confirmed, with ledger and webhooks as for a real one.",
            body: Some(Body::required("SimulateDeposit")),
            answers: &[Answer::json(201, "The deposit.", "Deposit")],
            refusals: &[
                Code::CoinUnavailable,
                Code::CustomersDisabled,
                Code::Forbidden,
            ],
            handler: Handler::Secret(|call, caller| Box::pin(simulate(call, caller))),
            ..PRIVATE
        },
    ],
};

/// POST /v1/customers/{ref}/addresses
async fn make_addresses(call: Call, caller: Arc<Caller>) -> Result<Reply, Error> {
    let service = &call.front.service;
    let made = service
        .make_customer_addresses(call.now, &caller, call.id())
        .await?;
    Ok(Reply::created(made))
}

/// GET /v1/customers/{ref}/addresses
async fn addresses(call: Call, caller: Arc<Caller>) -> Result<Reply, Error> {
    let service = &call.front.service;
    service
        .customer_addresses(&caller, call.id())
        .map(Reply::ok)
}

/// POST /v1/customers/{ref}/simulate
async fn simulate(call: Call, caller: Arc<Caller>) -> Result<Reply, Error> {
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
    Ok(Reply::created(deposit))
}

//! Customers of a shop: `/v1/customers`, their addresses, and simulated deposits.

use super::operation::{Answer, Body, Context, Job, Operation, OperationFn, Outcome, PLAIN};
use super::tag::Tag;
use crate::domain::fields::text_rule::text;
use crate::domain::fields::{Fields, Keywords, Rule, Schema, input, schema};
use crate::domain::{Refusal, RefusalCode};
use crate::render::customer::{CustomerAddressesView, DepositView};
use crate::service::deposits::SimulatedDeposit;
use crate::service::{Caller, Error};
use serde_json::Number;
use std::sync::Arc;

input! {
    /// A test payment to a customer's address.
    pub SimulateDeposit, checked asset, amount; unknown refused {
        /// Asset id of a coin that one of the customer's addresses accepts.
        required asset: String = text(1..=40).required_or("must be given: an asset id of the currencies list"), "BTC";
        /// Amount in whole coins, a plain decimal above zero.
        required amount: String = CoinsRule, "0.001";
    }
}

/// Rule for a field with an amount of coins, as a text or a number. The operation checks the digits.
struct CoinsRule;

impl Rule for CoinsRule {
    type Value = String;

    fn read(&self, fields: Fields<'_>, name: &str) -> Result<Option<String>, Refusal> {
        let value = fields.get(name);
        let text = value.and_then(|value| value.as_str().or(value.as_number().map(Number::as_str)));
        let problem = "must be given: a plain decimal of whole coins like \"0.25\"";
        let text = text.ok_or_else(|| Refusal::field(name, problem))?;
        Ok(Some(text.to_owned()))
    }

    fn json_schema(&self) -> Keywords {
        const SCHEMA: Schema = schema!({
            "type": ["string", "number"], "pattern": "^[0-9]+(\\.[0-9]+)?$", "exclusiveMinimum": 0
        });
        SCHEMA.json_schema()
    }
}

pub const OPERATIONS: [&Operation; 3] = [&MAKE_ADDRESSES, &GET_ADDRESSES, &SIMULATE];

const MAKE_ADDRESSES: Operation = Operation {
    id: "makeCustomerAddresses",
    method: "POST",
    path: "/v1/customers/{ref}/addresses",
    tag: Tag::Customers,
    summary: "Creates or returns a customer's static addresses, one for each chain family. They never change.",
    answers: &[Answer::created("The customer's addresses.", &CustomerAddressesView::COMPONENT)],
    refusals: &[RefusalCode::CustomersDisabled, RefusalCode::PoolRefilling],
    run: OperationFn::Secret(make_addresses),
    ..PLAIN
};

const GET_ADDRESSES: Operation = Operation {
    id: "getCustomerAddresses",
    path: "/v1/customers/{ref}/addresses",
    tag: Tag::Customers,
    summary: "Returns a customer's static addresses.",
    answers: &[Answer::ok("The customer's addresses.", &CustomerAddressesView::COMPONENT)],
    refusals: &[RefusalCode::InvalidRequest, RefusalCode::CustomersDisabled],
    run: OperationFn::Secret(get_addresses),
    ..PLAIN
};

const SIMULATE: Operation = Operation {
    id: "simulateDeposit",
    method: "POST",
    path: "/v1/customers/{ref}/simulate",
    tag: Tag::Customers,
    summary: "Pays to a test customer's address. The deposit is seen, confirmed, booked and notified as a real one.",
    body: Body::required(&SimulateDeposit::COMPONENT),
    answers: &[Answer::created("The deposit.", &DepositView::COMPONENT)],
    refusals: &[
        RefusalCode::CoinUnavailable,
        RefusalCode::CustomersDisabled,
        RefusalCode::Forbidden,
        RefusalCode::IdempotencyConflict,
    ],
    is_idempotent: true,
    run: OperationFn::Secret(simulate_deposit),
    ..PLAIN
};

fn make_addresses(context: &Context<'_>, caller: &Arc<Caller>) -> Result<Job, Error> {
    let (service, caller, now) = (Arc::clone(context.service), Arc::clone(caller), context.now);
    let reference = context.first_param().to_owned();
    Job::wait(async move {
        let made = service.get_or_create_customer_addresses(now, &caller, &reference);
        Outcome::created(&made.await?)
    })
}

fn get_addresses(context: &Context<'_>, caller: &Arc<Caller>) -> Result<Job, Error> {
    let found = context.service.customer_addresses(caller, context.first_param())?;
    Ok(Job::Done(Outcome::resource(found)))
}

fn simulate_deposit(context: &Context<'_>, caller: &Arc<Caller>) -> Result<Job, Error> {
    let request = context.idempotent_request(context.body_fields()?)?;
    let SimulateDeposit { asset, amount } = SimulateDeposit::read(&request.body)?;
    let (service, caller, now) = (Arc::clone(context.service), Arc::clone(caller), context.now);
    let reference = context.first_param().to_owned();
    Job::wait(async move {
        let paid = SimulatedDeposit { asset, amount };
        let deposit = service.simulate_deposit(now, &caller, &reference, paid, request);
        deposit.await.map(Outcome::from_idempotent)
    })
}

//! Operations that pages of any site may call: `/v1/public`.

use super::operation::{Answer, Body, Context, Job, Operation, OperationFn, Outcome, PLAIN};
use super::tag::Tag;
use crate::domain::RefusalCode;
use crate::domain::fields::rule::described;
use crate::domain::fields::text_rule::text;
use crate::domain::fields::{Schema, input};
use crate::render::public::{CheckoutSessionView, PublicConfigView};
use crate::service::{Caller, Error};

input! {
    /// The invoice to be paid. Unknown fields are ignored.
    pub CreateCheckoutSession, checked invoice_id; unknown ignored {
        /// Id of an invoice that the shop's server created.
        required invoice_id: String =
            described(text(0..=200).required_or("must be given: the id of an invoice"), Schema::UUID),
            "019d9f7b-6a00-7000-8000-000000000001";
    }
}

pub const OPERATIONS: [&Operation; 4] =
    [&CONFIG, &PREFLIGHT_CONFIG, &CREATE_SESSION, &PREFLIGHT_SESSIONS];

const CONFIG: Operation = Operation {
    id: "getPublicConfig",
    path: "/v1/public/config",
    tag: Tag::Public,
    summary: "Returns the public configuration: name, branding, currencies, coins and the widget's URL.",
    answers: &[Answer::ok("The configuration.", &PublicConfigView::COMPONENT)],
    run: OperationFn::Public(config),
    ..PLAIN
};

const PREFLIGHT_CONFIG: Operation =
    Operation { id: "preflightPublicConfig", path: "/v1/public/config", ..PREFLIGHT };

const CREATE_SESSION: Operation = Operation {
    id: "createCheckoutSession",
    method: "POST",
    path: "/v1/public/checkout-sessions",
    tag: Tag::Public,
    summary: "Returns the checkout of an invoice that the shop's server created.",
    body: Body::required(&CreateCheckoutSession::COMPONENT),
    answers: &[Answer::ok("The checkout.", &CheckoutSessionView::COMPONENT)],
    refusals: &[RefusalCode::NotFound],
    run: OperationFn::Public(create_session),
    ..PLAIN
};

const PREFLIGHT_SESSIONS: Operation = Operation {
    id: "preflightCheckoutSessions",
    path: "/v1/public/checkout-sessions",
    ..PREFLIGHT
};

/// Defaults of an operation that answers a CORS preflight request.
const PREFLIGHT: Operation = Operation {
    method: "OPTIONS",
    tag: Tag::Public,
    summary: "Allows pages of all sites to call this path.",
    answers: &[Answer::no_content("Allowed.")],
    run: OperationFn::Preflight,
    ..PLAIN
};

fn config(context: &Context<'_>, caller: &Caller) -> Result<Job, Error> {
    let config = context.service.public_config(context.now, caller)?;
    Ok(Job::Done(Outcome::resource(config)))
}

fn create_session(context: &Context<'_>, caller: &Caller) -> Result<Job, Error> {
    let input = CreateCheckoutSession::read(&context.body_fields()?)?;
    let session = context.service.checkout_session(caller, &input.invoice_id)?;
    Ok(Job::Done(Outcome::resource(session)))
}

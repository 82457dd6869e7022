//! `/v1/public/…`: what a shop's page may ask, from any site.
//!
//! What lives here: the handlers, and the headers by which browsers let a page read the answers (CORS). What always
//! holds: every answer of these routes has the headers, errors too, and no other answer has them.

use super::auth::PublicKey;
use super::reply::Reply;
use super::request::Call;
use super::route::{Answer, Body, Handler, Resource, Route, SHARED, Tag};
use crate::domain::fields::Fields;
use crate::domain::refusal::{Code, Refusal};
use crate::service::Error;
use hyper::header::HeaderName;

/// On every answer.
const HEADERS: [(&str, &str); 2] = [
    ("Access-Control-Allow-Origin", "*"),
    ("Access-Control-Expose-Headers", "X-Request-Id, Retry-After"),
];

/// On the answer to the question whether a page may ask, which is good for a day.
const PREFLIGHT_HEADERS: [(&str, &str); 3] = [
    ("Access-Control-Allow-Methods", "GET, POST, OPTIONS"),
    ("Access-Control-Allow-Headers", "X-API-Key, Content-Type"),
    ("Access-Control-Max-Age", "86400"),
];

/// The question a browser asks before it lets a page ask.
const PREFLIGHT: Route = Route {
    method: "OPTIONS",
    summary: "Tells a browser that pages of every site may ask here.",
    answers: &[Answer::empty(204, "They may.")],
    handler: Handler::Open(|call| Box::pin(preflight(call))),
    ..SHARED
};

/// Its operations.
pub(super) static RESOURCE: Resource = Resource {
    routes: &[
        Route {
            operation: "getPublicConfig",
            tag: Some(Tag::Public),
            path: "/v1/public/config",
            summary: "Reads what a shop's page may know: name, branding, currencies, coins, the widget's url.",
            answers: &[Answer::json(200, "The configuration.", "PublicConfig")],
            handler: Handler::Public(|call, key| Box::pin(config(call, key))),
            ..SHARED
        },
        Route {
            operation: "preflightPublicConfig",
            tag: Some(Tag::Public),
            path: "/v1/public/config",
            ..PREFLIGHT
        },
        Route {
            operation: "createCheckoutSession",
            tag: Some(Tag::Public),
            method: "POST",
            path: "/v1/public/checkout-sessions",
            summary: "Says where an invoice that the shop's server made is paid.",
            body: Some(Body::required("CreateCheckoutSession")),
            answers: &[Answer::json(200, "Where it is paid.", "CheckoutSession")],
            refusals: &[Code::NotFound],
            handler: Handler::Public(|call, key| Box::pin(checkout_session(call, key))),
            ..SHARED
        },
        Route {
            operation: "preflightCheckoutSessions",
            tag: Some(Tag::Public),
            path: "/v1/public/checkout-sessions",
            ..PREFLIGHT
        },
    ],
};

/// The headers of an answer that pages of all sites may read.
pub(super) fn headers(of_preflight: bool) -> impl Iterator<Item = (&'static str, &'static str)> {
    let more = PREFLIGHT_HEADERS.iter().filter(move |_| of_preflight);
    HEADERS.iter().chain(more).copied()
}

/// The answer with what lets a page read it.
pub(super) fn share(reply: Reply) -> Reply {
    headers(false).fold(reply, with)
}

/// 204: yes, a page may ask.
pub(super) fn allowed() -> Reply {
    PREFLIGHT_HEADERS
        .iter()
        .copied()
        .fold(Reply::nothing(), with)
}

/// The answer with one more header.
fn with(reply: Reply, (name, value): (&'static str, &'static str)) -> Reply {
    match name.parse::<HeaderName>() {
        Ok(name) => reply.with(name, value),
        Err(_) => reply,
    }
}

/// OPTIONS /v1/public/…
async fn preflight(_: Call) -> Result<Reply, Error> {
    Ok(allowed())
}

/// GET /v1/public/config
async fn config(call: Call, key: PublicKey) -> Result<Reply, Error> {
    let service = &call.front.service;
    service.public_config(call.now, &key).map(Reply::ok)
}

/// POST /v1/public/checkout-sessions
async fn checkout_session(call: Call, key: PublicKey) -> Result<Reply, Error> {
    let body = call.object()?;
    let invoice = Fields::of(&body)
        .text("invoiceId", 0..=200)?
        .ok_or_else(|| Refusal::field("invoiceId", "must be given: the id of an invoice"))?;
    let service = &call.front.service;
    service.checkout_session(&key, invoice).map(Reply::ok)
}

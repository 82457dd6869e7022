//! `/v1/public/…`: what a shop's page may ask, from whatever site it is.
//!
//! What lives here: its handlers and the headers by which browsers let a page read the answers (CORS). What always
//! holds: every answer of a route that is shared carries them, errors too, and no answer elsewhere does.

use super::reply::Reply;
use super::request::Call;
use crate::domain::fields::Fields;
use crate::domain::refusal::Refusal;
use crate::http::auth::PublicKey;
use crate::service::Error;
use hyper::header::HeaderName;

/// On every answer.
const SHARED: [(&str, &str); 2] = [
    ("Access-Control-Allow-Origin", "*"),
    ("Access-Control-Expose-Headers", "X-Request-Id, Retry-After"),
];

/// On the answer to the question whether a page may ask, which is good for a day.
const PREFLIGHT: [(&str, &str); 3] = [
    ("Access-Control-Allow-Methods", "GET, POST, OPTIONS"),
    ("Access-Control-Allow-Headers", "X-API-Key, Content-Type"),
    ("Access-Control-Max-Age", "86400"),
];

/// The headers of an answer that pages of all sites may read.
pub(super) fn headers(of_preflight: bool) -> impl Iterator<Item = (&'static str, &'static str)> {
    let more = PREFLIGHT.iter().filter(move |_| of_preflight);
    SHARED.iter().chain(more).copied()
}

/// The answer with what lets a page read it.
pub(super) fn share(reply: Reply) -> Reply {
    headers(false).fold(reply, with)
}

/// 204: yes, a page may ask.
pub(super) fn allowed() -> Reply {
    PREFLIGHT.iter().copied().fold(Reply::nothing(), with)
}

/// The answer with one more header.
fn with(reply: Reply, (name, value): (&'static str, &'static str)) -> Reply {
    match name.parse::<HeaderName>() {
        Ok(name) => reply.with(name, value),
        Err(_) => reply,
    }
}

/// OPTIONS /v1/public/…
pub(super) async fn preflight(_: Call) -> Result<Reply, Error> {
    Ok(allowed())
}

/// GET /v1/public/config
pub(super) async fn config(call: Call, key: PublicKey) -> Result<Reply, Error> {
    let service = &call.front.service;
    service.public_config(call.now, &key).map(Reply::ok)
}

/// POST /v1/public/checkout-sessions
pub(super) async fn checkout_session(call: Call, key: PublicKey) -> Result<Reply, Error> {
    let body = call.object()?;
    let invoice = Fields::of(&body)
        .text("invoiceId", 0..=200)?
        .ok_or_else(|| Refusal::field("invoiceId", "must be given: the id of an invoice"))?;
    let service = &call.front.service;
    service.checkout_session(&key, invoice).map(Reply::ok)
}

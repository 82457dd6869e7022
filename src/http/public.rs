//! Headers by which browsers let pages of all sites read an answer (CORS).
//!
//! Every answer of a shared form has them, errors too, and no other answer.

use super::reply::Reply;
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

/// The headers of an answer that pages of all sites may read.
pub(super) fn headers(of_preflight: bool) -> impl Iterator<Item = (&'static str, &'static str)> {
    let more = PREFLIGHT_HEADERS.iter().filter(move |_| of_preflight);
    HEADERS.iter().chain(more).copied()
}

/// The answer with what lets a page read it.
pub(super) fn share(reply: Reply) -> Reply {
    headers(false).fold(reply, with)
}

/// The answer to a browser that asks whether a page may ask: it may.
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

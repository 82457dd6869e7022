//! CORS headers, with which pages of all sites may read an answer.
//!
//! Invariant: every answer of a shared form has them, errors too, and no other answer.

use super::reply::Reply;
use hyper::header::HeaderName;

/// Headers of every shared answer.
const HEADERS: [(&str, &str); 2] = [
    ("Access-Control-Allow-Origin", "*"),
    ("Access-Control-Expose-Headers", "X-Request-Id, Retry-After"),
];

/// Headers of a preflight answer, valid for a day.
const PREFLIGHT_HEADERS: [(&str, &str); 3] = [
    ("Access-Control-Allow-Methods", "GET, POST, OPTIONS"),
    ("Access-Control-Allow-Headers", "X-API-Key, Content-Type"),
    ("Access-Control-Max-Age", "86400"),
];

/// Returns the CORS headers.
pub(super) fn headers(of_preflight: bool) -> impl Iterator<Item = (&'static str, &'static str)> {
    let more = PREFLIGHT_HEADERS.iter().filter(move |_| of_preflight);
    HEADERS.iter().chain(more).copied()
}

/// Adds the CORS headers to an answer.
pub(super) fn share(reply: Reply) -> Reply {
    headers(false).fold(reply, with)
}

/// Returns the answer to a preflight request.
pub(super) fn allowed() -> Reply {
    PREFLIGHT_HEADERS
        .iter()
        .copied()
        .fold(Reply::nothing(), with)
}

fn with(reply: Reply, (name, value): (&'static str, &'static str)) -> Reply {
    match name.parse::<HeaderName>() {
        Ok(name) => reply.with(name, value),
        Err(_) => reply,
    }
}

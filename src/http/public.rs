//! CORS headers, which let pages of all sites read an answer. A route with such answers is called shared.
//!
//! Invariant: all answers of shared routes, errors included, have these headers. Answers of other routes have none of
//! them.

use super::reply::Reply;
use hyper::header::HeaderName;

/// CORS headers of every answer that pages of all sites may read.
const HEADERS: [(&str, &str); 2] = [
    ("Access-Control-Allow-Origin", "*"),
    ("Access-Control-Expose-Headers", "X-Request-Id, Retry-After"),
];

/// Additional CORS headers of a preflight answer. Browsers may keep the answer for a day.
const PREFLIGHT_HEADERS: [(&str, &str); 3] = [
    ("Access-Control-Allow-Methods", "GET, POST, OPTIONS"),
    ("Access-Control-Allow-Headers", "X-API-Key, Content-Type"),
    ("Access-Control-Max-Age", "86400"),
];

/// Returns the names and values of the CORS headers, including the headers of a preflight answer if `of_preflight` is
/// `true`.
pub(super) fn cors_headers(
    of_preflight: bool,
) -> impl Iterator<Item = (&'static str, &'static str)> {
    let more = PREFLIGHT_HEADERS.iter().filter(move |_| of_preflight);
    HEADERS.iter().chain(more).copied()
}

pub(super) fn add_cors_headers(reply: Reply) -> Reply {
    add_headers(reply, cors_headers(false))
}

/// Returns the answer to a CORS preflight request.
pub(super) fn preflight_reply() -> Reply {
    add_headers(Reply::no_content(), PREFLIGHT_HEADERS.into_iter())
}

fn add_headers(reply: Reply, headers: impl Iterator<Item = (&'static str, &'static str)>) -> Reply {
    headers.fold(reply, |reply, (name, value)| match name.parse::<HeaderName>() {
        Ok(name) => reply.with_header(name, value),
        Err(_) => reply,
    })
}

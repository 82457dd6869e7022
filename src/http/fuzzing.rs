//! Entry points for fuzzers: the router and the query parser by themselves.
//!
//! What always holds: no other build has them.

use super::request::Query;
use super::route::{Route, Scope};
use super::router::{Found, Router};
use super::routes::routes;
use hyper::Method;
use std::sync::OnceLock;

static ROUTER: OnceLock<Router> = OnceLock::new();

/// The route of a method and a path, and the values of the path's parameters.
pub fn route(method: &str, path: &str) -> Option<(&'static Route, Vec<String>)> {
    let router = ROUTER.get_or_init(|| Router::new(routes(true), Scope::All));
    match router.find(&Method::from_bytes(method.as_bytes()).ok()?, path) {
        Found::Route(_, route, values) => Some((route, values)),
        Found::OtherMethods(_) | Found::Nothing => None,
    }
}

/// Reads this text as the query of every route.
pub fn query(text: &str) {
    for route in routes(true) {
        // It is read or refused.
        let _ = Query::parse(text, route.query);
    }
}

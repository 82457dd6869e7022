//! Entry points for fuzzers: the router and the query parser.
//!
//! Invariant: this module exists only in builds for fuzzing.

use super::request::Query;
use super::route::{Route, Scope};
use super::router::{RouteMatch, Router};
use super::routes::routes;
use hyper::Method;
use std::sync::OnceLock;

static ROUTER: OnceLock<Router> = OnceLock::new();

/// Returns the route of a method and a path, and the values of the path's parameters.
pub fn route(method: &str, path: &str) -> Option<(&'static Route, Vec<String>)> {
    let router = ROUTER.get_or_init(|| Router::new(routes(true), Scope::All));
    match router.find(&Method::from_bytes(method.as_bytes()).ok()?, path) {
        RouteMatch::Route(_, route, values) => Some((route, values)),
        RouteMatch::OtherMethods(_) | RouteMatch::Nothing => None,
    }
}

/// Parses a text as the query string of every route.
pub fn query(text: &str) {
    for route in routes(true) {
        // Both a parsed query and a refusal are valid results. The fuzzer looks only for panics.
        let _ = Query::parse(text, route.query, route.refuses_unknown_params());
    }
}

//! Checks every error response that a test receives against the OpenAPI document.

use super::Response;
use coffer::http::{Route, routes};
use serde_json::Value;

/// Asserts that the OpenAPI document lists this error code for the operation. Simulated faults of a sandbox are
/// exempt.
#[track_caller]
pub(super) fn assert_documented(method: &str, url: &str, answer: &Response) {
    let path = url.splitn(4, '/').nth(3).unwrap_or_default();
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let body: Value = serde_json::from_str(&answer.text).unwrap_or_default();
    let (Some(code), Some(message)) = (body["error"].as_str(), body["message"].as_str()) else {
        return;
    };
    let is_pretended = message.starts_with("a fault of the sandbox");
    let no_path = message == "no such path" || answer.status == 405;
    // A sandbox checks the Host header before the path, so the error may occur on any path.
    let no_host = message.starts_with("Host must be ");
    let Some(route) = find_route(method, path) else {
        return;
    };
    if is_pretended || no_path || no_host || !route.is_documented() {
        return;
    }
    let codes = route.error_codes();
    assert!(
        codes.iter().any(|known| known.as_str() == code),
        "{} answers {} {code} ({message}), which its document does not name",
        route.operation,
        answer.status
    );
}

/// Returns the route that matches a path. If several match, returns the one with the fewest parameters.
fn find_route(method: &str, path: &str) -> Option<&'static Route> {
    let is_of = |route: &&Route| {
        let wanted: Vec<&str> = route.path.split('/').skip(1).collect();
        let segments: Vec<&str> = path.split('/').collect();
        let fits = |(wanted, segment): (&&str, &&str)| wanted.starts_with('{') || wanted == segment;
        route.method == method
            && wanted.len() == segments.len()
            && wanted.iter().zip(&segments).all(fits)
    };
    let braces = |route: &&Route| route.path.matches('{').count();
    routes(true).filter(is_of).min_by_key(braces)
}

#[test]
#[should_panic = "getInvoice answers 409 payout_open"]
fn undocumented_error_is_detected() {
    let answer = Response {
        status: 409,
        headers: std::collections::BTreeMap::new(),
        text: "{\"error\":\"payout_open\",\"message\":\"why\"}".to_owned(),
    };
    assert_documented("GET", "http://127.0.0.1:1/v1/invoices/x?a=b", &answer);
}

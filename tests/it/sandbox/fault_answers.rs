//! Simulated errors have the same code, headers and format as real errors.

use crate::support::browser::Page;
use crate::support::{Response, Shop, TEST, agent, send};
use coffer::{Config, Server};
use serde_json::json;

/// Makes the next call of a route fail with this status.
#[track_caller]
fn simulate_error(shop: &Shop, route: &str, status: u16) {
    let body = json!({ "route": route, "status": status, "times": 1 });
    shop.post("/sandbox/faults", None, body).expect(200);
}

/// Returns the headers that tell a client what to do next.
fn hint_headers(answer: &Response) -> Vec<(&str, &str)> {
    let names =
        ["allow", "www-authenticate", "retry-after", "ratelimit", "ratelimit-policy", "connection"];
    let header = |name: &'static str| Some((name, answer.headers.get(name)?.as_str()));
    names.into_iter().filter_map(header).collect()
}

/// A simulated error: its route and status, and the code and headers of the response.
type SimulatedError = (&'static str, u16, &'static str, &'static [(&'static str, &'static str)]);

const CREATE_INVOICE_ROUTE: &str = "POST /v1/invoices";
const SIGN_IN_ROUTE: &str = "POST /dashboard/api/session";
const CLOSE_HEADERS: &[(&str, &str)] = &[("connection", "close")];
const RETRY_SOON_HEADERS: &[(&str, &str)] = &[("retry-after", "5")];
const BEARER_HEADERS: &[(&str, &str)] = &[("www-authenticate", "Bearer")];
const CASES: &[SimulatedError] = &[
    (CREATE_INVOICE_ROUTE, 401, "unauthorized", BEARER_HEADERS),
    (CREATE_INVOICE_ROUTE, 405, "method_not_allowed", &[("allow", "POST, GET, HEAD")]),
    (CREATE_INVOICE_ROUTE, 408, "request_timeout", CLOSE_HEADERS),
    (CREATE_INVOICE_ROUTE, 413, "payload_too_large", CLOSE_HEADERS),
    (
        CREATE_INVOICE_ROUTE,
        429,
        "rate_limited",
        &[
            ("retry-after", "1"),
            ("ratelimit", "\"creations\";r=0;t=1"),
            ("ratelimit-policy", "\"creations\";q=100;w=10"),
        ],
    ),
    (CREATE_INVOICE_ROUTE, 503, "maintenance", RETRY_SOON_HEADERS),
    ("POST /v1/customers/{ref}/addresses", 503, "pool_refilling", RETRY_SOON_HEADERS),
    ("POST /v1/payouts", 409, "payout_open", &[]),
    (SIGN_IN_ROUTE, 401, "invalid_credentials", BEARER_HEADERS),
    (SIGN_IN_ROUTE, 429, "too_many_attempts", &[("retry-after", "1")]),
];

#[test]
fn simulated_error_has_code_and_headers_of_a_real_one() {
    let shop = Shop::open();
    for (route, status, code, expected) in CASES {
        simulate_error(&shop, route, *status);
        let path = route.replace("POST ", "").replace("{ref}", "ada");
        let answer = shop.post(&path, Some(TEST), json!({}));
        answer.assert_error(*status, code, None);
        assert_eq!(hint_headers(&answer), *expected, "{route} {status}");
    }
}

#[test]
fn simulated_rate_limit_equals_a_real_one() {
    let server = Server::start(Config { creations_per_minute: 600, ..Config::sandbox() }).unwrap();
    let call = |path: &str, body: &str| {
        let url = format!("{}{path}", server.url());
        send(&agent(), "POST", &url, &[("X-API-Key", TEST)], body)
    };
    call("/sandbox/clock", "{\"frozen\":true}").expect(200);
    let order = "{\"amount\":\"1.00\",\"currency\":\"EUR\"}";
    let real = (0..10_000)
        .map(|_| call("/v1/invoices", order))
        .find(|answer| answer.status == 429)
        .unwrap();
    let fault = "{\"route\":\"POST /v1/invoices\",\"status\":429,\"times\":1}";
    call("/sandbox/faults", fault).expect(200);
    let pretended = call("/v1/invoices", order).expect(429);
    assert_eq!(hint_headers(&real), hint_headers(&pretended));
    assert_eq!(real.json()["error"], pretended.json()["error"]);
}

#[test]
fn simulated_error_of_a_page_is_a_page() {
    let shop = Shop::open();
    let invoice = shop.create_invoice("1.00", json!({}));
    let address = invoice["checkoutUrl"].as_str().unwrap();
    for status in [404, 429, 500, 503] {
        simulate_error(&shop, "GET /checkout/{id}", status);
        let path = address.strip_prefix(shop.url()).unwrap();
        Page::from_response(shop.send("GET", path, &[], "")).assert_error(status);
    }
    shop.get_page(address).assert_contains_texts(200, &["Choose a coin"]);
}

#[test]
fn simulated_error_allows_cross_origin_reads() {
    let shop = Shop::open();
    simulate_error(&shop, "GET /v1/public/config", 503);
    let answer = shop.get("/v1/public/config", Some("pk_test_sandbox"));
    assert_eq!(answer.status, 503);
    assert_eq!(answer.headers["access-control-allow-origin"], "*");
}

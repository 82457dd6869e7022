//! API keys in the headers `X-API-Key` and `Authorization`, in both modes and of every class, tested on every route.

use crate::support::{LIVE, Response, Shop, TEST};
use coffer::http::{Auth, Route, routes};
use serde_json::json;

/// Calls a route with these headers and `id` as its path parameter.
fn call_route(shop: &Shop, route: &Route, headers: &[(&str, &str)], id: &str) -> Response {
    let path = route.path.replace("{id}", id);
    let body = if route.method == "POST" { "{\"asset\":\"LTC\"}" } else { "" };
    shop.send(route.method, &path, headers, body)
}

/// Returns the routes that require a secret key.
fn secret_key_routes() -> impl Iterator<Item = &'static Route> {
    routes(true).filter(|route| route.auth() == Auth::Secret)
}

#[test]
fn merchant_routes_require_a_secret_key() {
    let shop = Shop::open();
    let id = shop.create_invoice("20.00", json!({}))["id"].as_str().unwrap().to_owned();
    assert!(secret_key_routes().count() >= 11);
    for route in secret_key_routes() {
        let answer = call_route(&shop, route, &[], &id);
        answer.assert_error(401, "unauthorized", None);
        assert_eq!(answer.headers["www-authenticate"], "Bearer", "{}", route.operation);
        for key in ["sk_test_wrong", "nothing", "sandbox.wrong"] {
            call_route(&shop, route, &[("X-API-Key", key)], &id).assert_error(
                401,
                "unauthorized",
                None,
            );
        }
        for key in ["pk_test_sandbox", "pk_live_sandbox"] {
            call_route(&shop, route, &[("X-API-Key", key)], &id).assert_error(
                403,
                "wrong_key_type",
                None,
            );
        }
    }
}

#[test]
fn key_is_accepted_in_either_header() {
    let shop = Shop::open();
    let bearer = format!("Bearer {TEST}");
    let lower = format!("bearer {TEST}");
    let merchant = |headers: &[(&str, &str)]| shop.send("GET", "/v1/merchant", headers, "");
    for headers in [
        &[("X-API-Key", TEST)][..],
        &[("Authorization", &bearer)],
        &[("Authorization", &lower)],
        &[("X-API-Key", TEST), ("Authorization", &bearer)],
        &[("X-API-Key", "sandbox.sandbox")],
        &[("Authorization", "Bearer sandbox.sandbox")],
    ] {
        merchant(headers).expect(200);
    }
    for headers in [
        &[("X-API-Key", LIVE), ("Authorization", &bearer[..])][..],
        &[("Authorization", TEST)],
        &[("Authorization", "Basic c2s6")],
        &[("X-API-Key", "")],
    ] {
        merchant(headers).assert_error(401, "unauthorized", None);
    }
    let legacy = merchant(&[("X-API-Key", "sandbox.sandbox")]).json();
    assert_eq!(legacy["livemode"], true);
}

#[test]
fn objects_of_the_other_mode_are_not_found() {
    let shop = Shop::open();
    let id =
        shop.create_invoice("20.00", json!({ "asset": "LTC" }))["id"].as_str().unwrap().to_owned();
    let events = shop.get("/v1/events", Some(TEST)).json();
    let event = events["data"][0]["id"].as_str().unwrap();
    let with_id: Vec<_> = secret_key_routes().filter(|route| route.path.contains("{id}")).collect();
    assert!(with_id.len() >= 4);
    for route in &with_id {
        let object = if route.path.contains("events") { event } else { &id };
        call_route(&shop, route, &[("X-API-Key", LIVE)], object).assert_error(
            404,
            "not_found",
            None,
        );
        for nobody in ["x", "evt_0", "00000000-0000-7000-8000-000000000000", "%00", "..%2f"] {
            call_route(&shop, route, &[("X-API-Key", TEST)], nobody).assert_error(
                404,
                "not_found",
                None,
            );
        }
    }
    for list in ["/v1/invoices", "/v1/events", "/v1/ledger"] {
        assert_eq!(shop.get(list, Some(LIVE)).expect(200).json()["data"], json!([]), "{list}");
    }
    let before = format!("/v1/events?before={event}");
    shop.get(&before, Some(LIVE)).assert_error(400, "invalid_request", Some("before"));
}

#[test]
fn invoice_creation_checks_run_in_order() {
    let shop = Shop::open();
    shop.create_invoice("20.00", json!({ "orderId": "a" }));
    let live = |body: &str| shop.send("POST", "/v1/invoices", &[("X-API-Key", LIVE)], body);
    let bad = "{\"amount\":\"x\",\"currency\":\"EUR\",\"orderId\":\"a\"}";
    shop.update_account(json!({ "status": "pending", "maintenance": true }));
    shop.send("POST", "/v1/invoices", &[], "{").assert_error(401, "unauthorized", None);
    live("{").assert_error(400, "invalid_request", None);
    live(bad).assert_error(403, "account_not_approved", None);
    shop.update_account(json!({ "status": "rejected" }));
    live(bad).assert_error(403, "account_not_approved", None);
    shop.update_account(json!({ "status": "suspended" }));
    live(bad).assert_error(403, "account_suspended", None);
    shop.update_account(json!({ "status": "active" }));
    let paused = live(bad);
    paused.assert_error(503, "maintenance", None);
    assert_eq!(paused.headers["retry-after"], "5");
    shop.create_invoice("20.00", json!({ "orderId": "test mode goes on" }));
    shop.update_account(json!({ "maintenance": false }));
    live(bad).assert_error(400, "invalid_request", Some("amount"));
    let too_large = "{\"amount\":\"50000.01\",\"currency\":\"EUR\",\"orderId\":\"a\"}";
    let test = shop.send("POST", "/v1/invoices", &[("X-API-Key", TEST)], too_large);
    test.expect(200);
    live(too_large).assert_error(400, "amount_too_large", Some("amount"));
}

#[test]
fn two_different_keys_are_rejected() {
    let shop = Shop::open();
    let (test, live) = (format!("Bearer {TEST}"), format!("Bearer {LIVE}"));
    let merchant = |headers: &[(&str, &str)]| shop.send("GET", "/v1/merchant", headers, "");
    for headers in [
        &[("X-API-Key", TEST), ("x-api-key", TEST)][..],
        &[("Authorization", &test), ("Authorization", &test)],
        &[
            ("X-API-Key", TEST),
            ("Authorization", &test),
            ("X-API-Key", TEST),
            ("Authorization", &test),
        ],
    ] {
        let answer = merchant(headers).expect(200).json();
        assert_eq!(answer["livemode"], false);
    }
    for headers in [
        &[("X-API-Key", TEST), ("X-API-Key", LIVE)][..],
        &[("X-API-Key", LIVE), ("X-API-Key", TEST)],
        &[("X-API-Key", TEST), ("X-API-Key", "")],
        &[("X-API-Key", ""), ("X-API-Key", TEST)],
        &[("X-API-Key", TEST), ("X-API-Key", TEST), ("X-API-Key", LIVE)],
        &[("Authorization", &test), ("Authorization", &live)],
        &[("Authorization", &test), ("Authorization", "Basic c2s6")],
        &[("Authorization", "Basic c2s6"), ("Authorization", &test)],
        &[("X-API-Key", TEST), ("Authorization", &test), ("Authorization", &live)],
        &[("X-API-Key", TEST), ("X-API-Key", LIVE), ("Authorization", &test)],
    ] {
        let answer = merchant(headers);
        answer.assert_error(401, "unauthorized", None);
        assert_eq!(answer.headers["www-authenticate"], "Bearer");
        let message = answer.json()["message"].as_str().unwrap().to_owned();
        let named = message.contains("X-API-Key") || message.contains("Authorization");
        assert!(named, "{message}");
    }
    // Two different public keys, or two different reseller tokens, in one request are rejected as well.
    let public = [("X-API-Key", "pk_test_sandbox"), ("X-API-Key", "pk_live_sandbox")];
    let config = shop.send("GET", "/v1/public/config", &public, "");
    config.assert_error(401, "unauthorized", None);
    let tokens = [("Authorization", "Bearer rt_sandbox"), ("Authorization", "Bearer rt_other")];
    let servers = |headers: &[(&str, &str)]| shop.send("GET", "/reseller/servers", headers, "");
    servers(&tokens).assert_error(401, "unauthorized", None);
    servers(&[tokens[0], tokens[0]]).expect(200);
}

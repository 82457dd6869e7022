//! Default values, the order of checks, and read-only resources.

use crate::support::operator_interface::OperatorInterface;
use crate::support::process::{Process, example_path};
use crate::support::{LIVE, Response, Shop, TEST, agent, send};
use coffer::Config;
use coffer::domain::Time;
use coffer::domain::signature::service_signature;
use coffer::http::{Auth, routes};
use serde_json::{Value, json};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// Returns the seconds from the creation of an invoice to its deadline.
#[track_caller]
fn payment_window_seconds(invoice: &Value) -> i64 {
    let ms = |name: &str| invoice[name].as_str().unwrap().parse::<Time>().unwrap().0;
    (ms("expiresAt") - ms("createdAt")) / 1000
}

#[test]
fn invoice_uses_checkout_settings_as_defaults() {
    let interface = OperatorInterface::open();
    let shop = &interface.shop;
    assert_eq!(payment_window_seconds(&shop.create_invoice("20.00", json!({}))), 1_200);
    let settings = json!({
        "ttlSeconds": 600, "successUrl": "https://shop.example/usual-thanks",
        "cancelUrl": "https://shop.example/usual-cart",
    });
    let path = format!("/dashboard/api/accounts/{}", interface.account);
    interface.send(&interface.merchant, "PATCH", &path, &settings).expect(200);
    let own = json!({
        "ttlSeconds": 60, "redirectUrl": "https://shop.example/own-thanks",
        "cancelUrl": "https://shop.example/own-cart",
    });
    for (more, seconds, named, other) in
        [(json!({}), 600, "usual", "own-"), (own, 60, "own", "usual-")]
    {
        let invoice = shop.create_invoice("20.00", more);
        assert_eq!(payment_window_seconds(&invoice), seconds);
        let url = invoice["checkoutUrl"].as_str().unwrap();
        let cart = format!("https://shop.example/{named}-cart");
        shop.get_page(url).assert_contains_texts(200, &[&cart]).assert_lacks_texts(&[other]);
        let simulate = format!("/v1/invoices/{}/simulate", invoice["id"].as_str().unwrap());
        shop.post(&simulate, Some(TEST), json!({})).expect(200);
        let thanks = format!("https://shop.example/{named}-thanks");
        shop.get_page(url).assert_contains_texts(200, &[&thanks]).assert_lacks_texts(&[other]);
    }
}

#[test]
fn simulated_payment_prefers_the_selected_coin() {
    let shop = Shop::open();
    for (more, paid_in) in [(json!({}), "DOGE"), (json!({ "asset": "LTC" }), "LTC")] {
        let id = shop.create_invoice("20.00", more)["id"].clone();
        let path = format!("/v1/invoices/{}/simulate", id.as_str().unwrap());
        let paid = shop.post(&path, Some(TEST), json!({ "asset": "DOGE" }));
        let paid = paid.expect(200).json();
        assert_eq!((&paid["asset"], &paid["status"]), (&json!(paid_in), &json!("confirmed")));
        assert_eq!(paid["amountReceived"], paid["amountExpected"]);
    }
}

#[test]
fn key_is_checked_before_rate_limit_and_body() {
    let shop = Shop::with_config(Config { creations_per_minute: 1, ..Config::sandbox() });
    let broken = |key: &str| shop.send("POST", "/v1/invoices", &[("X-API-Key", key)], "{");
    for _ in 0..100 {
        broken(TEST).assert_error(400, "invalid_request", None);
    }
    broken(TEST).assert_error(429, "rate_limited", None);
    for _ in 0..101 {
        broken("sk_test_unknown").assert_error(401, "unauthorized", None);
        broken("pk_test_sandbox").assert_error(403, "wrong_key_type", None);
    }
    broken(LIVE).assert_error(400, "invalid_request", None);
    // Only the creation of invoices is rate limited.
    shop.get("/v1/invoices", Some(TEST)).expect(200);
}

#[test]
fn read_only_resources_reject_writes() {
    let shop = Shop::open();
    for name in ["refunds", "ledger", "balances", "merchant", "currencies", "events", "deposits"] {
        for method in ["POST", "PUT", "PATCH", "DELETE"] {
            let path = format!("/v1/{name}");
            let answer = shop.send(method, &path, &[("X-API-Key", TEST)], "");
            answer.assert_error(405, "method_not_allowed", None);
            assert_eq!(answer.headers["allow"], "GET, HEAD", "{path}");
        }
    }
}

#[test]
fn every_v1_response_is_json() {
    let shop = Shop::open();
    let id = shop.create_invoice("20.00", json!({}))["id"].clone();
    let is_json = |answer: &Response| {
        assert_eq!(answer.headers["content-type"], "application/json");
        assert!(answer.json().is_object(), "{}", answer.text);
    };
    let mut walked = 0;
    for route in routes(false).filter(|route| route.path.starts_with("/v1/")) {
        let path = route.path.replace("{id}", id.as_str().unwrap());
        let path = path.replace("{ref}", "ada");
        let right = if route.auth() == Auth::Public { "pk_test_sandbox" } else { TEST };
        for key in [right, "sk_test_unknown"] {
            let answer = shop.send(route.method, &path, &[("X-API-Key", key)], "");
            if answer.status != 204 {
                is_json(&answer);
                walked += 1;
            }
        }
    }
    assert!(walked >= 40, "{walked}");
    is_json(&shop.get("/v1/nothing", Some(TEST)));
    is_json(&shop.send("DELETE", "/v1/invoices", &[], ""));
}

#[test]
fn receiver_accepts_signatures_within_five_minutes() {
    let receiver =
        Process::start(Command::new(example_path("receiver")).args(["--listen", "127.0.0.1:0"]));
    let line = receiver.read_line();
    let url = line.strip_prefix("listening on ").unwrap();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let now = i64::try_from(now.as_secs()).unwrap();
    let secret = "whsec_Y29mZmVyIHNhbmRib3ggZW5kcG9pbnQh";
    let body = json!({ "id": "evt_1", "type": "invoice.created", "data": { "object": {} } });
    let body = body.to_string();
    // Signatures are valid for five minutes. All tested times differ from this limit by at least a minute, because
    // machines may be slow.
    for (seconds, is_taken) in [(0, true), (-240, true), (240, true), (-360, false), (400, false)] {
        let signature = service_signature(now + seconds, body.as_bytes(), &[secret]);
        let headers = [("X-Service-Signature", signature.as_str())];
        let answer = send(&agent(), "POST", url, &headers, &body);
        assert_eq!((200..300).contains(&answer.status), is_taken, "{seconds} s");
    }
}

//! Base of the URLs in responses and events: the public URL or the listening address, never a header of the request.

use crate::support::ports::free_port;
use crate::support::{Shop, TEST, agent, send};
use coffer::{Config, Server};
use serde_json::{Value, json};
use std::net::SocketAddr;

#[test]
fn urls_start_with_the_public_url() {
    let listen = SocketAddr::from(([127, 0, 0, 1], free_port()));
    let public_url = "https://pay.example.com".to_owned();
    let server =
        Server::start(Config { listen, public_url: Some(public_url.clone()), ..Config::sandbox() })
            .unwrap();
    assert_eq!(server.url(), public_url);
    let call = |method: &str, path: &str, key: &str, body: &str| {
        let url = format!("http://{listen}{path}");
        let answer = send(&agent(), method, &url, &[("X-API-Key", key)], body);
        assert!(answer.status < 300, "{}", answer.text);
        answer.json()
    };
    let order = json!({ "amount": "20.00", "currency": "EUR" }).to_string();
    let invoice = call("POST", "/v1/invoices", TEST, &order);
    let of_public = |value: &Value| value.as_str().unwrap().starts_with("https://pay.example.com/");
    assert!(of_public(&invoice["checkoutUrl"]), "{invoice}");
    let events = call("GET", "/v1/events", TEST, "");
    assert_eq!(events["data"][0]["data"]["object"], invoice);
    let config = call("GET", "/v1/public/config", "pk_test_sandbox", "");
    assert!(of_public(&config["widgetUrl"]), "{config}");
    let body = json!({ "invoiceId": invoice["id"] }).to_string();
    let session = call("POST", "/v1/public/checkout-sessions", "pk_test_sandbox", &body);
    assert_eq!(session["checkoutUrl"], invoice["checkoutUrl"]);
}

#[test]
fn urls_ignore_request_headers() {
    let shop = Shop::open();
    let headers = [
        ("X-API-Key", TEST),
        ("Host", "evil.localhost"),
        ("X-Forwarded-Host", "evil.example"),
        ("Forwarded", "host=evil.example"),
    ];
    let order = json!({ "amount": "20.00", "currency": "EUR" }).to_string();
    let invoice = shop.send("POST", "/v1/invoices", &headers, &order);
    let invoice = invoice.expect(201).json();
    let url = invoice["checkoutUrl"].as_str().unwrap();
    assert!(url.starts_with(shop.url()), "{url}");
}

#[test]
fn urls_contain_loopback_for_a_wildcard_address() {
    let shop = Shop::with_config(Config {
        listen: SocketAddr::from(([0, 0, 0, 0], 0)),
        allow_remote: true,
        ..Config::sandbox()
    });
    assert!(shop.url().starts_with("http://127.0.0.1:"), "{}", shop.url());
    let invoice = shop.create_invoice("20.00", json!({}));
    let url = invoice["checkoutUrl"].as_str().unwrap();
    assert!(url.starts_with(shop.url()), "{url}");
}

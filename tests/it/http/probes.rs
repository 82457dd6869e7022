//! Health probes, metrics, the OpenAPI document and the list of coins.

use crate::coins::table::COINS;
use crate::support::{Shop, TEST};
use coffer::http::{Auth, routes};
use serde_json::json;

#[test]
fn server_is_alive_and_ready() {
    let shop = Shop::open();
    for path in ["/livez", "/readyz"] {
        let answer = shop.get(path, None).expect(200);
        assert_eq!(
            (answer.text.as_str(), &answer.headers["content-type"][..]),
            ("ok\n", "text/plain")
        );
    }
}

#[test]
fn metrics_count_requests_without_secrets() {
    let shop = Shop::open();
    shop.create_invoice("1.00", json!({ "orderId": "secret-order" }));
    shop.post("/v1/invoices", Some(TEST), json!({})).assert_error(
        400,
        "invalid_request",
        Some("amount"),
    );
    shop.get("/nowhere/secret-path", None).assert_error(404, "not_found", None);
    let page = shop.get("/metrics", None).expect(200);
    assert_eq!(page.headers["content-type"], "text/plain; version=0.0.4");
    for line in [
        "coffer_requests_total{operation=\"createInvoice\",status=\"2xx\"} 1",
        "coffer_requests_total{operation=\"createInvoice\",status=\"4xx\"} 1",
        "coffer_requests_total{operation=\"none\",status=\"4xx\"} 1",
        "coffer_writes_waiting 0",
    ] {
        assert!(page.text.lines().any(|other| other == line), "{line} is not in {}", page.text);
    }
    assert!(!page.text.contains("secret"), "{}", page.text);
}

#[test]
fn document_lists_every_public_route_and_the_server_url() {
    let shop = Shop::open();
    let document = shop.get("/v1/openapi.json", None).expect(200).json();
    assert_eq!(document["servers"][0]["url"], shop.url());
    assert_eq!(document["info"]["version"], "1.0.0");
    let controls = shop.get("/sandbox/openapi.json", None).expect(200).json();
    for route in routes(true).filter(|route| route.is_documented()) {
        let document = if route.auth() == Auth::Sandbox { &controls } else { &document };
        let operation = &document["paths"][route.path][route.method.to_ascii_lowercase()];
        assert_eq!(operation["operationId"], route.operation);
        let takes_a_key = matches!(route.auth(), Auth::Secret | Auth::Public);
        assert_eq!(takes_a_key, route.path.starts_with("/v1/") && route.auth() != Auth::Open);
    }
}

#[test]
fn currencies_list_their_minimum() {
    let shop = Shop::open();
    let coins = shop.get("/v1/currencies", Some(TEST)).expect(200).json();
    let coins = coins["data"].as_array().unwrap();
    assert_eq!(coins.len(), COINS.len());
    let ether = json!({
        "id": "ETH", "symbol": "ETH", "name": "Ether", "chain": "ethereum", "kind": "native", "decimals": 18,
        "minAmount": "0.0003",
    });
    assert!(coins.contains(&ether), "{coins:?}");
}

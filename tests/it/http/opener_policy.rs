//! Cross-Origin-Opener-Policy: operator pages are isolated from other sites, checkout pages are not.

use crate::support::Shop;
use crate::support::links::LinkClient;
use serde_json::json;

const HEADER: &str = "cross-origin-opener-policy";

/// Requests a page as a browser does, and returns its opener policy.
#[track_caller]
fn opener_policy(shop: &Shop, method: &str, path: &str, status: u16) -> Option<String> {
    let headers = [("accept", "text/html")];
    let answer = shop.send(method, path, &headers, "").expect(status);
    answer.headers.get(HEADER).cloned()
}

#[test]
fn operator_pages_are_isolated_from_other_sites() {
    let shop = Shop::open();
    for (method, path, status) in [
        ("GET", "/dashboard", 200),
        ("HEAD", "/dashboard", 200),
        ("GET", "/", 200),
        ("GET", "/setup?token=x", 403),
        ("POST", "/setup", 403),
        ("GET", "/docs", 200),
        ("GET", "/docs/operators", 200),
        ("GET", "/docs/reference/invoices", 200),
        ("GET", "/docs/reference/none", 404),
        ("GET", "/docs/none", 404),
        ("POST", "/dashboard", 405),
    ] {
        let sent = opener_policy(&shop, method, path, status);
        assert_eq!(sent.as_deref(), Some("same-origin"), "{method} {path}");
    }
}

#[test]
fn checkout_pages_keep_their_opener() {
    let shop = Shop::open();
    let link = json!({ "name": "A coffee", "amount": "3.50", "currency": "EUR" });
    let link = LinkClient::sign_in(&shop).create_test_link(link);
    let link = format!("/l/{}", link["id"].as_str().unwrap());
    let invoice = shop.create_invoice("20.00", json!({}));
    let checkout = invoice["checkoutUrl"].as_str().unwrap();
    let checkout = checkout.strip_prefix(shop.url()).unwrap();
    let (without_token, _) = checkout.split_once('?').unwrap();
    for (path, status) in [
        (checkout, 200),
        (without_token, 404),
        ("/checkout/019d9f7b-6a00-7000-8000-000000000001?token=x", 404),
        (&link, 200),
        (&format!("{link}/qr"), 200),
        (&format!("{link}/qr.svg"), 200),
        ("/l/x", 404),
    ] {
        assert_eq!(opener_policy(&shop, "GET", path, status), None, "{path}");
    }
}

//! Limits of lists: default size, maximum size, order, and filters on later pages.

use crate::support::{LIVE, Shop, TEST};
use serde_json::json;

/// Asserts default and maximum size, and that a shorter list is a prefix of a longer one.
#[track_caller]
fn assert_limits(shop: &Shop, path: &str, key: &str, default: usize, most: usize) {
    let list = |limit: usize| shop.list_ids(&format!("{path}?limit={limit}"), key);
    let all = list(most);
    assert!(all.len() > default, "{path} has only {}", all.len());
    assert_eq!(shop.list_ids(path, key), all[..default], "{path}");
    assert_eq!(list(1), all[..1], "{path}");
    for wrong in [0, most + 1] {
        let refused = shop.get(&format!("{path}?limit={wrong}"), Some(key));
        refused.assert_error(400, "invalid_request", Some("limit"));
    }
}

#[test]
fn lists_have_default_and_maximum_size() {
    let shop = Shop::open();
    let invoice = shop.fund_balance(LIVE, "1000.00", "EUR");
    let mut made = Vec::new();
    for _ in 0..26 {
        let payout = shop.create_payout("20.00");
        shop.apply_actions("payouts", &payout, &["reject"]);
        shop.create_refund(&invoice, Some("1.00"));
        made.insert(0, payout);
    }
    assert_eq!(shop.list_ids("/v1/payouts?limit=100", LIVE), made);
    assert_limits(&shop, "/v1/payouts", LIVE, 25, 100);
    assert_limits(&shop, "/v1/refunds", LIVE, 25, 100);
    assert_limits(&shop, "/v1/ledger", LIVE, 50, 200);
    for _ in 0..101 {
        shop.create_invoice("1.00", json!({}));
    }
    assert_limits(&shop, "/v1/invoices", TEST, 25, 100);
    assert_eq!(shop.list_ids("/v1/invoices?limit=100", TEST).len(), 100);
    assert_limits(&shop, "/v1/events", TEST, 50, 200);
    for _ in 0..100 {
        shop.create_invoice("1.00", json!({}));
    }
    assert_eq!(shop.list_ids("/v1/events?limit=200", TEST).len(), 200);
    let page = shop.get("/v1/events", Some(TEST)).expect(200).json();
    assert_eq!(page["nextBefore"], page["data"][49]["id"], "the last one's");
}

#[test]
fn next_page_keeps_the_filter() {
    let shop = Shop::open();
    for currency in ["EUR", "USD", "EUR", "USD", "EUR"] {
        shop.fund_balance(TEST, "20.00", currency);
    }
    for path in [
        "/v1/ledger?currency=EUR",
        "/v1/events?type=invoice.created",
        "/v1/invoices?status=confirmed",
    ] {
        let all = shop.list_ids(path, TEST);
        let (mut seen, mut before) = (Vec::new(), String::new());
        while seen.len() < all.len() {
            let page = shop.get(&format!("{path}&limit=1{before}"), Some(TEST)).expect(200).json();
            seen.push(page["data"][0]["id"].as_str().unwrap().to_owned());
            let is_last = seen.len() == all.len();
            assert_eq!(
                (&page["hasMore"], page["nextBefore"].is_null()),
                (&json!(!is_last), is_last)
            );
            before = format!("&before={}", page["nextBefore"].as_str().unwrap_or_default());
        }
        assert_eq!(seen, all);
    }
    let other = shop.list_ids("/v1/ledger", TEST).remove(0);
    let live = shop.get(&format!("/v1/ledger?before={other}"), Some(LIVE));
    live.assert_error(400, "invalid_request", Some("before"));
    let other = shop.list_ids("/v1/invoices", TEST).remove(0);
    for wrong in [other.as_str(), "01a1fd70-f1c0-72d6-a3de-4fa0dcc29946", "x"] {
        let live = shop.get(&format!("/v1/invoices?before={wrong}"), Some(LIVE));
        live.assert_error(400, "invalid_request", Some("before"));
    }
}

//! Wallet index of an invoice's address: assigned when a coin is selected, and never assigned twice.

use crate::invoices::idempotency::concurrent_responses;
use crate::support::links::LinkClient;
use crate::support::{Shop, TEST};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Returns the number of indexes taken from all wallets, and the number of invoice addresses.
#[track_caller]
fn index_counts(shop: &Shop) -> (String, String) {
    (
        shop.query_text("select cast(ifnull(sum(next_index), 0) as text) from wallets"),
        shop.query_text("select cast(count(*) as text) from addresses"),
    )
}

fn expected_index_counts(count: usize) -> (String, String) {
    (count.to_string(), count.to_string())
}

/// Creates an invoice by a payment link. Returns its id and the path of its checkout.
#[track_caller]
fn create_invoice_by_link(shop: &Shop, link: &Value) -> (String, String) {
    let path = format!("/l/{}", link["id"].as_str().unwrap());
    let made = shop.submit(&path, &[], "");
    assert_eq!(made.status, 303, "{}", made.text);
    let checkout = made.headers["location"].strip_prefix("..").unwrap();
    let id = checkout.split(['/', '?']).nth(2).unwrap();
    (id.to_owned(), checkout.to_owned())
}

#[test]
fn index_is_taken_only_when_a_coin_is_selected() {
    let shop = Shop::open();
    let interface = LinkClient::sign_in(&shop);
    let link = interface
        .create_test_link(json!({ "name": "A coffee", "amount": "3.50", "currency": "EUR" }));
    let (id, checkout) = create_invoice_by_link(&shop, &link);
    for _ in 0..20 {
        create_invoice_by_link(&shop, &link);
        shop.create_invoice("3.50", json!({}));
    }
    shop.get_page(&checkout).assert_contains_texts(200, &["Choose a coin"]);
    shop.get_invoice(&id);
    let session = json!({ "invoiceId": id });
    shop.post("/v1/public/checkout-sessions", Some("pk_test_sandbox"), session).expect(200);
    assert_eq!(index_counts(&shop), expected_index_counts(0));
    // A failed selection assigns no index. Here the coin is unknown, the amount is below the coin's minimum, or the
    // invoice is closed.
    let (path, token) = checkout.split_once('?').unwrap();
    let pick = |asset: &str| {
        shop.submit(&format!("{path}/select"), &[], &format!("{token}&asset={asset}"))
    };
    let select = |id: &str, asset: &str| {
        let path = format!("/v1/invoices/{id}/select");
        shop.post(&path, Some(TEST), json!({ "asset": asset }))
    };
    for asset in ["XMR", "bitcoin", ""] {
        assert_ne!(pick(asset).status, 303, "{asset}");
        select(&id, asset);
    }
    let small = shop.create_invoice("0.01", json!({ "asset": "BTC", "orderId": "small" }));
    assert!(small["warnings"].is_array(), "{small}");
    select(small["id"].as_str().unwrap(), "BTC").assert_error(
        400,
        "coin_unavailable",
        Some("asset"),
    );
    shop.cancel_invoice(small["id"].as_str().unwrap()).expect(200);
    select(small["id"].as_str().unwrap(), "ETH").assert_error(400, "invoice_closed", None);
    assert_eq!(index_counts(&shop), expected_index_counts(0));
    // Selecting the same coin again assigns no further index.
    assert_eq!(pick("BTC").status, 303);
    assert_eq!(index_counts(&shop), expected_index_counts(1));
    for _ in 0..3 {
        assert_eq!(pick("BTC").status, 303);
        select(&id, "BTC").expect(200);
        shop.get_page(&checkout);
    }
    assert_eq!(index_counts(&shop), expected_index_counts(1));
    // All coins of one chain share an address, and so do the coins of all EVM chains.
    for asset in ["ETH", "USDT-ERC20", "USDC-BASE", "BTC", "ETH"] {
        select(&id, asset).expect(200);
    }
    assert_eq!(index_counts(&shop), expected_index_counts(2));
    // A request that names a coin assigns an index. A retry of the same order assigns none.
    let order = json!({ "amount": "20.00", "currency": "EUR", "asset": "LTC", "orderId": "one" });
    for status in [201, 200, 200] {
        shop.post("/v1/invoices", Some(TEST), order.clone()).expect(status);
    }
    assert_eq!(index_counts(&shop), expected_index_counts(3));
}

#[test]
fn concurrent_selections_use_no_index_twice() {
    let shop = Shop::open();
    let interface = LinkClient::sign_in(&shop);
    let link = interface
        .create_test_link(json!({ "name": "A coffee", "amount": "3.50", "currency": "EUR" }));
    let invoices: Vec<String> = (0..25).map(|_| create_invoice_by_link(&shop, &link).0).collect();
    let next = std::sync::atomic::AtomicUsize::new(0);
    // Two concurrent requests select the coin of each invoice.
    let picked = concurrent_responses(|| {
        let number = next.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        let path = format!("/v1/invoices/{}/select", invoices[number % 25]);
        shop.post(&path, Some(TEST), json!({ "asset": "BTC" }))
    });
    let addresses: BTreeSet<String> = picked
        .into_iter()
        .map(|picked| picked.expect(200).json()["depositAddress"].to_string())
        .collect();
    assert_eq!(addresses.len(), 25);
    assert_eq!(index_counts(&shop), expected_index_counts(25));
    let indexes = "select cast(count(distinct wallet_index) || ' ' || max(wallet_index) as text) from addresses";
    assert_eq!(shop.query_text(indexes), "25 24");
}

//! Amounts past what can be counted: an error, and nothing is changed.

use crate::support::{Shop, TEST};
use serde_json::json;

/// DOGE at 0.20: worth 92 233 720 368 547 758.00, just inside 64 bits of cents.
const MOST: &str = "461168601842738790";

#[test]
fn a_payment_worth_more_than_can_be_counted_is_refused() {
    let shop = Shop::open();
    let invoice = shop.invoice("100.00", json!({ "asset": "DOGE" }));
    let id = invoice["id"].as_str().unwrap();
    for amount in ["461168601842738791", "3402823669209384634633746074317"] {
        let body = json!({ "invoice": id, "amount": amount });
        shop.post("/sandbox/payments", None, body)
            .refused(400, "invalid_request", Some("amount"));
    }
    let same = shop.read(id);
    assert_eq!(same["status"], "awaiting_payment");
}

#[test]
fn a_sum_past_what_can_be_counted_changes_nothing() {
    let shop = Shop::open();
    let invoice = shop.invoice("100.00", json!({ "asset": "DOGE" }));
    let id = invoice["id"].as_str().unwrap();
    let [first, second] =
        ["1", "2"].map(|txid| shop.pay(json!({ "invoice": id, "amount": MOST, "txid": txid })));
    shop.step(&first, "confirmed");
    let before = shop.read(id);
    assert_eq!(before["status"], "overpaid");
    let answer = shop.post(
        &format!("/sandbox/payments/{second}"),
        None,
        json!({ "state": "confirmed" }),
    );
    assert_eq!(answer.status, 500, "{}", answer.text);
    assert_eq!(shop.read(id), before);
    let ledger = shop.get("/v1/ledger", Some(TEST)).expect(200).json();
    assert_eq!(ledger["data"].as_array().unwrap().len(), 2);
    let balances = shop.get("/v1/balances", Some(TEST)).expect(200).json();
    assert_eq!(
        (&balances["data"][0]["sales"], &balances["data"][0]["fees"]),
        (
            &json!("92233720368547758.00"),
            &json!("-922337203685477.58")
        )
    );
}

//! The asset of an invoice is that of its first valid payment, otherwise the asset that the customer selected last.

use crate::support::{Shop, TEST};
use serde_json::json;

/// Creates an invoice, and selects LTC and then BTC.
fn create_with_two_selections(shop: &Shop) -> String {
    let invoice = shop.create_invoice("100.00", json!({ "asset": "LTC" }));
    let id = invoice["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/invoices/{id}/select");
    shop.post(&path, Some(TEST), json!({ "asset": "BTC" })).expect(200);
    id
}

#[test]
fn payment_on_an_older_quote_sets_the_asset_of_the_invoice() {
    let shop = Shop::open();
    let id = create_with_two_selections(&shop);
    let payment = shop.pay(json!({ "invoice": id, "asset": "LTC" }));
    let detected = shop.get_invoice(&id);
    assert_eq!(
        (&detected["status"], &detected["asset"], &detected["amountReceived"]),
        (&json!("detected"), &json!("LTC"), &json!("1.25"))
    );
    shop.set_payment_state(&payment, "confirmed");
    assert_eq!(shop.get_invoice(&id)["status"], "confirmed");
    shop.set_payment_state(&payment, "dropped");
    assert_eq!(shop.get_invoice(&id)["asset"], "BTC");
}

/// If every payment is dropped, the invoice shows the coin that the customer selected.
#[test]
fn payment_does_not_change_the_selected_coin() {
    let shop = Shop::open();
    let id = create_with_two_selections(&shop);
    let first = shop.pay(json!({ "invoice": id, "asset": "LTC", "amount": "0.5" }));
    let second = shop.pay(json!({ "invoice": id }));
    assert_eq!(shop.get_invoice(&id)["asset"], "LTC");
    for payment in [first, second] {
        shop.set_payment_state(&payment, "dropped");
    }
    let back = shop.get_invoice(&id);
    assert_eq!((&back["status"], &back["asset"]), (&json!("awaiting_payment"), &json!("BTC")));
}

/// A late payment counts at the current rate. A payment in time counts at the frozen rate.
#[test]
fn selection_freezes_the_rate_until_the_deadline() {
    let shop = Shop::open();
    let picked = || shop.create_invoice("100.00", json!({ "asset": "LTC" }))["id"].clone();
    let (in_time, late) = (picked(), picked());
    // Simulates that the rate was half as high when the coin was selected.
    shop.execute_sql("update quotes set rate = '40'; update invoices set rate = '40'");
    let paid = |id: &serde_json::Value, amount: &str| {
        let payment = shop.pay(json!({ "invoice": id, "amount": amount }));
        shop.set_payment_state(&payment, "confirmed");
        shop.get_invoice(id.as_str().unwrap())
    };
    let invoice = paid(&in_time, "2.5");
    assert_eq!((&invoice["status"], &invoice["rate"]), (&json!("confirmed"), &json!("40")));
    assert_eq!(shop.invoice_ledger(in_time.as_str().unwrap(), TEST), "sale 100.00, fee -1.00");
    shop.advance("20m");
    assert_eq!(paid(&late, "1.25")["status"], "paid_late");
    assert_eq!(shop.invoice_ledger(late.as_str().unwrap(), TEST), "sale 100.00, fee -1.00");
}

/// Asserts that selecting a coin fails with this error and changes nothing.
#[track_caller]
fn assert_cannot_select(shop: &Shop, id: &str, status: &str, code: &str) {
    let before = shop.get_invoice(id);
    assert_eq!(before["status"], status);
    let path = format!("/v1/invoices/{id}/select");
    for asset in ["SOL", "LTC", "XYZ"] {
        let refused = shop.post(&path, Some(TEST), json!({ "asset": asset }));
        refused.assert_error(400, code, None);
    }
    assert_eq!(shop.get_invoice(id), before, "{status}");
}

#[test]
fn coin_can_be_selected_before_payment_and_deadline() {
    let shop = Shop::open();
    let make = || {
        let invoice = shop.create_invoice("100.00", json!({ "asset": "LTC" }));
        invoice["id"].as_str().unwrap().to_owned()
    };
    for (amount, status) in [("1.25", "confirmed"), ("1.5", "overpaid"), ("0.5", "underpaid")] {
        let id = make();
        let payment = shop.pay(json!({ "invoice": id, "amount": amount }));
        assert_cannot_select(&shop, &id, "detected", "payment_in_flight");
        shop.set_payment_state(&payment, "confirmed");
        assert_cannot_select(&shop, &id, status, "payment_in_flight");
        shop.set_payment_state(&payment, "dropped");
        assert_cannot_select(&shop, &id, "failed", "invoice_closed");
    }
    let [waiting, cancelled, expired] = std::array::from_fn(|_| make());
    let payment = shop.pay(json!({ "invoice": waiting }));
    shop.set_payment_state(&payment, "dropped");
    let path = format!("/v1/invoices/{waiting}/select");
    let picked = shop.post(&path, Some(TEST), json!({ "asset": "SOL" }));
    assert_eq!(picked.expect(200).json()["asset"], "SOL");
    shop.cancel_invoice(&cancelled).expect(200);
    assert_cannot_select(&shop, &cancelled, "cancelled", "invoice_closed");
    shop.pay(json!({ "invoice": cancelled }));
    assert_cannot_select(&shop, &cancelled, "cancelled", "invoice_closed");
    shop.advance("20m");
    assert_cannot_select(&shop, &expired, "expired", "invoice_closed");
    assert_cannot_select(&shop, &waiting, "failed", "invoice_closed");
    let late = shop.pay(json!({ "invoice": expired }));
    shop.set_payment_state(&late, "confirmed");
    assert_cannot_select(&shop, &expired, "paid_late", "invoice_closed");
}

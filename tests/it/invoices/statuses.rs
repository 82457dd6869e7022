//! The ten statuses of an invoice, one history for each, with events, ledger entries and balance.
//!
//! Every invoice is for 100.00 EUR, which is 1.25 LTC.

use crate::support::object_id;
use crate::support::{Shop, TEST};
use serde_json::{Value, json};

/// Starts a sandbox with an invoice of 100.00 EUR that waits for 1.25 LTC.
#[track_caller]
fn shop_with_quoted_invoice() -> (Shop, String) {
    let shop = Shop::open();
    let invoice = shop.create_invoice("100.00", json!({ "asset": "LTC" }));
    assert_eq!(invoice["amountExpected"], "1.25");
    (shop, object_id(&invoice))
}

#[test]
fn new_invoice_is_created() {
    let shop = Shop::open();
    let invoice = shop.create_invoice("100.00", json!({}));
    shop.assert_invoice(&object_id(&invoice), "created", "created", "", ["0.00", "0.00"]);
    for field in [
        "asset",
        "assetSymbol",
        "amountExpected",
        "amountReceived",
        "rate",
        "depositAddress",
        "confirmedAt",
    ] {
        assert!(invoice[field].is_null(), "{field}: {invoice}");
    }
}

#[test]
fn selected_coin_makes_invoice_awaiting_payment() {
    let shop = Shop::open();
    let id = object_id(&shop.create_invoice("100.00", json!({})));
    let select = format!("/v1/invoices/{id}/select");
    let quoted = shop.post(&select, Some(TEST), json!({ "asset": "LTC" }));
    let quoted = quoted.expect(200).json();
    shop.assert_invoice(&id, "awaiting_payment", "created", "", ["0.00", "0.00"]);
    assert_eq!(
        (&quoted["rate"], &quoted["assetSymbol"], &quoted["amountReceived"]),
        (&json!("80"), &json!("LTC"), &Value::Null)
    );
}

#[test]
fn seen_payment_makes_invoice_detected() {
    let (shop, id) = shop_with_quoted_invoice();
    shop.pay(json!({ "invoice": id }));
    shop.assert_invoice(&id, "detected", "created detected", "", ["0.00", "99.00"]);
    assert_eq!(shop.get_invoice(&id)["amountReceived"], "1.25");
    shop.advance("30d");
    shop.assert_invoice(&id, "detected", "created detected", "", ["0.00", "99.00"]);
}

#[test]
fn confirmed_payment_makes_invoice_confirmed() {
    let (shop, id) = shop_with_quoted_invoice();
    let payment = shop.pay(json!({ "invoice": id }));
    shop.advance("1m");
    let now = shop.now();
    assert_eq!(shop.set_payment_state(&payment, "confirmed")["state"], "confirmed");
    let told = "created detected confirmed";
    shop.assert_invoice(&id, "confirmed", told, "sale 100.00, fee -1.00", ["99.00", "0.00"]);
    assert_eq!(shop.get_invoice(&id)["confirmedAt"], json!(now));
    shop.advance("1h");
    shop.assert_invoice(&id, "confirmed", told, "sale 100.00, fee -1.00", ["99.00", "0.00"]);
}

#[test]
fn single_large_payment_overpays_invoice() {
    let (shop, id) = shop_with_quoted_invoice();
    let payment = shop.pay(json!({ "invoice": id, "amount": "1.5" }));
    shop.assert_invoice(&id, "detected", "created detected", "", ["0.00", "118.80"]);
    shop.set_payment_state(&payment, "confirmed");
    let told = "created detected overpaid";
    shop.assert_invoice(&id, "overpaid", told, "sale 120.00, fee -1.20", ["118.80", "0.00"]);
    assert_eq!(shop.get_invoice(&id)["amountReceived"], "1.5");
}

#[test]
fn second_payment_overpays_invoice() {
    let (shop, id) = shop_with_quoted_invoice();
    let first = shop.pay(json!({ "invoice": id }));
    shop.set_payment_state(&first, "confirmed");
    let paid_at = shop.get_invoice(&id)["confirmedAt"].clone();
    shop.advance("1h");
    let second = shop.pay(json!({ "invoice": id }));
    let told = "created detected confirmed";
    shop.assert_invoice(&id, "confirmed", told, "sale 100.00, fee -1.00", ["99.00", "0.00"]);
    assert_eq!(shop.get_invoice(&id)["amountReceived"], "2.5", "the second is seen");
    shop.set_payment_state(&second, "confirmed");
    shop.assert_invoice(
        &id,
        "overpaid",
        "created detected confirmed overpaid",
        "sale 100.00, fee -1.00, sale 100.00, fee -1.00",
        ["198.00", "0.00"],
    );
    assert_eq!(shop.get_invoice(&id)["confirmedAt"], paid_at, "it has been paid since the first");
}

#[test]
fn small_payment_underpays_invoice() {
    let (shop, id) = shop_with_quoted_invoice();
    let payment = shop.pay(json!({ "invoice": id, "amount": "0.625" }));
    shop.assert_invoice(&id, "detected", "created detected", "", ["0.00", "49.50"]);
    shop.set_payment_state(&payment, "confirmed");
    let told = "created detected underpaid";
    shop.assert_invoice(&id, "underpaid", told, "sale 50.00, fee -0.50", ["49.50", "0.00"]);
    shop.advance("1h");
    shop.assert_invoice(&id, "underpaid", told, "sale 50.00, fee -0.50", ["49.50", "0.00"]);
}

#[test]
fn invoice_expires_with_or_without_selected_coin() {
    let (shop, quoted) = shop_with_quoted_invoice();
    let plain = object_id(&shop.create_invoice("100.00", json!({})));
    for (id, open) in [(&quoted, "awaiting_payment"), (&plain, "created")] {
        shop.assert_invoice(id, open, "created", "", ["0.00", "0.00"]);
    }
    shop.advance("19m59s");
    shop.assert_invoice(&quoted, "awaiting_payment", "created", "", ["0.00", "0.00"]);
    shop.advance("1s");
    for id in [&quoted, &plain] {
        shop.assert_invoice(id, "expired", "created expired", "", ["0.00", "0.00"]);
    }
}

#[test]
fn late_payment_makes_invoice_paid_late() {
    let (shop, id) = shop_with_quoted_invoice();
    shop.advance("20m");
    let payment = shop.pay(json!({ "invoice": id }));
    shop.assert_invoice(&id, "expired", "created expired", "", ["0.00", "0.00"]);
    shop.set_payment_state(&payment, "confirmed");
    let told = "created expired paid_late";
    shop.assert_invoice(&id, "paid_late", told, "sale 100.00, fee -1.00", ["99.00", "0.00"]);
}

#[test]
fn small_late_payment_underpays_invoice() {
    let (shop, id) = shop_with_quoted_invoice();
    shop.advance("20m");
    let payment = shop.pay(json!({ "invoice": id, "amount": "0.625" }));
    shop.set_payment_state(&payment, "confirmed");
    let told = "created expired underpaid";
    shop.assert_invoice(&id, "underpaid", told, "sale 50.00, fee -0.50", ["49.50", "0.00"]);
}

#[test]
fn payment_after_cancellation_makes_invoice_paid_late() {
    let (shop, id) = shop_with_quoted_invoice();
    let cancelled = shop.cancel_invoice(&id).expect(200).json();
    assert_eq!(cancelled, shop.get_invoice(&id));
    shop.assert_invoice(&id, "cancelled", "created cancelled", "", ["0.00", "0.00"]);
    shop.advance("1h");
    shop.assert_invoice(&id, "cancelled", "created cancelled", "", ["0.00", "0.00"]);
    let payment = shop.pay(json!({ "invoice": id }));
    shop.assert_invoice(&id, "cancelled", "created cancelled", "", ["0.00", "0.00"]);
    shop.set_payment_state(&payment, "confirmed");
    let told = "created cancelled paid_late";
    shop.assert_invoice(&id, "paid_late", told, "sale 100.00, fee -1.00", ["99.00", "0.00"]);
    shop.set_payment_state(&payment, "dropped");
    let booked = "sale 100.00, fee -1.00, adjustment -100.00, adjustment 1.00";
    let told = "created cancelled paid_late cancelled";
    shop.assert_invoice(&id, "cancelled", told, booked, ["0.00", "0.00"]);
}

#[test]
fn only_open_unpaid_invoices_can_be_cancelled() {
    let (shop, id) = shop_with_quoted_invoice();
    let payment = shop.pay(json!({ "invoice": id }));
    let refused = |reason: &str| {
        shop.cancel_invoice(&id).assert_error(409, "invoice_not_cancellable", None);
        assert!(!shop.event_types(&id, TEST).contains(&"invoice.cancelled".to_owned()), "{reason}");
    };
    refused("detected");
    shop.set_payment_state(&payment, "confirmed");
    refused("confirmed");
    shop.set_payment_state(&payment, "dropped");
    refused("failed");
    let (shop, id) = shop_with_quoted_invoice();
    let payment = shop.pay(json!({ "invoice": id }));
    shop.set_payment_state(&payment, "dropped");
    shop.cancel_invoice(&id).expect(200);
    shop.cancel_invoice(&id).assert_error(409, "invoice_not_cancellable", None);
    shop.cancel_invoice("01900000-0000-7000-8000-000000000000").assert_error(
        404,
        "not_found",
        None,
    );
    let (shop, id) = shop_with_quoted_invoice();
    shop.advance("20m");
    shop.cancel_invoice(&id).assert_error(409, "invoice_not_cancellable", None);
}

#[test]
fn dropped_confirmed_payment_fails_invoice() {
    let (shop, id) = shop_with_quoted_invoice();
    let payment = shop.pay(json!({ "invoice": id }));
    shop.set_payment_state(&payment, "confirmed");
    shop.set_payment_state(&payment, "dropped");
    let told = "created detected confirmed failed";
    let booked = "sale 100.00, fee -1.00, adjustment -100.00, adjustment 1.00";
    shop.assert_invoice(&id, "failed", told, booked, ["0.00", "0.00"]);
    assert!(shop.get_invoice(&id)["amountReceived"].is_null());
    shop.advance("1h");
    shop.assert_invoice(&id, "failed", told, booked, ["0.00", "0.00"]);
}

#[test]
fn payment_dropped_after_deadline_fails_invoice() {
    let (shop, id) = shop_with_quoted_invoice();
    let payment = shop.pay(json!({ "invoice": id }));
    shop.advance("1h");
    shop.set_payment_state(&payment, "dropped");
    shop.assert_invoice(&id, "failed", "created detected failed", "", ["0.00", "0.00"]);
}

#[test]
fn payment_dropped_before_deadline_fails_invoice_at_deadline() {
    let (shop, id) = shop_with_quoted_invoice();
    let payment = shop.pay(json!({ "invoice": id }));
    shop.set_payment_state(&payment, "dropped");
    shop.assert_invoice(&id, "awaiting_payment", "created detected", "", ["0.00", "0.00"]);
    shop.advance("20m");
    shop.assert_invoice(&id, "failed", "created detected failed", "", ["0.00", "0.00"]);
}

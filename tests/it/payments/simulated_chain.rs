//! Simulated chains of the sandbox: new payments, their states, and `simulate`.
//!
//! Every invoice is over 100.00 EUR, which is 1.25 LTC.

use super::effects::create_waiting_invoice;
use crate::support::{LIVE, Shop, TEST};
use serde_json::{Value, json};

impl Shop {
    #[track_caller]
    pub fn simulate(&self, id: &str, case: &str) -> Value {
        let path = format!("/v1/invoices/{id}/simulate");
        let answer = self.post(&path, Some(TEST), json!({ "case": case }));
        answer.expect(200).json()
    }
}

#[test]
fn replacement_keeps_the_seen_time() {
    let (shop, id) = create_waiting_invoice();
    let path = "/sandbox/payments";
    let seen = shop.post(path, None, json!({ "invoice": id, "amount": "1.25" }));
    let seen = seen.expect(201).json();
    shop.advance("1h");
    let path = format!("{path}/{}", seen["id"].as_str().unwrap());
    let replaced = json!({ "state": "replaced", "amount": "1.25" });
    let next = shop.post(&path, None, replaced.clone()).expect(200).json();
    assert_ne!((&next["id"], &next["txid"]), (&seen["id"], &seen["txid"]));
    assert_eq!(next["state"], "seen");
    shop.assert_invoice(&id, "detected", "created detected", "", ["0.00", "99.00"]);
    shop.post(&path, None, replaced).assert_error(409, "invalid_transition", Some("state"));
    shop.set_payment_state(next["id"].as_str().unwrap(), "confirmed");
    let told = "created detected confirmed";
    shop.assert_invoice(&id, "confirmed", told, "sale 100.00, fee -1.00", ["99.00", "0.00"]);
}

#[test]
fn replacement_of_larger_value_gets_a_new_seen_time() {
    let (shop, id) = create_waiting_invoice();
    let seen = shop.pay(json!({ "invoice": id, "amount": "0.5" }));
    shop.advance("1h");
    let path = format!("/sandbox/payments/{seen}");
    let replaced = json!({ "state": "replaced", "amount": "1.25", "txid": "another" });
    let next = shop.post(&path, None, replaced).expect(200).json();
    assert_eq!((&next["txid"], &next["state"]), (&json!("another"), &json!("seen")));
    shop.set_payment_state(next["id"].as_str().unwrap(), "confirmed");
    let told = "created detected failed paid_late";
    shop.assert_invoice(&id, "paid_late", told, "sale 100.00, fee -1.00", ["99.00", "0.00"]);
    // The amount of a replacement may be too small to count as a payment.
    let (shop, id) = create_waiting_invoice();
    let seen = shop.pay(json!({ "invoice": id }));
    let path = format!("/sandbox/payments/{seen}");
    let dust = json!({ "state": "replaced", "amount": "0.00000001" });
    let dust = shop.post(&path, None, dust).expect(200).json();
    assert_eq!(dust["state"], "unmatched");
    shop.assert_invoice(&id, "awaiting_payment", "created detected", "", ["0.00", "0.00"]);
    let other = shop.pay(json!({ "invoice": id, "txid": "taken" }));
    let path = format!("/sandbox/payments/{other}");
    for (body, param) in [
        (json!({ "state": "replaced", "txid": "taken" }), "txid"),
        (json!({ "state": "dropped", "txid": "new" }), "txid"),
    ] {
        shop.post(&path, None, body).assert_error(400, "invalid_request", Some(param));
    }
}

#[test]
fn rescan_books_nothing_twice() {
    let (shop, id) = create_waiting_invoice();
    let body = json!({ "invoice": id, "txid": "the-same" });
    let put = || shop.post("/sandbox/payments", None, body.clone());
    let first = put().expect(201).json();
    assert_eq!(put().expect(200).json(), first);
    shop.set_payment_state(first["id"].as_str().unwrap(), "confirmed");
    let again = put().expect(200).json();
    assert_eq!((&again["id"], &again["state"]), (&first["id"], &json!("confirmed")));
    shop.assert_invoice(
        &id,
        "confirmed",
        "created detected confirmed",
        "sale 100.00, fee -1.00",
        ["99.00", "0.00"],
    );
    // One transaction may pay two invoices.
    let other = shop.create_invoice("100.00", json!({ "asset": "LTC" }));
    let both = json!({ "invoice": other["id"], "txid": "the-same" });
    let other_payment = shop.post("/sandbox/payments", None, both).expect(201).json();
    assert_ne!(other_payment["id"], first["id"]);
    assert_eq!(shop.get_invoice(other["id"].as_str().unwrap())["status"], "detected");
}

#[test]
fn unknown_transition_is_rejected() {
    let (shop, id) = create_waiting_invoice();
    let payment = shop.pay(json!({ "invoice": id }));
    let path = format!("/sandbox/payments/{payment}");
    let refused = |state: &str| {
        shop.post(&path, None, json!({ "state": state })).assert_error(
            409,
            "invalid_transition",
            Some("state"),
        );
    };
    refused("seen");
    refused("orphaned");
    shop.set_payment_state(&payment, "confirmed");
    refused("confirmed");
    refused("seen");
    refused("replaced");
    shop.set_payment_state(&payment, "dropped");
    refused("dropped");
    refused("orphaned");
    for (body, param) in [
        (json!({}), "state"),
        (json!({ "state": "gone" }), "state"),
        (json!({ "state": "confirmed", "amount": "1" }), "amount"),
        (json!({ "state": "confirmed", "more": 1 }), "more"),
    ] {
        shop.post(&path, None, body).assert_error(400, "invalid_request", Some(param));
    }
    shop.post("/sandbox/payments/none", None, json!({ "state": "confirmed" })).assert_error(
        404,
        "not_found",
        None,
    );
}

#[test]
fn simulation_pays_closed_invoices() {
    let (shop, id) = create_waiting_invoice();
    assert_eq!(shop.simulate(&id, "under")["status"], "underpaid");
    assert_eq!(shop.simulate(&id, "exact")["status"], "confirmed");
    assert_eq!(shop.simulate(&id, "over")["status"], "overpaid");
    let booked = "sale 50.00, fee -0.50, sale 50.00, fee -0.50, sale 150.00, fee -1.50";
    let told = "created detected underpaid detected confirmed overpaid";
    shop.assert_invoice(&id, "overpaid", told, booked, ["247.50", "0.00"]);
    for (case, late) in [("exact", "paid_late"), ("over", "paid_late"), ("under", "underpaid")] {
        let shop = Shop::open();
        let id = shop.create_invoice("100.00", json!({}))["id"].as_str().unwrap().to_owned();
        shop.advance("20m");
        let invoice = shop.simulate(&id, case);
        assert_eq!((&invoice["status"], &invoice["asset"]), (&json!(late), &json!("BTC")));
    }
}

#[test]
fn live_invoice_rejects_simulate_but_accepts_sandbox_payments() {
    let shop = Shop::open();
    let body = json!({ "amount": "100.00", "currency": "EUR", "asset": "LTC" });
    let invoice = shop.post("/v1/invoices", Some(LIVE), body).expect(201).json();
    let id = invoice["id"].as_str().unwrap();
    shop.post(&format!("/v1/invoices/{id}/simulate"), Some(LIVE), json!({})).assert_error(
        403,
        "not_test_invoice",
        None,
    );
    let payment = shop.pay(json!({ "address": invoice["depositAddress"] }));
    let told = "created detected";
    shop.assert_invoice_for_key(LIVE, id, "detected", told, "", ["0.00", "99.00"]);
    shop.set_payment_state(&payment, "confirmed");
    let told = "created detected confirmed";
    let booked = "sale 100.00, fee -1.00";
    shop.assert_invoice_for_key(LIVE, id, "confirmed", told, booked, ["99.00", "0.00"]);
    let test = shop.get("/v1/balances", Some(TEST)).expect(200).json();
    assert_eq!(test["data"][0]["available"], "0.00", "the test balance is separate");
}

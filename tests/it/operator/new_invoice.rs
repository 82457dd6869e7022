//! Invoices that users create by hand: the rules of `POST /v1/invoices`, in both modes, with the audit log.

use crate::support::operator_interface::OperatorInterface;
use crate::support::{LIVE, Response, TEST};
use serde_json::{Value, json};

#[track_caller]
fn create(interface: &OperatorInterface, mode: &str, key: &str, body: &Value) -> Response {
    let path = format!("/dashboard/api/accounts/{}/invoices?mode={mode}", interface.account);
    let headers = [("cookie", &interface.merchant[..]), ("Idempotency-Key", key)];
    let headers = if key.is_empty() { &headers[..1] } else { &headers };
    interface.shop.send("POST", &path, headers, &body.to_string())
}

#[test]
fn merchant_creates_invoices_in_both_modes() {
    let interface = OperatorInterface::open();
    let shop = &interface.shop;
    for (mode, key, is_live) in [("live", LIVE, true), ("test", TEST, false)] {
        let body = json!({
            "amount": "20.00", "currency": "USD", "orderId": "1001", "description": "Two <b>tickets</b>",
            "customerEmail": "ada@example.com", "asset": "LTC", "ttlSeconds": 600, "surprise": 1,
        });
        let created = create(&interface, mode, "", &body).expect(201).json();
        let id = created["id"].as_str().unwrap();
        assert_eq!((&created["livemode"], &created["asset"]), (&json!(is_live), &json!("LTC")));
        assert_eq!(created["warnings"], json!(["unknown field \"surprise\" was ignored"]));
        let read = shop.get(&format!("/v1/invoices/{id}"), Some(key)).expect(200).json();
        assert_eq!(read["description"], "Two <b>tickets</b>");
        assert_eq!(shop.event_types(id, key), ["invoice.created"]);
        // The shop and the user share order ids.
        let again = create(
            &interface,
            mode,
            "",
            &json!({ "amount": "5", "currency": "EUR", "orderId": "1001" }),
        );
        let again = again.expect(200).json();
        assert_eq!((&again["id"], &again["amount"]), (&created["id"], &json!("20.00")));
        assert_eq!(again["warnings"].as_array().unwrap().len(), 2);
        let entry = ("merchant@sandbox.test".to_owned(), "invoice.create".to_owned());
        assert_eq!(interface.audit_entries(id), [entry], "once");
    }
}

#[test]
fn retry_creates_no_second_invoice() {
    let interface = OperatorInterface::open();
    let body = json!({ "amount": "20.00", "currency": "EUR" });
    let first = create(&interface, "live", "k", &body).expect(201);
    let again = create(&interface, "live", "k", &body).expect(201);
    assert_eq!(first.text, again.text);
    let entries = interface.audit_entries(first.json()["id"].as_str().unwrap());
    assert_eq!(entries.len(), 1);
    let other = json!({ "amount": "21.00", "currency": "EUR" });
    let conflict = create(&interface, "live", "k", &other);
    conflict.assert_error(409, "idempotency_conflict", Some("amount"));
    // The keys of the shop's own requests are separate.
    let headers = [("X-API-Key", LIVE), ("Idempotency-Key", "k")];
    let own = interface.shop.send("POST", "/v1/invoices", &headers, &body.to_string()).expect(201);
    assert_ne!(own.json()["id"], first.json()["id"]);
}

#[test]
fn rules_of_the_shop_apply() {
    let interface = OperatorInterface::open();
    let shop = &interface.shop;
    for (field, value) in [
        ("amount", json!("0")),
        ("currency", json!("GBP")),
        ("redirectUrl", json!("javascript:alert(1)")),
        ("ttlSeconds", json!(59)),
        ("customerEmail", json!("nobody")),
    ] {
        let mut body = json!({ "amount": "1", "currency": "EUR" });
        body[field] = value;
        create(&interface, "live", "", &body).assert_error(400, "invalid_request", Some(field));
    }
    let body = json!({ "amount": "50000.01", "currency": "EUR" });
    create(&interface, "live", "", &body).assert_error(400, "amount_too_large", Some("amount"));
    let body = json!({ "amount": "1", "currency": "EUR" });
    shop.update_account(json!({ "maintenance": true }));
    create(&interface, "live", "", &body).assert_error(503, "maintenance", None);
    create(&interface, "test", "", &body).expect(201);
    shop.update_account(json!({ "maintenance": false, "status": "suspended" }));
    create(&interface, "live", "", &body).assert_error(403, "account_suspended", None);
    let path = interface.path("invoices");
    let stranger = interface.send(&interface.stranger, "POST", &path, &body);
    stranger.assert_error(404, "not_found", None);
    interface.send("", "POST", &path, &body).assert_error(401, "unauthorized", None);
}

//! Balances, ledger, events and adjustments in the operator interface.

use crate::support::TEST;
use crate::support::operator_interface::OperatorInterface;
use serde_json::{Value, json};

/// Reference of a customer, which the tests use in paths.
const CUSTOMER: &str = "ada.1";

#[test]
fn operator_sees_balances_ledger_and_events_of_the_merchant() {
    let interface = OperatorInterface::open();
    let invoice = interface.shop.create_invoice("20.00", json!({ "asset": "LTC" }));
    let simulate = format!("/v1/invoices/{}/simulate", invoice["id"].as_str().unwrap());
    interface.shop.post(&simulate, Some(TEST), json!({})).expect(200);
    for (operation, rest) in [
        ("listAccountBalances", "balances"),
        ("listAccountLedger", "ledger?limit=1"),
        ("listAccountEvents", "events?limit=2&type=invoice.created"),
    ] {
        let own = interface.shop.get(&format!("/v1/{rest}"), Some(TEST));
        assert_eq!(interface.get(rest), own.expect(200).json(), "{rest}");
        let shown = interface.send(&interface.merchant, "GET", &interface.path(rest), &Value::Null);
        shown.expect(200);
        interface.assert_access(operation, "GET", rest, false);
    }
}

#[test]
fn operator_sees_customers_and_deposits_of_the_merchant() {
    let interface = OperatorInterface::open();
    let customer = |what: &str, body: Value| {
        let path = format!("/v1/customers/{CUSTOMER}/{what}");
        interface.shop.post(&path, Some(TEST), body).expect(201)
    };
    let addresses = customer("addresses", json!({})).json();
    customer("simulate", json!({ "asset": "SOL", "amount": "1" }));
    customer("simulate", json!({ "asset": "SOL", "amount": "2" }));
    assert_eq!(interface.get("customers/ada.1"), addresses);
    interface.assert_access("getAccountCustomer", "GET", "customers/ada.1", false);
    for rest in ["deposits", "deposits?limit=1", "deposits?customer=ada.1", "deposits?customer=bob"]
    {
        let own = interface.shop.get(&format!("/v1/{rest}"), Some(TEST));
        assert_eq!(interface.get(rest), own.expect(200).json(), "{rest}");
    }
    interface.assert_access("listAccountDeposits", "GET", "deposits", false);
    let unknown = interface.path("customers/bob");
    let unknown = interface.send(&interface.merchant, "GET", &unknown, &Value::Null);
    unknown.assert_error(404, "not_found", None);
}

#[test]
fn adjustment_is_booked_once_with_its_reason() {
    let interface = OperatorInterface::open();
    let path = interface.path("adjustments");
    let book = |key: &str, body: &Value| {
        let headers = [("cookie", interface.operator.as_str()), ("Idempotency-Key", key)];
        interface.shop.send("POST", &path, &headers, &body.to_string())
    };
    let body = json!({ "currency": "EUR", "amount": "-12.5", "memo": "Refunded by hand" });
    let entry = book("one", &body).expect(201).json();
    assert_eq!(
        (&entry["kind"], &entry["refType"], &entry["refId"]),
        (&json!("adjustment"), &json!("admin"), &Value::Null)
    );
    assert_eq!(
        (&entry["amount"], &entry["memo"], &entry["livemode"]),
        (&json!("-12.50"), &json!("Refunded by hand"), &json!(false))
    );
    assert_eq!(book("one", &body).expect(201).json(), entry, "a replay");
    let more = json!({ "currency": "EUR", "amount": "2.00", "memo": "Refunded by hand" });
    book("one", &more).assert_error(409, "idempotency_conflict", Some("amount"));
    book("two", &more).expect(201);
    let ledger = interface.get("ledger")["data"].clone();
    assert_eq!(ledger.as_array().unwrap().len(), 2);
    assert_eq!(ledger[1], entry);
    assert_eq!(interface.get("balances")["data"][0]["available"], "-10.50");
    let id = entry["id"].as_str().unwrap();
    assert_eq!(
        interface.audit_entries(id),
        [("operator@sandbox.test".to_owned(), "adjustment.create".to_owned())]
    );
    interface.assert_access("createAdjustment", "POST", "adjustments", true);
}

#[test]
fn invalid_adjustment_changes_nothing() {
    let interface = OperatorInterface::open();
    let whole = json!({ "currency": "EUR", "amount": "1.00", "memo": "why" });
    for (field, value) in [
        ("currency", Value::Null),
        ("currency", json!("GBP")),
        ("amount", Value::Null),
        ("amount", json!(1)),
        ("amount", json!("0.00")),
        ("amount", json!("--1")),
        ("amount", json!("+1")),
        ("amount", json!("1.001")),
        ("amount", json!("99999999999999")),
        ("memo", Value::Null),
        ("memo", json!("")),
        ("memo", json!("x".repeat(501))),
        ("note", json!("x")),
    ] {
        let mut body = whole.clone();
        body[field] = value;
        let refused = interface.request("POST", "adjustments", &body);
        refused.assert_error(400, "invalid_request", Some(field));
    }
    assert_eq!(interface.get("ledger")["data"], json!([]));
}

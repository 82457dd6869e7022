//! First steps: each step is done when the file says so, and only then.

use crate::support::operator_interface::OperatorInterface;
use crate::support::{LIVE, TEST};
use serde_json::{Value, json};

/// Names of the steps, in their order.
const STEPS: [&str; 7] =
    ["chain", "wallet", "coins", "key", "endpoint", "test_payment", "real_payment"];

/// Returns the names of the open steps.
#[track_caller]
fn open_steps(interface: &OperatorInterface) -> Vec<String> {
    let found = interface.get("first-steps");
    let steps = found["steps"].as_array().unwrap();
    let names: Vec<&str> = steps.iter().map(|one| one["step"].as_str().unwrap()).collect();
    assert_eq!(names, STEPS);
    let open = steps.iter().filter(|one| one["done"] == json!(false));
    let open: Vec<String> = open.map(|one| one["step"].as_str().unwrap().to_owned()).collect();
    assert_eq!(found["done"], json!(open.is_empty()));
    open
}

/// Creates an invoice with this key and pays it.
#[track_caller]
fn pay_invoice(interface: &OperatorInterface, key: &str) {
    let body = json!({ "amount": "1.00", "currency": "EUR", "asset": "LTC" });
    let invoice = interface.shop.post("/v1/invoices", Some(key), body).expect(201).json();
    let payment = interface.shop.pay(json!({ "invoice": invoice["id"] }));
    interface.shop.set_payment_state(&payment, "confirmed");
}

#[test]
fn steps_are_done_as_the_file_says() {
    let interface = OperatorInterface::open();
    interface.assert_access("getFirstSteps", "GET", "first-steps", false);
    // A sandbox simulates every chain, and has keys.
    assert_eq!(open_steps(&interface), ["endpoint", "test_payment", "real_payment"]);
    let keys = "update keys set expires_at = 1 where mode = 'live' and class <> 'public'";
    interface.shop.execute_sql(keys);
    assert_eq!(open_steps(&interface), ["key", "endpoint", "test_payment", "real_payment"]);
    interface.shop.execute_sql("update keys set expires_at = null");
    for (body, open) in [
        (json!({ "url": "https://shop.example/a", "mode": "test" }), 3),
        (json!({ "url": "https://shop.example/b", "enabled": false }), 3),
        (json!({ "url": "https://shop.example/c", "mode": "live" }), 2),
    ] {
        interface.request("POST", "endpoints", &body).expect(201);
        assert_eq!(open_steps(&interface).len(), open, "{body}");
    }
    pay_invoice(&interface, TEST);
    assert_eq!(open_steps(&interface), ["real_payment"]);
    pay_invoice(&interface, LIVE);
    assert_eq!(open_steps(&interface), [] as [&str; 0]);
    let own = interface.request_as_merchant("GET", "first-steps", &Value::Null).expect(200).json();
    assert_eq!(own["done"], json!(true));
}

//! Settings of an account: defaults, tolerances and the webhook URL.

use crate::support::TEST;
use crate::support::operator_interface::OperatorInterface;
use serde_json::{Value, json};

/// Returns the path of the account in the operator interface.
fn account_path(interface: &OperatorInterface) -> String {
    format!("/dashboard/api/accounts/{}", interface.account)
}

#[test]
fn new_account_has_the_documented_defaults() {
    let interface = OperatorInterface::open();
    let body = json!({ "name": "Corner Shop" });
    let made = interface.send_as_operator("POST", "/dashboard/api/accounts", &body);
    let made = made.expect(201).json();
    for (name, value) in [
        ("status", json!("pending")),
        ("feeBps", json!(100)),
        ("payoutAsset", json!("SOL")),
        ("ttlSeconds", json!(1200)),
        ("maxInvoiceAmount", json!("50000.00")),
        ("payoutMinimum", json!("20.00")),
        ("payoutDailyLimit", json!("10000.00")),
        ("underBps", json!(50)),
        ("overBps", json!(50)),
        ("successUrl", Value::Null),
        ("cancelUrl", Value::Null),
        ("checkoutLang", json!("auto")),
    ] {
        assert_eq!(made[name], value, "{name}");
    }
}

#[test]
fn invoice_keeps_the_tolerances_of_its_creation() {
    let interface = OperatorInterface::open();
    let shop = &interface.shop;
    let terms = json!({ "underBps": 0, "overBps": 2000 });
    let before = shop.create_invoice("100.00", json!({ "asset": "LTC" }));
    interface.send_as_operator("PATCH", &account_path(&interface), &terms).expect(200);
    for (amount, status) in [
        ("1.24987", "underpaid"),
        ("1.25", "confirmed"),
        ("1.5", "confirmed"),
        ("1.50013", "overpaid"),
    ] {
        let invoice = shop.create_invoice("100.00", json!({ "asset": "LTC" }));
        let payment = shop.pay(json!({ "invoice": invoice["id"], "amount": amount }));
        shop.set_payment_state(&payment, "confirmed");
        let id = invoice["id"].as_str().unwrap();
        assert_eq!(shop.get_invoice(id)["status"], status, "{amount}");
    }
    let payment = shop.pay(json!({ "invoice": before["id"], "amount": "1.24375" }));
    shop.set_payment_state(&payment, "confirmed");
    let id = before["id"].as_str().unwrap();
    assert_eq!(shop.get_invoice(id)["status"], "confirmed", "at its own terms");
}

#[test]
fn webhook_url_is_the_first_enabled_endpoint_of_the_mode() {
    let interface = OperatorInterface::open();
    let shown = || interface.shop.get("/v1/merchant", Some(TEST)).json()["webhookUrl"].clone();
    let make = |name: &str, mode: &str| {
        let url = format!("https://{name}.example/hook");
        interface
            .request("POST", "endpoints", &json!({ "url": url, "mode": mode }))
            .expect(201)
            .id()
    };
    make("live", "live");
    assert_eq!(shown(), Value::Null);
    let first = make("first", "test");
    make("second", "test");
    assert_eq!(shown(), "https://first.example/hook");
    let path = format!("endpoints/{first}");
    interface.request("PATCH", &path, &json!({ "enabled": false })).expect(200);
    assert_eq!(shown(), "https://second.example/hook");
    interface.request("PATCH", &path, &json!({ "enabled": true })).expect(200);
    assert_eq!(shown(), "https://first.example/hook");
    interface.request("DELETE", &path, &Value::Null).expect(204);
    assert_eq!(shown(), "https://second.example/hook");
}

#[test]
fn favorite_coins_and_address_lines_are_kept_in_order() {
    let interface = OperatorInterface::open();
    let path = account_path(&interface);
    let change = |body: &Value| interface.send_as_operator("PATCH", &path, body);
    let read = || interface.send_as_operator("GET", &path, &Value::Null).json();
    assert_eq!([&read()["favoriteCoins"], &read()["addressLines"]], [&json!([]); 2]);
    let coins = json!(["USDC-BASE", "BTC"]);
    let lines = json!([" 1 Example Street ", "", "<b>10115</b> Berlin"]);
    let body = json!({ "favoriteCoins": coins, "addressLines": lines });
    let changed = change(&body).expect(200).json();
    let kept = json!(["1 Example Street", "<b>10115</b> Berlin"]);
    for account in [changed, read()] {
        assert_eq!([&account["favoriteCoins"], &account["addressLines"]], [&coins, &kept]);
    }
    for (param, wrong) in [
        ("favoriteCoins", json!(["BTC", "BTC"])),
        ("favoriteCoins", json!(["XYZ"])),
        ("favoriteCoins", json!("BTC")),
        ("addressLines", json!(["a\nb"])),
        ("addressLines", json!(["x".repeat(101)])),
        ("addressLines", json!(vec!["x"; 9])),
    ] {
        change(&json!({ param: wrong })).assert_error(400, "invalid_request", Some(param));
    }
    assert_eq!([&read()["favoriteCoins"], &read()["addressLines"]], [&coins, &kept]);
    change(&json!({ "favoriteCoins": [], "addressLines": [] })).expect(200);
    assert_eq!([&read()["favoriteCoins"], &read()["addressLines"]], [&json!([]); 2]);
}

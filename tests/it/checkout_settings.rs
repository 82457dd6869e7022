//! What an account's settings do to its invoices, and what they are where nobody has changed them.

use crate::support::TEST;
use crate::support::desk::Desk;
use serde_json::{Value, json};

/// The account's own path in the operator interface.
fn path(desk: &Desk) -> String {
    format!("/dashboard/api/accounts/{}", desk.account)
}

/// Changes the account as its own user.
#[track_caller]
fn change(desk: &Desk, body: Value) {
    desk.send(&desk.merchant, "PATCH", &path(desk), &body)
        .expect(200);
}

#[test]
fn an_account_begins_with_the_documented_defaults() {
    let desk = Desk::open();
    let body = json!({ "name": "Corner Shop" });
    let made = desk.send(&desk.operator, "POST", "/dashboard/api/accounts", &body);
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
        ("checkoutLang", json!("en")),
    ] {
        assert_eq!(made[name], value, "{name}");
    }
}

#[test]
fn what_an_invoice_does_not_say_is_as_the_settings_say() {
    let desk = Desk::open();
    let shop = &desk.shop;
    let at = json!({ "set": "2099-01-01T00:00:00Z" });
    shop.post("/sandbox/clock", None, at).expect(200);
    let before = shop.invoice("20.00", json!({}));
    let mut desk = desk;
    desk.sign_in_again();
    let shop = &desk.shop;
    let (success, cancel) = ("https://shop.example/thanks", "https://shop.example/cart");
    change(
        &desk,
        json!({ "ttlSeconds": 600, "successUrl": success, "cancelUrl": cancel }),
    );
    let (own_success, own_cancel) = ("https://own.example/thanks", "https://own.example/cart");
    let own = json!({ "ttlSeconds": 60, "redirectUrl": own_success, "cancelUrl": own_cancel });
    let (plain, own) = (shop.invoice("20.00", json!({})), shop.invoice("20.00", own));
    let until = |invoice: &Value| invoice["expiresAt"].as_str().unwrap().to_owned();
    assert_eq!(until(&before), "2099-01-01T00:20:00.000Z");
    assert_eq!(until(&plain), "2099-01-01T00:10:00.000Z");
    assert_eq!(until(&own), "2099-01-01T00:01:00.000Z");
    let page = |invoice: &Value| shop.page(invoice["checkoutUrl"].as_str().unwrap());
    page(&before).says(200, &[]).hides(&["shop.example"]);
    page(&plain).says(200, &[cancel]);
    page(&own).says(200, &[own_cancel]).hides(&["shop.example"]);
    for invoice in [&plain, &own] {
        let path = format!("/v1/invoices/{}/simulate", invoice["id"].as_str().unwrap());
        shop.post(&path, Some(TEST), json!({})).expect(200);
    }
    page(&plain).says(200, &[success]);
    page(&own)
        .says(200, &[own_success])
        .hides(&["shop.example"]);
}

#[test]
fn the_tolerances_are_the_accounts_when_the_invoice_is_made() {
    let desk = Desk::open();
    let shop = &desk.shop;
    let terms = json!({ "underBps": 0, "overBps": 2000 });
    let before = shop.invoice("100.00", json!({ "asset": "LTC" }));
    desk.send(&desk.operator, "PATCH", &path(&desk), &terms)
        .expect(200);
    for (amount, status) in [
        ("1.24987", "underpaid"),
        ("1.25", "confirmed"),
        ("1.5", "confirmed"),
        ("1.50013", "overpaid"),
    ] {
        let invoice = shop.invoice("100.00", json!({ "asset": "LTC" }));
        let payment = shop.pay(json!({ "invoice": invoice["id"], "amount": amount }));
        shop.step(&payment, "confirmed");
        let id = invoice["id"].as_str().unwrap();
        assert_eq!(shop.read(id)["status"], status, "{amount}");
    }
    let payment = shop.pay(json!({ "invoice": before["id"], "amount": "1.24375" }));
    shop.step(&payment, "confirmed");
    let id = before["id"].as_str().unwrap();
    assert_eq!(shop.read(id)["status"], "confirmed", "at its own terms");
}

#[test]
fn the_webhook_url_is_that_of_the_first_enabled_endpoint_of_the_mode() {
    let desk = Desk::open();
    let shown = || desk.shop.get("/v1/merchant", Some(TEST)).json()["webhookUrl"].clone();
    let make = |name: &str, mode: &str| {
        let url = format!("https://{name}.example/hook");
        let made = desk.act("POST", "endpoints", &json!({ "url": url, "mode": mode }));
        made.expect(201).json()["id"].as_str().unwrap().to_owned()
    };
    make("live", "live");
    assert_eq!(shown(), Value::Null);
    let first = make("first", "test");
    make("second", "test");
    assert_eq!(shown(), "https://first.example/hook");
    let path = format!("endpoints/{first}");
    desk.act("PATCH", &path, &json!({ "enabled": false }))
        .expect(200);
    assert_eq!(shown(), "https://second.example/hook");
    desk.act("PATCH", &path, &json!({ "enabled": true }))
        .expect(200);
    assert_eq!(shown(), "https://first.example/hook");
    desk.act("DELETE", &path, &Value::Null).expect(204);
    assert_eq!(shown(), "https://second.example/hook");
}

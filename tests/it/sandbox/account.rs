//! `PATCH /sandbox/account`: every setting, and invalid values.

use crate::support::with_fields;
use crate::support::{LIVE, Shop, TEST};
use serde_json::{Value, json};

impl Shop {
    #[track_caller]
    fn sandbox_account(&self) -> Value {
        self.get("/sandbox", None).expect(200).json()["account"].clone()
    }

    #[track_caller]
    fn assert_patch_refused(&self, body: &Value, param: &str) {
        let answer = self.send("PATCH", "/sandbox/account", &[], &body.to_string());
        answer.assert_error(400, "invalid_request", Some(param));
    }
}

#[test]
fn changed_settings_are_returned() {
    let shop = Shop::open();
    let solana = shop.sandbox_account()["payoutAddress"].clone();
    for (name, value, shown) in [
        ("status", json!("suspended"), json!("suspended")),
        ("status", json!("pending"), json!("pending")),
        ("status", json!("rejected"), json!("rejected")),
        ("status", json!("active"), json!("active")),
        ("feeBps", json!(0), json!(0)),
        ("feeBps", json!(10_000), json!(10_000)),
        ("customersEnabled", json!(false), json!(false)),
        ("settlementEnabled", json!(false), json!(false)),
        ("maintenance", json!(true), json!(true)),
        ("maintenance", json!(false), json!(false)),
        ("maxInvoiceAmount", json!("0.01"), json!("0.01")),
        ("maxInvoiceAmount", json!(99.5), json!("99.50")),
        ("payoutMinimum", json!("5"), json!("5.00")),
        ("payoutDailyLimit", json!("123.45"), json!("123.45")),
        ("payoutAsset", json!("USDT-TRC20"), json!("USDT-TRC20")),
        (
            "payoutAddress",
            json!("TJRabPrwbZy45sbavfcjinPJC18kjpRTv8"),
            json!("TJRabPrwbZy45sbavfcjinPJC18kjpRTv8"),
        ),
        ("payoutAddress", Value::Null, Value::Null),
    ] {
        shop.update_account(json!({ name: value }));
        assert_eq!(shop.sandbox_account()[name], shown, "{name}");
    }
    shop.update_account(json!({ "payoutAsset": "SOL" }));
    assert_eq!(shop.sandbox_account()["payoutAddress"], solana, "one for each chain");
    let before = shop.sandbox_account();
    shop.update_account(json!({}));
    assert_eq!(shop.sandbox_account(), before);
}

#[test]
fn settings_take_effect() {
    let shop = Shop::open();
    let body = json!({ "amount": "20.00", "currency": "EUR" });
    let create = |key| shop.post("/v1/invoices", Some(key), body.clone());
    for (switch, code) in [
        (json!({ "status": "suspended" }), "account_suspended"),
        (json!({ "status": "pending" }), "account_not_approved"),
        (json!({ "status": "rejected" }), "account_not_approved"),
    ] {
        shop.update_account(switch);
        create(TEST).assert_error(403, code, None);
    }
    shop.update_account(json!({ "status": "active", "maintenance": true }));
    create(TEST).expect(201);
    let paused = create(LIVE);
    paused.assert_error(503, "maintenance", None);
    assert!(paused.headers.contains_key("retry-after"));
    shop.update_account(json!({ "maintenance": false, "maxInvoiceAmount": "19.99" }));
    create(TEST).assert_error(400, "amount_too_large", Some("amount"));
    shop.update_account(json!({ "feeBps": 250 }));
    let merchant = shop.get("/v1/merchant", Some(TEST)).expect(200).json();
    assert_eq!((&merchant["feeBps"], &merchant["feePercent"]), (&json!(250), &json!("2.50")));
    assert_eq!(shop.live_event_types(), ["account.suspended", "account.approved"]);
}

impl Shop {
    /// Returns the event types of live mode, oldest first.
    #[track_caller]
    fn live_event_types(&self) -> Vec<String> {
        let events = self.get("/v1/events", Some(LIVE)).expect(200).json();
        let events = events["data"].as_array().unwrap().iter().rev();
        events.map(|event| event["type"].as_str().unwrap().to_owned()).collect()
    }
}

#[test]
fn invalid_value_changes_nothing() {
    let shop = Shop::open();
    let before = shop.sandbox_account();
    for (body, param) in [
        (json!({ "status": "closed" }), "status"),
        (json!({ "status": true }), "status"),
        (json!({ "feeBps": 10_001 }), "feeBps"),
        (json!({ "feeBps": -1 }), "feeBps"),
        (json!({ "feeBps": 1.5 }), "feeBps"),
        (json!({ "feeBps": "100" }), "feeBps"),
        (json!({ "customersEnabled": 1 }), "customersEnabled"),
        (json!({ "settlementEnabled": "true" }), "settlementEnabled"),
        (json!({ "maintenance": "on" }), "maintenance"),
        (json!({ "maxInvoiceAmount": "0" }), "maxInvoiceAmount"),
        (json!({ "maxInvoiceAmount": "1.001" }), "maxInvoiceAmount"),
        (json!({ "payoutMinimum": true }), "payoutMinimum"),
        (json!({ "payoutDailyLimit": "-1" }), "payoutDailyLimit"),
        (json!({ "payoutAsset": "XMR" }), "payoutAsset"),
        (json!({ "payoutAddress": "nowhere" }), "payoutAddress"),
        (json!({ "payoutAddress": 1 }), "payoutAddress"),
        (
            json!({ "payoutAsset": "TRX", "payoutAddress": before["payoutAddress"] }),
            "payoutAddress",
        ),
        (json!({ "endpoints": {} }), "endpoints"),
        (json!({ "endpoints": ["http://127.0.0.1/"] }), "endpoints"),
        (json!({ "webhookUrl": "http://127.0.0.1/" }), "webhookUrl"),
    ] {
        shop.assert_patch_refused(&body, param);
        let good_ones = json!({
            "feeBps": 5, "maintenance": true, "maxInvoiceAmount": "3.00", "payoutAddress": null, "endpoints": [{ "url": "http://127.0.0.1:9/" }]
        });
        shop.assert_patch_refused(&with_fields(good_ones, &body), param);
        assert_eq!(shop.sandbox_account(), before, "{body}");
    }
    for body in ["", "[]", "null", "{"] {
        shop.send("PATCH", "/sandbox/account", &[], body).assert_error(
            400,
            "invalid_request",
            None,
        );
    }
}

#[test]
fn endpoint_list_replaces_the_old_list() {
    let shop = Shop::open();
    let wrong = |item: Value, param: &str| {
        let good = json!({ "url": "http://127.0.0.1:9/" });
        shop.assert_patch_refused(&json!({ "endpoints": [good, item] }), param);
        assert_eq!(shop.sandbox_account()["endpoints"], json!([]));
    };
    for url in
        [json!("http://shop.example/"), json!("https://10.0.0.1/"), json!("/hook"), Value::Null]
    {
        wrong(json!({ "url": url }), "url");
    }
    let url = "http://127.0.0.1:9/";
    wrong(json!({ "url": url, "secret": "" }), "secret");
    wrong(json!({ "url": url, "secret": "whsec_" }), "secret");
    wrong(json!({ "url": url, "format": "xml" }), "format");
    wrong(json!({ "url": url, "types": ["invoice.paid"] }), "types");
    wrong(json!({ "url": url, "types": "invoice.created" }), "types");
    wrong(json!({ "url": url, "mode": "both" }), "mode");
    wrong(json!({ "url": url, "name": "a" }), "name");
    shop.update_account(json!({ "endpoints": [{ "url": url }, { "url": "https://shop.example/", "secret": "s", "format": "legacy",
        "types": ["invoice.created"], "mode": "live" }] }));
    let endpoints = shop.sandbox_account()["endpoints"].clone();
    let shown = |at: usize, name: &str| endpoints[at][name].clone();
    assert_eq!(shown(0, "secret"), "whsec_Y29mZmVyIHNhbmRib3ggZW5kcG9pbnQh");
    assert_eq!(
        (shown(0, "format"), shown(0, "types"), shown(0, "mode")),
        (json!("event"), Value::Null, Value::Null)
    );
    assert_eq!((shown(1, "secret"), shown(1, "format")), (json!("s"), json!("legacy")));
    assert_eq!((shown(1, "types"), shown(1, "mode")), (json!(["invoice.created"]), json!("live")));
    let merchant =
        |key| shop.get("/v1/merchant", Some(key)).expect(200).json()["webhookUrl"].clone();
    assert_eq!((merchant(TEST), merchant(LIVE)), (json!(url), json!(url)));
    shop.update_account(json!({ "endpoints": [] }));
    assert_eq!((merchant(TEST), merchant(LIVE)), (Value::Null, Value::Null));
}

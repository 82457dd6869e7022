//! Comparison of the OpenAPI document and the webhook bodies with `tests/golden`. After an intended change,
//! `COFFER_BLESS=1 cargo test --test it` rewrites the files.

use crate::support::golden::assert_matches;
use crate::support::{LIVE, Shop, TEST};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::process::Command;

/// Compares JSON with a golden file, or rewrites the file if `COFFER_BLESS` is set.
#[track_caller]
fn assert_json_matches(name: &str, value: &Value) {
    assert_matches(name, &format!("{value:#}\n"));
}

#[test]
fn openapi_document_matches_golden_file() {
    for (name, arguments) in
        [("openapi.json", &["openapi"][..]), ("openapi-sandbox.json", &["openapi", "--sandbox"])]
    {
        let coffer = Command::new(env!("CARGO_BIN_EXE_coffer")).args(arguments).output();
        let document: Value = serde_json::from_slice(&coffer.unwrap().stdout).unwrap();
        assert_json_matches(name, &document);
    }
}

/// Starts a sandbox in the year 2030 with one inbox endpoint for each webhook format.
fn shop_with_inboxes() -> Shop {
    let shop = Shop::open();
    let at = json!({ "set": "2030-01-01T12:00:00.000Z" });
    shop.post("/sandbox/clock", None, at).expect(200);
    let inbox = |name: &str| format!("{}/sandbox/inbox/{name}", shop.url());
    shop.update_account(json!({ "endpoints": [
        { "url": inbox("event"), "format": "event" },
        { "url": inbox("legacy"), "format": "legacy" },
    ] }));
    shop
}

/// Names of invoice histories. Each name is also the `orderId` of the invoice. Histories that advance the clock come
/// last.
const HISTORIES: [&str; 7] =
    ["confirmed", "overpaid", "underpaid", "cancelled", "failed", "expired", "paid_late"];

/// Creates an invoice with all settable fields, selects litecoin and plays the history.
fn play_history(shop: &Shop, name: &str) {
    let body = json!({
        "orderId": name, "description": "Two tickets", "asset": "LTC", "metadata": { "cart": "c-77", "n": 1.10 },
        "customerEmail": "ada@example.com",
    });
    let invoice = shop.create_invoice("20.00", body);
    let id = invoice["id"].as_str().unwrap();
    let simulate = |case: &str| {
        let path = format!("/v1/invoices/{id}/simulate");
        shop.post(&path, Some(TEST), json!({ "case": case })).expect(200);
    };
    match name {
        "confirmed" => simulate("exact"),
        "overpaid" => simulate("over"),
        "underpaid" => simulate("under"),
        "expired" => shop.advance("20m"),
        "paid_late" => {
            shop.advance("20m");
            simulate("exact");
        }
        "cancelled" => {
            shop.post(&format!("/sandbox/invoices/{id}/cancel"), None, json!({})).expect(200);
        }
        "failed" => {
            let payment = shop.pay(json!({ "invoice": id }));
            shop.set_payment_state(&payment, "confirmed");
            shop.set_payment_state(&payment, "dropped");
        }
        _ => unreachable!("{name} is no history"),
    }
}

/// Makes a confirmed deposit of 0.001 bitcoin.
fn create_deposit(shop: &Shop) {
    let path = "/v1/customers/user-77";
    let addresses = format!("{path}/addresses");
    shop.post(&addresses, Some(TEST), json!({})).expect(201);
    let paid = json!({ "asset": "BTC", "amount": "0.001" });
    let simulate = format!("{path}/simulate");
    shop.post(&simulate, Some(TEST), paid).expect(201);
}

/// Returns `true` if the webhook body is about a deposit.
fn is_deposit(body: &Value) -> bool {
    let object = body.pointer("/data/object").or(body.get("object"));
    object.is_some_and(|object| object["object"] == "deposit")
}

/// Replaces values that differ between runs: ids, transactions, tokens and the port.
fn replace_random(value: &Value, url: &str) -> Value {
    match value {
        Value::String(text) if text.starts_with("evt_") => json!("evt_<id>"),
        Value::String(text) if text.starts_with(url) => json!("<url>/checkout/<id>?token=<token>"),
        Value::String(text) if text.len() == 36 && text.matches('-').count() == 4 => {
            json!("<uuid>")
        }
        Value::String(text) if text.len() == 64 => json!("<txid>"),
        Value::Array(items) => items.iter().map(|item| replace_random(item, url)).collect(),
        Value::Object(fields) => Value::Object(
            fields.iter().map(|(name, value)| (name.clone(), replace_random(value, url))).collect(),
        ),
        other => other.clone(),
    }
}

/// Returns the file name of a webhook body. In the legacy format, an overpaid invoice is reported as confirmed.
fn golden_file_name(body: &Value, format: &str) -> String {
    let kind = body.get("type").or(body.get("event"));
    let is_overpaid = body.pointer("/invoice/overpaid") == Some(&json!(true));
    let kind = kind.and_then(Value::as_str).filter(|_| !is_overpaid);
    let kind = kind.unwrap_or("invoice.overpaid");
    format!("events/{kind}.{format}.json")
}

/// Payouts and refunds reach each final status that has an event.
#[test]
fn transfer_webhook_bodies_match_golden_files() {
    let shop = shop_with_inboxes();
    let invoice = shop.fund_balance(LIVE, "100.00", "EUR");
    let paid = |kind: &str, id: &str, txid: &str| {
        shop.apply_actions(kind, id, &["approve", "process"]);
        let body = json!({ "action": "pay", "txid": txid });
        shop.post(&format!("/sandbox/{kind}/{id}"), None, body).expect(200);
    };
    let failed = |kind: &str, id: &str| {
        shop.apply_actions(kind, id, &["approve"]);
        let body = json!({ "action": "fail", "reason": "The wallet is empty" });
        shop.post(&format!("/sandbox/{kind}/{id}"), None, body).expect(200);
    };
    failed("payouts", &shop.create_payout("20.00"));
    paid("payouts", &shop.create_payout("30.00"), "5wHu1qwD7q3j6dRk");
    failed("refunds", &shop.create_refund(&invoice, Some("40.00")));
    paid("refunds", &shop.create_refund(&invoice, None), "f4184fc596403b9d");
    shop.advance("0s");
    let mut count = 0;
    for format in ["event", "legacy"] {
        let inbox = format!("/sandbox/inbox/{format}");
        let told = shop.get(&inbox, None).expect(200).json();
        for message in told["data"].as_array().unwrap() {
            let body: Value = serde_json::from_str(message["body"].as_str().unwrap()).unwrap();
            let kind = body.get("type").or(body.get("event")).unwrap();
            if !kind.as_str().unwrap().starts_with("invoice.") {
                count += 1;
                assert_json_matches(
                    &golden_file_name(&body, format),
                    &replace_random(&body, shop.url()),
                );
            }
        }
    }
    assert_eq!(count, 8);
}

#[test]
fn webhook_bodies_match_golden_files() {
    let shop = shop_with_inboxes();
    for name in HISTORIES {
        play_history(&shop, name);
    }
    create_deposit(&shop);
    shop.advance("0s");
    let mut bodies = BTreeMap::new();
    for format in ["event", "legacy"] {
        let inbox = format!("/sandbox/inbox/{format}");
        let told = shop.get(&inbox, None).expect(200).json();
        for message in told["data"].as_array().unwrap() {
            let body: Value = serde_json::from_str(message["body"].as_str().unwrap()).unwrap();
            // Several events may have one type and arrive in any order. The test keeps the event whose invoice is
            // first in `HISTORIES`.
            let order = body.pointer("/data/object/orderId");
            let order = order.unwrap_or(&body["invoice"]["orderId"]);
            let of_order = HISTORIES.iter().position(|name| order == name);
            let of_order = of_order.or(is_deposit(&body).then_some(0));
            let kept =
                bodies.entry(golden_file_name(&body, format)).or_insert((usize::MAX, Value::Null));
            if of_order.unwrap() < kept.0 {
                *kept = (of_order.unwrap(), replace_random(&body, shop.url()));
            }
        }
    }
    assert_eq!(bodies.len(), 20, "{:?}", bodies.keys());
    for (name, (_, body)) in &bodies {
        assert_json_matches(name, body);
    }
}

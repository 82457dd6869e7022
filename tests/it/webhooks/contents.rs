//! Webhook contents: body, signatures, timestamps, filters and the legacy format.

use crate::support::receiver::{ReceivedRequest, Receiver, Reply};
use crate::support::tron::to_hex;
use crate::support::{LIVE, Shop, TEST};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;
use std::sync::{Arc, OnceLock};
use std::time::{SystemTime, UNIX_EPOCH};

const ENDPOINT_SECRET: &str = "whsec_Y29mZmVyIHNhbmRib3ggZW5kcG9pbnQh";
const LEGACY_SECRET: &str = "legacy_sandbox";

/// Returns the HMAC-SHA256, computed independently of Coffer.
fn hmac(key: &[u8], text: &str) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

/// Asserts that both signatures of a message are valid, and that their time is recent by the system clock.
#[track_caller]
fn assert_signatures_valid(message: &ReceivedRequest, secret: &str, standard_key: &[u8]) {
    let header = |name: &str| message.headers[name].as_str();
    let body = &message.body;
    let (t, v1) = header("x-service-signature").split_once(',').unwrap();
    let t = t.strip_prefix("t=").unwrap();
    assert_eq!(v1, format!("v1={}", to_hex(&hmac(secret.as_bytes(), &format!("{t}.{body}")))));
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let now = i64::try_from(now.as_secs()).unwrap();
    assert!((now - t.parse::<i64>().unwrap()).abs() <= 300, "{t} and {now}");
    let id = message.json()["id"].as_str().unwrap().to_owned();
    assert_eq!((header("webhook-id"), header("webhook-timestamp")), (id.as_str(), t));
    let signed = hmac(standard_key, &format!("{id}.{t}.{body}"));
    assert_eq!(header("webhook-signature"), format!("v1,{}", STANDARD.encode(signed)));
    assert_eq!(header("content-type"), "application/json");
}

#[test]
fn delivery_contains_the_signed_event() {
    let shop = Shop::open();
    let (endpoint, own) = (
        Receiver::start_with_reply(Reply::Status(200)),
        Receiver::start_with_reply(Reply::Status(200)),
    );
    shop.update_account(json!({ "endpoints": [{ "url": endpoint.url() }] }));
    shop.advance("30d");
    let more = json!({ "webhookUrl": own.url(), "metadata": { "n": 1.10, "ü": "\"\\" } });
    let invoice = shop.create_invoice("20.00", more);
    shop.advance("0s");
    let standard = STANDARD.decode("Y29mZmVyIHNhbmRib3ggZW5kcG9pbnQh").unwrap();
    let (told, own_told) = (endpoint.wait_for_requests(1), own.wait_for_requests(1));
    assert_signatures_valid(&told[0], ENDPOINT_SECRET, &standard);
    assert_signatures_valid(&own_told[0], LEGACY_SECRET, LEGACY_SECRET.as_bytes());
    let id = told[0].json()["id"].as_str().unwrap().to_owned();
    let event = shop.get(&format!("/v1/events/{id}"), Some(TEST)).expect(200);
    assert_eq!((&told[0].body, &own_told[0].body), (&event.text, &event.text));
    assert_eq!(event.json()["created"], invoice["createdAt"], "the sandbox's time");
    assert_eq!(event.json()["data"]["object"], invoice);
    assert_eq!((endpoint.requests().len(), own.requests().len()), (1, 1));
}

#[test]
fn every_form_of_secret_makes_valid_signatures() {
    let shop = Shop::open();
    let receiver = Receiver::start_with_reply(Reply::Status(200));
    for (secret, key) in [
        ("plain text", b"plain text".to_vec()),
        ("whsec_not base64!", b"whsec_not base64!".to_vec()),
        ("whsec_AAECAw==", vec![0, 1, 2, 3]),
    ] {
        shop.update_account(json!({ "endpoints": [{ "url": receiver.url(), "secret": secret }] }));
        shop.create_invoice("20.00", json!({}));
        shop.advance("0s");
        assert_signatures_valid(receiver.requests().last().unwrap(), secret, &key);
    }
}

#[test]
fn event_can_be_read_when_delivered() {
    let shop = Shop::open();
    let url = Arc::new(OnceLock::from(shop.url().to_owned()));
    let receiver = Receiver::start_with_script(move |_, message| {
        let event = format!("{}/v1/events/{}", url.get().unwrap(), message.headers["webhook-id"]);
        let agent = crate::support::agent();
        let answer = crate::support::send(&agent, "GET", &event, &[("X-API-Key", TEST)], "");
        Reply::Status(if answer.text == message.body { 200 } else { 500 })
    });
    shop.update_account(json!({ "endpoints": [{ "url": receiver.url() }] }));
    for _ in 0..20 {
        shop.create_invoice("20.00", json!({}));
    }
    shop.advance("0s");
    for delivery in shop.deliveries() {
        assert_eq!(delivery["state"], "delivered");
        assert_eq!(delivery["attempts"].as_array().unwrap().len(), 1, "{delivery}");
    }
    assert_eq!(receiver.requests().len(), 20);
}

/// Returns the event types that a receiver got, in the order of the events.
#[track_caller]
fn received_types(receiver: &Receiver) -> Vec<String> {
    let mut events: Vec<Value> = receiver.requests().iter().map(ReceivedRequest::json).collect();
    events.sort_by_key(|event| event["id"].as_str().unwrap().to_owned());
    let kind = |event: &Value| event.get("type").or(event.get("event")).unwrap().clone();
    events.iter().map(|event| kind(event).as_str().unwrap().to_owned()).collect()
}

#[test]
fn endpoint_gets_only_its_event_types() {
    let shop = Shop::open();
    let make = || Receiver::start_with_reply(Reply::Status(200));
    let (all, test, live, expired, own) = (make(), make(), make(), make(), make());
    shop.update_account(json!({ "endpoints": [
        { "url": all.url() },
        { "url": test.url(), "mode": "test" },
        { "url": live.url(), "mode": "live" },
        { "url": expired.url(), "types": ["invoice.expired", "account.suspended"] },
    ] }));
    shop.create_invoice("20.00", json!({ "webhookUrl": own.url() }));
    let body = json!({ "amount": "20.00", "currency": "EUR", "ttlSeconds": 60 });
    shop.post("/v1/invoices", Some(LIVE), body).expect(201);
    shop.update_account(json!({ "status": "suspended" }));
    shop.advance("1h");
    let in_live = ["invoice.created", "account.suspended", "invoice.expired"];
    let in_test = ["invoice.created", "invoice.expired"];
    assert_eq!(received_types(&live), in_live);
    assert_eq!(received_types(&test), in_test);
    assert_eq!(received_types(&own), in_test);
    assert_eq!(
        received_types(&expired),
        ["account.suspended", "invoice.expired", "invoice.expired"]
    );
    assert_eq!(all.requests().len(), 5);
    let account = &live.requests();
    let account = account.iter().map(ReceivedRequest::json);
    let account = account.filter(|event| event["type"] == "account.suspended");
    let account = account.collect::<Vec<_>>()[0]["data"]["object"].clone();
    assert_eq!((&account["object"], &account["status"]), (&json!("account"), &json!("suspended")));
}

#[test]
fn legacy_body_reports_overpaid_as_confirmed_and_omits_account_events() {
    let shop = Shop::open();
    let receiver = Receiver::start_with_reply(Reply::Status(200));
    shop.update_account(
        json!({ "endpoints": [{ "url": receiver.url(), "format": "legacy", "secret": "s" }] }),
    );
    let invoice = shop.create_invoice("100.00", json!({ "asset": "LTC" }));
    let over = shop.pay(json!({ "invoice": invoice["id"], "amount": "1.5" }));
    shop.set_payment_state(&over, "confirmed");
    let other = shop.create_invoice("100.00", json!({ "asset": "LTC" }));
    let under = shop.pay(json!({ "invoice": other["id"], "amount": "0.5" }));
    shop.set_payment_state(&under, "confirmed");
    shop.update_account(json!({ "status": "suspended" }));
    shop.update_account(json!({ "status": "active" }));
    shop.advance("0s");
    let told = ["created", "detected", "confirmed", "created", "detected", "underpaid"];
    assert_eq!(received_types(&receiver), told.map(|name| format!("invoice.{name}")));
    let messages = receiver.requests();
    let of = |event: &str| {
        let found = messages.iter().find(|message| message.json()["event"] == event);
        found.unwrap()
    };
    let message = of("invoice.confirmed");
    assert_signatures_valid(message, "s", b"s");
    let body = message.json();
    let event = shop.get(&format!("/v1/events/{}", body["id"].as_str().unwrap()), Some(TEST));
    let event = event.expect(200).json();
    assert_eq!(event["type"], "invoice.overpaid");
    let mut legacy = event["data"]["object"].clone();
    legacy["status"] = json!("confirmed");
    legacy["priceAmount"] = json!("100.00");
    legacy["priceCurrency"] = json!("EUR");
    legacy["overpaid"] = json!(true);
    legacy["underpaid"] = json!(false);
    let expected = json!({
        "id": event["id"], "event": "invoice.confirmed", "livemode": false,
        "createdAt": event["created"], "invoice": legacy,
    });
    assert_eq!(body, expected);
    let invoice = &of("invoice.underpaid").json()["invoice"];
    assert_eq!(
        (&invoice["status"], &invoice["overpaid"], &invoice["underpaid"]),
        (&json!("underpaid"), &json!(false), &json!(true))
    );
}

#[test]
fn filter_accepts_legacy_name_or_event_type() {
    let shop = Shop::open();
    let receivers = [(); 4].map(|()| Receiver::start_with_reply(Reply::Status(200)));
    let [by_name, by_type, by_both, as_event] = &receivers;
    let endpoint = |receiver: &Receiver, format: &str, types: &[&str]| json!({ "url": receiver.url(), "format": format, "types": types });
    let (confirmed, overpaid) = ("invoice.confirmed", "invoice.overpaid");
    shop.update_account(json!({ "endpoints": [
        endpoint(by_name, "legacy", &[confirmed]),
        endpoint(by_type, "legacy", &[overpaid]),
        endpoint(by_both, "legacy", &[confirmed, overpaid]),
        endpoint(as_event, "event", &[confirmed]),
    ] }));
    for case in ["exact", "over"] {
        let id = shop.create_invoice("100.00", json!({}))["id"].clone();
        let path = format!("/v1/invoices/{}/simulate", id.as_str().unwrap());
        shop.post(&path, Some(TEST), json!({ "case": case })).expect(200);
    }
    shop.advance("0s");
    // The two deliveries may arrive in any order, so the test sorts their values of `overpaid`.
    let told = |receiver: &Receiver| -> Vec<bool> {
        let messages = receiver.requests();
        let legacy = messages.iter().filter(|one| one.json()["event"] == confirmed);
        let mut overpaid: Vec<_> =
            legacy.map(|one| one.json()["invoice"]["overpaid"] == true).collect();
        overpaid.sort_unstable();
        overpaid
    };
    assert_eq!(told(by_name), [false, true], "told as invoice.confirmed");
    assert_eq!(told(by_type), [true]);
    assert_eq!(told(by_both), [false, true], "each once");
    assert_eq!(received_types(as_event), [confirmed]);
}

#[test]
fn webhook_url_of_invoice_gets_only_its_events() {
    let shop = Shop::open();
    let (all, own) = (
        Receiver::start_with_reply(Reply::Status(200)),
        Receiver::start_with_reply(Reply::Status(200)),
    );
    shop.update_account(json!({ "endpoints": [{ "url": all.url() }] }));
    let more = json!({ "asset": "LTC", "webhookUrl": own.url() });
    let invoice = shop.create_invoice("20.00", more);
    let payment = shop.pay(json!({ "invoice": invoice["id"] }));
    shop.set_payment_state(&payment, "confirmed");
    let refund = shop.create_refund(invoice["id"].as_str().unwrap(), Some("1.00"));
    shop.apply_actions("refunds", &refund, &["approve", "fail"]);
    shop.create_invoice("20.00", json!({}));
    shop.advance("0s");
    let of_invoice = ["invoice.created", "invoice.detected", "invoice.confirmed"];
    assert_eq!(received_types(&own), of_invoice);
    let more = ["refund.failed", "invoice.created"];
    assert_eq!(received_types(&all), [&of_invoice[..], &more].concat());
}

//! What one delivery says of itself in the operator interface: the body and the headers that were sent.

use super::deliveries::{found, receiver};
use crate::support::operator_interface::OperatorInterface;
use rusqlite::Connection;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

#[test]
fn a_delivery_is_read_with_the_very_body_and_headers_that_were_sent() {
    let interface = OperatorInterface::open();
    let status = Arc::new(AtomicU16::new(500));
    let receiver = receiver(&status);
    for format in ["event", "legacy"] {
        let endpoint =
            json!({ "url": receiver.url(), "types": ["invoice.created"], "format": format });
        let state = interface
            .shop
            .switch(json!({ "endpoints": [endpoint] }))
            .json();
        let endpoint = state["account"]["endpoints"][0]["id"].as_str().unwrap();
        let invoice = interface
            .shop
            .invoice("20.00", json!({ "metadata": { "a": "\u{e9}\"<b>" } }));
        interface.shop.advance("0s");
        // Of a secret that is gone nothing could be made again.
        let roll = format!("endpoints/{endpoint}/roll-secret");
        for _ in 0..2 {
            interface.act("POST", &roll, &Value::Null).expect(200);
        }
        interface.shop.advance("10s");
        let listed = found(&interface, &format!("endpoint={endpoint}")).remove(0);
        assert_eq!(listed["objectId"], invoice["id"]);
        assert_eq!(listed["attempts"][0].get("headers"), None);
        assert_eq!(listed.get("body"), None);
        let id = listed["id"].as_str().unwrap();
        // What was sent stays what it was.
        let other = if format == "event" { "legacy" } else { "event" };
        let path = format!("endpoints/{endpoint}");
        interface
            .act("PATCH", &path, &json!({ "format": other }))
            .expect(200);
        let read = interface.read(&format!("deliveries/{id}"));
        let sent = receiver.messages();
        let sent = &sent[sent.len() - 2..];
        let attempts = read["attempts"].as_array().unwrap();
        assert_eq!(attempts.len(), 2);
        for (attempt, message) in attempts.iter().zip(sent) {
            assert_eq!(read["body"], message.body);
            let headers = attempt["headers"].as_object().unwrap();
            assert_eq!(headers.len(), 5);
            for (name, value) in headers {
                assert_eq!(*value, message.headers[&name.to_lowercase()], "{name}");
            }
        }
        let signatures = |at: usize| {
            sent[at].headers["x-service-signature"]
                .matches("v1=")
                .count()
        };
        assert_eq!([signatures(0), signatures(1)], [1, 2]);
        // What was kept before signatures were is told as it is.
        let file = Connection::open(interface.shop.file()).unwrap();
        file.execute("update attempts set signatures = null, format = null", [])
            .unwrap();
        let read = interface.read(&format!("deliveries/{id}"));
        assert_eq!(read["attempts"][0].get("headers"), None);
        only_its_account_reads(&interface, id);
    }
}

#[test]
fn an_event_without_a_legacy_body_is_sent_and_read_as_it_is_at_an_endpoint_that_has_become_legacy()
{
    let mut interface = OperatorInterface::open();
    let status = Arc::new(AtomicU16::new(500));
    let receiver = receiver(&status);
    let switch = |body: Value| interface.shop.switch(body).json();
    let endpoint = json!({ "url": receiver.url(), "types": ["account.suspended"] });
    let state = switch(json!({ "endpoints": [endpoint] }));
    let endpoint = state["account"]["endpoints"][0]["id"].as_str().unwrap();
    switch(json!({ "status": "suspended" }));
    interface.shop.advance("0s");
    let legacy = json!({ "format": "legacy" });
    let path = format!("endpoints/{endpoint}");
    interface.act("PATCH", &path, &legacy).expect(200);
    status.store(200, Ordering::SeqCst);
    interface.shop.advance("1h");
    let sent = receiver.messages();
    assert_eq!(sent.len(), 2, "refused, then taken");
    assert_eq!(sent[0].body, sent[1].body);
    // Also once it is not known any more what was sent.
    interface.shop.advance("95d");
    interface.sign_in_again();
    let account = format!("/dashboard/api/accounts/{}", interface.account);
    let read = |path: &str| {
        let path = format!("{account}/deliveries{path}?mode=live");
        let answer = interface.send(&interface.operator, "GET", &path, &Value::Null);
        answer.expect(200).json()
    };
    let id = read("")["data"][0]["id"].as_str().unwrap().to_owned();
    let read = read(&format!("/{id}"));
    assert_eq!(read["attempts"], json!([]));
    assert_eq!(read["body"], sent[0].body);
}

/// A delivery is its account's, in its mode.
fn only_its_account_reads(interface: &OperatorInterface, id: &str) {
    let account = &interface.account;
    let path = format!("/dashboard/api/accounts/{account}/deliveries/{id}?mode=test");
    let get = |cookie: &str, path: &str| interface.send(cookie, "GET", path, &Value::Null);
    get(&interface.merchant, &path).expect(200);
    get(&interface.stranger, &path).refused(404, "not_found", None);
    for wrong in [
        path.replace("mode=test", "mode=live"),
        path.replace(id, "x"),
    ] {
        get(&interface.operator, &wrong).refused(404, "not_found", None);
    }
}

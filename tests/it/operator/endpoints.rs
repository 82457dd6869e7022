//! Webhook endpoints and secrets in the operator interface. After a secret is replaced, the old and the new secret
//! sign for a day.

use crate::support::operator_interface::OperatorInterface;
use crate::support::receiver::{ReceivedRequest, Receiver, Reply};
use coffer::domain::signature::service_signature;
use serde_json::{Value, json};

const NULL: Value = Value::Null;

/// Returns the number of signatures of a message, and for each secret `true` if the secret made one of the
/// signatures.
fn count_signatures(message: &ReceivedRequest, secrets: &[&str]) -> (usize, Vec<bool>) {
    let header = &message.headers["x-service-signature"];
    let at = header.split([',', '=']).nth(1).unwrap().parse().unwrap();
    let by = |secret: &&str| {
        let expected = service_signature(at, message.body.as_bytes(), &[secret]);
        let (_, expected) = expected.split_once(',').unwrap();
        header.split(',').any(|part| part == expected)
    };
    let standard = &message.headers["webhook-signature"];
    let count = header.matches("v1=").count();
    assert_eq!(standard.matches("v1,").count(), count);
    (count, secrets.iter().map(by).collect())
}

#[test]
fn endpoint_is_created_changed_and_removed() {
    let interface = OperatorInterface::open();
    let receiver = Receiver::start_with_reply(Reply::Status(200));
    let body = json!({ "url": receiver.url(), "types": ["invoice.created"], "mode": "test" });
    let made = interface.request_as_merchant("POST", "endpoints", &body).expect(201).json();
    let secret = made["secret"].as_str().unwrap();
    assert!(secret.starts_with("whsec_") && secret.len() > 40);
    let id = made["id"].as_str().unwrap();
    let path = format!("endpoints/{id}");
    interface.assert_access("listEndpoints", "GET", "endpoints", false);
    interface.assert_access("createEndpoint", "POST", "endpoints", false);
    interface.assert_access("changeEndpoint", "PATCH", &path, false);
    interface.assert_access("removeEndpoint", "DELETE", &path, false);
    let listed = interface.get("endpoints")["data"][0].clone();
    assert!(listed["secret"].is_null() && listed["url"] == receiver.url());
    interface.shop.create_invoice("20.00", json!({}));
    let told = receiver.wait_for_requests(1);
    assert_eq!(count_signatures(&told[0], &[secret]), (1, vec![true]));
    let changed =
        interface.request_as_merchant("PATCH", &path, &json!({ "types": null, "mode": null }));
    let changed = changed.expect(200).json();
    assert_eq!((&changed["types"], &changed["mode"]), (&NULL, &NULL));
    interface.request_as_merchant("PATCH", &path, &json!({ "enabled": false })).expect(200);
    interface.shop.create_invoice("20.00", json!({}));
    assert_eq!(interface.shop.deliveries().len(), 1, "it gets nothing new");
    interface
        .request_as_merchant("PATCH", &path, &json!({ "enabled": true, "format": "legacy" }))
        .expect(200);
    interface.shop.create_invoice("20.00", json!({}));
    assert_eq!(receiver.wait_for_requests(2)[1].json()["event"], "invoice.created");
    interface.request_as_merchant("DELETE", &path, &NULL).expect(204);
    let gone = interface.request_as_merchant("DELETE", &path, &NULL);
    gone.assert_error(404, "not_found", None);
    assert_eq!(interface.get("endpoints")["data"], json!([]));
    assert_eq!(interface.audit_entries(id).len(), 5);
}

#[test]
fn pending_deliveries_of_a_removed_endpoint_are_cancelled() {
    let interface = OperatorInterface::open();
    let receiver = Receiver::start_with_reply(Reply::Status(500));
    let made = interface.request("POST", "endpoints", &json!({ "url": receiver.url() }));
    let path = format!("endpoints/{}", made.expect(201).json()["id"].as_str().unwrap());
    interface.shop.create_invoice("20.00", json!({}));
    interface.shop.advance("1s");
    assert_eq!(interface.shop.deliveries()[0]["state"], "pending");
    interface.request("DELETE", &path, &NULL).expect(204);
    assert_eq!(interface.shop.deliveries()[0]["state"], "failed");
}

#[test]
fn both_secrets_sign_for_a_day_after_a_roll() {
    let interface = OperatorInterface::open();
    let receiver = Receiver::start_with_reply(Reply::Status(200));
    let made = interface.request("POST", "endpoints", &json!({ "url": receiver.url() }));
    let made = made.expect(201).json();
    let id = made["id"].as_str().unwrap();
    let old = made["secret"].as_str().unwrap();
    let path = format!("endpoints/{id}/secret");
    interface.assert_access("getEndpointSecret", "GET", &path, false);
    let roll = format!("endpoints/{id}/roll-secret");
    interface.assert_access("rollEndpointSecret", "POST", &roll, false);
    let shown = interface.get(&path);
    assert_eq!((&shown["secret"], &shown["previousUntil"]), (&json!(old), &NULL));
    let rolled = interface.request("POST", &format!("endpoints/{id}/roll-secret"), &NULL);
    let rolled = rolled.expect(200).json();
    let new = rolled["secret"].as_str().unwrap();
    assert!(new != old && rolled["previousUntil"].is_string());
    interface.shop.create_invoice("20.00", json!({}));
    let told = receiver.wait_for_requests(1);
    assert_eq!(count_signatures(&told[0], &[new, old]), (2, vec![true, true]));
    interface.shop.advance("24h");
    let count = receiver.requests().len();
    interface.shop.create_invoice("20.00", json!({}));
    let told = receiver.wait_for_requests(count + 1);
    let last = told.last().unwrap();
    assert_eq!(count_signatures(last, &[new, old]), (1, vec![true, false]));
    let cookie = interface.shop.sign_in_operator();
    let path = interface.path(&format!("endpoints/{id}/secret"));
    let shown = interface.send(&cookie, "GET", &path, &NULL).expect(200).json();
    assert_eq!(shown["previousUntil"], NULL);
    interface.shop.advance("1h");
    let kept = interface.shop.query_text("select count(secret_old) || '' from endpoints");
    assert_eq!(kept, "0", "a secret that signs nothing any more is kept");
    let actions: Vec<String> =
        interface.audit_entries(id).into_iter().map(|(_, action)| action).collect();
    assert_eq!(
        actions,
        ["endpoint.create", "endpoint.show_secret", "endpoint.roll_secret", "endpoint.show_secret"]
    );
    for action in ["endpoint.create", "endpoint.roll_secret"] {
        let noted = format!("{:?}", interface.shop.audit_entries(action));
        assert!(!noted.contains(old) && !noted.contains(new), "{noted}");
    }
}

#[test]
fn legacy_secret_is_shown_and_rolled() {
    let interface = OperatorInterface::open();
    let receiver = Receiver::start_with_reply(Reply::Status(200));
    interface.assert_access("getLegacySecret", "GET", "legacy-secret", false);
    interface.assert_access("rollLegacySecret", "POST", "legacy-secret/roll", false);
    let shown = interface.get("legacy-secret");
    assert_eq!(shown["secret"], "legacy_sandbox");
    let rolled = interface.request_as_merchant("POST", "legacy-secret/roll", &NULL);
    let rolled = rolled.expect(200).json();
    let new = rolled["secret"].as_str().unwrap();
    let own = json!({ "webhookUrl": receiver.url(), "ttlSeconds": 60 });
    interface.shop.create_invoice("20.00", own.clone());
    let told = receiver.wait_for_requests(1);
    let secrets = [new, "legacy_sandbox"];
    assert_eq!(count_signatures(&told[0], &secrets), (2, vec![true, true]));
    interface.shop.advance("24h");
    let count = receiver.requests().len();
    interface.shop.create_invoice("20.00", own);
    let told = receiver.wait_for_requests(count + 1);
    assert_eq!(count_signatures(told.last().unwrap(), &secrets), (1, vec![true, false]));
    assert_eq!(interface.audit_entries(&interface.account).len(), 2);
}

#[test]
fn endpoint_with_forbidden_url_is_rejected() {
    let interface = OperatorInterface::open();
    for (body, param) in [
        (json!({}), "url"),
        (json!({ "url": "shop.example" }), "url"),
        (json!({ "url": "http://shop.example/hook" }), "url"),
        (json!({ "url": "https://10.0.0.1/hook" }), "url"),
        (json!({ "url": "https://a.example", "types": ["x"] }), "types"),
        (json!({ "url": "https://a.example", "format": "xml" }), "format"),
        (json!({ "url": "https://a.example", "mode": "both" }), "mode"),
        (json!({ "url": "https://a.example", "enabled": 1 }), "enabled"),
        (json!({ "url": "https://a.example", "secret": "x" }), "secret"),
    ] {
        let refused = interface.request_as_merchant("POST", "endpoints", &body);
        refused.assert_error(400, "invalid_request", Some(param));
    }
    let endpoint = json!({ "url": "https://a.example" });
    for _ in 0..50 {
        interface.request("POST", "endpoints", &endpoint).expect(201);
    }
    let one_more = interface.request("POST", "endpoints", &endpoint);
    one_more.assert_error(400, "invalid_request", Some("url"));
}

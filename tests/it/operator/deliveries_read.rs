//! Details of one delivery in the operator interface: the sent body and headers.

use super::deliveries::{find_deliveries, receiver_with_status};
use crate::support::operator_interface::OperatorInterface;
use crate::support::receiver::{Receiver, Reply};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

#[test]
fn delivery_shows_the_sent_body_and_headers() {
    let interface = OperatorInterface::open();
    let status = Arc::new(AtomicU16::new(500));
    let receiver = receiver_with_status(&status);
    for format in ["event", "legacy"] {
        let endpoint =
            json!({ "url": receiver.url(), "types": ["invoice.created"], "format": format });
        let state = interface.shop.update_account(json!({ "endpoints": [endpoint] })).json();
        let endpoint = state["account"]["endpoints"][0]["id"].as_str().unwrap();
        let invoice =
            interface.shop.create_invoice("20.00", json!({ "metadata": { "a": "\u{e9}\"<b>" } }));
        interface.shop.advance("0s");
        // After the secret is replaced, the server can no longer compute the signature.
        let roll = format!("endpoints/{endpoint}/roll-secret");
        for _ in 0..2 {
            interface.request("POST", &roll, &Value::Null).expect(200);
        }
        interface.shop.advance("10s");
        let listed = find_deliveries(&interface, &format!("endpoint={endpoint}")).remove(0);
        assert_eq!(listed["objectId"], invoice["id"]);
        assert_eq!(listed["attempts"][0].get("headers"), None);
        assert_eq!(listed.get("body"), None);
        let id = listed["id"].as_str().unwrap();
        // A new format of the endpoint does not change a delivery that was already sent.
        let other = if format == "event" { "legacy" } else { "event" };
        let path = format!("endpoints/{endpoint}");
        interface.request("PATCH", &path, &json!({ "format": other })).expect(200);
        let read = interface.get(&format!("deliveries/{id}"));
        let sent = receiver.requests();
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
        let signatures = |at: usize| sent[at].headers["x-service-signature"].matches("v1=").count();
        assert_eq!([signatures(0), signatures(1)], [1, 2]);
        // An attempt without a request shows no signature.
        let file = Connection::open(interface.shop.file()).unwrap();
        let unsent = "update attempts set status = null, error = 'address not allowed', format = null, signed_at = null, service_signature = null, standard_signature = null";
        file.execute(unsent, []).unwrap();
        let read = interface.get(&format!("deliveries/{id}"));
        assert_eq!(read["attempts"][0].get("headers"), None);
        assert_readable_only_by_its_account(&interface, id);
    }
}

#[test]
fn account_event_is_not_sent_to_legacy_endpoint_but_stays_readable() {
    let mut interface = OperatorInterface::open();
    let status = Arc::new(AtomicU16::new(500));
    let receiver = receiver_with_status(&status);
    let switch = |body: Value| interface.shop.update_account(body).json();
    let endpoint = json!({ "url": receiver.url(), "types": ["account.suspended"] });
    let state = switch(json!({ "endpoints": [endpoint] }));
    let since = interface.shop.now();
    let endpoint = state["account"]["endpoints"][0]["id"].as_str().unwrap();
    switch(json!({ "status": "suspended" }));
    interface.shop.advance("0s");
    let (event, legacy) = (json!({ "format": "event" }), json!({ "format": "legacy" }));
    let path = format!("endpoints/{endpoint}");
    interface.request("PATCH", &path, &legacy).expect(200);
    interface.shop.advance("1h");
    let sent = receiver.requests();
    assert_eq!(sent.len(), 1, "once in the format that it had");
    let deliveries = format!("/dashboard/api/accounts/{}/deliveries", interface.account);
    let call = |interface: &OperatorInterface, method: &str, path: &str, body: &Value| {
        let path = format!("{path}?mode=live");
        interface.send_as_operator(method, &path, body)
    };
    let listed = call(&interface, "GET", &deliveries, &Value::Null).expect(200).json();
    let listed = &listed["data"][0];
    assert_eq!((&listed["state"], &listed["nextAttemptAt"]), (&json!("failed"), &Value::Null));
    let one = format!("{deliveries}/{}", listed["id"].as_str().unwrap());
    let again = format!("{one}/resend");
    let refused = call(&interface, "POST", &again, &Value::Null);
    refused.assert_error(409, "invalid_transition", None);
    let all = deliveries.replace("/deliveries", "/resend");
    let since = json!({ "since": since });
    let count = |interface: &OperatorInterface| {
        call(interface, "POST", &all, &since).expect(200).json()["count"].clone()
    };
    assert_eq!(count(&interface), 0);
    interface.shop.advance("1h");
    assert_eq!(receiver.requests().len(), 1);
    // The delivery stays readable even if the server no longer knows the format in which it was sent.
    let read = |interface: &OperatorInterface| {
        call(interface, "GET", &one, &Value::Null).expect(200).json()
    };
    let headers = &read(&interface)["attempts"][0]["headers"];
    assert_eq!(headers["X-Service-Signature"], sent[0].headers["x-service-signature"]);
    interface.advance("95d");
    let gone = read(&interface);
    assert_eq!((&gone["attempts"], &gone["body"]), (&json!([]), &json!(sent[0].body)));
    // The delivery is resent once the endpoint has the matching format again.
    status.store(200, Ordering::SeqCst);
    interface.request("PATCH", &path, &event).expect(200);
    call(&interface, "POST", &again, &Value::Null).expect(200);
    interface.shop.advance("0s");
    assert_eq!(receiver.requests()[1].body, sent[0].body);
    assert_eq!(count(&interface), 1);
}

#[test]
fn delivery_shows_its_newest_attempts_and_resends_are_limited() {
    let interface = OperatorInterface::open();
    let receiver = Receiver::start_with_reply(Reply::Text(200, "taken".to_owned()));
    let endpoint = json!({ "url": receiver.url(), "types": ["invoice.created"] });
    interface.shop.update_account(json!({ "endpoints": [endpoint] }));
    let since = interface.shop.now();
    interface.shop.create_invoice("20.00", json!({}));
    interface.shop.advance("0s");
    let id = find_deliveries(&interface, "").remove(0)["id"].clone();
    let path = format!("deliveries/{}", id.as_str().unwrap());
    let resend = || interface.request_as_merchant("POST", &format!("{path}/resend"), &Value::Null);
    // Inserts attempts with the numbers 2 to `until`, each with a different response of 4 KiB.
    let tried = |until: u32| {
        interface.shop.execute_sql(&format!(
            "insert into attempts (delivery, number, at, status, latency_ms, format, signed_at, service_signature, standard_signature, answer)
               with recursive n (n) as (select 2 union all select n + 1 from n where n < {until})
               select d.seq, n, e.created_at, 200, 1, 'event', 0, 't=0,v1=0', 'v1,0', n || char(10) || replace(hex(zeroblob(2046)), '0', 'x')
               from deliveries d join event_rows e on e.seq = d.event, n where true on conflict do nothing;
             update deliveries set made_before = {until} - attempts"
        ));
    };
    let numbers = |delivery: &Value| -> Vec<u64> {
        let attempts = delivery["attempts"].as_array().unwrap().iter();
        attempts.map(|one| one["number"].as_u64().unwrap()).collect()
    };
    tried(998);
    let newest: Vec<u64> = (966..=998).collect();
    let answers = [
        interface.request_as_merchant("GET", &path, &Value::Null).expect(200),
        interface.request_as_merchant("GET", "deliveries", &Value::Null).expect(200),
        resend().expect(200),
    ];
    let [read, listed, again] = &answers;
    for delivery in [&read.json(), &listed.json()["data"][0], &again.json()] {
        assert_eq!(numbers(delivery), newest);
    }
    for answer in &answers {
        assert!(answer.text.len() < 200_000, "{}", answer.text.len());
    }
    interface.shop.advance("0s");
    let all = json!({ "since": since });
    let again = interface.request("POST", "resend", &all).expect(200).json();
    assert_eq!(again["count"], 1);
    interface.shop.advance("0s");
    assert_eq!(receiver.requests().len(), 3);
    assert_eq!(numbers(&interface.get(&path)).last(), Some(&1000));
    let refused = resend();
    refused.assert_error(409, "invalid_transition", None);
    let message = refused.json()["message"].clone();
    assert!(message.as_str().unwrap().contains("1000 times"), "{message}");
    let again = interface.request("POST", "resend", &all).expect(200).json();
    assert_eq!(again["count"], 0);
    interface.shop.advance("0s");
    assert_eq!(receiver.requests().len(), 3);
    // A new response is compared with the responses of recent attempts, not with that of the first attempt.
    let compared = "select group_concat(number || ' ' || ifnull(answer_of, 'own')) from attempts where number in (1, 999, 1000)";
    let kept = interface.shop.query_text(compared);
    assert_eq!(kept, "1 own,999 own,1000 999");
}

#[test]
fn failed_connection_has_no_sent_headers() {
    let interface = OperatorInterface::open();
    let nobody = format!("http://{}/hook", Receiver::unused_address());
    let cut = Receiver::start_with_reply(Reply::Close);
    let urls = [
        (&nobody, "connection refused", false),
        (&cut.url(), "connection closed before an answer", true),
    ];
    for (url, error, is_sent) in urls {
        let endpoint = json!({ "url": url, "types": ["invoice.created"] });
        interface.shop.update_account(json!({ "endpoints": [endpoint] }));
        interface.shop.create_invoice("20.00", json!({}));
        interface.shop.advance("0s");
        let id = find_deliveries(&interface, "").remove(0)["id"].clone();
        let read = interface.get(&format!("deliveries/{}", id.as_str().unwrap()));
        let attempt = &read["attempts"][0];
        assert_eq!(attempt["error"], error);
        assert_eq!(attempt.get("headers").is_some(), is_sent, "{attempt}");
        assert!(read["body"].is_string());
    }
}

/// Asserts that a delivery is visible only to its account and in its mode.
fn assert_readable_only_by_its_account(interface: &OperatorInterface, id: &str) {
    let account = &interface.account;
    let path = format!("/dashboard/api/accounts/{account}/deliveries/{id}?mode=test");
    let get = |cookie: &str, path: &str| interface.send(cookie, "GET", path, &Value::Null);
    get(&interface.merchant, &path).expect(200);
    get(&interface.stranger, &path).assert_error(404, "not_found", None);
    for wrong in [path.replace("mode=test", "mode=live"), path.replace(id, "x")] {
        get(&interface.operator, &wrong).assert_error(404, "not_found", None);
    }
}

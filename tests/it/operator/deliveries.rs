//! Webhook deliveries in the operator interface: attempts and resending.

use crate::support::database::execute_sql;
use crate::support::object_id;
use crate::support::operator_interface::{OTHER_ACCOUNT, OperatorInterface};
use crate::support::process::Process;
use crate::support::receiver::{Receiver, Reply};
use crate::support::{TEST, agent, send};
use serde_json::{Value, json};
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

/// Starts a receiver that replies with the status stored in `status`.
#[track_caller]
pub(super) fn receiver_with_status(status: &Arc<AtomicU16>) -> Receiver {
    let status = Arc::clone(status);
    Receiver::start_with_script(move |_, _| Reply::Status(status.load(Ordering::SeqCst)))
}

/// Sets the endpoints of the account and returns their ids.
#[track_caller]
fn set_endpoints(interface: &OperatorInterface, urls: &[&str]) -> Vec<String> {
    let endpoint = |url: &&str| json!({ "url": url, "types": ["invoice.created"] });
    let list: Vec<Value> = urls.iter().map(endpoint).collect();
    let state = interface.shop.update_account(json!({ "endpoints": list })).json();
    let made = state["account"]["endpoints"].as_array().unwrap().iter();
    made.map(object_id).collect()
}

/// Returns the deliveries that match a query.
#[track_caller]
pub(super) fn find_deliveries(interface: &OperatorInterface, query: &str) -> Vec<Value> {
    let page = interface.get(&format!("deliveries?limit=100&{query}"));
    page["data"].as_array().unwrap().clone()
}

/// Returns number and HTTP status of each attempt.
fn attempt_statuses(delivery: &Value) -> Vec<(u64, u64)> {
    let attempts = delivery["attempts"].as_array().unwrap().iter();
    let number = |value: &Value| value.as_u64().unwrap();
    attempts.map(|one| (number(&one["number"]), number(&one["status"]))).collect()
}

#[test]
fn failed_delivery_can_be_resent() {
    let mut interface = OperatorInterface::open();
    let status = Arc::new(AtomicU16::new(500));
    let receiver = receiver_with_status(&status);
    set_endpoints(&interface, &[&receiver.url()]);
    interface.shop.create_invoice("20.00", json!({}));
    interface.advance("2d");
    let failed = find_deliveries(&interface, "state=failed").remove(0);
    let eleven: Vec<_> = (1..=11).map(|number| (number, 500)).collect();
    assert_eq!(attempt_statuses(&failed), eleven);
    let id = failed["id"].as_str().unwrap();
    let resend = interface.path(&format!("deliveries/{id}/resend"));
    // The receiver still fails, so the resent delivery is attempted again, at the same intervals as before.
    let again = interface.send(&interface.merchant, "POST", &resend, &Value::Null);
    assert_eq!(again.expect(200).json()["state"], "pending");
    interface.advance("2d");
    let failed = find_deliveries(&interface, "state=failed").remove(0);
    let both: Vec<_> = (1..=22).map(|number| (number, 500)).collect();
    assert_eq!(attempt_statuses(&failed), both);
    assert_eq!(failed["nextAttemptAt"], Value::Null);
    status.store(200, Ordering::SeqCst);
    interface.request("POST", &format!("deliveries/{id}/resend"), &Value::Null).expect(200);
    interface.shop.advance("0s");
    let taken = find_deliveries(&interface, "state=delivered").remove(0);
    assert_eq!(attempt_statuses(&taken)[22..], [(23, 200)]);
    let bodies = receiver.requests();
    assert!(bodies.iter().all(|message| message.body == bodies[0].body));
    assert_eq!(bodies.len(), 23);
    let by = |actor: &str| (format!("{actor}@sandbox.test"), "delivery.resend".to_owned());
    assert_eq!(interface.audit_entries(id), [by("merchant"), by("operator")]);
}

#[test]
fn resend_since_a_time_includes_successful_deliveries() {
    let interface = OperatorInterface::open();
    let status = Arc::new(AtomicU16::new(200));
    let (one, other) = (receiver_with_status(&status), receiver_with_status(&status));
    let ids = set_endpoints(&interface, &[&one.url(), &other.url()]);
    interface.shop.create_invoice("1.00", json!({}));
    interface.shop.advance("1m");
    let since = interface.shop.now();
    for _ in 0..3 {
        interface.shop.create_invoice("2.00", json!({}));
    }
    interface.shop.advance("0s");
    assert_eq!((one.requests().len(), other.requests().len()), (4, 4));
    let resend = |body: Value| {
        interface.request("POST", "resend", &body).expect(200).json()["count"].clone()
    };
    assert_eq!(resend(json!({ "since": since })), 6);
    interface.shop.advance("0s");
    assert_eq!((one.requests().len(), other.requests().len()), (7, 7));
    assert_eq!(resend(json!({ "since": since, "endpoint": ids[1] })), 3);
    interface.shop.advance("0s");
    assert_eq!((one.requests().len(), other.requests().len()), (7, 10));
    assert_eq!(resend(json!({ "since": "2100-01-01T00:00:00Z" })), 0);
    for delivery in find_deliveries(&interface, "") {
        assert_eq!(delivery["state"], "delivered");
        let count = attempt_statuses(&delivery).len();
        let first = delivery["createdAt"].as_str().unwrap() < since.as_str();
        let to_other = delivery["endpoint"] == ids[1];
        assert_eq!(count, if first { 1 } else { 2 + usize::from(to_other) });
    }
    for (body, param) in [
        (json!({}), "since"),
        (json!({ "since": "yesterday" }), "since"),
        (json!({ "since": since, "endpoint": "x" }), "endpoint"),
        (json!({ "since": since, "all": true }), "all"),
    ] {
        let refused = interface.request("POST", "resend", &body);
        refused.assert_error(400, "invalid_request", Some(param));
    }
}

#[test]
fn many_deliveries_are_resent_in_batches() {
    let interface = OperatorInterface::open();
    let status = Arc::new(AtomicU16::new(200));
    let receiver = receiver_with_status(&status);
    let since = interface.shop.now();
    let url = receiver.url();
    set_endpoints(&interface, &[url.as_str(); 9]);
    for _ in 0..50 {
        interface.shop.create_invoice("1.00", json!({}));
    }
    interface.shop.advance("0s");
    let again = interface.request("POST", "resend", &json!({ "since": since }));
    assert_eq!(again.expect(200).json()["count"], 450);
    interface.shop.advance("0s");
    assert_eq!(receiver.requests().len(), 900, "each once more");
}

#[test]
fn deliveries_are_listed_in_pages() {
    let interface = OperatorInterface::open();
    let (good, bad) = (Arc::new(AtomicU16::new(200)), Arc::new(AtomicU16::new(500)));
    let (good, bad) = (receiver_with_status(&good), receiver_with_status(&bad));
    let ids = set_endpoints(&interface, &[&good.url(), &bad.url()]);
    for _ in 0..3 {
        interface.shop.create_invoice("1.00", json!({ "webhookUrl": good.url() }));
    }
    interface.shop.advance("0s");
    let all = find_deliveries(&interface, "");
    assert_eq!(all.len(), 9);
    for (query, fits) in [
        ("state=pending".to_owned(), "state"),
        ("state=delivered".to_owned(), "state"),
        (format!("endpoint={}", ids[0]), "endpoint"),
        (format!("endpoint={}&state=pending", ids[1]), "endpoint"),
        (format!("event={}", all[4]["event"].as_str().unwrap()), "event"),
        (format!("event={}&endpoint={}", all[4]["event"].as_str().unwrap(), ids[1]), "endpoint"),
        (String::new(), "all"),
    ] {
        let expected: Vec<Value> = all
            .iter()
            .filter(|one| {
                query.split('&').filter(|pair| !pair.is_empty()).all(|pair| {
                    let (name, value) = pair.split_once('=').unwrap();
                    one[name] == value
                })
            })
            .cloned()
            .collect();
        assert!(!expected.is_empty(), "{fits} {query}");
        // The pages with one delivery each contain the deliveries of the whole list, in the same order.
        let (mut seen, mut before) = (Vec::new(), String::new());
        loop {
            let page = interface.get(&format!("deliveries?limit=1&{query}{before}"));
            seen.extend(page["data"].as_array().unwrap().iter().cloned());
            match page["nextBefore"].as_str() {
                Some(next) => before = format!("&before={next}"),
                None => break,
            }
        }
        assert_eq!(seen, expected, "{query}");
    }
    for (query, param) in [
        ("before=x", "before"),
        ("event=evt_x", "event"),
        ("endpoint=x", "endpoint"),
        ("state=gone", "state"),
        ("limit=101", "limit"),
    ] {
        let refused = interface.request("GET", &format!("deliveries?{query}"), &Value::Null);
        refused.assert_error(400, "invalid_request", Some(param));
    }
}

#[test]
fn resend_rejects_removed_and_foreign_endpoints() {
    let interface = OperatorInterface::open();
    let status = Arc::new(AtomicU16::new(200));
    let receiver = receiver_with_status(&status);
    let since = interface.shop.now();
    set_endpoints(&interface, &[&receiver.url()]);
    interface.shop.create_invoice("1.00", json!({}));
    interface.shop.advance("0s");
    let id = find_deliveries(&interface, "").remove(0)["id"].as_str().unwrap().to_owned();
    let one = format!("deliveries/{id}/resend");
    interface.assert_access("listDeliveries", "GET", "deliveries", false);
    interface.assert_access("resendDelivery", "POST", &one, false);
    interface.assert_access("resendSince", "POST", "resend", false);
    let body = json!({ "since": since });
    let live = interface.path(&one).replace("mode=test", "mode=live");
    let elsewhere = interface.path(&one).replace(&interface.account, OTHER_ACCOUNT);
    for path in [live, elsewhere, interface.path("deliveries/x/resend")] {
        interface.send_as_operator("POST", &path, &Value::Null).assert_error(
            404,
            "not_found",
            None,
        );
    }
    set_endpoints(&interface, &[]);
    interface.request("POST", &one, &Value::Null).assert_error(409, "invalid_transition", None);
    let again = interface.request("POST", "resend", &body).expect(200).json();
    assert_eq!(again["count"], 0);
    assert_eq!(receiver.requests().len(), 1);
}

#[test]
fn merchant_does_not_see_internal_addresses() {
    let interface = OperatorInterface::open();
    let shop = &interface.shop;
    shop.create_invoice("1.00", json!({}));
    // `10.1` resolves to 10.0.0.1, as an internal host name would. Requests with this URL are rejected, but an older
    // file may contain it.
    shop.execute_sql("update invoices set webhook_url = 'https://10.1/hook'");
    set_endpoints(&interface, &["https://shop.invalid/hook"]);
    shop.execute_sql("update endpoints set url = 'https://0xa000001/hook', types = null");
    shop.advance("20m");
    let page = interface.request_as_merchant("GET", "deliveries", &Value::Null);
    let page = page.expect(200);
    let deliveries = page.json()["data"].as_array().unwrap().clone();
    assert_eq!(deliveries.len(), 2);
    for delivery in &deliveries {
        let attempt = &delivery["attempts"][0];
        assert_eq!(attempt["error"], "address not allowed");
        assert_eq!(attempt["answer"], Value::Null);
    }
    assert!(!page.text.contains("10.0.0.1"), "{}", page.text);
}

#[test]
fn server_log_contains_the_blocked_address() {
    let (mut reader, writer) = std::io::pipe().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_coffer"));
    command.args(["sandbox", "--exit-with-parent"]);
    command.args(["--listen", "127.0.0.1:0"]);
    let mut process = Process::start_with_stderr(&mut command, Stdio::from(writer));
    // Closes the copy of the pipe's write end that this process holds.
    drop(command);
    let ready = process.read_line();
    let said = |name: &str| {
        let after = ready.split_once(name).unwrap().1;
        after.split_whitespace().next().unwrap().to_owned()
    };
    let (url, file) = (said("url="), said("file="));
    let post = |path: &str, body: Value| {
        let key = [("X-API-Key", TEST)];
        let path = format!("{url}{path}");
        send(&agent(), "POST", &path, &key, &body.to_string())
    };
    let invoice = json!({ "amount": "1.00", "currency": "EUR" });
    post("/v1/invoices", invoice).expect(201);
    execute_sql(Path::new(&file), "update invoices set webhook_url = 'https://10.1/hook'");
    post("/sandbox/clock", json!({ "advance": "20m" })).expect(200);
    assert!(process.close_input_and_wait());
    let mut log = String::new();
    reader.read_to_string(&mut log).unwrap();
    let told = "webhook address refused: host=10.1 address=10.0.0.1";
    assert!(log.contains(told), "{log}");
}

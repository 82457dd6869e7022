//! Order of the first attempts in a sandbox: that of the events, or shuffled.

use crate::support::receiver::{ReceivedRequest, Receiver, Reply};
use crate::support::{Shop, TEST, object_id};
use coffer::Config;
use serde_json::{Value, json};
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::time::Duration;

/// Returns the events of the deliveries to this URL, in the order of insertion.
#[track_caller]
fn inserted_events(shop: &Shop, url: &str) -> Vec<String> {
    let deliveries = shop.deliveries().into_iter().filter(|delivery| delivery["url"] == url);
    deliveries.map(|delivery| delivery["event"].as_str().unwrap().to_owned()).collect()
}

fn received_events(requests: &[ReceivedRequest]) -> Vec<String> {
    requests.iter().map(|request| request.headers["webhook-id"].clone()).collect()
}

/// Starts a receiver that answers its first request after a message. Returns the function that sends the message.
fn start_gated_receiver() -> (Receiver, impl Fn()) {
    let (open, gate) = channel::<()>();
    let gate = Mutex::new(gate);
    let receiver = Receiver::start_with_script(move |number, _| {
        if number == 0 {
            // The channel is closed if the test has failed.
            let _ = gate.lock().unwrap().recv();
        }
        Reply::Status(200)
    });
    (receiver, move || open.send(()).unwrap())
}

#[test]
fn first_attempts_come_in_the_order_of_their_events() {
    let shop = Shop::open();
    // Failures hold nothing back. A retry is due ten seconds later.
    let slow = Receiver::start_with_script(|number, _| match number % 7 {
        3 => Reply::Status(500),
        _ => Reply::Delayed(Duration::from_millis(2)),
    });
    shop.update_account(json!({ "endpoints": [{ "url": slow.url() }] }));
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                for _ in 0..5 {
                    let invoice = shop.create_invoice("20.00", json!({ "asset": "LTC" }));
                    let payment = shop.pay(json!({ "invoice": object_id(&invoice) }));
                    shop.set_payment_state(&payment, "confirmed");
                }
            });
        }
    });
    let events = inserted_events(&shop, &slow.url());
    assert_eq!(events.len(), 6 * 5 * 3);
    let requests = slow.wait_for_requests(events.len());
    assert_eq!(received_events(&requests), events);
    shop.advance("10s");
    let again = received_events(&slow.requests()[events.len()..]);
    let failed: Vec<String> = events.iter().skip(3).step_by(7).cloned().collect();
    assert_eq!(again[..failed.len()], failed, "retries come when they are due");
}

/// Creates 20 events at once while deliveries are shuffled. Returns the positions of the events in the order of
/// arrival, and the shop.
#[track_caller]
fn shuffled_positions() -> (Vec<usize>, Shop, Receiver) {
    let shop = Shop::open();
    let (receiver, open) = start_gated_receiver();
    let body = json!({ "deliveries": "shuffled" });
    let state = shop.post("/sandbox/faults", None, body).expect(200).json();
    assert_eq!(state["faults"]["deliveries"], "shuffled");
    let types = json!(["invoice.created"]);
    shop.update_account(json!({ "endpoints": [{ "url": receiver.url(), "types": types }] }));
    for _ in 0..20 {
        shop.create_invoice("20.00", json!({}));
    }
    open();
    let arrived = received_events(&receiver.wait_for_requests(20));
    let events = inserted_events(&shop, &receiver.url());
    let position = |event: &String| events.iter().position(|other| other == event).unwrap();
    (arrived.iter().map(position).collect(), shop, receiver)
}

#[test]
fn shuffled_deliveries_come_in_one_repeatable_order() {
    let (order, shop, receiver) = shuffled_positions();
    let mut sorted = order.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, (0..20).collect::<Vec<usize>>(), "each event comes once");
    assert_ne!(order, sorted);
    assert_eq!(shuffled_positions().0, order, "the order depends only on the deliveries");
    shop.send("DELETE", "/sandbox/faults", &[], "").expect(204);
    let state = shop.get("/sandbox", Some(TEST)).expect(200).json();
    assert_eq!(state["faults"]["deliveries"], Value::Null);
    for _ in 0..20 {
        shop.create_invoice("20.00", json!({}));
    }
    let arrived = received_events(&receiver.wait_for_requests(40));
    assert_eq!(arrived[20..], inserted_events(&shop, &receiver.url())[20..]);
    let refused = shop.post("/sandbox/faults", None, json!({ "deliveries": "late" }));
    refused.assert_error(400, "invalid_request", Some("deliveries"));
}

#[test]
fn reset_frees_a_receiver_whose_attempt_hangs() {
    // The hanging attempt stays under way for longer than a test waits for a request.
    let shop = Shop::with_config(Config { webhook_timeout_ms: 600_000, ..Config::sandbox() });
    let receiver = Receiver::start_with_script(|number, _| match number {
        0 => Reply::Hang,
        _ => Reply::Status(200),
    });
    shop.create_invoice("20.00", json!({ "webhookUrl": receiver.url() }));
    receiver.wait_for_requests(1);
    shop.post("/sandbox/reset", None, json!({})).expect(200);
    let invoice = shop.create_invoice("20.00", json!({ "webhookUrl": receiver.url() }));
    let requests = receiver.wait_for_requests(2);
    assert_eq!(requests[1].json()["data"]["object"]["id"], invoice["id"]);
}

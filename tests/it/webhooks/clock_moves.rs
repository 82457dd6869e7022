//! A receiver that hangs uses its whole timeout once in a move of the sandbox's clock. A stopping sandbox ends the move.

use crate::support::polling::wait_until;
use crate::support::process::start_sandbox;
use crate::support::receiver::{Receiver, Reply};
use crate::support::sandbox_file::call;
use crate::support::{Shop, TEST, agent, send};
use coffer::Config;
use serde_json::{Value, json};
use std::time::Duration;

/// Error of an attempt that used its whole timeout.
const TIMED_OUT: &str = "timed out";

/// Returns the origin of the receiver's URL.
fn origin(receiver: &Receiver) -> String {
    receiver.url().replace("/hook", "")
}

/// Returns the errors of all attempts to this URL, in the order of the deliveries.
#[track_caller]
fn errors_at(shop: &Shop, url: &str) -> Vec<Value> {
    let to_url = shop.deliveries().into_iter().filter(|delivery| delivery["url"] == url);
    to_url
        .flat_map(|delivery| delivery["attempts"].as_array().unwrap().clone())
        .map(|attempt| attempt["error"].clone())
        .collect()
}

/// Moves the clock, and returns the origins of the receivers that hung.
#[track_caller]
fn advance(shop: &Shop, span: &str) -> Value {
    let state = shop.post("/sandbox/clock", None, json!({ "advance": span })).expect(200).json();
    state["hangingReceivers"].clone()
}

/// Returns the number of attempts that used their whole timeout.
fn whole_timeouts(errors: &[Value]) -> usize {
    errors.iter().filter(|error| **error == TIMED_OUT).count()
}

#[test]
fn hanging_receiver_uses_its_timeout_once_in_a_clock_move() {
    let shop = Shop::with_config(Config { webhook_timeout_ms: 1_500, ..Config::sandbox() });
    // After the first attempts, the receiver hangs in all others. Then it needs longer than a cut attempt has.
    let hanging = Receiver::start_with_script(|number, _| match number {
        0..2 => Reply::Status(500),
        2..22 => Reply::Hang,
        _ => Reply::Delayed(Duration::from_millis(400)),
    });
    let types = json!(["invoice.created"]);
    shop.update_account(json!({ "endpoints": [{ "url": hanging.url(), "types": types }] }));
    for _ in 0..2 {
        shop.create_invoice("20.00", json!({}));
    }
    hanging.wait_for_requests(2);
    assert_eq!(advance(&shop, "19m"), json!([origin(&hanging)]));
    let errors = errors_at(&shop, &hanging.url());
    assert_eq!((errors.len(), whole_timeouts(&errors)), (10, 1), "{errors:?}");
    assert_eq!(errors.iter().filter(|error| error.is_string()).count(), 8, "{errors:?}");
    // Each move of the clock gives the whole timeout once more.
    assert_eq!(advance(&shop, "1d"), json!([origin(&hanging)]));
    let errors = errors_at(&shop, &hanging.url());
    assert_eq!((errors.len(), whole_timeouts(&errors)), (22, 2), "{errors:?}");
    // A receiver that does not hang has its whole timeout.
    shop.create_invoice("20.00", json!({}));
    assert_eq!(advance(&shop, "0s"), json!([]));
    assert_eq!(errors_at(&shop, &hanging.url()).last(), Some(&Value::Null));
}

#[test]
fn stopping_sandbox_answers_the_clock_move_in_progress() {
    let hanging = Receiver::start_with_reply(Reply::Hang);
    let (mut process, url) = start_sandbox("127.0.0.1:0", &["--webhook-timeout", "30"]);
    let invoice = json!({ "amount": "20.00", "currency": "EUR", "webhookUrl": hanging.url() });
    call(&url, "POST", "/v1/invoices", TEST, &invoice).expect(201);
    hanging.wait_for_requests(1);
    let clock = format!("{url}/sandbox/clock");
    let moves = || {
        let clock = clock.clone();
        std::thread::spawn(move || {
            send(&agent(), "POST", &clock, &[], &json!({ "advance": "1d" }).to_string())
        })
    };
    let first = moves();
    let is_moving = || {
        let state = send(&agent(), "GET", &format!("{url}/sandbox"), &[], "").expect(200);
        state.json()["frozen"] == true
    };
    assert!(wait_until(is_moving));
    // The second move waits for the first.
    let second = moves();
    assert!(process.interrupt_and_wait());
    let answer = first.join().unwrap();
    answer.assert_error(503, "overloaded", None);
    // The second request may come too late to be answered.
    drop(second.join());
    assert_eq!(hanging.requests().len(), 1);
}

//! Retries of webhooks that were not accepted.

use crate::support::receiver::{Receiver, Reply};
use crate::support::scratch::Scratch;
use crate::support::{Shop, TEST};
use coffer::Config;
use coffer::domain::Time;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Times of the attempts, in seconds after the event.
const ATTEMPT_TIMES_SECS: [i64; 11] =
    [0, 10, 40, 160, 760, 2560, 6160, 13_360, 27_760, 49_360, 85_360];

/// Returns a sandbox configuration with a short webhook timeout.
fn config_with_short_timeout() -> Config {
    Config { webhook_timeout_ms: 300, ..Config::sandbox() }
}

/// Returns the seconds from `start` to each attempt of a delivery.
#[track_caller]
fn attempt_seconds(delivery: &Value, start: &Value) -> Vec<i64> {
    let ms = |at: &Value| at.as_str().unwrap().parse::<Time>().unwrap().0;
    let attempts = delivery["attempts"].as_array().unwrap().iter();
    let spans = attempts.map(|attempt| ms(&attempt["at"]) - ms(start));
    spans
        .map(|ms| {
            assert_eq!(ms % 1000, 0, "to the millisecond");
            ms / 1000
        })
        .collect()
}

impl Shop {
    /// Returns the single delivery to this URL.
    #[track_caller]
    fn delivery_to(&self, url: &str) -> Value {
        let mut to_url = self.deliveries();
        to_url.retain(|delivery| delivery["url"] == url);
        assert_eq!(to_url.len(), 1);
        to_url.remove(0)
    }
}

/// Returns failing replies, each with the status and the error of the attempt.
fn failing_replies(elsewhere: &Receiver) -> [(Reply, Value, Value); 8] {
    [
        (Reply::Status(500), json!(500), Value::Null),
        (Reply::Status(404), json!(404), Value::Null),
        (Reply::Status(410), json!(410), Value::Null),
        (Reply::Status(304), json!(304), Value::Null),
        (Reply::Redirect(elsewhere.url()), json!(302), Value::Null),
        (Reply::Delayed(Duration::from_secs(2)), Value::Null, json!("timed out")),
        (Reply::Hang, Value::Null, json!("timed out")),
        (Reply::Close, Value::Null, json!("connection closed before an answer")),
    ]
}

#[test]
fn failing_delivery_is_tried_eleven_times_in_a_day() {
    let shop = Shop::with_config(config_with_short_timeout());
    let elsewhere = Receiver::start_with_reply(Reply::Status(200));
    let nobody = format!("http://{}/hook", Receiver::unused_address());
    let receivers = failing_replies(&elsewhere)
        .map(|(does, status, error)| (Receiver::start_with_reply(does), status, error));
    let mut endpoints = vec![json!({ "url": nobody, "types": ["invoice.created"] })];
    endpoints.extend(
        receivers
            .iter()
            .map(|(receiver, ..)| json!({ "url": receiver.url(), "types": ["invoice.created"] })),
    );
    shop.update_account(json!({ "endpoints": endpoints }));
    let start = shop.create_invoice("20.00", json!({}))["createdAt"].clone();
    shop.advance("85359s");
    assert!(shop.deliveries().iter().all(|delivery| delivery["state"] == "pending"
        && attempt_seconds(delivery, &start) == ATTEMPT_TIMES_SECS[..10]));
    shop.advance("10d");
    let check = |url: &str, status: &Value, error: &Value| {
        let timed_out = &(error == "timed out");
        let delivery = shop.delivery_to(url);
        assert_eq!(attempt_seconds(&delivery, &start), ATTEMPT_TIMES_SECS, "{status} {error}");
        assert_eq!(
            (&delivery["state"], &delivery["nextAttemptAt"]),
            (&json!("failed"), &Value::Null)
        );
        for attempt in delivery["attempts"].as_array().unwrap() {
            let is_cut = attempt["error"].as_str().is_some_and(|error| error.starts_with("cut"));
            let error = if is_cut { &attempt["error"] } else { error };
            assert_eq!((&attempt["status"], &attempt["error"]), (status, error));
            assert!(!is_cut || *timed_out, "only a receiver that times out is cut");
            assert!(attempt["latencyMs"].as_i64().unwrap() >= 0);
            let said = status.as_i64().filter(|status| *status != 304);
            if let Some(status) = said {
                assert_eq!(attempt["answer"], format!("said {status}"));
            }
        }
    };
    for (receiver, status, error) in &receivers {
        check(&receiver.url(), status, error);
        let messages = receiver.requests();
        assert_eq!(messages.len(), 11);
        assert!(messages.iter().all(|message| message.body == messages[0].body));
    }
    check(&nobody, &Value::Null, &json!("connection refused"));
    assert!(elsewhere.requests().is_empty(), "redirects are not followed");
}

#[test]
fn recovered_receiver_gets_the_next_attempt() {
    let shop = Shop::open();
    let receiver =
        Receiver::start_with_script(|number, _| Reply::Status(if number < 3 { 503 } else { 204 }));
    let down = Receiver::unused_address();
    let down_url = format!("http://{down}/hook");
    let types = json!(["invoice.created"]);
    shop.update_account(json!({ "endpoints": [{ "url": receiver.url(), "types": types }, { "url": down_url, "types": types }] }));
    let start = shop.create_invoice("20.00", json!({}))["createdAt"].clone();
    shop.advance("100s");
    let back = Receiver::start_at(down, |_, _| Reply::Status(200));
    shop.advance("10d");
    for url in [receiver.url(), down_url] {
        let delivery = shop.delivery_to(&url);
        assert_eq!(attempt_seconds(&delivery, &start), ATTEMPT_TIMES_SECS[..4]);
        assert_eq!(
            (&delivery["state"], &delivery["nextAttemptAt"]),
            (&json!("delivered"), &Value::Null)
        );
    }
    assert_eq!((receiver.requests().len(), back.requests().len()), (4, 1));
}

#[test]
fn retry_after_is_ignored() {
    let shop = Shop::open();
    let receiver = Receiver::start_with_reply(Reply::RetryAfter(86_400));
    let types = json!(["invoice.created"]);
    shop.update_account(json!({ "endpoints": [{ "url": receiver.url(), "types": types }] }));
    let start = shop.create_invoice("20.00", json!({}))["createdAt"].clone();
    shop.advance("2m");
    let delivery = shop.delivery_to(&receiver.url());
    assert_eq!(attempt_seconds(&delivery, &start), ATTEMPT_TIMES_SECS[..3]);
    assert_eq!(delivery["attempts"][0]["status"], 503);
}

#[test]
fn retry_gap_starts_at_the_attempt() {
    let shop = Shop::open();
    let inbox = "/sandbox/inbox/slow";
    let behaviour = json!({ "status": 500, "delayMs": 400, "times": 1 });
    shop.send("PUT", inbox, &[], &behaviour.to_string()).expect(204);
    let url = format!("{}{inbox}", shop.url());
    shop.update_account(json!({ "endpoints": [{ "url": url, "types": ["invoice.created"] }] }));
    shop.post("/sandbox/clock", None, json!({ "frozen": false })).expect(200);
    let invoice = shop.create_invoice("20.00", json!({}));
    let attempted = loop {
        let delivery = shop.delivery_to(&url);
        if delivery["attempts"][0]["at"].is_string() {
            break delivery;
        }
    };
    let ms = |at: &Value| at.as_str().unwrap().parse::<Time>().unwrap().0;
    let attempt = &attempted["attempts"][0];
    assert!(attempt["latencyMs"].as_i64().unwrap() >= 400, "{attempt}");
    let gap = ms(&attempted["nextAttemptAt"]) - ms(&attempt["at"]);
    assert_eq!(gap, 10_000);
    let path = format!("/v1/events/{}", attempted["event"].as_str().unwrap());
    let event = shop.get(&path, Some(TEST)).expect(200).json();
    assert_eq!(event["data"]["object"], invoice);
}

#[test]
fn deliveries_of_a_removed_endpoint_are_cancelled() {
    let shop = Shop::open();
    let failing = Receiver::start_with_reply(Reply::Status(500));
    let hanging = Receiver::start_with_reply(Reply::Delayed(Duration::from_millis(300)));
    shop.update_account(
        json!({ "endpoints": [{ "url": failing.url() }, { "url": hanging.url() }] }),
    );
    shop.create_invoice("20.00", json!({}));
    hanging.wait_for_requests(1);
    failing.wait_for_requests(1);
    let good = Receiver::start_with_reply(Reply::Status(200));
    shop.update_account(json!({ "endpoints": [{ "url": good.url() }] }));
    for delivery in shop.deliveries() {
        assert_eq!(
            (&delivery["state"], &delivery["nextAttemptAt"]),
            (&json!("failed"), &Value::Null)
        );
    }
    // The attempt in progress completes, and an accepted delivery stays delivered.
    let taken = || shop.delivery_to(&hanging.url())["state"] == "delivered";
    while !taken() {}
    let attempts = shop.delivery_to(&hanging.url())["attempts"].clone();
    assert_eq!((attempts[0]["status"].clone(), &attempts[1]), (json!(200), &Value::Null));
    shop.advance("2d");
    assert_eq!((failing.requests().len(), hanging.requests().len()), (1, 1));
    assert_eq!(good.requests().len(), 1, "only what happened since");
}

#[test]
fn restarted_sandbox_resumes_pending_deliveries() {
    let scratch = Scratch::new();
    let config = Config { file: Some(scratch.path("kept.db")), ..Config::sandbox() };
    let receiver =
        Receiver::start_with_script(|number, _| Reply::Status(if number < 2 { 500 } else { 200 }));
    let shop = Shop::with_config(config.clone());
    shop.update_account(
        json!({ "endpoints": [{ "url": receiver.url(), "types": ["invoice.created"] }] }),
    );
    let start = shop.create_invoice("20.00", json!({}))["createdAt"].clone();
    shop.advance("9s");
    drop(shop);
    let shop = Shop::with_config(config.clone());
    shop.advance("1s");
    drop(shop);
    let shop = Shop::with_config(config);
    shop.advance("1d");
    let delivery = shop.delivery_to(&receiver.url());
    assert_eq!(attempt_seconds(&delivery, &start), ATTEMPT_TIMES_SECS[..3]);
    assert_eq!(delivery["state"], "delivered");
}

#[test]
fn server_stops_despite_hanging_receiver_and_resends() {
    let scratch = Scratch::new();
    let config = Config { file: Some(scratch.path("kept.db")), ..Config::sandbox() };
    let receiver =
        Receiver::start_with_script(
            |number, _| {
                if number < 2 { Reply::Hang } else { Reply::Status(200) }
            },
        );
    let shop = Shop::with_config(config.clone());
    let url = receiver.url();
    let inbox = format!("{}/sandbox/inbox/slow", shop.url());
    shop.send("PUT", "/sandbox/inbox/slow", &[], r#"{"delayMs":60000}"#).expect(204);
    let types = json!(["invoice.created"]);
    shop.update_account(json!({ "endpoints": [{ "url": url, "types": types }, { "url": inbox, "types": types }, { "url": url, "types": types }] }));
    for _ in 0..4 {
        shop.create_invoice("20.00", json!({}));
    }
    // Each endpoint has one attempt under way.
    receiver.wait_for_requests(2);
    let stopping = Instant::now();
    drop(shop);
    assert!(stopping.elapsed() < Duration::from_secs(6), "{:?}", stopping.elapsed());
    let shop = Shop::with_config(config);
    receiver.wait_for_requests(2 + 8);
    shop.advance("0s");
    let mut to_receiver = shop.deliveries();
    to_receiver.retain(|delivery| delivery["url"] == url);
    for delivery in to_receiver {
        assert_eq!(delivery["state"], "delivered");
        assert_eq!(
            delivery["attempts"].as_array().unwrap().len(),
            1,
            "the lost one is not counted"
        );
    }
}

#[test]
fn receiver_has_ten_seconds_to_respond() {
    assert_eq!(Config::sandbox().webhook_timeout_ms, 10_000);
}

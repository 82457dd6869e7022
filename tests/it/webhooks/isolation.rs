//! One or a hundred hanging receivers do not delay other receivers.

use crate::support::Shop;
use crate::support::receiver::{ReceivedRequest, Receiver, Reply};
use coffer::Config;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Number of events in a round.
const EVENTS_PER_ROUND: usize = 200;
/// Number of rounds. Each round is measured without and then with the hanging receiver.
const ROUND_COUNT: usize = 5;
/// Tolerance for noise on a busy machine.
const LATENCY_TOLERANCE: Duration = Duration::from_millis(50);

/// Starts a sandbox that sends the events of new invoices to these URLs.
#[track_caller]
fn shop_with_endpoints(urls: &[String]) -> Shop {
    let shop = Shop::open();
    let endpoint = |url: &String| json!({ "url": url, "types": ["invoice.created"] });
    shop.update_account(json!({ "endpoints": urls.iter().map(endpoint).collect::<Vec<Value>>() }));
    shop
}

/// Creates this many invoices. Returns the time from each request to its delivery.
#[track_caller]
fn measure_latencies(shop: &Shop, receiver: &Receiver, count: usize) -> Vec<Duration> {
    let already = receiver.requests().len();
    let mut asked = HashMap::new();
    for _ in 0..count {
        let at = Instant::now();
        let id = shop.create_invoice("20.00", json!({}))["id"].clone();
        asked.insert(id.as_str().unwrap().to_owned(), at);
    }
    let messages = receiver.wait_for_requests(already + count);
    let latency = |message: &ReceivedRequest| {
        let id = message.json()["data"]["object"]["id"].clone();
        message.at - asked[id.as_str().unwrap()]
    };
    messages[already..].iter().map(latency).collect()
}

/// Returns the 99th percentile of the latencies.
fn percentile_99(mut latencies: Vec<Duration>) -> Duration {
    latencies.sort();
    latencies[latencies.len() * 99 / 100 - 1]
}

#[test]
fn hanging_receiver_does_not_slow_down_another() {
    let (alone, beside) = (
        Receiver::start_with_reply(Reply::Status(200)),
        Receiver::start_with_reply(Reply::Status(200)),
    );
    // The best of the rounds counts: other work on the machine slows down some rounds, a hanging receiver all of them.
    let (mut without, mut with) = (Duration::MAX, Duration::MAX);
    for _ in 0..ROUND_COUNT {
        // Each round uses a new sandbox, which has no statistics about the receivers.
        let quiet = shop_with_endpoints(&[alone.url()]);
        without = without.min(percentile_99(measure_latencies(&quiet, &alone, EVENTS_PER_ROUND)));
        let hanging = Receiver::start_with_reply(Reply::Hang);
        let crowded = shop_with_endpoints(&[hanging.url(), beside.url()]);
        with = with.min(percentile_99(measure_latencies(&crowded, &beside, EVENTS_PER_ROUND)));
        assert!(!hanging.requests().is_empty(), "it was tried");
        drop(hanging);
    }
    assert!(
        with <= without * 2 + LATENCY_TOLERANCE,
        "{with:?} beside one that hangs, {without:?} alone"
    );
}

#[test]
fn hanging_path_does_not_delay_another_path_of_the_host() {
    let receiver = Receiver::start_with_script(|_, message| {
        if message.path == "/slow" { Reply::Hang } else { Reply::Status(200) }
    });
    let url = receiver.url();
    let shop = shop_with_endpoints(&[url.replace("/hook", "/slow"), url]);
    let begun = Instant::now();
    for _ in 0..40 {
        shop.create_invoice("20.00", json!({}));
    }
    let good = || receiver.requests().iter().filter(|message| message.path == "/hook").count();
    while good() < 40 {
        receiver.wait_for_requests(receiver.requests().len());
        assert!(begun.elapsed() < Duration::from_secs(8), "{} of 40 came", good());
    }
}

#[test]
fn hundred_hanging_receivers_do_not_stop_a_responding_receiver() {
    let (good, hanging) =
        (Receiver::start_with_reply(Reply::Status(200)), Receiver::start_with_reply(Reply::Hang));
    let mut urls = vec![hanging.url(); 100];
    urls.push(good.url());
    let shop = shop_with_endpoints(&urls);
    // The deliveries must arrive before the first hanging attempt times out, while all hanging attempts are in
    // progress.
    let begun = Instant::now();
    measure_latencies(&shop, &good, 20);
    assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
    // Each hanging receiver got an attempt.
    hanging.wait_for_requests(100);
    drop(hanging);
}

#[test]
fn reset_discards_hanging_attempts() {
    let receiver =
        Receiver::start_with_script(
            |number, _| {
                if number < 1 { Reply::Hang } else { Reply::Status(200) }
            },
        );
    let shop = shop_with_endpoints(&[receiver.url()]);
    for _ in 0..4 {
        shop.create_invoice("20.00", json!({}));
    }
    receiver.wait_for_requests(1);
    let begun = Instant::now();
    shop.post("/sandbox/reset", None, json!({})).expect(200);
    shop.update_account(json!({ "endpoints": [{ "url": receiver.url() }] }));
    let invoice = shop.create_invoice("20.00", json!({}));
    let told = receiver.wait_for_requests(2);
    assert_eq!(told[1].json()["data"]["object"], invoice);
    assert!(begun.elapsed() < Duration::from_secs(8), "less than a send may take");
}

#[test]
fn more_hanging_receivers_than_senders_do_not_delay_others() {
    let config = Config {
        // The timeout is longer than the test, so a hanging attempt never frees its sender.
        webhook_timeout_ms: 600_000,
        ..Config::sandbox()
    };
    let shop = Shop::with_config(config);
    let (good, hanging) =
        (Receiver::start_with_reply(Reply::Status(200)), Receiver::start_with_reply(Reply::Hang));
    let to = |url: String, types: Value| json!({ "url": url, "types": types });
    let mut endpoints = vec![to(hanging.url(), json!(["invoice.cancelled"])); 400];
    endpoints.push(to(good.url(), json!(["invoice.created", "invoice.cancelled"])));
    shop.update_account(json!({ "endpoints": endpoints }));
    let invoices: Vec<Value> = (0..4).map(|_| shop.create_invoice("20.00", json!({}))).collect();
    // The receiver still counts as fast while no delivery is queued for it.
    good.wait_for_requests(4);
    for (number, invoice) in invoices.iter().enumerate() {
        shop.cancel_invoice(invoice["id"].as_str().unwrap()).expect(200);
        // The account has 400 hanging endpoints, which is more than the senders that it may use for them.
        hanging.wait_for_requests(200);
        let told = good.wait_for_requests(5 + number);
        assert_eq!(told[4 + number].json()["type"], "invoice.cancelled");
    }
    drop(hanging);
}

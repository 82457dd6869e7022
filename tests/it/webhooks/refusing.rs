//! Receivers that reject every delivery. After 20 failures, the server pauses between attempts, in real time. An
//! accepted delivery ends the pauses. Other receivers are not delayed.

use crate::support::installation::Installation;
use crate::support::receiver::{Receiver, Reply};
use crate::support::with_fields;
use crate::support::{Shop, agent, send};
use coffer::{Config, Server};
use serde_json::{Value, json};

/// A pause that does not end during a test, in milliseconds.
const LONG_PAUSE_MS: u32 = 3_600_000;

/// Sets up a production file with one endpoint per URL, for events of new invoices.
fn installation_with_endpoints(urls: &[String]) -> Installation {
    let served = Installation::new();
    let insert =
        "insert into endpoints (id, account, url, secret, format, types, enabled, created_at)
        values (?1, 1, ?2, 'secret', 'event', '[\"invoice.created\"]', 1, 0)";
    for (number, url) in urls.iter().enumerate() {
        let id = format!("00000000-0000-7000-8000-{number:012}");
        served.open_file().execute(insert, [&id, url]).unwrap();
    }
    served
}

/// Starts the server in this process, with this pause between attempts.
fn start_with_pause(served: &Installation, webhook_pause_ms: u32) -> Server {
    let config = Config {
        kind: coffer::store::FileKind::Production,
        file: Some(served.file.clone()),
        webhook_allow: vec!["127.0.0.0/8".parse().unwrap()],
        webhook_pause_ms,
        ..Config::sandbox()
    };
    Server::start(config).unwrap()
}

/// Creates this many invoices, each with a delivery to the endpoint.
fn create_invoices(served: &Installation, server: &Server, count: usize, more: &Value) {
    let (url, agent) = (format!("{}/v1/invoices", server.url()), agent());
    for _ in 0..count {
        let body = with_fields(json!({ "amount": "20.00", "currency": "EUR" }), more);
        let key = [("X-API-Key", served.key.as_str())];
        send(&agent, "POST", &url, &key, &body.to_string()).expect(201);
    }
}

#[test]
fn deliveries_to_a_receiver_pause_after_twenty_failures() {
    let (refusing, good) = (
        Receiver::start_with_reply(Reply::Status(500)),
        Receiver::start_with_reply(Reply::Status(200)),
    );
    let served = installation_with_endpoints(&[refusing.url(), good.url()]);
    let server = start_with_pause(&served, LONG_PAUSE_MS);
    create_invoices(&served, &server, 60, &json!({}));
    good.wait_for_requests(60);
    refusing.wait_for_requests(20);
    // New deliveries do not end the pause. Other receivers get their deliveries.
    create_invoices(&served, &server, 5, &json!({}));
    good.wait_for_requests(65);
    assert_eq!(refusing.requests().len(), 20);
    drop(server);
    // Without pauses, all waiting deliveries are sent at once.
    let _server = start_with_pause(&served, 0);
    refusing.wait_for_requests(20 + 45);
}

#[test]
fn successful_delivery_ends_the_pauses() {
    let receiver = Receiver::start_with_script(|number, _| {
        Reply::Status(if number == 19 { 200 } else { 500 })
    });
    let good = Receiver::start_with_reply(Reply::Status(200));
    let served = installation_with_endpoints(&[receiver.url(), good.url()]);
    let server = start_with_pause(&served, LONG_PAUSE_MS);
    create_invoices(&served, &server, 60, &json!({}));
    good.wait_for_requests(60);
    receiver.wait_for_requests(40);
    create_invoices(&served, &server, 5, &json!({}));
    good.wait_for_requests(65);
    assert_eq!(receiver.requests().len(), 40);
}

#[test]
fn receiver_is_tried_again_after_its_pause() {
    let receiver =
        Receiver::start_with_script(|number, _| Reply::Status(if number < 22 { 500 } else { 200 }));
    let served = installation_with_endpoints(&[receiver.url()]);
    let server = start_with_pause(&served, 50);
    create_invoices(&served, &server, 60, &json!({}));
    receiver.wait_for_requests(60);
}

#[test]
fn failing_origins_of_an_account_share_pauses() {
    let refusing = Receiver::start_with_reply(Reply::Status(500));
    let good = Receiver::start_with_reply(Reply::Status(200));
    let served = installation_with_endpoints(&[]);
    let server = start_with_pause(&served, LONG_PAUSE_MS);
    let port = refusing.url().split(':').nth(2).unwrap().to_owned();
    // Each host number gives a URL with a different origin. Only the origin of the test's receiver responds.
    let tell = |host: u32| {
        let url = format!("http://127.0.0.{host}:{port}");
        create_invoices(&served, &server, 1, &json!({ "webhookUrl": url }));
    };
    (1..=40).for_each(tell);
    let failed = "select cast(count(*) as text) from attempts where status is not 200";
    served.wait_for_query_result(failed, &["40"]);
    // All deliveries become due again. Known origins are still paused, and new origins are tried at once.
    let due = "update deliveries set next_attempt_at = 0 where state = 'pending'";
    served.open_file().execute(due, []).unwrap();
    for host in 41..=44 {
        tell(host);
        served.wait_for_query_result(failed, &[&host.to_string()]);
    }
    create_invoices(&served, &server, 1, &json!({ "webhookUrl": good.url() }));
    good.wait_for_requests(1);
    // 44 attempts have failed so far. Further failed attempts show that the successful delivery has ended the pause.
    let goes_on = "select cast(count(*) > 44 as text) from attempts where status is not 200";
    served.wait_for_query_result(goes_on, &["1"]);
}

#[test]
fn sandbox_advance_ignores_pauses() {
    let shop = Shop::with_config(Config { webhook_pause_ms: LONG_PAUSE_MS, ..Config::sandbox() });
    let refusing = Receiver::start_with_reply(Reply::Status(500));
    shop.update_account(
        json!({ "endpoints": [{ "url": refusing.url(), "types": ["invoice.created"] }] }),
    );
    (0..5).for_each(|_| drop(shop.create_invoice("20.00", json!({}))));
    shop.advance("2d");
    assert_eq!(refusing.requests().len(), 55);
}

#[test]
fn rejecting_receiver_gets_at_most_twenty_attempts_a_second() {
    assert_eq!(Config::sandbox().webhook_pause_ms, 50);
}

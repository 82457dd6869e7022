//! A receiver that refuses everything: after twenty times it is left alone for a while between two attempts, in real
//! time, until it takes one. Nobody else waits for it.

use crate::support::installation::Installation;
use crate::support::receiver::{Receiver, Reply};
use crate::support::{Shop, agent, send};
use coffer::{Config, Server};
use serde_json::{Value, json};

/// No pause ends while a test is at work.
const AN_HOUR_MS: u32 = 3_600_000;

/// A shop in production that tells these urls of new invoices.
fn telling(urls: &[String]) -> Installation {
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

/// Starts it in this process, where a pause takes this long.
fn start(served: &Installation, webhook_pause_ms: u32) -> Server {
    let config = Config {
        kind: coffer::store::Kind::Production,
        file: Some(served.file.clone()),
        webhook_allow: vec!["127.0.0.0/8".parse().unwrap()],
        webhook_pause_ms,
        ..Config::sandbox()
    };
    Server::start(config).unwrap()
}

/// Makes so many invoices, for each of which an endpoint is told something.
fn invoices(served: &Installation, server: &Server, count: usize, more: &Value) {
    let (url, agent) = (format!("{}/v1/invoices", server.url()), agent());
    for _ in 0..count {
        let mut body = json!({ "amount": "20.00", "currency": "EUR" });
        let more = more.as_object().unwrap().clone();
        body.as_object_mut().unwrap().extend(more);
        let key = [("X-API-Key", served.key.as_str())];
        send(&agent, "POST", &url, &key, &body.to_string()).expect(201);
    }
}

#[test]
fn who_refuses_twenty_in_a_row_is_left_alone_for_a_while_and_nobody_else_is() {
    let (refusing, good) = (
        Receiver::replying(Reply::Status(500)),
        Receiver::replying(Reply::Status(200)),
    );
    let served = telling(&[refusing.url(), good.url()]);
    let server = start(&served, AN_HOUR_MS);
    invoices(&served, &server, 60, &json!({}));
    good.wait(60);
    refusing.wait(20);
    // Whatever it is told in the meantime, and whoever else is.
    invoices(&served, &server, 5, &json!({}));
    good.wait(65);
    assert_eq!(refusing.messages().len(), 20);
    drop(server);
    // With no pauses, all that waits goes out at once.
    let _server = start(&served, 0);
    refusing.wait(20 + 45);
}

#[test]
fn one_success_ends_the_pauses() {
    let receiver =
        Receiver::scripted(|number, _| Reply::Status(if number == 19 { 200 } else { 500 }));
    let good = Receiver::replying(Reply::Status(200));
    let served = telling(&[receiver.url(), good.url()]);
    let server = start(&served, AN_HOUR_MS);
    invoices(&served, &server, 60, &json!({}));
    good.wait(60);
    receiver.wait(40);
    invoices(&served, &server, 5, &json!({}));
    good.wait(65);
    assert_eq!(receiver.messages().len(), 40);
}

#[test]
fn after_its_pause_it_is_tried_again() {
    let receiver =
        Receiver::scripted(|number, _| Reply::Status(if number < 22 { 500 } else { 200 }));
    let served = telling(&[receiver.url()]);
    let server = start(&served, 50);
    invoices(&served, &server, 60, &json!({}));
    receiver.wait(60);
}

#[test]
fn failing_origins_of_an_account_share_their_pauses() {
    let refusing = Receiver::replying(Reply::Status(500));
    let good = Receiver::replying(Reply::Status(200));
    let served = telling(&[]);
    let server = start(&served, AN_HOUR_MS);
    let port = refusing.url().split(':').nth(2).unwrap().to_owned();
    // Each is an origin of its own, at which the same receiver listens or nobody does.
    let tell = |host: u32| {
        let url = format!("http://127.0.0.{host}:{port}");
        invoices(&served, &server, 1, &json!({ "webhookUrl": url }));
    };
    (1..=40).for_each(tell);
    let failed = "select cast(count(*) as text) from attempts where status is not 200";
    served.poll(failed, &["40"]);
    // All fall due again. They pause, and new origins do not.
    let due = "update deliveries set next_attempt_at = 0 where state = 'pending'";
    served.open_file().execute(due, []).unwrap();
    for host in 41..=44 {
        tell(host);
        served.poll(failed, &[&host.to_string()]);
    }
    invoices(&served, &server, 1, &json!({ "webhookUrl": good.url() }));
    good.wait(1);
    // The success ended the pause.
    let goes_on = "select cast(count(*) > 44 as text) from attempts where status is not 200";
    served.poll(goes_on, &["1"]);
}

#[test]
fn moving_the_sandboxs_clock_waits_for_nobodys_pause() {
    let shop = Shop::with_config(Config {
        webhook_pause_ms: AN_HOUR_MS,
        ..Config::sandbox()
    });
    let refusing = Receiver::replying(Reply::Status(500));
    shop.update_account(
        json!({ "endpoints": [{ "url": refusing.url(), "types": ["invoice.created"] }] }),
    );
    (0..5).for_each(|_| drop(shop.invoice("20.00", json!({}))));
    shop.advance("2d");
    assert_eq!(refusing.messages().len(), 55);
}

#[test]
fn a_receiver_that_refuses_gets_twenty_attempts_a_second() {
    assert_eq!(Config::sandbox().webhook_pause_ms, 50);
}

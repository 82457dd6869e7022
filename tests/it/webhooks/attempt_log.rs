//! The server logs each attempt to deliver a webhook. `--webhook-timeout` limits the time of an attempt.

use crate::support::receiver::{Receiver, Reply};
use crate::support::sandbox_file::{call, start_with_log};
use crate::support::scratch::Scratch;
use crate::support::{TEST, agent, send};
use serde_json::{Value, json};
use std::process::Command;
use std::time::Duration;

/// Part of a path that the log must not contain.
const SECRET: &str = "geheim-4711";

/// Creates an invoice whose events go to this URL.
#[track_caller]
fn create_invoice(url: &str, webhook_url: &str) {
    let body = json!({ "amount": "20.00", "currency": "EUR", "webhookUrl": webhook_url });
    call(url, "POST", "/v1/invoices", TEST, &body).expect(201);
}

#[track_caller]
fn move_clock(url: &str, body: Value) {
    send(&agent(), "POST", &format!("{url}/sandbox/clock"), &[], &body.to_string()).expect(200);
}

/// Returns the deliveries to this URL.
#[track_caller]
fn deliveries_to(url: &str, webhook_url: &str) -> Vec<Value> {
    let page = send(&agent(), "GET", &format!("{url}/sandbox/webhooks"), &[], "").expect(200);
    let mut found = page.json()["data"].as_array().unwrap().clone();
    found.retain(|delivery| delivery["url"] == webhook_url);
    found
}

#[test]
fn every_attempt_is_logged_without_its_path() {
    let scratch = Scratch::new();
    let log = scratch.path("log");
    let mut process = start_with_log(&scratch.path("shop.db"), &log, &["--log", "debug"]);
    let url = process.wait_for_url();
    let (refusing, good) = (
        Receiver::start_with_reply(Reply::Status(500)),
        Receiver::start_with_reply(Reply::Status(200)),
    );
    let nobody = format!("http://{}", Receiver::unused_address());
    move_clock(&url, json!({ "frozen": true }));
    let hooks = [refusing.url().replace("/hook", ""), nobody, good.url().replace("/hook", "")]
        .map(|origin| format!("{origin}/{SECRET}?token={SECRET}"));
    for hook in &hooks {
        create_invoice(&url, hook);
    }
    move_clock(&url, json!({ "advance": "5s" }));
    let mut expected = hooks.iter().map(|hook| {
        let delivery = deliveries_to(&url, hook).remove(0);
        (delivery["event"].as_str().unwrap().to_owned(), delivery["nextAttemptAt"].clone())
    });
    let expected: [_; 3] = std::array::from_fn(|_| expected.next().unwrap());
    move_clock(&url, json!({ "advance": "1d" }));
    assert!(process.close_input_and_wait());
    let log = std::fs::read_to_string(log).unwrap();
    assert!(!log.contains(SECRET), "{log}");
    let results = ["status=500", "error=\"connection refused\"", "status=200"];
    for (((event, next), hook), result) in expected.iter().zip(&hooks).zip(results) {
        let lines: Vec<&str> = log.lines().filter(|line| line.contains(event)).collect();
        let host = hook.split('/').nth(2).unwrap();
        let attempts = if result == "status=200" { 1 } else { 11 };
        assert_eq!(lines.len(), attempts, "{log}");
        for (number, line) in (1..).zip(&lines) {
            let level = if result == "status=200" { "DEBUG" } else { "WARN" };
            let attempt = format!("attempt={number}");
            let has_attempt = line.split(' ').any(|word| word == attempt);
            let host = format!("host={host}");
            for word in ["type=invoice.created", &host, result, level] {
                assert!(line.contains(word) && has_attempt, "{word}, {attempt}: {line}");
            }
            assert_eq!(line.contains(" next="), attempts > 1 && number < attempts, "{line}");
        }
        if let Some(next) = next.as_str() {
            assert!(lines[0].ends_with(&format!("next={next}")), "{next}: {}", lines[0]);
        }
    }
}

#[test]
fn wrong_webhook_timeout_is_rejected() {
    let scratch = Scratch::new();
    let file = scratch.path("shop.db");
    for command in ["serve", "sandbox"] {
        for wrong in ["", "0", "31", "-1", "1.5", "10s", "soon", "99999999999999999999"] {
            let mut coffer = Command::new(env!("CARGO_BIN_EXE_coffer"));
            coffer.args([command, "--listen", "127.0.0.1:0", "--file"]).arg(&file);
            let output = coffer.env("COFFER_WEBHOOK_TIMEOUT", wrong).output().unwrap();
            let said = String::from_utf8(output.stderr).unwrap();
            let is_named = said.contains(&format!("--webhook-timeout {wrong}:"));
            assert!(is_named && said.contains("from 1 to 30"), "{command} {wrong}: {said}");
            assert_eq!(output.status.code(), Some(1), "{command} {wrong}");
        }
    }
    assert!(!file.exists());
}

#[test]
fn webhook_timeout_limits_an_attempt() {
    let scratch = Scratch::new();
    let receiver = Receiver::start_with_reply(Reply::Delayed(Duration::from_secs(4)));
    for (seconds, error) in [("1", json!("timed out")), ("30", Value::Null)] {
        let (file, log) = (scratch.path(&format!("{seconds}.db")), scratch.path("log"));
        let process = start_with_log(&file, &log, &["--webhook-timeout", seconds]);
        let url = process.wait_for_url();
        move_clock(&url, json!({ "frozen": true }));
        create_invoice(&url, &receiver.url());
        move_clock(&url, json!({ "advance": "0s" }));
        let delivery = deliveries_to(&url, &receiver.url()).remove(0);
        assert_eq!(delivery["attempts"].as_array().unwrap().len(), 1);
        assert_eq!(delivery["attempts"][0]["error"], error);
    }
}

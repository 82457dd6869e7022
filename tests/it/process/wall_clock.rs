//! A wall clock that jumps while the server runs. The server's time continues evenly until the jump has lasted an
//! hour or a person accepts it.
//!
//! The test sets both the wall clock and the clock since boot. A write to the file makes the server compare the two
//! clocks at once.

use crate::support::command::coffer_output;
use crate::support::installation::{Installation, NO_RATES};
use crate::support::{Response, agent, send};
use coffer::app::Config;
use coffer::clock::{ManualTime, TimeSource};
use coffer::domain::Time;
use coffer::store::FileKind;
use coffer::{Server, domain::time::HOUR_MS};
use serde_json::{Value, json};
use std::process::Command;
use std::sync::Arc;

const MINUTE_MS: i64 = 60_000;
const YEAR_MS: i64 = 365 * 24 * HOUR_MS;

/// A server whose clocks the test controls.
struct ClockedServer {
    served: Installation,
    time: Arc<ManualTime>,
    server: Option<Server>,
}

/// Returns a time of the year 2040, later than any real run of this test.
fn time_in_2040(clock: &str) -> Time {
    format!("2040-01-01T{clock}.000Z").parse().unwrap()
}

impl ClockedServer {
    /// Starts a server at noon. Its file contains `seen` as the latest recorded time.
    #[track_caller]
    fn open(seen: Time) -> ClockedServer {
        let served = Installation::new();
        let file = served.open_file();
        file.execute("update file set last_tick_at = ?1", [seen.0]).unwrap();
        let mut shop = ClockedServer {
            served,
            time: Arc::new(ManualTime::new(time_in_2040("12:00:00"))),
            server: None,
        };
        shop.start();
        shop
    }

    #[track_caller]
    fn start(&mut self) {
        let config = Config {
            kind: FileKind::Production,
            file: Some(self.served.file.clone()),
            time: TimeSource::Manual(Arc::clone(&self.time)),
            webhook_allow: vec!["127.0.0.0/8".parse().unwrap()],
            ..Config::sandbox()
        };
        self.server = Some(Server::start(config).unwrap());
    }

    #[track_caller]
    fn call(&self, method: &str, path: &str, key: &str, body: &Value) -> Response {
        let url = format!("{}{path}", self.server.as_ref().unwrap().url());
        let mut headers = vec![("X-API-Key", self.served.key.as_str())];
        if !key.is_empty() {
            headers.push(("Idempotency-Key", key));
        }
        let body = match body {
            Value::Null => String::new(),
            body => body.to_string(),
        };
        send(&agent(), method, &url, &headers, &body)
    }

    /// Creates an invoice that expires in one minute and has a webhook URL at which nothing listens.
    #[track_caller]
    fn create_invoice(&self, key: &str) -> Value {
        let body = json!({
            "amount": "20.00", "currency": "EUR", "ttlSeconds": 60, "webhookUrl": "http://127.0.0.1:9/",
        });
        let made = self.call("POST", "/v1/invoices", key, &body);
        made.expect(201).json()
    }

    #[track_caller]
    fn now(&self) -> Time {
        let body = json!({ "amount": "20.00", "currency": "EUR" });
        let made = self.call("POST", "/v1/invoices", "", &body).expect(201);
        made.json()["createdAt"].as_str().unwrap().parse().unwrap()
    }

    #[track_caller]
    fn invoice_status(&self, invoice: &Value) -> String {
        let path = format!("/v1/invoices/{}", invoice["id"].as_str().unwrap());
        let read = self.call("GET", &path, "", &Value::Null).expect(200).json();
        read["status"].as_str().unwrap().to_owned()
    }

    /// Returns the wall clock status of `/readyz`.
    #[track_caller]
    fn clock_status(&self) -> String {
        let ready = self.call("GET", "/readyz?verbose", "", &Value::Null);
        let text = ready.expect(200).text;
        text.rsplit_once("clock: ").unwrap().1.trim().to_owned()
    }

    /// Wakes every worker with a write to the file, and waits until the query returns `answer`.
    #[track_caller]
    fn wake_workers_until(&self, query: &str, answer: &str) {
        let turn = "update file set maintenance = 1 - maintenance; update file set maintenance = 1 - maintenance;";
        let file = self.served.open_file();
        file.execute_batch(&format!("begin immediate; {turn} commit")).unwrap();
        self.served.wait_for_query_result(query, &[answer]);
    }

    /// Runs `coffer doctor` on the file.
    fn run_doctor(&self, more: &[&str]) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_coffer"));
        let command = command.args(["doctor", "--file"]).arg(&self.served.file);
        let command = command.args(more).env("COFFER_RATES", NO_RATES);
        let output = command.output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }
}

/// Query for the milliseconds by which the wall clock is ahead, as recorded in the file.
const CLOCK_AHEAD_QUERY: &str = "select coalesce(clock_ahead_ms, 'believed') || '' from file";

#[test]
fn clock_jump_does_not_affect_deadlines() {
    for jump_ms in [2 * HOUR_MS, YEAR_MS, -2 * HOUR_MS] {
        let shop = ClockedServer::open(Time(0));
        let noon = time_in_2040("12:00:00");
        let before = shop.create_invoice("one");
        shop.time.jump_wall_clock(jump_ms);
        shop.time.advance(2_000);
        shop.wake_workers_until(CLOCK_AHEAD_QUERY, &jump_ms.to_string());
        let ready = shop.clock_status();
        let side = if jump_ms < 0 { "behind" } else { "ahead of" };
        let seconds = jump_ms.abs() / 1000;
        let said = format!("{seconds} s {side} the time");
        assert!(ready.contains(&said) && ready.contains("--accept-clock"), "{ready}");
        shop.call("GET", "/readyz", "", &Value::Null).expect(200);
        assert!(shop.run_doctor(&[]).contains(&format!("{seconds} s {side}")));
        let during = shop.create_invoice("two");
        assert_eq!(during["createdAt"], "2040-01-01T12:00:02.000Z");
        assert_eq!(
            (shop.invoice_status(&before), shop.invoice_status(&during)),
            ("created".into(), "created".into())
        );
        assert_eq!(shop.create_invoice("one")["id"], before["id"], "its key is still known");
        let tried = "select min(attempts) || '' from deliveries";
        shop.served.wait_for_query_result(tried, &["1"]);
        let latest: i64 = shop
            .served
            .open_file()
            .query_row("select max(next_attempt_at) from deliveries", [], |row| row.get(0))
            .unwrap();
        assert!(Time(latest) <= noon.plus_ms(12_000), "due as before");
        shop.time.jump_wall_clock(-jump_ms);
        shop.time.advance(1_000);
        shop.wake_workers_until(CLOCK_AHEAD_QUERY, "believed");
        assert_eq!(
            (shop.invoice_status(&before), shop.clock_status()),
            ("created".into(), "ok".into())
        );
        // The invoice expires when the server's time reaches the deadline.
        shop.time.advance(MINUTE_MS);
        shop.wake_workers_until(
            "select count(*) || '' from invoices where status = 'expired'",
            "2",
        );
        drop(shop.server);
        shop.served.assert_audit_clean();
    }
}

#[test]
fn clock_jump_is_adopted_after_an_hour() {
    for jump_ms in [2 * HOUR_MS, -2 * HOUR_MS] {
        let shop = ClockedServer::open(Time(0));
        let noon = time_in_2040("12:00:00");
        let lost = shop.create_invoice("one");
        shop.time.advance(2 * MINUTE_MS);
        shop.wake_workers_until("select status from invoices", "expired");
        shop.time.jump_wall_clock(jump_ms);
        shop.time.advance(1_000);
        shop.wake_workers_until(CLOCK_AHEAD_QUERY, &jump_ms.to_string());
        shop.time.advance(HOUR_MS - 1_000);
        assert_eq!(shop.now(), noon.plus_ms(HOUR_MS + 2 * MINUTE_MS));
        shop.time.advance(1_000);
        shop.wake_workers_until(CLOCK_AHEAD_QUERY, "believed");
        let adopted = noon.plus_ms(HOUR_MS + 2 * MINUTE_MS + 1_000 + jump_ms);
        assert_eq!(shop.now(), adopted);
        assert_eq!(
            (shop.invoice_status(&lost), shop.clock_status()),
            ("expired".into(), "ok".into())
        );
        let late = "select count(*) || '' from deliveries where next_attempt_at > (select last_tick_at from file) + 39600000";
        shop.served.wait_for_query_result(late, &["0"]);
        drop(shop.server);
        shop.served.assert_audit_clean();
    }
}

#[test]
fn operator_accepts_the_wall_clock() {
    let mut shop = ClockedServer::open(Time(0));
    for jump_ms in [YEAR_MS, -YEAR_MS] {
        shop.time.jump_wall_clock(jump_ms);
        shop.time.advance(2_000);
        let before = shop.now();
        shop.wake_workers_until(CLOCK_AHEAD_QUERY, &jump_ms.to_string());
        let said = shop.run_doctor(&["--accept-clock"]);
        assert!(said.contains("done: the wall clock is accepted"), "{said}");
        shop.served.wait_for_query_result(CLOCK_AHEAD_QUERY, &["believed"]);
        let adopted = (0..100_000)
            .any(|_| shop.clock_status() == "ok" && shop.now() == before.plus_ms(jump_ms));
        assert!(adopted);
    }
    // At the next start, the time recorded in the file is later than the wall clock.
    drop(shop.server.take());
    shop.time.jump_wall_clock(-YEAR_MS);
    let noon = time_in_2040("12:00:04");
    shop.start();
    assert!(shop.clock_status().contains("once it has passed"));
    assert_eq!(shop.now(), noon);
    drop(shop.server.take());
    shop.run_doctor(&["--accept-clock"]);
    shop.start();
    assert_eq!((shop.clock_status().as_str(), shop.now()), ("ok", noon.plus_ms(-YEAR_MS)));
    drop(shop.server.take());
    shop.served.assert_audit_clean();
}

#[test]
fn start_continues_from_the_time_in_the_file() {
    let seen = time_in_2040("20:00:00");
    let shop = ClockedServer::open(seen);
    assert_eq!(shop.now(), seen);
    shop.wake_workers_until(CLOCK_AHEAD_QUERY, &(-8 * HOUR_MS).to_string());
    shop.time.advance(2 * HOUR_MS);
    assert_eq!(shop.now(), seen.plus_ms(2 * HOUR_MS), "an hour is not enough");
    let said = shop.clock_status();
    assert!(said.contains("28800 s behind") && said.contains("once it has passed"), "{said}");
    // A jump simulates that network time corrects the wall clock.
    shop.time.jump_wall_clock(9 * HOUR_MS);
    shop.time.advance(1_000);
    shop.wake_workers_until(CLOCK_AHEAD_QUERY, "believed");
    assert_eq!(
        (shop.now(), shop.clock_status().as_str()),
        (seen.plus_ms(3 * HOUR_MS + 1_000), "ok")
    );
}

#[test]
fn accept_clock_is_rejected_on_a_sandbox_file() {
    let sandbox = crate::support::Shop::open();
    let output = coffer_output(sandbox.file(), &["doctor", "--accept-clock"]);
    assert_ne!(output.code, Some(0));
    assert!(output.errors.contains("--accept-clock"), "{}", output.errors);
}

//! A database locked by another program: writes are rejected at once, reads continue, and a start waits.

use super::failing_disk::count_refusal_lines;
use crate::support::installation::{Installation, NO_RATES};
use crate::support::process::Process;
use crate::support::{Response, agent, polling, send};
use rusqlite::Connection;
use serde_json::json;
use std::process::Command;
use std::time::{Duration, Instant};

/// Maximum time that a write waits for the lock.
const LOCK_WAIT_MAX: Duration = Duration::from_secs(2);
/// Maximum time of an immediate response, on a busy machine.
const IMMEDIATE_RESPONSE_TIME_MAX: Duration = Duration::from_millis(500);

/// Locks the file as the statement `begin immediate` of another program does.
#[track_caller]
fn lock_file(served: &Installation) -> Connection {
    let conn = served.open_file();
    conn.execute_batch("begin immediate").unwrap();
    conn
}

#[track_caller]
fn post(served: &Installation, url: &str, path: &str, body: &str) -> Response {
    let key = [("X-API-Key", served.key.as_str())];
    let url = format!("{url}{path}");
    send(&agent(), "POST", &url, &key, body)
}

#[track_caller]
fn create_invoice(served: &Installation, url: &str) -> Response {
    let body = json!({ "amount": "20.00", "currency": "EUR" }).to_string();
    post(served, url, "/v1/invoices", &body)
}

#[track_caller]
fn get(url: &str, path: &str) -> Response {
    send(&agent(), "GET", &format!("{url}{path}"), &[], "")
}

#[track_caller]
fn assert_overloaded(answer: &Response) {
    answer.assert_error(503, "overloaded", None);
    assert!(answer.headers["retry-after"].parse::<u32>().unwrap() > 0);
}

/// Returns two flags: `/metrics` reports a lock, and `/metrics` reports rejected writes.
#[track_caller]
fn lock_gauges(url: &str) -> [bool; 2] {
    let page = get(url, "/metrics").expect(200).text;
    ["coffer_database_locked", "coffer_writes_refused"]
        .map(|name| page.contains(&format!("\n{name} 1\n")))
}

#[test]
fn locked_database_rejects_writes_until_unlocked() {
    let served = Installation::new();
    let log = served.path("log");
    let running = served.start_with_log("warn", &log);
    let mut made = create_invoice(&served, &running.url).expect(201).json();
    // A GET response contains no warnings.
    made.as_object_mut().unwrap().remove("warnings");
    assert_eq!(lock_gauges(&running.url), [false, false]);
    for _ in 0..2 {
        let locked = lock_file(&served);
        let begun = Instant::now();
        assert_overloaded(&create_invoice(&served, &running.url));
        assert!(begun.elapsed() < LOCK_WAIT_MAX, "{:?}", begun.elapsed());
        for _ in 0..48 {
            let begun = Instant::now();
            assert_overloaded(&create_invoice(&served, &running.url));
            assert!(begun.elapsed() < IMMEDIATE_RESPONSE_TIME_MAX, "{:?}", begun.elapsed());
        }
        assert_overloaded(&get(&running.url, "/readyz"));
        get(&running.url, "/livez").expect(200);
        assert_eq!(lock_gauges(&running.url), [true, true]);
        let key = [("X-API-Key", served.key.as_str())];
        let url = format!("{}/v1/invoices/{}", running.url, made["id"].as_str().unwrap());
        assert_eq!(send(&agent(), "GET", &url, &key, "").expect(200).json(), made);
        locked.execute_batch("rollback").unwrap();
        assert!(polling::wait_until(|| get(&running.url, "/readyz").status == 200));
        create_invoice(&served, &running.url).expect(201);
        assert_eq!(lock_gauges(&running.url), [false, false]);
    }
    let log = running.stop_and_read_log(&log);
    let holder = format!("process {} (", std::process::id());
    let reason = "another program has locked the database; end its transaction, or that program";
    assert_eq!(count_refusal_lines(&log, &holder, reason), 2, "{log}");
    assert_eq!(log.matches("writes accepted again\n").count(), 2, "{log}");
}

#[test]
fn lock_is_noticed_without_writes() {
    let (served, running) = Installation::start_new(&[]);
    let locked = lock_file(&served);
    assert!(polling::wait_until(|| get(&running.url, "/readyz").status == 503));
    let begun = Instant::now();
    assert_overloaded(&create_invoice(&served, &running.url));
    assert!(begun.elapsed() < IMMEDIATE_RESPONSE_TIME_MAX, "{:?}", begun.elapsed());
    drop(locked);
    assert!(polling::wait_until(|| get(&running.url, "/readyz").status == 200));
}

#[test]
fn server_stops_while_the_database_is_locked() {
    let (served, mut running) = Installation::start_new(&[]);
    create_invoice(&served, &running.url).expect(201);
    let locked = lock_file(&served);
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert_overloaded(&create_invoice(&served, &running.url)));
        }
    });
    assert!(running.process.close_input_and_wait());
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    drop(locked);
    let mut running = served.start(&[]);
    get(&running.url, "/readyz").expect(200);
    assert!(running.process.close_input_and_wait());
}

#[test]
fn start_waits_for_a_locked_database() {
    let served = Installation::new();
    let locked = lock_file(&served);
    let log = served.path("log");
    let mut command = Command::new(env!("CARGO_BIN_EXE_coffer"));
    command.args(["serve", "--listen", "127.0.0.1:0", "--exit-with-parent", "--file"]);
    command.arg(&served.file).env("COFFER_RATES", NO_RATES);
    let errors = std::fs::File::create(&log).unwrap();
    let mut process = Process::start_with_stderr(&mut command, errors.into());
    let said = || std::fs::read_to_string(&log).unwrap();
    let waits = format!("shop.db is locked by process {} (", std::process::id());
    assert!(polling::wait_until(|| said().contains(&waits)), "{}", said());
    assert!(said().contains("the start waits until that has ended its transaction"));
    drop(locked);
    process.wait_for_url();
    assert!(process.close_input_and_wait());
    assert_eq!(said().matches("is locked by").count(), 1);
}

#[test]
fn invalid_body_is_rejected_without_the_writer() {
    let (served, running) = Installation::start_new(&[]);
    served
        .open_file()
        .execute_batch("insert into payout_addresses (account, chain, address, changed_at) values (1, 'solana', 'a', 0)")
        .unwrap();
    let kept = |body: &str| {
        let key = [("X-API-Key", served.key.as_str()), ("Idempotency-Key", "kept")];
        send(&agent(), "POST", &format!("{}/v1/invoices", running.url), &key, body)
    };
    let made = kept(r#"{"amount": "20.00", "currency": "EUR"}"#).expect(201);
    let locked = lock_file(&served);
    // The writer waits for the lock and then rejects the request.
    std::thread::scope(|scope| {
        scope.spawn(|| assert_overloaded(&create_invoice(&served, &running.url)));
        let begun = Instant::now();
        for (path, body, code, param) in [
            ("/v1/invoices", "{", "invalid_request", None),
            (
                "/v1/invoices",
                r#"{"amount": "x", "currency": "EUR"}"#,
                "invalid_request",
                Some("amount"),
            ),
            ("/v1/payouts", r#"{"amount": "x"}"#, "invalid_amount", Some("amount")),
        ] {
            post(&served, &running.url, path, body).assert_error(400, code, param);
        }
        kept(r#"{"amount": "x", "currency": "EUR"}"#).assert_error(
            409,
            "idempotency_conflict",
            Some("amount"),
        );
        let adjust = format!("/dashboard/api/accounts/{}/adjustments", served.account);
        let body = json!({ "amount": "x", "currency": "EUR", "memo": "m" });
        running.operator_request("POST", &adjust, &body).assert_error(
            400,
            "invalid_request",
            Some("amount"),
        );
        assert!(begun.elapsed() < LOCK_WAIT_MAX, "{:?}", begun.elapsed());
    });
    drop(locked);
    assert!(polling::wait_until(|| get(&running.url, "/readyz").status == 200));
    assert_eq!(kept(r#"{"amount": "20.00", "currency": "EUR"}"#).expect(201).text, made.text);
}

#[test]
fn server_logs_a_large_wal() {
    let served = Installation::new();
    let log = served.path("log");
    let running = served.start_with_log("warn", &log);
    // An open reader keeps the WAL from being truncated.
    let reader = served.open_file();
    reader.execute_batch("begin; select * from file").unwrap();
    create_invoice(&served, &running.url).expect(201);
    let wal = format!("{}-wal", served.file.display());
    let bytes = 300 * 1024 * 1024;
    let opened = std::fs::File::options().write(true).open(wal).unwrap();
    opened.set_len(bytes).unwrap();
    // Bytes after the last frame of the WAL do not change the database. SQLite does not lock the WAL file, so closing
    // `opened` releases no lock.
    let metric = format!("\ncoffer_wal_bytes {bytes}\n");
    assert!(get(&running.url, "/metrics").expect(200).text.contains(&metric));
    let said = || std::fs::read_to_string(&log).unwrap();
    let line = format!(
        "write-ahead log is large, end long reads of the file: bytes={bytes} limit=268435456"
    );
    assert!(polling::wait_until(|| said().contains(&line)), "{}", said());
    create_invoice(&served, &running.url).expect(201);
    drop(reader);
    let log = running.stop_and_read_log(&log);
    assert_eq!(log.matches(&line).count(), 1, "{log}");
}

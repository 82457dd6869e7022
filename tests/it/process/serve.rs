//! `coffer serve`, and the operator's commands while a server runs, with the real binary and a real file.

use crate::support::installation::NO_RATES;
use crate::support::process::{Process, start_sandbox};
use crate::support::scratch::Scratch;
use crate::support::{Response, agent, send};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// Runs a command of the binary to its end.
fn run_coffer(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_coffer")).args(args).output().unwrap()
}

/// Runs a command that must succeed, and parses its output, which has one JSON object per line.
#[track_caller]
fn run_json_lines(args: &[&str]) -> Vec<Value> {
    let output = run_coffer(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Starts a server on this file and returns its URL.
pub fn start_server(file: &Path, more: &[&str]) -> (Process, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coffer"));
    command.args([
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--log",
        "warn",
        "--exit-with-parent",
        "--file",
    ]);
    command.env("COFFER_RATES", NO_RATES);
    let process = Process::start(command.arg(file).args(more));
    let url = process.wait_for_url();
    (process, url)
}

/// A file of a production server with one account, and a secret key of each mode.
pub struct ProductionFile {
    scratch: Scratch,
    pub test: String,
    pub live: String,
    account: String,
}

impl ProductionFile {
    pub fn account(&self) -> &str {
        &self.account
    }

    pub fn new() -> ProductionFile {
        let scratch = Scratch::new();
        let file = scratch.path("shop.db");
        let file = file.to_str().unwrap();
        let account = run_json_lines(&["account", "create", "--file", file, "My Shop"])[0]["id"]
            .as_str()
            .unwrap()
            .to_owned();
        let key = |mode: &str| {
            let key = run_json_lines(&["key", "create", "--file", file, &account, "--mode", mode]);
            key[0]["key"].as_str().unwrap().to_owned()
        };
        let (test, live) = (key("test"), key("live"));
        ProductionFile { test, live, account, scratch }
    }

    /// Creates another account, which is pending. Returns its live secret key.
    #[track_caller]
    pub fn create_account(&self, name: &str) -> String {
        let file = self.file();
        let file = file.to_str().unwrap();
        let made = run_json_lines(&["account", "create", "--file", file, name]);
        let account = made[0]["id"].as_str().unwrap();
        let key = run_json_lines(&["key", "create", "--file", file, account, "--mode", "live"]);
        key[0]["key"].as_str().unwrap().to_owned()
    }

    pub fn file(&self) -> std::path::PathBuf {
        self.scratch.path("shop.db")
    }
}

#[track_caller]
pub fn call(url: &str, key: &str, method: &str, path: &str, body: Value) -> Response {
    send(&agent(), method, &format!("{url}{path}"), &[("X-API-Key", key)], &body.to_string())
}

#[test]
fn operator_sets_up_an_account_while_server_runs() {
    let shop = ProductionFile::new();
    let file = shop.file();
    let (mut server, url) = start_server(&file, &[]);
    let order = json!({ "amount": "20.00", "currency": "EUR" });
    let create = |key: &str| call(&url, key, "POST", "/v1/invoices", order.clone());
    create(&shop.test).assert_error(403, "account_not_approved", None);
    let file = file.to_str().unwrap();
    let approved = run_json_lines(&["account", "approve", "--file", file, &shop.account]);
    assert_eq!(
        (&approved[0]["status"], &approved[0]["name"]),
        (&json!("active"), &json!("My Shop"))
    );
    let id = create(&shop.test).expect(201).json()["id"].as_str().unwrap().to_owned();
    let paid = call(&url, &shop.test, "POST", &format!("/v1/invoices/{id}/simulate"), json!({}));
    assert_eq!(paid.expect(200).json()["status"], "confirmed");
    let live = create(&shop.live).expect(201).json()["id"].as_str().unwrap().to_owned();
    let select = call(
        &url,
        &shop.live,
        "POST",
        &format!("/v1/invoices/{live}/select"),
        json!({ "asset": "BTC" }),
    );
    select.assert_error(400, "coin_unavailable", Some("asset"));
    let coins = call(&url, &shop.live, "GET", "/v1/currencies", json!({}));
    assert_eq!(coins.expect(200).json()["data"], json!([]), "no chain is configured");
    let events = call(&url, &shop.live, "GET", "/v1/events?type=account.approved", json!({}));
    assert_eq!(events.expect(200).json()["data"].as_array().unwrap().len(), 1);
    run_json_lines(&["account", "suspend", "--file", file, &shop.account]);
    create(&shop.test).assert_error(403, "account_suspended", None);
    assert_eq!(run_json_lines(&["account", "list", "--file", file])[0]["status"], "suspended");
    assert!(server.close_input_and_wait(), "it ends well when its parent goes");
}

#[test]
fn sandbox_credentials_do_not_work_on_a_server() {
    let shop = ProductionFile::new();
    let (_server, url) = start_server(&shop.file(), &[]);
    for key in [
        "sk_test_sandbox",
        "sk_live_sandbox",
        "sandbox.sandbox",
        "pk_test_sandbox",
        "pk_live_sandbox",
    ] {
        call(&url, key, "GET", "/v1/merchant", json!({})).assert_error(401, "unauthorized", None);
    }
    let (body, last) = shop.test.split_at(shop.test.len() - 1);
    let mistyped = format!("{body}{}", if last == "x" { "y" } else { "x" });
    let answer = call(&url, &mistyped, "GET", "/v1/merchant", json!({}));
    answer.assert_error(401, "unauthorized", None);
    assert!(answer.text.contains("mistyped"), "{}", answer.text);
    for path in ["/sandbox", "/sandbox/reset", "/sandbox/inbox/a"] {
        call(&url, &shop.test, "GET", path, json!({})).assert_error(404, "not_found", None);
    }
}

#[test]
fn revoked_key_stops_within_seconds_and_shows_last_use() {
    let shop = ProductionFile::new();
    let file = shop.file();
    let (_server, url) = start_server(&file, &[]);
    call(&url, &shop.test, "GET", "/v1/merchant", json!({})).expect(200);
    let file = file.to_str().unwrap();
    let deadline = Instant::now() + Duration::from_secs(10);
    // The use of a key is recorded asynchronously.
    let keys = loop {
        let keys = run_json_lines(&["key", "list", "--file", file]);
        if keys[0]["lastUsedAt"].is_string() {
            break keys;
        }
        assert!(Instant::now() < deadline, "its use was not noted");
    };
    assert_eq!((keys.len(), &keys[1]["lastUsedAt"]), (2, &Value::Null));
    assert_eq!(keys[0]["last4"], shop.test[shop.test.len() - 4..]);
    let output = run_coffer(&["key", "revoke", "--file", file, keys[0]["id"].as_str().unwrap()]);
    assert!(output.status.success() && output.stdout.is_empty());
    let deadline = Instant::now() + Duration::from_secs(10);
    while call(&url, &shop.test, "GET", "/v1/merchant", json!({})).status == 200 {
        assert!(Instant::now() < deadline, "it still opens the shop");
    }
    call(&url, &shop.live, "GET", "/v1/merchant", json!({})).expect(200);
}

#[test]
fn key_is_rate_limited_after_a_hundred_invoices() {
    let shop = ProductionFile::new();
    let (_server, url) = start_server(&shop.file(), &["--rate-limit", "1"]);
    let agent = agent();
    let create = |key: &str| {
        send(&agent, "POST", &format!("{url}/v1/invoices"), &[("X-API-Key", key)], "{}")
    };
    for left in (0..100).rev() {
        let answer = create(&shop.test);
        answer.assert_error(403, "account_not_approved", None);
        assert!(answer.headers["ratelimit"].starts_with(&format!("\"creations\";r={left};t=")));
    }
    let answer = create(&shop.test);
    answer.assert_error(429, "rate_limited", None);
    assert_eq!(answer.headers["ratelimit-policy"], "\"creations\";q=100;w=6000");
    let wait: u32 = answer.headers["retry-after"].parse().unwrap();
    assert!((1..=60).contains(&wait), "{wait}");
    create(&shop.live).assert_error(403, "account_not_approved", None);
}

#[test]
fn file_allows_one_server_of_one_kind() {
    let shop = ProductionFile::new();
    let file = shop.file();
    let (_server, _) = start_server(&file, &[]);
    let file = file.to_str().unwrap();
    let second = run_coffer(&["serve", "--listen", "127.0.0.1:0", "--file", file]);
    let message = String::from_utf8(second.stderr).unwrap();
    assert_eq!(second.status.code(), Some(1));
    assert!(message.contains("in use by another coffer"), "{message}");
    let other = shop.scratch.path("sandbox.db");
    let other = other.to_str().unwrap();
    let (mut running, _) = start_sandbox("127.0.0.1:0", &["--file", other]);
    assert!(running.close_input_and_wait());
    let served = run_coffer(&["serve", "--listen", "127.0.0.1:0", "--file", other]);
    let message = String::from_utf8(served.stderr).unwrap();
    assert!(message.contains("made by a sandbox server"), "{message}");
    let ours = ProductionFile::new();
    let sandboxed = ours.file();
    let sandboxed = ["sandbox", "--listen", "127.0.0.1:0", "--file", sandboxed.to_str().unwrap()];
    let sandboxed = run_coffer(&sandboxed);
    let message = String::from_utf8(sandboxed.stderr).unwrap();
    assert!(message.contains("a sandbox server does not open it"), "{message}");
}

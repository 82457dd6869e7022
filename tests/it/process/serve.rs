//! `coffer serve`, and the operator's commands while a server runs, with the real binary and a real file.

use crate::support::command::{coffer_output, run_coffer, run_coffer_failing, run_coffer_json};
use crate::support::installation::NO_RATES;
use crate::support::process::Process;
use crate::support::sandbox_file::create_sandbox_file;
use crate::support::scratch::Scratch;
use crate::support::{Response, agent, send};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

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

/// Creates a secret key of the account, and returns it.
#[track_caller]
fn create_key(file: &Path, account: &str, mode: &str) -> String {
    let made = run_coffer_json(file, &["key", "create", account, "--mode", mode]);
    made["key"].as_str().unwrap().to_owned()
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
        let made = run_coffer_json(&file, &["account", "create", "My Shop"]);
        let account = made["id"].as_str().unwrap().to_owned();
        let [test, live] = ["test", "live"].map(|mode| create_key(&file, &account, mode));
        ProductionFile { test, live, account, scratch }
    }

    /// Creates another account, which is pending. Returns its live secret key.
    #[track_caller]
    pub fn create_account(&self, name: &str) -> String {
        let made = run_coffer_json(&self.file(), &["account", "create", name]);
        create_key(&self.file(), made["id"].as_str().unwrap(), "live")
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
    let approved = run_coffer_json(&file, &["account", "approve", &shop.account]);
    assert_eq!((&approved["status"], &approved["name"]), (&json!("active"), &json!("My Shop")));
    let id = create(&shop.test).expect(201).id();
    let paid = call(&url, &shop.test, "POST", &format!("/v1/invoices/{id}/simulate"), json!({}));
    assert_eq!(paid.expect(200).json()["status"], "confirmed");
    let live = create(&shop.live).expect(201).id();
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
    run_coffer_json(&file, &["account", "suspend", &shop.account]);
    create(&shop.test).assert_error(403, "account_suspended", None);
    assert_eq!(run_coffer_json(&file, &["account", "list"])["status"], "suspended");
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
    let deadline = Instant::now() + Duration::from_secs(10);
    // The use of a key is recorded asynchronously.
    let keys = loop {
        let keys = coffer_output(&file, &["key", "list"]).json_lines();
        if keys[0]["lastUsedAt"].is_string() {
            break keys;
        }
        assert!(Instant::now() < deadline, "its use was not noted");
    };
    assert_eq!((keys.len(), &keys[1]["lastUsedAt"]), (2, &Value::Null));
    assert_eq!(keys[0]["last4"], shop.test[shop.test.len() - 4..]);
    assert_eq!(run_coffer(&file, &["key", "revoke", keys[0]["id"].as_str().unwrap()]), "");
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
    let serve = ["serve", "--listen", "127.0.0.1:0"];
    let said = run_coffer_failing(&file, &serve);
    assert!(said.contains("in use by another coffer"), "{said}");
    let other = shop.scratch.path("sandbox.db");
    create_sandbox_file(&other);
    let said = run_coffer_failing(&other, &serve);
    assert!(said.contains("made by a sandbox server"), "{said}");
    let ours = ProductionFile::new();
    let said = run_coffer_failing(&ours.file(), &["sandbox", "--listen", "127.0.0.1:0"]);
    assert!(said.contains("a sandbox server does not open it"), "{said}");
}

//! Sandboxes of the real binary on a named file.

use crate::support::body_text;
use crate::support::process::{Process, start_sandbox};
use crate::support::scratch::path_text;
use crate::support::{Response, TEST, agent, send};
use serde_json::{Value, json};
use std::fs::File;
use std::path::Path;
use std::process::Command;

/// Starts a sandbox on this file, and returns its URL.
#[track_caller]
pub fn start_on_file(file: &Path) -> (Process, String) {
    start_sandbox("127.0.0.1:0", &["--file", path_text(file)])
}

/// Starts a sandbox on this file that writes its log to `log`. Does not wait for the ready line.
#[track_caller]
pub fn start_with_log(file: &Path, log: &Path, settings: &[&str]) -> Process {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coffer"));
    command.args(["sandbox", "--exit-with-parent", "--listen", "127.0.0.1:0"]);
    command.args(settings).arg("--file").arg(file);
    Process::start_with_stderr(&mut command, File::create(log).unwrap().into())
}

/// Creates the file of a sandbox that is not running.
#[track_caller]
pub fn create_sandbox_file(file: &Path) {
    let (mut process, _) = start_on_file(file);
    assert!(process.close_input_and_wait());
}

#[track_caller]
pub fn call(url: &str, method: &str, path: &str, key: &str, body: &Value) -> Response {
    let body = body_text(body);
    let path = format!("{url}{path}");
    send(&agent(), method, &path, &[("X-API-Key", key)], &body)
}

/// Requests a test invoice of 20 EUR.
#[track_caller]
pub fn create_invoice(url: &str) -> Response {
    let body = json!({ "amount": "20.00", "currency": "EUR" });
    call(url, "POST", "/v1/invoices", TEST, &body)
}

/// Creates test invoices of 20 EUR.
#[track_caller]
pub fn create_invoices(url: &str, count: usize) {
    for _ in 0..count {
        create_invoice(url).expect(201);
    }
}

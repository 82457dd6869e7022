//! Environment variables of the program: webhooks do not use a proxy that a variable names.

use crate::support::receiver::{Receiver, Reply};
use crate::support::{TEST, agent, send};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

#[test]
fn webhooks_ignore_the_proxy_of_the_environment() {
    let receiver = Receiver::start_with_reply(Reply::Status(200));
    let proxy = format!("http://{}", Receiver::unused_address());
    let mut command = Command::new(env!("CARGO_BIN_EXE_coffer"));
    command
        .args(["sandbox", "--json", "--listen", "127.0.0.1:0", "--exit-with-parent"])
        .env_remove("NO_PROXY")
        .env_remove("no_proxy")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    for name in ["ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY"] {
        command.env(name, &proxy).env(name.to_lowercase(), &proxy);
    }
    let mut coffer = command.spawn().unwrap();
    let mut ready = String::new();
    let output = coffer.stdout.take().unwrap();
    BufReader::new(output).read_line(&mut ready).unwrap();
    let ready: Value = serde_json::from_str(&ready).unwrap();
    let url = ready["url"].as_str().unwrap();
    let call = |method: &str, path: &str, body: Value| {
        let key = [("X-API-Key", TEST)];
        send(&agent(), method, &format!("{url}{path}"), &key, &body.to_string())
    };
    let endpoints = json!({ "endpoints": [{ "url": receiver.url() }] });
    call("PATCH", "/sandbox/account", endpoints).expect(200);
    call("POST", "/v1/invoices", json!({ "amount": "1.00", "currency": "EUR" })).expect(201);
    receiver.wait_for_requests(1);
    // The sandbox ends when its standard input is closed, as happens when its parent exits.
    drop(coffer.stdin.take());
    assert!(coffer.wait().unwrap().success());
}

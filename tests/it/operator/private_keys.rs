//! Private keys, seed phrases and WIF keys are rejected in every text field and never appear in a response, log or
//! file.

use super::wallets::{ZPUB, run_wallet_command};
use crate::support::process::Process;
use crate::support::sandbox_file::start_with_log;
use crate::support::scratch::Scratch;
use crate::support::sessions::sign_in;
use crate::support::{Response, agent, send};
use serde_json::{Map, Value, json};
use std::path::Path;

/// Secrets, each with a substring that is unique to it.
const SECRETS: [[&str; 2]; 5] = [
    [
        "xprv9s21ZrQH143K3GJpoapnV8SFfukcVBSfeCficPSGfubmSFDxo1kuHnLisriDvSnRRuL2Qrg5ggqHKNVpxR86QEC8w35uxmGoggxtQTPvfUu",
        "GJpoapnV8SFfukcVBSf",
    ],
    [
        "zprvAdG4iTXWBoARxkkzNpNh8r6Qag3irQB8PzEMkAFeTRXxHpbF9z4QgEvBRmfvqWvGp42t42nvgGpNgYSJA9iefm1yYNZKEm7z6qUWCroSQnE",
        "xkkzNpNh8r6Qag3irQB",
    ],
    ["zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo wrong", "zoo zoo"],
    ["L4rK1yDtCWekvXuE6oXD9jCYfFNV2cWRpVuPLBcCU2z8TrisoyY1", "yDtCWekvXuE6oXD9"],
    ["0c28fca386c7a227600b2fe50b7cae11ec86d3bf1fbe471be89827e19d72aa1d", "7a227600b2fe50b7"],
];

/// Asserts that a text contains no part of the secret. `place` names the origin of the text.
#[track_caller]
fn assert_no_secret(bytes: &[u8], secret: [&str; 2], place: &str) {
    for part in secret {
        let found = bytes.windows(part.len()).any(|at| at == part.as_bytes());
        assert!(!found, "{place}: {}", String::from_utf8_lossy(bytes));
    }
}

/// Asserts that no file of the folder contains a part of the secret: database, SQLite side files and log.
#[track_caller]
fn assert_no_file_contains(folder: &Path, secret: [&str; 2]) {
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if path.is_file() {
            let bytes = std::fs::read(&path).unwrap();
            assert_no_secret(&bytes, secret, &path.display().to_string());
        }
    }
}

#[test]
fn command_line_does_not_print_secrets() {
    let scratch = Scratch::new();
    let file = scratch.path("shop.db");
    let folder = file.parent().unwrap();
    run_wallet_command(&file, &["add", "bitcoin", "--yes"], ZPUB).json_lines();
    for secret in SECRETS {
        let text = secret[0];
        let middle = format!("wpkh([73c5da0a/84h/0h/0h]{text}/0/*)#abcdefgh");
        let behind = format!("{ZPUB} {text}");
        for (args, input) in [
            (&["add", "bitcoin", "--yes"][..], text),
            (&["add", "bitcoin", "--yes"], &middle),
            (&["add", "bitcoin", "--yes"], &behind),
            (&["add", "evm", "--yes", "--script", "wpkh"], text),
            (&["add", text], ZPUB),
            (&["add", "bitcoin", text], ZPUB),
            (&["add", "bitcoin", &middle], ZPUB),
            (&["add", "bitcoin", "--yes", "--script", text], ZPUB),
            (&["add", "bitcoin", "--yes", "--network", text], ZPUB),
            (&["add", "bitcoin", "--yes", "--next", text], ZPUB),
            (&["add", "bitcoin", "--yes", "--name", text], ZPUB),
            (&["add", "bitcoin", "--key", text], ZPUB),
            (&["add", "bitcoin", &format!("--key={text}")], ZPUB),
            (&["own", "bitcoin", text], ""),
            (&["own", text, "bc1q"], ""),
            (&["retire", text], ""),
            (&["addresses", "--wallet", text], ""),
            (&[text], ""),
        ] {
            let args: Vec<_> = args.iter().copied().chain(["--log", "trace"]).collect();
            let output = run_wallet_command(&file, &args, input);
            assert_ne!(output.code, Some(0), "{args:?}");
            assert_no_secret(output.errors.as_bytes(), secret, "standard error");
            assert_no_secret(output.printed.as_bytes(), secret, "standard output");
            let said = output.errors;
            assert!(said.contains("which is refused and not stored"), "{args:?}: {said}");
        }
        // Each word is a separate argument. The argument parser's own error would contain one of the words.
        let words: Vec<_> = ["add", "bitcoin"].into_iter().chain(text.split(' ')).collect();
        let output = run_wallet_command(&file, &words, ZPUB);
        assert_no_secret(output.errors.as_bytes(), secret, "standard error");
        assert!(output.errors.contains("which is refused"));
        assert_no_file_contains(folder, secret);
    }
}

#[test]
fn seed_phrase_on_several_lines_is_rejected() {
    let scratch = Scratch::new();
    let file = scratch.path("shop.db");
    let words = "zebra zoo wrong crystal ".repeat(3);
    let lines = words.replace(' ', "\n");
    let crlf = words.replace(' ', "\r\n");
    for input in [
        lines.clone(),
        crlf,
        format!("\n{lines}"),
        format!("{ZPUB}\n{lines}"),
        // The last two inputs are the first word alone, and half of the words.
        "zebra\n".to_owned(),
        lines[..lines.len() / 2].to_owned(),
    ] {
        for args in [&["add", "bitcoin", "--yes"][..], &["add", "bitcoin"]] {
            let output = run_wallet_command(&file, args, &input);
            let said = output.errors;
            assert_ne!(output.code, Some(0), "{input}");
            assert!(
                said.contains("key contains a seed phrase, which is refused"),
                "{input}: {said}"
            );
            for word in ["zebra", "crystal"] {
                assert_no_secret(said.as_bytes(), [word, word], "standard error");
            }
        }
    }
    assert!(!file.exists(), "a file was made for nothing");
}

/// A sandbox of the real binary with the most detailed log, and a signed-in operator.
struct LoggingSandbox {
    server: Process,
    url: String,
    cookie: String,
}

impl LoggingSandbox {
    fn start(file: &Path, log: &Path) -> LoggingSandbox {
        let server = start_with_log(file, log, &["--log", "trace"]);
        let url = server.wait_for_url();
        let cookie = sign_in(&url, "operator@sandbox.test", "sandbox").expect(201).session_cookie();
        LoggingSandbox { server, url, cookie }
    }

    #[track_caller]
    fn call(&self, method: &str, path: &str, body: &str) -> Response {
        let url = format!("{}/dashboard/api/{path}", self.url);
        send(&agent(), method, &url, &[("cookie", &self.cookie)], body)
    }
}

/// Returns one request body for each field and each form of the secret: alone, inside a text, in a list or object,
/// and as a field name.
fn request_bodies_containing(text: &str) -> Vec<Value> {
    let good =
        Map::from_iter([("chain".to_owned(), json!("bitcoin")), ("key".to_owned(), json!(ZPUB))]);
    let fields = ["chain", "key", "script", "network", "next", "name", "more", "address"];
    let values = [
        json!(text),
        json!(format!("wpkh([73c5da0a/84h/0h/0h]{text}/0/*)")),
        json!([text]),
        json!({ "a": [{ "b": text }] }),
        json!({ text: 1 }),
    ];
    let with = |name: &str, value: &Value| {
        let mut body = good.clone();
        body.insert(name.to_owned(), value.clone());
        Value::from(body)
    };
    let each = fields.iter().flat_map(|field| values.iter().map(|value| with(field, value)));
    each.chain([with(text, &json!(1))]).collect()
}

#[test]
fn operator_interface_does_not_store_or_return_secrets() {
    let scratch = Scratch::new();
    let (file, log) = (scratch.path("shop.db"), scratch.path("log"));
    let mut logged = LoggingSandbox::start(&file, &log);
    for secret in SECRETS {
        for body in request_bodies_containing(secret[0]) {
            for path in ["wallets", "wallets/check", "own-addresses"] {
                let answer = logged.call("POST", path, &body.to_string());
                assert_eq!(answer.status, 400, "{}", answer.text);
                assert_no_secret(answer.text.as_bytes(), secret, path);
                let is_told = answer.text.contains("which is refused and not stored");
                assert!(is_told, "{}", answer.text);
            }
        }
        let encoded = secret[0].replace(' ', "%20");
        for (method, path) in [
            ("POST", format!("wallets/{encoded}/retire")),
            ("DELETE", format!("wallets/{encoded}/retire")),
            ("GET", format!("wallets/{encoded}/addresses.csv")),
            ("GET", format!("wallets/{encoded}")),
            ("GET", format!("wallets?key={encoded}")),
        ] {
            let answer = logged.call(method, &path, "");
            assert_no_secret(answer.text.as_bytes(), secret, &path);
        }
        let text = secret[0];
        for broken in [format!("{{\"key\": \"{text}\""), format!("\"{text}\""), text.to_owned()] {
            let answer = logged.call("POST", "wallets", &broken);
            assert_eq!(answer.status, 400, "{}", answer.text);
            assert_no_secret(answer.text.as_bytes(), secret, "a body that is no JSON");
        }
    }
    let listed = logged.call("GET", "wallets", "").expect(200).json();
    assert_eq!(listed, json!({ "data": [] }));
    assert!(logged.server.close_input_and_wait());
    let lines = std::fs::read_to_string(&log).unwrap();
    assert!(lines.contains("/dashboard/api/wallets"), "the log says nothing");
    for secret in SECRETS {
        assert_no_file_contains(file.parent().unwrap(), secret);
    }
}

//! The commands of the README are run unchanged, except for ports. The guides document every path, error code and
//! setting.

use crate::support::process::{Process, example_path, start_sandbox};
use crate::support::{LIVE, Shop, TEST};
use coffer::http::DocumentKind;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

const README: &str = include_str!("../../../README.md");

/// Returns the text of all guides.
fn guides_text() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/web/guides");
    let files = std::fs::read_dir(folder).unwrap();
    files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect()
}

/// Returns the `sh` blocks of README.md, in order.
fn shell_blocks() -> Vec<&'static str> {
    let blocks = README.split("```sh\n").skip(1);
    blocks.map(|rest| rest.split("```").next().unwrap()).collect()
}

/// Runs a block in a shell. Returns standard output and standard error.
#[track_caller]
fn run_block(block: &str, coffer: &str, receiver: &str) -> (String, String) {
    let block =
        block.replace("http://127.0.0.1:8080", coffer).replace("http://127.0.0.1:8081", receiver);
    assert!(!block.contains("127.0.0.1:80"), "{block}");
    let output = Command::new("sh").args(["-euc", &block]).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let (out, err) = (text(output.stdout), text(output.stderr));
    assert!(output.status.success(), "{block}\n{out}\n{err}");
    (out, err)
}

/// Runs the README block that makes the first payment. Returns the created invoice and the responses that are printed
/// after it.
#[track_caller]
fn run_payment_block(block: &str, coffer: &str) -> (Value, Vec<Value>) {
    let (out, err) = run_block(block, coffer, "");
    assert!(err.starts_with("HTTP/1.1 201 Created"), "{err}");
    // Each of the four responses ends with a newline, so standard output and standard error do as well.
    assert!(err.ends_with("}\n") && out.ends_with("}\n"), "{err}{out}");
    let created = serde_json::from_str(err.split("\r\n\r\n").nth(1).unwrap()).unwrap();
    let lines = out.lines().map(|line| serde_json::from_str(line).unwrap());
    (created, lines.collect())
}

#[test]
fn readme_commands_make_a_payment_and_verify_its_webhook() {
    let blocks = shell_blocks();
    assert_eq!(blocks.len(), 2, "the first payment, and the endpoint");
    assert_eq!(blocks[0].lines().count(), 4);
    let (_coffer, url) = start_sandbox("127.0.0.1:0", &[]);

    let (created, answers) = run_payment_block(blocks[0], &url);
    assert_eq!((&created["status"], &created["amount"]), (&json!("created"), &json!("20.00")));
    let [quoted, paid, ledger, balances] = answers.as_slice() else {
        unreachable!("four answers: {answers:?}")
    };
    assert_eq!(quoted["id"], created["id"]);
    assert_eq!(quoted["amountExpected"], "0.25");
    assert!(quoted["depositAddress"].is_string());
    assert_eq!((&paid["status"], &paid["paid"]), (&json!("confirmed"), &json!(true)));
    let entries = ledger["data"].as_array().unwrap().iter();
    let booked: Vec<_> =
        entries.map(|entry| (&entry["kind"], &entry["amount"], &entry["refId"])).collect();
    assert_eq!(
        booked,
        [
            (&json!("fee"), &json!("-0.20"), &created["id"]),
            (&json!("sale"), &json!("20.00"), &created["id"]),
        ]
    );
    assert_eq!(balances["data"][0]["available"], "19.80");

    let receiver =
        Process::start(Command::new(example_path("receiver")).args(["--listen", "127.0.0.1:0"]));
    let line = receiver.read_line();
    let receiver_url = line.strip_prefix("listening on ").unwrap();
    let (state, _) = run_block(blocks[1], &url, receiver_url);
    let state: Value = serde_json::from_str(&state).unwrap();
    assert_eq!(state["account"]["endpoints"][0]["url"], format!("{receiver_url}/webhooks"));
    let (second, _) = run_payment_block(blocks[0], &url);
    let mut verified: Vec<String> = (0..3).map(|_| receiver.read_line()).collect();
    verified.sort();
    for (line, status) in verified.iter().zip(["confirmed", "created", "detected"]) {
        assert!(line.starts_with(&format!("verified invoice.{status} evt_")), "{line}");
        let id = second["id"].as_str().unwrap();
        let paid = status == "confirmed";
        assert!(line.ends_with(&format!("object={id} status={status} paid={paid}")), "{line}");
    }
}

#[test]
fn readme_is_short_and_its_picture_small() {
    assert!(README.lines().count() < 150);
    let picture = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/web/sandbox/page.png");
    assert!(README.contains("](src/web/sandbox/page.png)"));
    assert!(std::fs::metadata(picture).unwrap().len() < 60_000, "run tests/browser/picture.mjs");
}

#[test]
fn receiver_rejects_unsigned_requests() {
    let receiver =
        Process::start(Command::new(example_path("receiver")).args(["--listen", "127.0.0.1:0"]));
    let line = receiver.read_line();
    let url = line.strip_prefix("listening on ").unwrap();
    let agent = crate::support::agent();
    let zeros = "0".repeat(64);
    let stale = format!("t=1,v1={zeros}");
    for header in ["", "t=1", "v1=00", stale.as_str(), "t=99999999999,v1=zz"] {
        let headers = [("X-Service-Signature", header)];
        let answer = crate::support::send(&agent, "POST", url, &headers, "{}");
        assert_eq!(answer.status, 400, "{header}: {}", answer.text);
    }
}

#[test]
fn guides_are_complete() {
    let guides = guides_text();
    let read = |subject| -> Value {
        serde_json::from_str(&coffer::http::document("http://x", subject)).unwrap()
    };
    let document = read(DocumentKind::Interface);
    for document in [&document, &read(DocumentKind::Sandbox)] {
        for path in document["paths"].as_object().unwrap().keys() {
            assert!(guides.contains(&format!("{path}`")), "{path} is not told");
        }
    }
    let codes = &document["components"]["schemas"]["Error"]["properties"]["error"]["enum"];
    for code in codes.as_array().unwrap() {
        let code = code.as_str().unwrap();
        assert!(guides.contains(&format!("`{code}`")), "{code} is not told");
    }
    for setting in coffer::config::SETTINGS {
        let row = format!("| `--{}", setting.flag);
        assert!(guides.contains(&row), "--{} is not told", setting.flag);
    }
}

#[test]
fn documented_api_keys_get_the_documented_status() {
    let guides = guides_text();
    let shop = Shop::open();
    for (key, status) in [
        (TEST, 200),
        (LIVE, 200),
        ("sandbox.sandbox", 200),
        ("pk_test_sandbox", 403),
        ("pk_live_sandbox", 403),
    ] {
        for told in [README, &guides] {
            assert!(told.contains(&format!("`{key}`")), "{key} is not told");
        }
        shop.get("/v1/merchant", Some(key)).expect(status);
    }
}

//! The official Standard Webhooks library verifies Coffer's messages with the secrets of the README.

use crate::support::{Shop, tools};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::process::Command;

/// Python program that verifies a message with the library. Exit code 0 means that the message is valid.
const VERIFY_SCRIPT: &str = "
import json, sys
from standardwebhooks import Webhook
secret, message = sys.argv[1], json.loads(sys.argv[2])
headers = {name.lower(): value for name, value in message['headers'].items()}
Webhook(secret).verify(message['body'], headers)
";

/// Returns `true` if the library accepts this message with this secret.
fn library_accepts_message(secret: &str, message: &Value) -> bool {
    let message = message.to_string();
    let output = Command::new("python3").args(["-c", VERIFY_SCRIPT, secret, &message]).output();
    output.unwrap().status.success()
}

#[test]
fn official_library_verifies_every_form_of_secret() {
    let program = "import standardwebhooks; print('there')";
    let untested = "verification by the official library";
    if tools::tool_output("python3", &["-c", program], untested).is_none() {
        return;
    }
    let shop = Shop::open();
    let inbox = |name: &str| format!("{}/sandbox/inbox/{name}", shop.url());
    shop.update_account(json!({ "endpoints": [
        { "url": inbox("usual") },
        { "url": inbox("plain"), "secret": "a plain secret" },
    ] }));
    shop.create_invoice("1.00", json!({ "webhookUrl": inbox("own") }));
    shop.advance("0s");
    let usual = "whsec_Y29mZmVyIHNhbmRib3ggZW5kcG9pbnQh".to_owned();
    let encoded = |secret: &str| STANDARD.encode(secret);
    for (name, secret, wrong) in [
        ("usual", usual, encoded("a plain secret")),
        ("plain", encoded("a plain secret"), "a plain secret".to_owned()),
        ("own", encoded("legacy_sandbox"), "legacy_sandbox".to_owned()),
    ] {
        let path = format!("/sandbox/inbox/{name}");
        let told = shop.get(&path, None).expect(200).json();
        let message = &told["data"][0];
        assert!(library_accepts_message(&secret, message), "{name}: {message}");
        assert!(!library_accepts_message(&wrong, message), "{name}");
        let mut other = message.clone();
        other["body"] = json!(format!("{} ", message["body"].as_str().unwrap()));
        assert!(!library_accepts_message(&secret, &other), "{name}: another body");
    }
}

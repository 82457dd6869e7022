//! Tests that kill the server with `kill -9` while it stores transactions. Afterwards the file has all outputs of a
//! transaction or none.
//!
//! Invariant: the server is killed after a fixed number of responses, so the test does not depend on timing.

use super::operator::FOREIGN;
use crate::support::audit::assert_audit_clean;
use crate::support::database::text_column;
use crate::support::process::start_sandbox;
use crate::support::scratch::Scratch;
use crate::support::{TEST, agent, send};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::mpsc::channel;

/// Number of times that the server is killed.
const KILLS: usize = 5;
/// Number of responses from the server before each kill.
const RESPONSES_PER_KILL: usize = 40;

/// Posts JSON; `None` where no response arrived.
fn post(url: &str, path: &str, body: &Value) -> Option<Value> {
    let request = agent().post(format!("{url}{path}")).header("X-API-Key", TEST);
    let mut response = request.send(body.to_string()).ok()?;
    let text = response.body_mut().read_to_string().ok()?;
    let answer: Value = serde_json::from_str(&text).ok()?;
    assert!(response.status().is_success(), "{path} {body}: {answer}");
    Some(answer)
}

/// Sends transactions until the process ends. Each transaction has three outputs to a new invoice and one output to a
/// foreign address. After each transaction, moves its outputs to other states.
fn send_until_exit(
    url: &str,
    round: usize,
    answered: &impl Fn(Option<(String, Value)>),
) -> Option<()> {
    for number in 0.. {
        let order = json!({ "amount": "180.00", "currency": "EUR", "asset": "BTC" });
        let invoice = post(url, "/v1/invoices", &order)?;
        let txid = format!("t-{round}-{number}");
        let pays = json!({ "invoice": invoice["id"], "amount": "0.001" });
        let lost = json!({ "address": FOREIGN, "asset": "BTC", "amount": "0.001" });
        let body = json!({ "txid": txid, "outputs": [pays, pays, pays, lost] });
        let put = post(url, "/sandbox/payments", &body)?["data"].clone();
        answered(Some((txid, body)));
        for (at, payment) in put.as_array().unwrap().iter().enumerate() {
            let steps = ["confirmed", "orphaned", "replaced"];
            for state in &steps[..=(number + at) % 3] {
                let path = format!("/sandbox/payments/{}", payment["id"].as_str().unwrap());
                post(url, &path, &json!({ "state": state }))?;
                answered(None);
            }
        }
    }
    None
}

#[test]
fn transaction_is_stored_atomically() {
    let scratch = Scratch::new();
    let file = scratch.path("coffer.db");
    let path = file.to_str().unwrap();
    let mut acknowledged = BTreeMap::new();
    for round in 0..KILLS {
        let (mut process, url) = start_sandbox("127.0.0.1:0", &["--file", path]);
        let (answered, answers) = channel();
        std::thread::scope(|scope| {
            for client_number in 0..3 {
                let (url, answered) = (&url, answered.clone());
                let round = round * 3 + client_number;
                scope.spawn(move || {
                    send_until_exit(url, round, &|answer| answered.send(answer).unwrap());
                });
            }
            drop(answered);
            let mut count = 0;
            for answer in answers {
                acknowledged.extend(answer);
                count += 1;
                if count == RESPONSES_PER_KILL {
                    process.kill();
                }
            }
        });
        assert_audit_clean(&file);
        let torn = "select concat(txid, ': ', count(*)) from observations where txid glob 't-*' group by txid having count(*) <> 4";
        assert_eq!(text_column(&file, torn), Vec::<String>::new());
    }
    // Every acknowledged payment is in the file.
    let (mut process, url) = start_sandbox("127.0.0.1:0", &["--file", path]);
    for body in acknowledged.values() {
        let target = format!("{url}/sandbox/payments");
        send(&agent(), "POST", &target, &[], &body.to_string()).expect(200);
    }
    assert!(acknowledged.len() > KILLS);
    assert!(process.close_input_and_wait());
    assert_audit_clean(&file);
}

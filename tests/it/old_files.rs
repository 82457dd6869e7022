//! Files of older versions: each is brought up to date, is right then, and is gone on from.
//!
//! `tests/golden/files/v1.db` was made by the first version: a sandbox in both modes, with invoices of every status,
//! payments that were confirmed, orphaned, replaced and dropped, and events that wait to be delivered.

use crate::process::{Process, sandbox};
use crate::support::scratch::Scratch;
use crate::support::{Answer, LIVE, TEST, agent, send};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The old file.
const V1: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/files/v1.db");

/// Rows of what a merchant was told, which no upgrade may change.
const TOLD: [&str; 7] = [
    "select account || mode || type || body from events order by seq",
    "select id || status || amount || currency || coalesce(amount_received, '') from invoices order by seq",
    "select id || state || txid || amount from payments order by seq",
    "select id || kind || amount || coalesce(payment, '') from ledger order by seq",
    "select pool || address || coalesce(invoice, '') from addresses order by address",
    "select mode || currency || available || sales || fees from balances order by mode, currency",
    "select client_key || answer from idempotency order by client_key, mode",
];

/// A copy of the old file: the one in the repository is never opened, which would leave files beside it.
fn copied(scratch: &Scratch, name: &str) -> PathBuf {
    let file = scratch.path(name);
    std::fs::copy(V1, &file).unwrap();
    file
}

/// A text column of every row.
#[track_caller]
fn column(file: &Path, statement: &str) -> Vec<String> {
    let conn = Connection::open(file).unwrap();
    let mut rows = conn.prepare(statement).unwrap();
    let rows = rows.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

fn audit(file: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coffer"));
    command.args(["audit", "--file"]).arg(file);
    command.output().unwrap()
}

#[track_caller]
fn is_right(file: &Path) {
    let output = audit(file);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && printed.starts_with("nothing found in "),
        "{output:?}"
    );
}

/// A sandbox on this file, and its url.
#[track_caller]
fn opened(file: &Path) -> (Process, String) {
    sandbox("127.0.0.1:0", &["--file", file.to_str().unwrap()])
}

#[track_caller]
fn call(url: &str, method: &str, path: &str, key: &str, body: &Value) -> Answer {
    let body = if body.is_null() {
        String::new()
    } else {
        body.to_string()
    };
    let path = format!("{url}{path}");
    send(&agent(), method, &path, &[("X-API-Key", key)], &body)
}

#[test]
fn an_old_file_is_brought_up_to_date_and_is_right() {
    let scratch = Scratch::new();
    let (file, old) = (copied(&scratch, "file.db"), copied(&scratch, "old.db"));
    let refused = audit(&file);
    assert_eq!(refused.status.code(), Some(1));
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("the file is of version 1"), "{said}");
    let (mut process, url) = opened(&file);
    is_right(&file);
    for key in [TEST, LIVE] {
        let mode = if key == TEST { "test" } else { "live" };
        let kept = format!("select id from invoices where mode = '{mode}' order by seq desc");
        let list = call(&url, "GET", "/v1/invoices?limit=100", key, &Value::Null).expect(200);
        let list = list.json();
        let shown = list["data"].as_array().unwrap().iter();
        let shown: Vec<_> = shown.map(|one| one["id"].as_str().unwrap()).collect();
        assert_eq!(shown, column(&old, &kept));
        let kept = format!("select body from events where mode = '{mode}' order by seq");
        let ids = format!("select id from events where mode = '{mode}' order by seq");
        let events = column(&old, &ids).into_iter();
        for (id, body) in events.zip(column(&old, &kept)) {
            let path = format!("/v1/events/{id}");
            let event = call(&url, "GET", &path, key, &Value::Null).expect(200);
            assert_eq!(event.text, body, "byte for byte");
        }
    }
    assert!(process.close());
    is_right(&file);
    for statement in TOLD {
        assert_eq!(
            column(&file, statement),
            column(&old, statement),
            "{statement}"
        );
    }
}

#[test]
fn an_old_file_has_the_schema_of_a_new_one() {
    let scratch = Scratch::new();
    let (file, new) = (copied(&scratch, "file.db"), scratch.path("new.db"));
    for path in [&file, &new] {
        let (mut process, _) = opened(path);
        assert!(process.close());
    }
    let schema = "select type || ' ' || name || ': ' || coalesce(sql, '') from sqlite_schema order by type, name";
    assert_eq!(column(&file, schema), column(&new, schema));
    let version = "select cast(user_version as text) from pragma_user_version";
    assert_eq!(column(&file, version), column(&new, version));
}

#[test]
fn an_old_sandbox_has_an_operator_and_a_reseller_as_a_new_one() {
    let scratch = Scratch::new();
    let file = copied(&scratch, "file.db");
    // Opened twice: they are made once.
    for _ in 0..2 {
        let (mut process, url) = opened(&file);
        let body = json!({ "email": "operator@sandbox.test", "password": "sandbox" });
        let session = format!("{url}/dashboard/api/session");
        send(&agent(), "POST", &session, &[], &body.to_string()).expect(201);
        let bearer = [("Authorization", "Bearer rt_sandbox")];
        let servers = format!("{url}/reseller/servers");
        send(&agent(), "GET", &servers, &bearer, "").expect(200);
        assert!(process.close());
    }
    is_right(&file);
}

#[test]
fn an_old_file_is_gone_on_from() {
    let scratch = Scratch::new();
    let (file, old) = (copied(&scratch, "file.db"), copied(&scratch, "old.db"));
    let (mut process, url) = opened(&file);
    let taken: BTreeSet<_> = column(&old, "select address from addresses")
        .into_iter()
        .collect();
    let post = |path: &str, key: &str, body: Value| call(&url, "POST", path, key, &body);
    // Who asks again is answered as before.
    let body = json!({ "amount": "41.00", "currency": "EUR", "orderId": "open" });
    let again = post("/v1/invoices", TEST, body).expect(200).json();
    let mut handed_out = BTreeSet::new();
    for (key, asset) in [TEST, LIVE]
        .into_iter()
        .flat_map(|key| ["BTC", "ETH", "TRX", "SOL", "DOGE"].map(|asset| (key, asset)))
    {
        let body = json!({ "amount": "50.00", "currency": "EUR", "asset": asset });
        let made = post("/v1/invoices", key, body).expect(201).json();
        let address = made["depositAddress"].as_str().unwrap().to_owned();
        assert!(!taken.contains(&address), "{address} handed out twice");
        assert!(handed_out.insert(address), "handed out twice");
    }
    // What was on its way arrives, and an open invoice is paid.
    let seen = "select id from payments where state = 'seen' order by seq";
    for payment in column(&old, seen) {
        let path = format!("/sandbox/payments/{payment}");
        post(&path, TEST, json!({ "state": "confirmed" })).expect(200);
    }
    let path = format!("/v1/invoices/{}/simulate", again["id"].as_str().unwrap());
    let paid = post(&path, TEST, json!({ "case": "exact" })).expect(200);
    assert_eq!(paid.json()["status"], "confirmed");
    // What the first version did not have.
    let path = "/v1/customers/anna/addresses";
    post(path, TEST, Value::Null).expect(201);
    let path = "/v1/customers/anna/simulate";
    post(path, TEST, json!({ "asset": "ETH", "amount": "0.1" })).expect(201);
    let payout = post("/v1/payouts", LIVE, json!({ "amount": "20.00" })).expect(201);
    let path = format!("/sandbox/payouts/{}", payout.json()["id"].as_str().unwrap());
    for action in ["approve", "process", "pay"] {
        post(&path, LIVE, json!({ "action": action })).expect(200);
    }
    is_right(&file);
    assert!(process.close());
    is_right(&file);
}

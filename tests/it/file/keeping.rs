//! `coffer backup` and `coffer restore`: backups under load, killed backups, and restores of an older copy.

use crate::support::audit_log::record_direct_writes;
use crate::support::command::{run_coffer, run_coffer_failing};
use crate::support::database::{execute_sql, query_value, text_column};
use crate::support::sandbox_file::start_on_file;
use crate::support::scratch::{Scratch, path_text};
use crate::support::{LIVE, TEST, agent, send};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// Number of connections that write during the copies.
const WRITERS: usize = 8;
/// Number of copies made while clients write.
const BACKUP_COUNT: usize = 4;

/// Builds a command of the binary on this file.
fn coffer_command(command: &str, file: &Path, more: &[&str]) -> Command {
    let mut coffer = Command::new(env!("CARGO_BIN_EXE_coffer"));
    coffer.args([command, "--log", "warn", "--file"]);
    coffer.arg(file).args(more);
    coffer
}

/// Sends a request that must succeed, and returns the response.
#[track_caller]
fn post_json(url: &str, path: &str, key: Option<&str>, body: &Value) -> Value {
    let headers: Vec<_> = key.map(|key| ("X-API-Key", key)).into_iter().collect();
    let body = body.to_string();
    let answer = send(&agent(), "POST", &format!("{url}{path}"), &headers, &body);
    assert!(answer.status < 300, "{path}: {}", answer.text);
    answer.json()
}

/// Creates an invoice in BTC and returns its address.
#[track_caller]
fn create_invoice_address(url: &str, key: &str) -> String {
    let body = json!({ "amount": "20.00", "currency": "EUR", "asset": "BTC" });
    let invoice = post_json(url, "/v1/invoices", Some(key), &body);
    invoice["depositAddress"].as_str().unwrap().to_owned()
}

#[test]
fn backup_under_load_has_all_acknowledged_writes() {
    let scratch = Scratch::new();
    let file = scratch.path("shop.db");
    let (_process, url) = start_on_file(&file);
    let (made, stop) = (Mutex::new(BTreeSet::new()), AtomicBool::new(false));
    std::thread::scope(|scope| {
        for _ in 0..WRITERS {
            scope.spawn(|| {
                let agent = agent();
                let body = json!({ "amount": "20.00", "currency": "EUR", "asset": "SOL" });
                let (body, target) = (body.to_string(), format!("{url}/v1/invoices"));
                while !stop.load(Ordering::SeqCst) {
                    let answer = send(&agent, "POST", &target, &[("X-API-Key", TEST)], &body);
                    let id = answer.expect(201).id();
                    made.lock().unwrap().insert(id);
                }
            });
        }
        for number in 0..BACKUP_COUNT {
            let copy = scratch.path(&format!("copy{number}.db"));
            let acknowledged = made.lock().unwrap().clone();
            let printed = run_coffer(&file, &["backup", path_text(&copy)]);
            assert!(printed.contains("is whole"), "{printed}");
            assert!(run_coffer(&copy, &["audit"]).starts_with("nothing found"));
            let ids = BTreeSet::from_iter(text_column(&copy, "select id from invoices"));
            assert!(ids.is_superset(&acknowledged), "copy {number}");
        }
        stop.store(true, Ordering::SeqCst);
    });
    assert!(run_coffer(&file, &["audit"]).starts_with("nothing found"));
    let copy = scratch.path("copy0.db");
    assert!(run_coffer_failing(&file, &["backup", path_text(&copy)]).contains("--force"));
    run_coffer(&file, &["backup", path_text(&copy), "--force"]);
    let missing = scratch.path("missing.db");
    let error = run_coffer_failing(&missing, &["backup", path_text(&copy), "--force"]);
    assert!(error.contains("does not exist"));
}

#[test]
fn killed_backup_leaves_no_copy() {
    let scratch = Scratch::new();
    let file = scratch.path("shop.db");
    let (_process, url) = start_on_file(&file);
    for _ in 0..50 {
        create_invoice_address(&url, TEST);
    }
    let copy = scratch.path("copy.db");
    for _ in 0..10 {
        let mut child = coffer_command("backup", &file, &[path_text(&copy), "--force"])
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let temporary = scratch.path("copy.db-copying");
        while !temporary.exists() && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        if copy.exists() {
            assert!(run_coffer(&copy, &["audit"]).starts_with("nothing found"));
        }
    }
    run_coffer(&file, &["backup", path_text(&copy), "--force"]);
    assert!(!scratch.path("copy.db-copying").exists());
}

#[test]
fn concurrent_backups_to_one_path_write_a_complete_copy() {
    let scratch = Scratch::new();
    let file = scratch.path("shop.db");
    let (_process, url) = start_on_file(&file);
    for _ in 0..20 {
        create_invoice_address(&url, TEST);
    }
    let copy = scratch.path("copy.db");
    // The test holds the lock of the temporary file, like another running backup. The command must leave this file
    // unchanged.
    let temporary = scratch.path("copy.db-copying");
    std::fs::write(&temporary, "half a copy").unwrap();
    let lock = std::fs::File::create(scratch.path("copy.db-copying-lock")).unwrap();
    lock.try_lock().unwrap();
    let said = run_coffer_failing(&file, &["backup", path_text(&copy), "--force"]);
    assert!(said.contains("in use by another coffer"), "{said}");
    assert_eq!(std::fs::read_to_string(&temporary).unwrap(), "half a copy");
    drop(lock);
    // Several backups write to one path at once. The copy is always complete, and no temporary file remains.
    for _ in 0..5 {
        let all: Vec<_> = (0..4)
            .map(|_| {
                let mut backup = coffer_command("backup", &file, &[path_text(&copy), "--force"]);
                let quiet = backup.stdout(Stdio::null()).stderr(Stdio::null());
                quiet.spawn().unwrap()
            })
            .collect();
        let ended = all.into_iter().map(|mut child| child.wait().unwrap());
        assert!(ended.filter(|status| status.success()).count() > 0);
        assert!(run_coffer(&copy, &["audit"]).starts_with("nothing found in 20 "));
    }
    assert!(!temporary.exists() && !scratch.path("copy.db-copying-lock").exists());
}

/// Creates payments, addresses, undelivered webhooks and an approved payout. Returns the path of the payout.
fn create_payments_webhooks_and_payout(
    url: &str,
    file: &Path,
    handed_out: &mut BTreeSet<String>,
) -> String {
    // Nothing listens at the endpoint, so its deliveries stay pending.
    let endpoints = json!({ "endpoints": [{ "url": "http://127.0.0.1:9/" }] }).to_string();
    let settings = format!("{url}/sandbox/account");
    send(&agent(), "PATCH", &settings, &[], &endpoints).expect(200);
    let body = json!({ "amount": "500.00", "currency": "EUR" });
    let invoice = post_json(url, "/v1/invoices", Some(LIVE), &body);
    let body = json!({ "invoice": invoice["id"] });
    let payment = post_json(url, "/sandbox/payments", None, &body);
    let path = format!("/sandbox/payments/{}", payment["id"].as_str().unwrap());
    post_json(url, &path, None, &json!({ "state": "confirmed" }));
    let body = post_json(url, "/v1/payouts", Some(LIVE), &json!({ "amount": "50.00" }));
    let payout = format!("/sandbox/payouts/{}", body["id"].as_str().unwrap());
    post_json(url, &payout, None, &json!({ "action": "approve" }));
    for key in [TEST, LIVE] {
        handed_out.insert(create_invoice_address(url, key));
    }
    let imported = "insert into pool_addresses (pool, address, state, imported_at) values ('solana', 'a', 'free', 0)";
    execute_sql(file, imported);
    record_direct_writes(file);
    payout
}

#[test]
fn restored_copy_reuses_no_address_and_resends_nothing() {
    let scratch = Scratch::new();
    let (file, copy) = (scratch.path("shop.db"), scratch.path("copy.db"));
    let mut handed_out = BTreeSet::new();
    let (mut process, url) = start_on_file(&file);
    let payout = create_payments_webhooks_and_payout(&url, &file, &mut handed_out);
    run_coffer(&file, &["backup", path_text(&copy)]);
    // The copy lacks these changes, because they happen after it was made.
    post_json(&url, &payout, None, &json!({ "action": "process" }));
    post_json(&url, &payout, None, &json!({ "action": "pay" }));
    for _ in 0..20 {
        for key in [TEST, LIVE] {
            handed_out.insert(create_invoice_address(&url, key));
        }
    }
    let in_use = run_coffer_failing(&file, &["restore", path_text(&copy), "--force"]);
    assert!(in_use.contains("in use"), "{in_use}");
    assert!(process.close_input_and_wait());
    let before = std::fs::read(&file).unwrap();
    assert!(run_coffer_failing(&file, &["restore", path_text(&copy)]).contains("--force"));
    let planned = run_coffer(&file, &["restore", path_text(&copy), "--dry-run"]);
    assert!(planned.contains("1 payouts and refunds would be held"), "{planned}");
    assert_eq!(std::fs::read(&file).unwrap(), before, "a dry run changes nothing");
    let done = run_coffer(&file, &["restore", path_text(&copy), "--force"]);
    for line in [
        "test bitcoin addresses go on from index 1021 (1 in the copy, 21 in the replaced file)\n",
        "1 pool addresses retired",
        "1 payouts and refunds held",
        "deliveries given up",
    ] {
        assert!(done.contains(line), "{line}: {done}");
    }
    assert!(run_coffer(&file, &["audit"]).starts_with("nothing found"));
    let (_process, url) = start_on_file(&file);
    for _ in 0..40 {
        for key in [TEST, LIVE] {
            assert!(handed_out.insert(create_invoice_address(&url, key)), "handed out twice");
        }
    }
    assert_payout_stays_held(&url, &file, &payout);
}

/// Asserts that a payout of a restored file stays held until an operator decides, and that no webhook or payout is
/// sent again.
#[track_caller]
fn assert_payout_stays_held(url: &str, file: &Path, payout: &str) {
    let sending = || query_value::<Option<String>>(file, "select sending from transfers");
    assert_eq!(sending().as_deref(), Some("restored"));
    let release = json!({ "action": "release" });
    post_json(url, payout, None, &release);
    assert_eq!(sending(), None);
    let path = format!("{url}{payout}");
    let again = send(&agent(), "POST", &path, &[], &release.to_string());
    again.assert_error(409, "invalid_transition", Some("action"));
    let webhooks = send(&agent(), "GET", &format!("{url}/sandbox/webhooks"), &[], "").json();
    let given_up = webhooks["data"].as_array().unwrap().iter();
    let given_up = given_up.filter(|delivery| delivery["state"] == "failed");
    assert!(given_up.count() > 0);
}

#[test]
fn restore_rejects_a_wrong_copy() {
    let scratch = Scratch::new();
    let (file, copy) = (scratch.path("shop.db"), scratch.path("copy.db"));
    {
        let (mut process, url) = start_on_file(&file);
        create_invoice_address(&url, TEST);
        assert!(process.close_input_and_wait());
    }
    run_coffer(&file, &["backup", path_text(&copy)]);
    execute_sql(&copy, "update invoices set amount_received = '7'");
    let other = scratch.path("other.db");
    let wrong = run_coffer_failing(&other, &["restore", path_text(&copy)]);
    assert!(wrong.contains("rule 3: invoice") && !other.exists(), "{wrong}");
    std::fs::write(&copy, b"SQLite format 3\0 and then nothing of the kind").unwrap();
    run_coffer_failing(&other, &["restore", path_text(&copy), "--force"]);
    assert!(!other.exists());
}

#[test]
fn backup_does_not_overwrite_a_wal() {
    let scratch = Scratch::new();
    let (file, copy) = (scratch.path("shop.db"), scratch.path("copy.db"));
    let (_process, url) = start_on_file(&file);
    let make = || {
        post_json(&url, "/v1/invoices", Some(TEST), &json!({ "amount": "1.00", "currency": "EUR" }))
    };
    make();
    run_coffer(&file, &["backup", path_text(&copy)]);
    for suffix in ["-wal", "-shm", "-lock"] {
        let beside = scratch.path(&format!("shop.db{suffix}"));
        let link = scratch.path(&format!("link{suffix}.db"));
        std::os::unix::fs::symlink(&beside, &link).unwrap();
        for to in [&beside, &link] {
            let why = run_coffer_failing(&copy, &["backup", path_text(to), "--force"]);
            assert!(why.contains("has a name that is kept for files beside a database"), "{why}");
            run_coffer_failing(to, &["restore", path_text(&copy), "--force"]);
        }
        make();
    }
    let listed = send(&agent(), "GET", &format!("{url}/v1/invoices"), &[("X-API-Key", TEST)], "");
    assert_eq!(listed.expect(200).json()["data"].as_array().unwrap().len(), 4);
}

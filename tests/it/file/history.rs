//! The hash chain over the ledger and the audit log. The audit finds edits. A chain head that was saved elsewhere
//! proves that the rows up to it are unchanged.

use super::audit::{findings, shop_with_every_feature};
use crate::support::command::{coffer_output, run_coffer, run_coffer_failing};
use crate::support::database::{copy_database, text_column};
use crate::support::scratch::Scratch;
use crate::support::{LIVE, Shop};
use rusqlite::Connection;
use serde_json::json;
use std::path::Path;

/// Runs a command that must succeed, and returns the chain heads that it prints.
#[track_caller]
fn printed_chain_heads(file: &Path, args: &[&str]) -> Vec<String> {
    let printed = run_coffer(file, args);
    let heads = printed.lines().filter_map(|line| line.strip_prefix("head "));
    heads.map(str::to_owned).collect()
}

/// Edits a file with its constraints disabled.
#[track_caller]
fn edit_file(file: &Path, statement: &str) {
    let conn = Connection::open(file).unwrap();
    conn.execute_batch("pragma foreign_keys = off; pragma ignore_check_constraints = on").unwrap();
    conn.execute_batch(statement).unwrap();
    assert!(conn.total_changes() > 0, "{statement} changed nothing");
}

/// Edits a copy of the file, and asserts a finding of audit rule 9 about the row `about`.
#[track_caller]
fn assert_edit_found(original: &Path, statement: &str, about: &str) {
    let scratch = Scratch::new();
    let file = scratch.path("edited.db");
    std::fs::copy(original, &file).unwrap();
    edit_file(&file, statement);
    let found = findings(&file);
    let begin = format!("rule 9: {about} is ");
    assert!(found.iter().any(|line| line.starts_with(&begin)), "{statement}: {found:#?}");
}

#[test]
fn each_edited_column_of_a_chained_row_is_found() {
    let (shop, scratch) = (shop_with_every_feature(), Scratch::new());
    let file = scratch.path("file.db");
    copy_database(shop.file(), &file);
    for (table, columns, other) in [
        ("ledger", &["id", "mode", "currency", "kind", "ref_type", "ref_id", "memo"][..], "'x'"),
        (
            "ledger",
            &[
                "account",
                "amount",
                "fee_bps",
                "payment",
                "deposit",
                "transfer",
                "reverses",
                "sale_fee_bps",
                "created_at",
            ],
            "7777",
        ),
        ("audit_log", &["actor", "action", "object_id", "detail", "states"], "'{\"x\":null}'"),
        ("audit_log", &["at", "account"], "7777"),
    ] {
        for column in columns {
            let edit = format!("update {table} set {column} = {other} where seq = 3");
            assert_edit_found(&file, &edit, &format!("{table} 3"));
        }
        assert_edit_found(
            &file,
            &format!("update {table} set link = zeroblob(33) where seq = 3"),
            &format!("{table} 3"),
        );
        assert_edit_found(
            &file,
            &format!("delete from {table} where seq in (3, 4)"),
            &format!("{table} 5"),
        );
        assert_edit_found(
            &file,
            &format!("delete from {table} where seq < 3"),
            &format!("{table} 3"),
        );
    }
    let added =
        "insert into ledger (link, id, account, mode, currency, amount, kind, ref_type, created_at)
        values (zeroblob(33), 'x', 1, 'live', 'EUR', 5, 'adjustment', 'admin', 0)";
    let last = text_column(&file, "select cast(max(seq) + 1 as text) from ledger");
    assert_edit_found(&file, added, &format!("ledger {}", last[0]));
}

#[test]
fn audit_verifies_rows_up_to_a_saved_chain_head() {
    let (shop, scratch) = (shop_with_every_feature(), Scratch::new());
    let copy = scratch.path("copy.db");
    let noted = printed_chain_heads(shop.file(), &["backup", copy.to_str().unwrap()]);
    assert_eq!(noted, printed_chain_heads(&copy, &["audit"]));
    assert_eq!(noted.len(), 2, "{noted:?}");
    let funded = shop.fund_balance(LIVE, "40.00", "EUR");
    shop.create_refund(&funded, Some("5.00"));
    let [ledger, audit_log] = [&noted[0], &noted[1]];
    let both = ["audit", "--head", ledger.as_str(), "--head", audit_log];
    let now = printed_chain_heads(shop.file(), &both);
    assert!(now[0] != *ledger && now[1] != *audit_log);
    // The older copy is consistent, but it lacks the row of the newer chain head.
    let output = coffer_output(&copy, &["audit", "--skip-addresses", "--head", &now[0]]);
    assert_eq!(output.code, Some(1));
    assert!(output.printed.contains("is not part of this history"), "{}", output.printed);
    let other =
        format!("{}{}", &ledger[..ledger.len() - 1], if ledger.ends_with('0') { '1' } else { '0' });
    run_coffer_failing(shop.file(), &["audit", "--head", &other]);
    let wrong = coffer_output(shop.file(), &["audit", "--head", "ledger:1"]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.errors.contains("a head looks like ledger:120:"));
}

#[test]
fn audit_explains_a_chain_head_lost_by_restore() {
    let (shop, scratch) = (shop_with_every_feature(), Scratch::new());
    let (copy, file) = (scratch.path("copy.db"), scratch.path("file.db"));
    let kept = printed_chain_heads(shop.file(), &["backup", copy.to_str().unwrap()]);
    shop.fund_balance(LIVE, "40.00", "EUR");
    let lost = printed_chain_heads(shop.file(), &["backup", file.to_str().unwrap()]);
    shop.fund_balance(LIVE, "50.00", "EUR");
    printed_chain_heads(shop.file(), &["backup", file.to_str().unwrap(), "--force"]);
    run_coffer(&file, &["restore", copy.to_str().unwrap(), "--force"]);
    printed_chain_heads(&file, &["audit", "--head", &kept[0], "--head", &kept[1]]);
    let output = coffer_output(&file, &["audit", "--head", &lost[0]]);
    assert_eq!(output.code, Some(1));
    let why = "is of a file that was restored from an older copy on 20";
    assert!(output.printed.contains(why), "{}", output.printed);
}

#[test]
fn sandbox_reset_starts_a_new_hash_chain() {
    let shop = shop_with_every_feature();
    shop.post("/sandbox/reset", None, json!({})).expect(200);
    shop.assert_audit_clean();
    let empty = printed_chain_heads(shop.file(), &["audit"]);
    assert!(empty[0].starts_with("ledger:0:1:"), "{empty:?}");
    shop.post("/sandbox/clock", None, json!({ "frozen": true })).expect(200);
    shop.fund_balance(LIVE, "40.00", "EUR");
    printed_chain_heads(shop.file(), &["audit", "--head", &empty[0]]);
}

#[test]
fn commands_continue_the_hash_chain_of_a_running_server() {
    let shop = Shop::open();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..20 {
                shop.fund_balance(LIVE, "10.00", "EUR");
                // The first payout stays open, so each later payout request is rejected.
                shop.request_payout("5.00");
            }
        });
        for number in 0..5 {
            let name = format!("Shop {number}");
            run_coffer(shop.file(), &["account", "create", &name, "--sandbox"]);
            let id = shop.query_text("select id from accounts order by seq desc limit 1");
            run_coffer(shop.file(), &["account", "approve", &id, "--sandbox"]);
        }
    });
    shop.assert_audit_clean();
}

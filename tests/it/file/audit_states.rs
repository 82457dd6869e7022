//! `coffer audit` finds edits of accounts, keys, users, wallets, pools, payout addresses and settings, because the
//! audit log has a hash of each value.

use super::audit::findings;
use crate::operator::wallets::{ZPUB, run_wallet_command};
use crate::support::audit::assert_audit_clean;
use crate::support::audit_log::record_direct_writes;
use crate::support::database::copy_database;
use crate::support::operator_interface::OperatorInterface;
use crate::support::scratch::Scratch;
use crate::support::surfpool::address_without_key;
use rusqlite::Connection;
use serde_json::json;
use std::path::Path;

/// Opens a sandbox in which an operator has changed a value of each kind.
fn interface_with_changes() -> OperatorInterface {
    let interface = OperatorInterface::open();
    let operator = |method: &str, path: &str, body| {
        let path = format!("/dashboard/api/{path}");
        let answer = interface.send_as_operator(method, &path, &body);
        assert!(answer.status < 300, "{path}: {}", answer.text);
    };
    let settings = json!({
        "maintenance": true, "networkFees": { "LTC": "0.0002" }, "confirmations": { "BTC": [{ "confirmations": 6 }] },
    });
    for (name, value) in settings.as_object().unwrap() {
        operator("PUT", "settings", json!({ name: value }));
    }
    operator("PUT", "coins/DOGE", json!({ "enabled": false }));
    for numbers in [[1, 2], [3, 4]] {
        let body = json!({ "addresses": numbers.map(address_without_key) });
        operator("POST", "pools/solana/addresses", body);
    }
    let account = format!("accounts/{}", interface.account);
    operator("PATCH", &account, json!({ "payoutDailyLimit": "500.00" }));
    // The test inserted further users directly, so the audit log still lacks the hashes of these users.
    record_direct_writes(interface.shop.file());
    interface.shop.assert_audit_clean();
    interface
}

/// Edits a copy of the file, and asserts an audit finding that starts with `begin`, or no finding if `begin` is
/// empty.
#[track_caller]
fn assert_edit_found(original: &Path, edit: &str, begin: &str) {
    let scratch = Scratch::new();
    let file = scratch.path("edited.db");
    copy_database(original, &file);
    let conn = Connection::open(&file).unwrap();
    conn.execute_batch("pragma foreign_keys = off").unwrap();
    conn.execute_batch(edit).unwrap();
    assert!(conn.total_changes() > 0, "{edit} changed nothing");
    drop(conn);
    let found = findings(&file);
    let is_found = match begin {
        "" => found.is_empty(),
        begin => found.iter().any(|line| line.starts_with(&format!("rule 10: {begin}"))),
    };
    assert!(is_found, "{edit}: {found:#?}");
}

#[test]
fn replaced_key_hashes_are_found() {
    let interface = interface_with_changes();
    let file = interface.shop.file();
    assert_edit_found(file, "update keys set hash = randomblob(32)", "key ");
    assert_edit_found(file, "update keys set revoked_at = null, expires_at = 1", "key ");
    assert_edit_found(file, "update keys set mode = 'live' where mode = 'test'", "key ");
    let added = "insert into keys (id, account, class, mode, hash, last4, created_at)
        values ('added', 1, 'secret', 'live', randomblob(32), 'abcd', 0)";
    assert_edit_found(file, added, "key added is not in the audit log");
    assert_edit_found(file, "delete from keys where class = 'public'", "key ");
    assert_edit_found(file, "update keys set last_used_at = 7", "");
}

#[test]
fn edited_payout_addresses_and_limits_are_found() {
    let interface = interface_with_changes();
    let file = interface.shop.file();
    assert_edit_found(
        file,
        "update payout_addresses set address = 'elsewhere'",
        "payout_address 1 ",
    );
    assert_edit_found(file, "delete from payout_addresses", "payout_address 1 solana is not there");
    for limit in [
        "payout_daily_max = 100000000",
        "signer_max = null",
        "invoice_max = 100000000",
        "fee_bps = 0",
        "payout_min = 0",
    ] {
        assert_edit_found(file, &format!("update accounts set {limit}"), "account ");
    }
}

#[test]
fn edited_users_are_found() {
    let interface = interface_with_changes();
    let file = interface.shop.file();
    assert_edit_found(file, "update users set password_hash = password_hash || 'x'", "user ");
    assert_edit_found(
        file,
        "update users set role = 'operator', account = null where role = 'merchant'",
        "user ",
    );
    assert_edit_found(file, "update users set disabled_at = 1", "user ");
}

#[test]
fn edited_settings_and_pools_are_found() {
    let interface = interface_with_changes();
    let file = interface.shop.file();
    assert_edit_found(file, "update file set maintenance = 0", "maintenance ");
    assert_edit_found(file, "update network_fees set fee = '1'", "network_fee LTC ");
    assert_edit_found(file, "delete from network_fees", "network_fee LTC is not there");
    assert_edit_found(
        file,
        "insert into network_fees values ('BTC', '1')",
        "network_fee BTC is not in the audit log",
    );
    assert_edit_found(
        file,
        "update confirmation_tiers set confirmations = 1",
        "confirmations BTC ",
    );
    assert_edit_found(file, "delete from coins_off", "coin_off DOGE is not there");
    assert_edit_found(
        file,
        "update pool_addresses set address = 'elsewhere' where seq = 2",
        "pool solana 1-2 ",
    );
    assert_edit_found(file, "delete from pool_addresses where seq = 3", "pool solana 3-4 ");
    let added = "insert into pool_addresses (pool, address, state, imported_at) values ('solana', 'elsewhere', 'free', 0)";
    assert_edit_found(file, added, "pool solana is with 1 addresses that were not imported");
    assert_edit_found(file, "update pool_addresses set state = 'retired'", "");
}

#[test]
fn edited_wallet_is_found() {
    let scratch = Scratch::new();
    let file = scratch.path("file.db");
    run_wallet_command(&file, &["add", "bitcoin", "--yes"], ZPUB).json_lines();
    assert_audit_clean(&file);
    assert_edit_found(&file, "update wallets set key = randomblob(33)", "wallet ");
    assert_edit_found(&file, "update wallets set network = 'test'", "wallet ");
    assert_edit_found(&file, "update wallets set retired_at = 1", "wallet ");
    assert_edit_found(&file, "delete from wallets", "wallet ");
    assert_edit_found(&file, "update wallets set stopped_at = 1, stopped_index = 7", "");
    assert_edit_found(&file, "update wallets set next_index = 7", "");
}

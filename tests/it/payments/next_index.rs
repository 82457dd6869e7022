//! The next index of a wallet. The owner may move the next index, but never to an index that was or may have been
//! assigned.

use super::live_addresses::{
    NODES, derive_address, live_customer_addresses, open_shop, set_watched,
};
use crate::operator::wallets::{EVM_XPUB, ZPUB, run_wallet_command};
use crate::process::serve::start_server;
use crate::support::audit::assert_audit_clean;
use crate::support::command::run_coffer;
use crate::support::database::text_column;
use crate::support::operator_interface::OperatorInterface;
use coffer::domain::asset::Chain;
use serde_json::{Value, json};
use std::path::Path;

/// The highest index of a wallet.
const HIGHEST_INDEX: &str = "2147483647";

/// Adds the bitcoin wallet or moves its next index. Returns standard error, and the wallet if the command succeeded.
#[track_caller]
fn add_wallet(file: &Path, args: &[&str]) -> (String, Option<Value>) {
    let args = [&["add", "bitcoin", "--yes"], args].concat();
    let output = run_wallet_command(file, &args, ZPUB);
    let added = (output.code == Some(0)).then(|| output.json_lines().remove(0));
    (output.errors, added)
}

/// Moves the next index of the bitcoin wallet. Returns standard error and the new index.
#[track_caller]
fn move_index(file: &Path, args: &[&str]) -> (String, u64) {
    let (said, added) = add_wallet(file, args);
    assert!(added.is_some(), "{args:?}: {said}");
    let next = added.unwrap()["nextIndex"].as_u64();
    (said, next.unwrap())
}

/// Asserts that the command fails with a message that contains these words, and changes no wallet.
#[track_caller]
fn assert_rejected(file: &Path, args: &[&str], words: &[&str]) {
    let rows = || {
        text_column(
            file,
            "select concat_ws(' ', id, next_index, least_index, added_at) from wallets",
        )
    };
    let before = rows();
    let (said, added) = add_wallet(file, args);
    assert!(added.is_none(), "{args:?}");
    for words in words {
        assert!(said.contains(words), "{args:?}: {said}");
    }
    assert_eq!(rows(), before);
}

/// Returns the index changes in the audit log: action, new index and old index.
fn audit_entries(file: &Path) -> Vec<String> {
    let noted =
        "select concat_ws(' ', action, detail ->> 'nextIndex', detail ->> 'before') from audit_log
      where action like 'wallet.%' order by seq";
    text_column(file, noted)
}

fn address_at(index: u32) -> Vec<(String, String)> {
    vec![("utxo".to_owned(), derive_address(Chain::Bitcoin, ZPUB, index))]
}

#[test]
fn next_index_is_lowered_if_no_later_index_was_used() {
    let shop = open_shop();
    let file = shop.file();
    set_watched(&shop, "bitcoin");
    for far in ["100001", HIGHEST_INDEX] {
        assert_rejected(&file, &["--next", far], &["next must be at most 100000,", "--force"]);
    }
    assert_rejected(
        &file,
        &["--next", HIGHEST_INDEX],
        &["nothing is left to hand out behind 2147483647"],
    );
    let (said, next) = move_index(&file, &["--next", HIGHEST_INDEX, "--force"]);
    assert!(said.contains("2147483647 is its last index"), "{said}");
    assert_eq!(next.to_string(), HIGHEST_INDEX);
    let (said, next) = move_index(&file, &["--next", "10"]);
    assert!(said.contains("\nnext index 2147483647 -> 10\n"), "{said}");
    assert_eq!(next, 10);
    let (_server, url) = start_server(&file, &NODES);
    assert_eq!(live_customer_addresses(&shop, &url, "ada"), address_at(10));
    // An unchanged index is not logged.
    for args in [&[][..], &["--next", "11"], &["--next", "11"]] {
        let (said, next) = move_index(&file, args);
        assert!(next == 11 && !said.contains("->"), "{said}");
    }
    let (said, _) = move_index(&file, &["--next", "100011"]);
    assert!(said.contains("next index 11 -> 100011"), "{said}");
    for low in ["10", "0"] {
        let words = "next must be at least 11, as this wallet has handed out index 10";
        assert_rejected(&file, &["--next", low], &[words]);
        assert_rejected(&file, &["--next", low, "--force"], &[words]);
    }
    let far = ["--next", "200012"];
    assert_rejected(&file, &far, &["next must be at most 200011,"]);
    assert_eq!(move_index(&file, &["--next", "11"]).1, 11);
    assert_eq!(live_customer_addresses(&shop, &url, "bob"), address_at(11));
    let listed = run_wallet_command(&file, &["list"], "").json_lines().remove(0);
    let told = ["firstIndex", "nextIndex", "gapLimit"].map(|name| listed[name].clone());
    assert_eq!(told, [10, 12, 20]);
    let expected = [
        "wallet.add 2147483647",
        "wallet.resume 10 2147483647",
        "wallet.resume 11 11",
        "wallet.resume 11 11",
        "wallet.resume 11 11",
        "wallet.resume 100011 11",
        "wallet.resume 11 100011",
    ];
    assert_eq!(audit_entries(&file), expected);
    assert_audit_clean(&file);
}

#[test]
fn exhausted_wallet_reports_no_free_index() {
    let shop = open_shop();
    let file = shop.file();
    set_watched(&shop, "bitcoin");
    move_index(&file, &["--next", HIGHEST_INDEX, "--force"]);
    let (_server, url) = start_server(&file, &NODES);
    assert_eq!(live_customer_addresses(&shop, &url, "ada"), address_at(2_147_483_647));
    let (said, next) = move_index(&file, &[]);
    assert!(said.contains("no index of it is left"), "{said}");
    assert_eq!(next, 2_147_483_648);
    for low in ["0", HIGHEST_INDEX] {
        let words = [
            "no index of this wallet is left",
            "has handed out index 2147483647",
            "another account",
        ];
        assert_rejected(&file, &["--next", low], &words);
    }
    assert_audit_clean(&file);
}

#[test]
fn next_index_never_falls_below_the_restore_gap() {
    let shop = open_shop();
    let file = shop.file();
    set_watched(&shop, "bitcoin");
    let copy = file.with_extension("copy");
    let kept = |file: &Path| {
        let copy = copy.to_str().unwrap();
        run_coffer(file, &["backup", copy, "--force"]);
        run_coffer(file, &["restore", copy, "--force"]);
    };
    move_index(&file, &["--next", "5"]);
    // Each restore adds 1000 to the lowest allowed index: 5 + 1000, then 1005 + 1000.
    for least in [1005, 2005] {
        kept(&file);
        assert_eq!(move_index(&file, &[]).1, least);
        let below = (least - 1).to_string();
        let words = format!(
            "next must be at least {least}, as what is below may have been handed out after the copy"
        );
        assert_rejected(&file, &["--next", &below], &[&words]);
        assert_rejected(&file, &["--next", "0", "--force"], &[&words]);
        // An index that the owner set after the restore may be lowered again.
        move_index(&file, &["--next", "90000"]);
        assert_rejected(&file, &["--next", &below], &[&words]);
        assert_eq!(move_index(&file, &["--next", &least.to_string()]).1, least);
    }
    let (mut server, url) = start_server(&file, &NODES);
    assert_eq!(live_customer_addresses(&shop, &url, "ada"), address_at(2005));
    assert!(server.close_input_and_wait());
    assert_rejected(
        &file,
        &["--next", "2005"],
        &["next must be at least 2006, as this wallet has handed out index 2005"],
    );
    // For a wallet that is new to the file, the next index is above all indexes that may have been used.
    let evm = |args: &[&str]| {
        run_wallet_command(&file, &[&["add", "evm", "--yes"], args].concat(), EVM_XPUB)
    };
    for (next, expected) in [("0", 2000), ("4000", 4000), ("2000", 2000)] {
        assert_eq!(evm(&["--next", next]).json_lines()[0]["nextIndex"], expected);
    }
    let said = evm(&["--next", "1999"]).errors;
    assert!(said.contains("next must be at least 2000"), "{said}");
    // A wallet at the highest index has no index left after a restore.
    move_index(&file, &["--next", HIGHEST_INDEX, "--force"]);
    kept(&file);
    assert_rejected(
        &file,
        &["--next", "2006"],
        &["no index of this wallet is left: what is below may"],
    );
    assert_audit_clean(&file);
}

#[test]
fn operator_request_obeys_the_rules_of_the_next_index() {
    let interface = OperatorInterface::open();
    let send = |path: &str, next: Value| {
        let body = json!({ "chain": "bitcoin", "key": ZPUB, "next": next });
        interface.send_as_operator("POST", path, &body)
    };
    let (wallets, check) = ("/dashboard/api/wallets", "/dashboard/api/wallets/check");
    for path in [wallets, check] {
        for far in [100_001, 2_147_483_647] {
            send(path, json!(far)).assert_error(400, "invalid_request", Some("next"));
        }
    }
    let next = |answer: Value| answer["nextIndex"].as_u64().unwrap();
    for (wanted, expected) in [
        (json!(90_000), 90_000),
        (Value::Null, 90_000),
        (json!(10), 10),
        (json!(0), 0),
        (json!(100_000), 100_000),
        (json!(7), 7),
    ] {
        assert_eq!(next(send(check, wanted.clone()).expect(200).json()), expected);
        assert_eq!(next(send(wallets, wanted).expect(201).json()), expected);
    }
    // The new invoice gets an address of the wallet.
    let shop = &interface.shop;
    shop.post(
        "/v1/invoices",
        Some(crate::support::LIVE),
        json!({ "amount": "60.00", "currency": "EUR", "asset": "BTC" }),
    )
    .expect(201);
    shop.execute_sql("update addresses set wallet = (select seq from wallets where id is not null), wallet_index = 7");
    shop.execute_sql("update wallets set next_index = 8 where id is not null");
    for path in [wallets, check] {
        let low = send(path, json!(7));
        assert!(
            low.text.contains("must be at least 8, as this wallet has handed out index 7"),
            "{}",
            low.text
        );
        low.assert_error(400, "invalid_request", Some("next"));
    }
    assert_eq!(next(send(wallets, json!(8)).expect(201).json()), 8);
    let noted = shop.audit_entries("wallet.resume");
    let moves: Vec<_> = noted
        .iter()
        .map(|(_, _, detail)| (detail["before"].as_u64(), next(detail.clone())))
        .collect();
    assert_eq!(
        moves,
        [
            (Some(90_000), 90_000),
            (Some(90_000), 10),
            (Some(10), 0),
            (Some(0), 100_000),
            (Some(100_000), 7),
            (Some(8), 8)
        ]
    );
}

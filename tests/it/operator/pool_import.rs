//! `coffer pool`: import of addresses on the command line. An import with an invalid line imports nothing.

use super::wallets::{EVM_XPUB, parse_output, run_subcommand};
use crate::support::installation::Installation;
use crate::support::scratch::Scratch;
use crate::support::surfpool::address_without_key;
use rusqlite::Connection;
use serde_json::json;
use std::path::Path;
use std::process::Output;

/// Address of a Solana token account, which is derived and cannot sign.
const TOKEN_ACCOUNT_ADDRESS: &str = "5N3f1tj9v1vc5TUZ8S7mCAnVmjVKrfnzXWhxLaxyZAgt";

fn run_import(file: &Path, from: &str, input: &str) -> Output {
    run_subcommand("pool", file, &["import", "solana", from], input)
}

fn error_output(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Returns addresses, one per line.
fn address_lines(numbers: std::ops::Range<u32>) -> String {
    numbers.map(|number| address_without_key(number) + "\n").collect()
}

#[test]
fn pool_is_imported_from_a_file_or_standard_input_and_listed() {
    let scratch = Scratch::new();
    let (file, list) = (scratch.path("shop.db"), scratch.path("pool.txt"));
    std::fs::write(&list, format!("\n{}\r\n", address_lines(0..3))).unwrap();
    let first = run_import(&file, list.to_str().unwrap(), "");
    let imported = |added: u32, duplicates: u32, free: u32| json!({ "object": "pool_import", "pool": "solana", "added": added, "duplicates": duplicates, "free": free });
    assert_eq!(parse_output(&first), [imported(3, 0, 3)]);
    let unwatched = "solana is not watched yet, so none of these addresses is handed out: name a node by `coffer serve \
        --node solana=URL`";
    assert!(error_output(&first).contains(unwatched), "{}", error_output(&first));
    // The longer list has two new addresses and three that were imported before. Five addresses are free then.
    assert_eq!(parse_output(&run_import(&file, "-", &address_lines(0..5))), [imported(2, 3, 5)]);
    let listed = run_subcommand("pool", &file, &["list"], "");
    let pool =
        json!({ "object": "pool", "pool": "solana", "free": 5, "assigned": 0, "retired": 0 });
    assert_eq!(parse_output(&listed), std::slice::from_ref(&pool));
    let document = run_subcommand("pool", &file, &["list", "--json"], "");
    assert_eq!(parse_output(&document), [json!({ "data": [pool] })]);
    let conn = Connection::open(&file).unwrap();
    let noted: String = conn
        .query_row(
            "select group_concat(actor || ' ' || object_id || ' ' || detail) from audit_log where action = 'pool.import'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    let by = |added: u32, duplicates: u32| {
        format!(r#"command line solana {{"added":{added},"duplicates":{duplicates}}}"#)
    };
    assert_eq!(noted, format!("{},{}", by(3, 0), by(2, 3)));
    // The server watches the new addresses after the import.
    let followed =
        "insert into chain_cursors values ('solana', 'devnet', 9, 'h', 0, 9, 'h', 9, 0, 0, null)";
    conn.execute_batch(followed).unwrap();
    assert!(!error_output(&run_import(&file, "-", &address_lines(5..6))).contains("not watched"));
}

#[test]
fn invalid_line_is_named_and_nothing_is_imported() {
    let served = Installation::new();
    let theirs = address_without_key(100);
    let sent_to = "insert into payout_addresses (account, chain, address, changed_at) values (1, 'solana', ?1, 0)";
    served.open_file().execute(sent_to, [&theirs]).unwrap();
    crate::support::audit_log::record_direct_writes(&served.file);
    let key = address_without_key(1);
    let secret = bs58::encode([7; 64]).into_string();
    let phrase = "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about";
    for (input, problem) in [
        (format!("{key}\n\nnot an address\n"), "line 3 is not an address on solana"),
        (format!("{key}\n{TOKEN_ACCOUNT_ADDRESS}\n"), "line 2 is a program-derived address"),
        (
            format!("{key}\n{}\n{key}\n", address_without_key(2)),
            "line 3 repeats the address of line 1",
        ),
        (format!("{key}\n{theirs}\n"), "line 2 is a destination"),
        (format!("{key}\n{secret}\n"), "line 2 is not an address on solana"),
        (phrase.to_owned(), "seed phrase"),
        ("\n".to_owned(), "must be 1 to 10000, one a line"),
        (address_lines(0..1).repeat(10_001), "line 2 repeats the address of line 1"),
    ] {
        let output = run_import(&served.file, "-", &input);
        let said = error_output(&output);
        assert!(!output.status.success() && said.contains(problem), "{problem}: {said}");
        for hidden in ["abandon", &secret, "not an address\n"] {
            assert!(!said.contains(hidden), "{said}");
        }
    }
    let none = "select count(*) || '' from pool_addresses";
    served.wait_for_query_result(none, &["0"]);
    let missing = run_import(&served.file, "/nowhere/pool.txt", "");
    assert!(
        error_output(&missing).contains("cannot read /nowhere/pool.txt"),
        "{}",
        error_output(&missing)
    );
    let other = run_subcommand("pool", &served.file, &["import", "tron", "-"], "");
    assert!(error_output(&other).contains("must be one of solana"), "{}", error_output(&other));
}

#[test]
fn import_warns_if_the_chain_has_no_node() {
    let scratch = Scratch::new();
    let file = scratch.path("shop.db");
    let added = run_subcommand("wallet", &file, &["add", "tron", "--yes"], EVM_XPUB);
    assert_eq!(parse_output(&added).len(), 1);
    let unwatched = "tron is not watched yet, so none of these addresses is handed out: name a node by `coffer serve \
        --node tron=URL`";
    assert!(error_output(&added).contains(unwatched), "{}", error_output(&added));
}

//! `coffer pool`: import of addresses on the command line. An import with an invalid line imports nothing.

use super::wallets::{EVM_XPUB, run_wallet_command};
use crate::support::command::{CommandOutput, coffer_output, coffer_output_with_input};
use crate::support::database::{execute_sql, query_value};
use crate::support::installation::Installation;
use crate::support::scratch::Scratch;
use crate::support::surfpool::address_without_key;
use serde_json::json;
use std::path::Path;

/// Address of a Solana token account, which is derived and cannot sign.
const TOKEN_ACCOUNT_ADDRESS: &str = "5N3f1tj9v1vc5TUZ8S7mCAnVmjVKrfnzXWhxLaxyZAgt";

fn run_import(file: &Path, from: &str, input: &str) -> CommandOutput {
    coffer_output_with_input(file, &["pool", "import", "solana", from], input)
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
    assert_eq!(first.json_lines(), [imported(3, 0, 3)]);
    let unwatched = "solana is not watched yet, so none of these addresses is handed out: name a node by `coffer serve \
        --node solana=URL`";
    assert!(first.errors.contains(unwatched), "{}", first.errors);
    // The longer list has two new addresses and three that were imported before. Five addresses are free then.
    assert_eq!(run_import(&file, "-", &address_lines(0..5)).json_lines(), [imported(2, 3, 5)]);
    let listed = coffer_output(&file, &["pool", "list"]);
    let pool =
        json!({ "object": "pool", "pool": "solana", "free": 5, "assigned": 0, "retired": 0 });
    assert_eq!(listed.json_lines(), std::slice::from_ref(&pool));
    let document = coffer_output(&file, &["pool", "list", "--json"]);
    assert_eq!(document.json_lines(), [json!({ "data": [pool] })]);
    let noted: String = query_value(
        &file,
        "select group_concat(actor || ' ' || object_id || ' ' || detail) from audit_log where action = 'pool.import'",
    );
    let by = |added: u32, duplicates: u32| {
        format!(r#"command line solana {{"added":{added},"duplicates":{duplicates}}}"#)
    };
    assert_eq!(noted, format!("{},{}", by(3, 0), by(2, 3)));
    // The server watches the new addresses after the import.
    let followed =
        "insert into chain_cursors values ('solana', 'devnet', 9, 'h', 0, 9, 'h', 9, 0, 0, null)";
    execute_sql(&file, followed);
    assert!(!run_import(&file, "-", &address_lines(5..6)).errors.contains("not watched"));
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
        let said = output.errors;
        assert_ne!(output.code, Some(0), "{problem}: {said}");
        assert!(said.contains(problem), "{problem}: {said}");
        for hidden in ["abandon", &secret, "not an address\n"] {
            assert!(!said.contains(hidden), "{said}");
        }
    }
    let none = "select count(*) || '' from pool_addresses";
    served.wait_for_query_result(none, &["0"]);
    let missing = run_import(&served.file, "/nowhere/pool.txt", "");
    assert!(missing.errors.contains("cannot read /nowhere/pool.txt"), "{}", missing.errors);
    let other = coffer_output(&served.file, &["pool", "import", "tron", "-"]);
    assert!(other.errors.contains("must be one of solana"), "{}", other.errors);
}

#[test]
fn import_warns_if_the_chain_has_no_node() {
    let scratch = Scratch::new();
    let file = scratch.path("shop.db");
    let added = run_wallet_command(&file, &["add", "tron", "--yes"], EVM_XPUB);
    assert_eq!(added.json_lines().len(), 1);
    let unwatched = "tron is not watched yet, so none of these addresses is handed out: name a node by `coffer serve \
        --node tron=URL`";
    assert!(added.errors.contains(unwatched), "{}", added.errors);
}

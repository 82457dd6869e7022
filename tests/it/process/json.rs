//! The flag `--json` of commands that print a list or a report, and shell completions.

use crate::operator::wallets::{ZPUB, run_wallet_command};
use crate::support::database::execute_sql;
use crate::support::sandbox_file::start_on_file;
use crate::support::scratch::Scratch;
use crate::support::{TEST, agent, send, tools};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Runs the binary on a file with this standard input.
fn run_coffer(args: &[&str], file: &Path, input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coffer"));
    command.args(args).arg("--file").arg(file);
    // The variable `COFFER_JSON` belongs to the sandbox command and has no effect on other commands.
    command.env("COFFER_JSON", "1").stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A command that rejects its arguments exits without reading standard input, and this write may fail.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

/// Runs the binary, and returns standard output and the exit code.
#[track_caller]
fn output_and_code(args: &[&str], file: &Path) -> (String, Option<i32>) {
    let output = run_coffer(args, file, "a long password");
    let text = String::from_utf8(output.stdout).unwrap();
    (text, output.status.code())
}

/// Returns the single document printed with `--json`. Asserts that the exit code is the same without `--json`.
#[track_caller]
fn json_document(args: &[&str], file: &Path) -> Value {
    let (plain, code) = output_and_code(args, file);
    assert!(serde_json::from_str::<Value>(&plain).is_err(), "{plain}");
    let (text, code_then) = output_and_code(&[args, &["--json"]].concat(), file);
    assert_eq!(code, code_then, "{args:?}");
    assert!(text.ends_with("}\n"), "{text}");
    serde_json::from_str(&text).unwrap()
}

fn field_names(value: &Value) -> BTreeSet<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn json_prints_each_list_as_one_document() {
    let scratch = Scratch::new();
    let file = scratch.path("shop.db");
    let mut made = Vec::new();
    for name in ["One", "Two"] {
        let (text, _) = output_and_code(&["account", "create", name, "--json"], &file);
        made.push(serde_json::from_str::<Value>(&text).unwrap());
    }
    let account = made[0]["id"].as_str().unwrap();
    for mode in ["live", "test"] {
        assert_eq!(output_and_code(&["key", "create", account, "--mode", mode], &file).1, Some(0));
    }
    for email in ["a@shop.test", "b@shop.test"] {
        assert_eq!(
            output_and_code(&["user", "create", email, "--role", "operator"], &file).1,
            Some(0)
        );
    }
    let evm = crate::operator::wallets::EVM_XPUB;
    for (chain, key) in [("bitcoin", ZPUB), ("evm", evm)] {
        run_wallet_command(&file, &["add", chain, "--yes"], key).json_lines();
    }
    for what in ["account", "key", "user", "wallet"] {
        let (lines, _) = output_and_code(&[what, "list"], &file);
        let lines: Vec<Value> =
            lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), 2, "{what}");
        let listed = json_document(&[what, "list"], &file);
        assert_eq!(listed, json!({ "data": lines }), "{what}");
    }
    let handed_out = "insert into customers values (1, 1, 'live', 'anna', 0); \
        insert into addresses (mode, pool, address, customer, wallet, wallet_index) \
        select mode, pool, 'a' || seq, 1, seq, 0 from wallets; update wallets set next_index = 1";
    execute_sql(&file, handed_out);
    let (csv, _) = output_and_code(&["wallet", "addresses"], &file);
    assert_eq!(csv.lines().count(), 3, "{csv}");
    let addresses = json_document(&["wallet", "addresses"], &file);
    let one = &addresses["data"][1];
    assert_eq!(addresses["data"].as_array().unwrap().len(), 2);
    assert_eq!(
        (&one["path"], &one["coin"], &one["amount"]),
        (&json!("m/0/0"), &Value::Null, &Value::Null)
    );
    let line =
        format!("m/0/0,{},,,{}", one["address"].as_str().unwrap(), one["wallet"].as_str().unwrap());
    assert!(csv.contains(&line), "{csv}");
    // An empty list is also printed as one document. With `--json`, a command without other output prints the id of
    // the changed object.
    let empty = scratch.path("empty.db");
    output_and_code(&["account", "create", "Shop"], &empty);
    assert_eq!(json_document(&["key", "list"], &empty), json!({ "data": [] }));
    let key = json_document(&["key", "list"], &file)["data"][0]["id"].clone();
    let (text, _) = output_and_code(&["key", "revoke", key.as_str().unwrap(), "--json"], &file);
    assert_eq!(text, format!("{{\"id\":{key}}}\n"));
}

/// Fields of an audit report that contain numbers of rows.
const ROW_COUNT_FIELDS: [&str; 8] = [
    "addresses",
    "deliveries",
    "deposits",
    "events",
    "invoices",
    "ledgerEntries",
    "payments",
    "transfers",
];

#[test]
fn json_reports_audit_backup_and_restore_as_one_document() {
    let scratch = Scratch::new();
    let (file, copy) = (scratch.path("shop.db"), scratch.path("copy.db"));
    let (mut process, url) = start_on_file(&file);
    let body = r#"{"amount": "20.00", "currency": "EUR", "asset": "BTC"}"#;
    send(&agent(), "POST", &format!("{url}/v1/invoices"), &[("X-API-Key", TEST)], body).expect(201);
    assert!(process.close_input_and_wait());
    let clean = json_document(&["audit"], &file);
    assert_eq!((&clean["findings"], &clean["findingCount"]), (&json!([]), &json!(0)));
    assert_eq!(field_names(&clean["checked"]), BTreeSet::from(ROW_COUNT_FIELDS));
    assert_eq!(clean["checked"]["invoices"], 1);
    let to = copy.to_str().unwrap();
    let copied = json_document(&["backup", to, "--force"], &file);
    let bytes = std::fs::metadata(&copy).unwrap().len();
    let heads = &clean["heads"];
    assert_eq!(copied, json!({ "file": to, "bytes": bytes, "heads": heads, "nodes": [] }));
    let other = scratch.path("other.db");
    let restored = json_document(&["restore", to, "--dry-run"], &other);
    assert_eq!(
        restored["indexes"],
        json!([{ "mode": "test", "pool": "bitcoin", "nextIndex": 1001, "wallet": null, "gapLimit": null, "copyIndex": 1,
            "replacedIndex": null }])
    );
    let [dry_run, from] = ["dryRun", "from"].map(|name| &restored[name]);
    assert_eq!((dry_run, from), (&json!(true), &json!(to)));
    assert_eq!(restored["transfersAfterCopy"], json!([]));
    assert_eq!(restored["nodesRemoved"], json!([]));
    let warnings = restored["warnings"].to_string();
    assert!(warnings.contains("other.db does not exist"), "{warnings}");
    for count in
        ["addressesRetired", "transfersHeld", "serversHeld", "deliveriesGivenUp", "findingCount"]
    {
        assert_eq!(restored[count], 0, "{count}");
    }
    execute_sql(&copy, "update invoices set amount_received = '7'");
    let wrong = json_document(&["audit"], &copy);
    assert_eq!((&wrong["findingCount"], &wrong["findings"][0]["rule"]), (&json!(1), &json!(3)));
    assert_eq!(
        field_names(&wrong["findings"][0]),
        BTreeSet::from(["about", "is", "rule", "should"])
    );
}

#[test]
fn failed_command_prints_no_partial_document() {
    let scratch = Scratch::new();
    let (file, copy) = (scratch.path("shop.db"), scratch.path("copy.db"));
    output_and_code(&["account", "create", "Shop"], &file);
    let to = copy.to_str().unwrap();
    output_and_code(&["backup", to], &file);
    // A failed command prints its error on standard error, and nothing on standard output.
    for args in [
        &["restore", to, "--json"][..],
        &["backup", to, "--json"],
        &["rescan", "bitcoin", "--from", "1", "--json"],
        &["account", "approve", "nobody", "--json"],
        &["account", "list", "--json", "--jsn"],
    ] {
        let output = run_coffer(args, &file, "");
        assert!(!output.status.success() && output.stdout.is_empty(), "{args:?}");
        assert!(!output.stderr.is_empty(), "{args:?}");
    }
    let output = run_coffer(&["audit", "--json"], &scratch.path("none.db"), "");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
}

#[test]
fn doctor_and_rescan_each_print_one_json_document() {
    let scratch = Scratch::new();
    let file = scratch.path("shop.db");
    output_and_code(&["account", "create", "Shop"], &file);
    let found = json_document(&["doctor"], &file);
    let data = found["data"].as_array().unwrap();
    let about = |name: &str| data.iter().find(|one| one["about"] == name).unwrap();
    assert_eq!(about("folder"), &json!({ "about": "folder", "ok": true, "complaints": [] }));
    let url = about("public url");
    assert_eq!(
        (&url["ok"], field_names(&url["complaints"][0])),
        (&json!(false), BTreeSet::from(["about", "mend"]))
    );
    assert_eq!(found["clockAccepted"], Value::Null);
    let accepted = json_document(&["doctor", "--accept-clock"], &file);
    assert!(accepted["clockAccepted"].as_str().unwrap().ends_with('Z'));
    let followed =
        "insert into chain_cursors values ('bitcoin', 'main', 9, 'h', 0, 9, 'h', 9, 0, 0, null)";
    execute_sql(&file, followed);
    let ordered = json_document(&["rescan", "bitcoin", "--from", "7"], &file);
    assert_eq!(ordered, json!({ "chain": "bitcoin", "from": 7, "done": false }));
}

#[test]
fn shell_completes_commands_and_options() {
    let coffer = env!("CARGO_BIN_EXE_coffer");
    let script = |shell: &str| Command::new(coffer).args(["completions", shell]).output().unwrap();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let printed = String::from_utf8(script(shell).stdout).unwrap();
        for word in ["coffer", "backup", "dry-run", "rescan"] {
            assert!(printed.contains(word), "{shell}: {word}");
        }
    }
    for shell in ["", "tcsh", "BASH", "../bash"] {
        let refused = script(shell);
        let said = String::from_utf8(refused.stderr).unwrap();
        assert_eq!((refused.status.code(), refused.stdout.len()), (Some(2), 0), "{shell}");
        let names = "bash, elvish, fish, powershell, zsh";
        assert!(said.contains(names), "{said}");
    }
    // The script prints the completions that bash offers.
    let asked = r#"source <("$0" completions bash)
        COMP_WORDS=(coffer "$@") COMP_CWORD=$#
        _coffer coffer "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        echo "${COMPREPLY[@]}""#;
    for (words, completed) in [
        (&["re"][..], "rescan restore"),
        (&["account", "s"], "suspend servers"),
        (&["restore", "--dr"], "--dry-run"),
        (&["key", "create", "--class", ""], "secret public legacy"),
        (&["completions", "z"], "zsh"),
    ] {
        let mut bash = Command::new("bash");
        bash.args(["-c", asked, coffer]).args(words);
        let Some(output) = tools::run_tool(&mut bash, "what bash completes") else {
            return;
        };
        let printed = String::from_utf8(output.stdout).unwrap();
        assert_eq!(printed.trim(), completed, "{words:?}");
    }
}

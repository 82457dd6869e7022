//! Kind and owner of a file: every command checks both before it writes. A copy with a foreign schema is not
//! restored.

use crate::support::command::{run_coffer, run_coffer_failing};
use crate::support::database::{execute_sql, query_value};
use crate::support::sandbox_file::{create_invoice, create_sandbox_file, start_on_file};
use crate::support::scratch::{Scratch, path_text};
use crate::support::{TEST, agent, send};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Asserts that the command fails with this reason and changes no byte of the file.
#[track_caller]
fn assert_refused(args: &[&str], file: &Path, why: &str) {
    let before = std::fs::read(file).unwrap();
    let said = run_coffer_failing(file, args);
    assert!(said.contains(why), "{args:?}: {said}");
    assert!(std::fs::read(file).unwrap() == before, "{args:?} wrote");
}

const SERVE_ARGS: [&str; 3] = ["serve", "--listen", "127.0.0.1:0"];
const SANDBOX_ARGS: [&str; 3] = ["sandbox", "--listen", "127.0.0.1:0"];

/// Creates a sandbox file and a production file.
fn sandbox_and_production_files(scratch: &Scratch) -> (PathBuf, PathBuf) {
    let (ours, theirs) = (scratch.path("sandbox.db"), scratch.path("shop.db"));
    create_sandbox_file(&ours);
    run_coffer(&theirs, &["account", "create", "Shop"]);
    (ours, theirs)
}

#[test]
fn restore_rejects_copy_of_other_server_kind() {
    let scratch = Scratch::new();
    let (ours, theirs) = sandbox_and_production_files(&scratch);
    let (copy, shop_copy) = (scratch.path("copy.db"), scratch.path("shop-copy.db"));
    run_coffer(&ours, &["backup", path_text(&copy)]);
    run_coffer(&theirs, &["backup", path_text(&shop_copy)]);
    for more in ["--force", "--dry-run"] {
        assert_refused(
            &["restore", path_text(&copy), more],
            &theirs,
            "belongs to a production server",
        );
        assert_refused(
            &["restore", path_text(&shop_copy), more],
            &ours,
            "belongs to a sandbox server",
        );
    }
    let before = std::fs::read(&theirs).unwrap();
    let said = run_coffer_failing(&ours, &["backup", path_text(&theirs), "--force"]);
    assert!(said.contains("belongs to a production server"), "{said}");
    assert!(std::fs::read(&theirs).unwrap() == before);
    run_coffer(&ours, &["restore", path_text(&copy), "--force"]);
    run_coffer(&theirs, &["restore", path_text(&shop_copy), "--force"]);
}

#[test]
fn database_of_another_program_is_not_changed() {
    let scratch = Scratch::new();
    let (ours, _) = sandbox_and_production_files(&scratch);
    let copy = scratch.path("copy.db");
    run_coffer(&ours, &["backup", path_text(&copy)]);
    for (number, script) in [
        "create table notes (text); insert into notes values ('mine')",
        "create table file (name, bytes)",
        "create table notes (text); pragma user_version = 3",
        "create table notes (text); pragma application_id = 7",
        "pragma user_version = 2; create table notes (text); drop table notes",
    ]
    .into_iter()
    .enumerate()
    {
        let file = scratch.path(&format!("foreign{number}.db"));
        execute_sql(&file, script);
        for args in [
            &SERVE_ARGS[..],
            &SANDBOX_ARGS,
            &["account", "create", "Shop"],
            &["account", "list"],
            &["audit"],
            &["restore", path_text(&copy), "--force"],
            &["backup", path_text(&scratch.path("of-foreign.db"))],
        ] {
            assert_refused(args, &file, "is a database of another program");
        }
    }
    let file = scratch.path("text.db");
    std::fs::write(&file, "no database, but somebody's notes ".repeat(1000)).unwrap();
    for args in [&SERVE_ARGS[..], &SANDBOX_ARGS, &["account", "create", "Shop"]] {
        assert_refused(args, &file, "text.db: file is not a database");
    }
    let folder = scratch.path("folder.db");
    std::fs::create_dir(&folder).unwrap();
    let said = run_coffer_failing(&folder, &SERVE_ARGS);
    assert!(said.contains("is not a file"), "{said}");
}

#[test]
fn only_a_sandbox_opens_an_empty_file() {
    let scratch = Scratch::new();
    let file = scratch.path("empty.db");
    std::fs::write(&file, "").unwrap();
    for args in [&SERVE_ARGS[..], &["account", "create", "Shop"], &["audit"]] {
        assert_refused(args, &file, "is empty");
    }
    let (mut process, url) = start_on_file(&file);
    create_invoice(&url).expect(201);
    assert!(scratch.path("empty.db-wal").exists(), "the file uses a WAL");
    assert!(process.close_input_and_wait());
    assert!(run_coffer(&file, &["audit"]).contains("nothing found in 1 invoices"));
}

#[test]
fn sandbox_file_is_changed_only_with_the_sandbox_flag() {
    let scratch = Scratch::new();
    let (ours, theirs) = sandbox_and_production_files(&scratch);
    let account = run_coffer(&ours, &["account", "list"]);
    let account: serde_json::Value = serde_json::from_str(account.lines().next().unwrap()).unwrap();
    let account = account["id"].as_str().unwrap();
    let all = [
        &["account", "create", "Second"][..],
        &["account", "suspend", account],
        &["account", "reactivate", account],
        &["key", "create", account, "--mode", "test"],
        &["user", "disable", "operator@sandbox.test"],
    ];
    for args in all {
        assert_refused(args, &ours, "with --sandbox only");
    }
    for args in &all[..4] {
        run_coffer(&ours, &[args, &["--sandbox"][..]].concat());
    }
    for list in ["account", "key", "user"] {
        run_coffer(&ours, &[list, "list"]);
        run_coffer(&theirs, &[list, "list"]);
    }
    assert_refused(&["account", "create", "Second", "--sandbox"], &theirs, "leave --sandbox out");
    let missing = scratch.path("missing.db");
    let said = run_coffer_failing(&missing, &["account", "create", "Shop", "--sandbox"]);
    assert!(said.contains("does not exist"), "{said}");
    assert!(!missing.exists());
}

/// Statements that change the schema of a copy, each with a part of the expected error.
const SCHEMA_CHANGES: [(&str, &str); 8] = [
    (
        "create trigger promote after insert on sessions begin update users set role = 'operator'; end",
        "trigger promote",
    ),
    ("create view everything as select * from users", "view everything"),
    ("create virtual table words using dbstat", "table words"),
    ("create table more (text)", "table more"),
    ("create unique index one_invoice on invoices (account)", "index one_invoice"),
    ("drop index sessions_expiry", "index sessions_expiry"),
    ("alter table users add column shadow text", "table users"),
    (
        "create table _litestream_seq (id integer primary key, a references accounts (seq) on delete restrict)",
        "table _litestream_seq",
    ),
];

#[test]
fn restore_rejects_a_copy_with_a_foreign_schema() {
    let scratch = Scratch::new();
    let (_, file) = sandbox_and_production_files(&scratch);
    let first = "select name from sqlite_schema where type = 'index' and sql is not null order by name limit 1";
    let index: String = query_value(&file, first);
    let mut before = None;
    for (number, (script, about)) in SCHEMA_CHANGES.iter().enumerate() {
        let copy = scratch.path(&format!("copy{number}.db"));
        run_coffer(&file, &["backup", path_text(&copy)]);
        let (script, about) =
            (script.replace("sessions_expiry", &index), about.replace("sessions_expiry", &index));
        execute_sql(&copy, &script);
        for more in ["--force", "--dry-run"] {
            assert_refused(&["restore", path_text(&copy), more], &file, &about);
        }
        let other = scratch.path("other.db");
        let said = run_coffer_failing(&other, &["restore", path_text(&copy)]);
        assert!(!other.exists(), "{said}");
        for command in ["audit", "doctor"] {
            let said = run_coffer_failing(&copy, &[command]);
            assert!(said.contains(&about), "{command}: {said}");
        }
        before = Some(copy);
    }
    assert!(before.is_some());
    // A schema with the tables that SQLite or Litestream creates is accepted.
    let copy = scratch.path("replicated.db");
    run_coffer(&file, &["backup", path_text(&copy)]);
    execute_sql(
        &copy,
        "analyze; create table _litestream_seq (id integer primary key, seq integer);
        create table _litestream_lock (id integer)",
    );
    assert!(run_coffer(&copy, &["audit"]).contains("nothing found"));
    run_coffer(&file, &["restore", path_text(&copy), "--force"]);
}

#[test]
fn foreign_trigger_in_a_served_file_has_no_effect() {
    let scratch = Scratch::new();
    let (ours, _) = sandbox_and_production_files(&scratch);
    execute_sql(
        &ours,
        "create trigger greedy after insert on invoices begin update accounts set fee_bps = 10000; end;
        create view more as select * from users",
    );
    let (mut process, url) = start_on_file(&ours);
    create_invoice(&url).expect(201);
    assert!(process.close_input_and_wait());
    let fee: i64 = query_value(&ours, "select max(fee_bps) from accounts");
    assert_ne!(fee, 10_000);
}

#[test]
fn wal_of_a_removed_file_is_not_read_into_a_new_one() {
    let scratch = Scratch::new();
    let (file, copy) = (scratch.path("shop.db"), scratch.path("copy.db"));
    let [log, journal] = ["-wal", "-journal"].map(|end| scratch.path(&format!("shop.db{end}")));
    let (mut process, url) = start_on_file(&file);
    let invoice = json!({ "amount": "1.00", "currency": "EUR" }).to_string();
    let (path, key) = (format!("{url}/v1/invoices"), [("X-API-Key", TEST)]);
    send(&agent(), "POST", &path, &key, &invoice).expect(201);
    run_coffer(&file, &["backup", path_text(&copy)]);
    process.kill();
    std::fs::remove_file(&file).unwrap();
    let left = std::fs::read(&log).unwrap();
    assert!(!left.is_empty());
    let not_made = |log: &Path| {
        let [server, shop] =
            [SANDBOX_ARGS, SERVE_ARGS].map(|args| [&args[..], &["--exit-with-parent"]].concat());
        for args in [server, shop, vec!["account", "create", "Shop"]] {
            let said = run_coffer_failing(&file, &args);
            let why = format!("does not exist, but {} does", log.display());
            assert!(said.contains(&why), "{args:?}: {said}");
            assert!(!file.exists());
        }
    };
    not_made(&log);
    assert!(std::fs::read(&log).unwrap() == left, "the file is unchanged");
    std::fs::rename(&log, &journal).unwrap();
    not_made(&journal);
    // The restore removes the journal file beside the database file.
    run_coffer(&file, &["restore", path_text(&copy)]);
    assert!(!journal.exists());
    run_coffer(&file, &["audit"]);
}

//! `coffer doctor`: problems that it reports in a file.

use crate::support::command::{run_coffer, run_coffer_failing};
use crate::support::sandbox_file::start_on_file;
use crate::support::scratch::{Scratch, path_text};
use crate::support::tools;
use rusqlite::Connection;
use std::path::Path;
use std::process::Command;

#[test]
fn doctor_reports_what_needs_attention() {
    let scratch = Scratch::new();
    let file = scratch.path("shop.db");
    let missing = run_coffer_failing(&file, &["doctor"]);
    assert!(missing.contains("does not exist; mend: "), "{missing}");
    run_coffer(&file, &["account", "create", "Shop"]);
    let said = run_coffer_failing(&file, &["doctor", "--public-url", "http://pay.example.com"]);
    for about in [
        "wrong: nobody can sign in",
        "(Shop) waits for approval; mend: `coffer account approve ",
        "wrong: the public url is not https",
        "ok: maintenance",
    ] {
        assert!(said.contains(about), "{about}: {said}");
    }
    let conn = Connection::open(&file).unwrap();
    conn.execute_batch(
        "update accounts set status = 'active';
        update file set maintenance = 1;
        insert into users (id, email, password_hash, role, created_at) values ('u', 'a@b', '$argon2id$', 'operator', 0)",
    )
    .unwrap();
    let site = ["--public-url", "https://pay.example.com"];
    let said = run_coffer_failing(&file, &["doctor", site[0], site[1]]);
    for about in ["(Shop) has no secret key", "wrong: maintenance is on", "ok: operators"] {
        assert!(said.contains(about), "{about}: {said}");
    }
    conn.execute_batch("update file set maintenance = 0").unwrap();
    let account: String = conn.query_row("select id from accounts", [], |row| row.get(0)).unwrap();
    run_coffer(&file, &["key", "create", &account, "--mode", "live"]);
    let rates = scratch.path("rates.json");
    std::fs::write(&rates, r#"{"BTC": {"EUR": "60000", "USD": "65000"}}"#).unwrap();
    let rates = format!("fixed:{}", path_text(&rates));
    let said = run_coffer_failing(&file, &["doctor", site[0], site[1], "--rates", &rates]);
    assert_eq!(said.matches("wrong:").count(), 1, "{said}");
    let why = "wrong: a live key exists, but no coin is on offer: no chain has a node; mend: ";
    assert!(said.contains(why), "{said}");
    let rate = "ok: rate of BTC: 60000 EUR (0 s old, file), 65000 USD (0 s old, file)";
    assert!(said.contains(rate), "{said}");
    let simulated = scratch.path("sandbox.db");
    drop(start_on_file(&simulated));
    let said = run_coffer_failing(&simulated, &["doctor"]);
    assert!(said.contains("belongs to a sandbox"), "{said}");
}

/// Writes 1200 events of 4 kB into a new file, one every `gap` seconds. The newest event is `newest` days old.
#[track_caller]
fn write_events(file: &Path, gap: u32, newest: u32) {
    run_coffer(file, &["account", "create", "Shop"]);
    let conn = Connection::open(file).unwrap();
    conn.execute_batch(&format!(
        "with recursive numbers (value) as (select 1 union all select value + 1 from numbers where value < 1200)
        insert into event_rows (seq, id, account, mode, type, object_id, created_at, content)
          select value, 'evt_' || printf('%016d%08x00000000', 0, 0x80000000 | value), 1, 'test', 'invoice.created', 'o',
            (unixepoch() - (1200 - value) * {gap} - {newest} * 86400) * 1000, '\"' || hex(zeroblob(1950)) || '\"'
          from numbers"
    ))
    .unwrap();
}

/// Returns the line of the output that is about the size.
fn size_line(said: &str) -> &str {
    let mut lines = said.lines();
    let is_about_size = |line: &&str| line.starts_with("ok: size") || line.contains("the file has");
    lines.find(is_about_size).unwrap_or_default()
}

#[test]
fn doctor_reports_how_fast_the_file_grows() {
    let scratch = Scratch::new();
    let young = scratch.path("young.db");
    run_coffer(&young, &["account", "create", "Shop"]);
    let said = run_coffer_failing(&young, &["doctor"]);
    let line = size_line(&said);
    assert!(line.starts_with("ok: size: "), "{said}");
    assert!(line.ends_with(" kB, growth unknown until the file has a day of events"), "{said}");
    // 24 events of 4 kB take 100 kB a day with their pages.
    let file = scratch.path("grown.db");
    write_events(&file, 3600, 0);
    let said = run_coffer_failing(&file, &["doctor"]);
    let line = size_line(&said);
    assert!(
        line.starts_with("ok: size: 5.") && line.contains(" MB, grows 100 kB a day, "),
        "{said}"
    );
    assert!(line.contains(" a day, disk full in "), "{said}");
    let json = run_coffer_failing(&file, &["doctor", "--json"]);
    assert!(json.contains(&format!("\"about\":\"{}\"", &line["ok: ".len()..])), "{json}");
    let quiet = scratch.path("quiet.db");
    write_events(&quiet, 3600, 8);
    let said = run_coffer_failing(&quiet, &["doctor"]);
    assert!(size_line(&said).ends_with(" MB, no growth in the last 7 days"), "{said}");
}

#[test]
fn doctor_measures_the_log_of_a_linked_file() {
    let scratch = Scratch::new();
    let (file, link) = (scratch.path("shop.db"), scratch.path("link.db"));
    run_coffer(&file, &["account", "create", "Shop"]);
    std::os::unix::fs::symlink(&file, &link).unwrap();
    // While this connection is open, the log stays.
    let conn = Connection::open(&file).unwrap();
    conn.execute_batch("pragma wal_autocheckpoint = 0; update accounts set name = 'Other'")
        .unwrap();
    assert!(std::fs::metadata(scratch.path("shop.db-wal")).unwrap().len() > 4096);
    let said = run_coffer_failing(&file, &["doctor"]);
    let linked = run_coffer_failing(&link, &["doctor"]);
    assert_eq!(size_line(&linked), size_line(&said));
}

#[test]
fn doctor_reports_a_disk_that_is_soon_full() {
    let scratch = Scratch::new();
    let file = scratch.path("shop.db");
    write_events(&file, 600, 0);
    // The disk has twice the size of the file, and 144 of its 1200 events are of one day. The events are not all of the file.
    let bytes = 2 * std::fs::metadata(&file).unwrap().len();
    let disk = scratch.path("disk");
    std::fs::create_dir(&disk).unwrap();
    let [file, disk] = [&file, &disk].map(|path| path_text(path));
    let mount =
        format!("mount -t tmpfs -o size={bytes} none {disk}; cp {file} {disk}; exec \"$@\"");
    let test = ["--mount", "--", "true"];
    if tools::tool_output("unshare", &test, "a disk that is soon full").is_none() {
        return;
    }
    let mut doctor = Command::new("unshare");
    doctor.args(["--mount", "--", "sh", "-ec", &mount, "sh"]);
    doctor.args([env!("CARGO_BIN_EXE_coffer"), "doctor", "--file", &format!("{disk}/shop.db")]);
    let output = doctor.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = size_line(&said);
    assert!(line.starts_with("wrong: the file has "), "{said}");
    assert!(line.contains(" a day: the disk is full in about 9 days"), "{said}");
    assert!(
        line.ends_with("; mend: free space on that disk, or move the file to a larger one"),
        "{said}"
    );
}

//! The lock on the file of a running server applies to every name of the file. The server notices if the file is
//! removed.

use super::failing_disk::count_refusal_lines;
use crate::support::command::{run_coffer, run_coffer_failing};
use crate::support::database::query_value;
use crate::support::process::Process;
use crate::support::sandbox_file::{
    create_invoice, create_invoices, create_sandbox_file, start_on_file, start_with_log,
};
use crate::support::scratch::{Scratch, path_text};
use crate::support::{agent, send, tools};
use coffer::{Config, Server};
use rusqlite::Connection;
use std::io::Read;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Maximum time in which the server must notice a change of the file, on a busy machine.
const NOTICE_TIME_MAX: Duration = Duration::from_secs(30);

#[track_caller]
fn assert_refused(file: &Path, args: &[&str], why: &str) {
    let said = run_coffer_failing(file, args);
    assert!(said.contains(why), "{args:?}: {said}");
}

fn invoice_count(file: &Path) -> i64 {
    query_value(file, "select count(*) from invoices")
}

/// A running sandbox on a file, a copy of the file, and a folder for links to the file.
struct RunningShop {
    process: Process,
    url: String,
    file: PathBuf,
    copy: PathBuf,
    scratch: Scratch,
}

fn start_shop() -> RunningShop {
    let scratch = Scratch::new();
    let (file, copy) = (scratch.path("shop.db"), scratch.path("copy.db"));
    let (process, url) = start_on_file(&file);
    run_coffer(&file, &["backup", path_text(&copy)]);
    create_invoices(&url, 3);
    RunningShop { process, url, file, copy, scratch }
}

#[test]
fn file_in_use_is_not_replaced_under_any_name() {
    let mut shop = start_shop();
    let folder = shop.scratch.path("elsewhere");
    std::fs::create_dir(&folder).unwrap();
    let (soft, hard, chain) =
        (folder.join("soft.db"), folder.join("hard.db"), folder.join("chain.db"));
    symlink(&shop.file, &soft).unwrap();
    symlink(&soft, &chain).unwrap();
    std::fs::hard_link(&shop.file, &hard).unwrap();
    let lock = shop.scratch.path("shop.db-lock");
    for removed in [false, true] {
        if removed {
            std::fs::remove_file(&lock).unwrap();
        }
        for name in [&shop.file, &soft, &hard, &chain] {
            let why = "in use by another coffer";
            assert_refused(name, &["restore", path_text(&shop.copy), "--force"], why);
            assert_refused(&shop.copy, &["backup", path_text(name), "--force"], why);
            assert_refused(name, &["sandbox", "--listen", "127.0.0.1:0"], why);
        }
    }
    create_invoice(&shop.url).expect(201);
    assert!(shop.process.close_input_and_wait());
    assert_eq!(invoice_count(&shop.file), 4, "acknowledged writes are stored");
    // A restore through a symlink replaces the file to which the symlink points, and keeps the symlink.
    run_coffer(&soft, &["restore", path_text(&shop.copy), "--force"]);
    assert!(std::fs::symlink_metadata(&soft).unwrap().is_symlink());
    assert_eq!(invoice_count(&shop.file), 0);
}

#[test]
fn hard_link_is_rejected_while_server_runs() {
    let shop = start_shop();
    let hard = shop.scratch.path("hard.db");
    std::fs::hard_link(&shop.file, &hard).unwrap();
    let copy = shop.scratch.path("another.db");
    for args in [
        &["audit"][..],
        &["backup", path_text(&copy)],
        &["account", "list"],
        &["account", "create", "--sandbox", "Second"],
    ] {
        assert_refused(&hard, args, "under another name");
    }
    // Opening the database through the hard link would create a WAL with this name.
    assert!(!shop.scratch.path("hard.db-wal").exists() && !copy.exists());
    let soft = shop.scratch.path("soft.db");
    symlink(&shop.file, &soft).unwrap();
    let said = run_coffer(&soft, &["audit"]);
    assert!(said.contains("nothing found in 3 invoices"), "{said}");
}

/// Changes the file of a running server. Asserts that the server logs the change and writes nothing.
#[track_caller]
fn assert_change_noticed(harm: impl FnOnce(&Scratch, &Path)) {
    let scratch = Scratch::new();
    let (file, log) = (scratch.path("shop.db"), scratch.path("log"));
    let mut process = start_with_log(&file, &log, &["--log", "warn"]);
    let url = process.wait_for_url();
    create_invoice(&url).expect(201);
    send(&agent(), "GET", &format!("{url}/readyz"), &[], "").expect(200);
    harm(&scratch, &file);
    // The server acknowledges no later write. A read that needs another connection does not fail with an internal
    // error.
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..20 {
                    let answer = create_invoice(&url);
                    answer.assert_error(503, "overloaded", None);
                    assert!(answer.headers.contains_key("retry-after"));
                    let ready = send(&agent(), "GET", &format!("{url}/readyz"), &[], "");
                    ready.assert_error(503, "overloaded", None);
                }
            });
        }
    });
    send(&agent(), "GET", &format!("{url}/livez"), &[], "").expect(200);
    assert!(process.close_input_and_wait(), "the process stops cleanly");
    let mut said = String::new();
    let mut log = std::fs::File::open(&log).unwrap();
    log.read_to_string(&mut said).unwrap();
    assert_eq!(count_refusal_lines(&said, "", "the file"), 1, "{said}");
}

#[test]
fn removed_file_is_noticed_before_the_next_write() {
    assert_change_noticed(|scratch, file| std::fs::rename(file, scratch.path("moved.db")).unwrap());
    assert_change_noticed(|_, file| std::fs::remove_file(file).unwrap());
    assert_change_noticed(|scratch, file| {
        let other = scratch.path("other.db");
        std::fs::copy(file, &other).unwrap();
        std::fs::rename(&other, file).unwrap();
    });
    for suffix in ["-wal", "-shm"] {
        assert_change_noticed(|scratch, _| {
            std::fs::remove_file(scratch.path(&format!("shop.db{suffix}"))).unwrap()
        });
    }
}

#[test]
fn removed_file_is_noticed_without_requests() {
    let mut shop = start_shop();
    std::fs::rename(&shop.file, shop.scratch.path("moved.db")).unwrap();
    let begun = Instant::now();
    let ready = format!("{}/readyz", shop.url);
    while send(&agent(), "GET", &ready, &[], "").status == 200 {
        assert!(begun.elapsed() < NOTICE_TIME_MAX, "the server did not notice in time");
    }
    create_invoice(&shop.url).assert_error(503, "overloaded", None);
    // The test reads the file only after the server has exited, because the server may still have the file open.
    assert!(shop.process.close_input_and_wait());
    // The acknowledged writes are in the moved file.
    assert_eq!(invoice_count(&shop.scratch.path("moved.db")), 3);
}

#[test]
fn old_server_does_not_change_a_replacement_file() {
    let RunningShop { mut process, url, file, copy, scratch } = start_shop();
    for suffix in ["", "-wal", "-shm"] {
        let name = |stem: &str| scratch.path(&format!("{stem}{suffix}"));
        std::fs::rename(name("shop.db"), name("old.db")).unwrap();
    }
    std::fs::rename(&copy, &file).unwrap();
    let (mut second, second_url) = {
        std::fs::remove_file(scratch.path("shop.db-lock")).unwrap();
        start_on_file(&file)
    };
    create_invoice(&second_url).expect(201);
    create_invoice(&url).assert_error(503, "overloaded", None);
    assert!(process.close_input_and_wait());
    // The first server has ended and did not remove the file or the WAL of the second server.
    assert!(scratch.path("shop.db-wal").exists());
    create_invoice(&second_url).expect(201);
    second.kill();
    assert_eq!(invoice_count(&file), 2);
    assert_eq!(invoice_count(&scratch.path("old.db")), 3);
}

#[test]
fn redirected_symlink_is_noticed() {
    let scratch = Scratch::new();
    let (soft, other) = (scratch.path("soft.db"), scratch.path("other.db"));
    create_sandbox_file(&other);
    let file = scratch.path("shop.db");
    std::fs::copy(&other, &file).unwrap();
    symlink(&file, &soft).unwrap();
    let (_process, url) = start_on_file(&soft);
    create_invoice(&url).expect(201);
    std::fs::remove_file(&soft).unwrap();
    symlink(&other, &soft).unwrap();
    create_invoice(&url).assert_error(503, "overloaded", None);
}

#[test]
fn wal_of_a_killed_server_is_not_read_into_another_file() {
    let mut shop = start_shop();
    shop.process.kill();
    std::fs::remove_file(&shop.file).unwrap();
    assert!(shop.scratch.path("shop.db-wal").exists());
    run_coffer(&shop.file, &["restore", path_text(&shop.copy)]);
    assert_eq!(invoice_count(&shop.file), 0);
    run_coffer(&shop.file, &["audit"]);
}

#[test]
fn file_open_in_another_program_is_not_replaced() {
    let mut shop = start_shop();
    assert!(shop.process.close_input_and_wait());
    let hard = shop.scratch.path("hard.db");
    std::fs::hard_link(&shop.file, &hard).unwrap();
    let before = std::fs::read(&shop.file).unwrap();
    // This connection simulates another program, which uses only SQLite's locks.
    let conn = Connection::open(&shop.file).unwrap();
    let count = |conn: &Connection| -> i64 {
        let count = conn.query_row("select count(*) from invoices", [], |row| row.get(0));
        count.unwrap()
    };
    assert_eq!(count(&conn), 3);
    for name in [&shop.file, &hard] {
        let restore = ["restore", path_text(&shop.copy), "--force"];
        assert_refused(name, &restore, "in use by another program");
    }
    assert!(std::fs::read(&shop.file).unwrap() == before);
    drop(conn);
    run_coffer(&shop.file, &["restore", path_text(&shop.copy), "--force"]);
    assert_eq!(invoice_count(&shop.file), 0);
    assert_eq!(invoice_count(&hard), 3);
}

#[test]
fn rejected_second_server_keeps_locks_of_the_first() {
    let scratch = Scratch::new();
    let (file, hard) = (scratch.path("shop.db"), scratch.path("hard.db"));
    let config = |file: &Path| Config { file: Some(file.to_owned()), ..Config::sandbox() };
    let server = Server::start(config(&file)).unwrap();
    std::fs::hard_link(&file, &hard).unwrap();
    for name in [&file, &hard] {
        let second = Server::start(config(name)).err().unwrap().to_string();
        assert!(second.contains("in use by another coffer"), "{second}");
    }
    // The first server still holds SQLite's locks, so another program gets no exclusive access.
    let copy = scratch.path("copy.db");
    run_coffer(&file, &["backup", path_text(&copy)]);
    let alone = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], timeout=0); \
                 c.execute('pragma locking_mode=exclusive'); c.execute('select * from file')";
    let mut python = Command::new("python3");
    python.args(["-c", alone]).arg(&file);
    if let Some(output) = tools::run_tool(&mut python, "whether SQLite's locks are held") {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("locked"), "{said}");
    }
    create_invoice(server.url()).expect(201);
}

//! A copy that was put over a file while the log of that file is still beside it.

use crate::support::command::{coffer_output, run_coffer, run_coffer_failing};
use crate::support::database::query_value;
use crate::support::sandbox_file::{
    create_invoices, create_sandbox_file, start_on_file, start_with_log,
};
use crate::support::scratch::{Scratch, path_text};
use crate::support::{agent, polling, send};
use rusqlite::Connection;
use std::path::{Path, PathBuf};

/// Versions in the header of a file in rollback mode, and of a file in WAL mode.
const ROLLBACK: [u8; 2] = [1, 1];
const WAL: [u8; 2] = [2, 2];

fn invoice_count(file: &Path) -> i64 {
    query_value(file, "select count(*) from invoices")
}

/// Returns the versions in the header.
fn header_versions(file: &Path) -> [u8; 2] {
    std::fs::read(file).unwrap()[18..20].try_into().unwrap()
}

/// Asserts that a copy is in rollback mode and has no other file beside it.
#[track_caller]
fn assert_plain_copy(copy: &Path) {
    assert_eq!(header_versions(copy), ROLLBACK, "{copy:?}");
    for suffix in ["-wal", "-shm", "-journal"] {
        let beside = PathBuf::from(format!("{}{suffix}", copy.display()));
        assert!(!beside.exists(), "{beside:?}");
    }
}

/// A sandbox's file with two invoices, a copy of it, and a log with two more invoices of a server that was killed.
struct KilledShop {
    scratch: Scratch,
    file: PathBuf,
    copy: PathBuf,
    log: PathBuf,
}

#[track_caller]
fn killed_shop() -> KilledShop {
    let scratch = Scratch::new();
    let [file, copy, log] = ["shop.db", "copy.db", "shop.db-wal"].map(|name| scratch.path(name));
    let (mut process, url) = start_on_file(&file);
    create_invoices(&url, 2);
    run_coffer(&file, &["backup", path_text(&copy)]);
    create_invoices(&url, 2);
    process.kill();
    assert!(std::fs::metadata(&log).unwrap().len() > 0);
    KilledShop { scratch, file, copy, log }
}

#[test]
fn every_copy_is_in_rollback_mode_until_a_server_starts() {
    let scratch = Scratch::new();
    let [file, copy, restored] =
        ["shop.db", "copy.db", "restored.db"].map(|name| scratch.path(name));
    let (mut process, url) = start_on_file(&file);
    create_invoices(&url, 2);
    let post = |path: &str| send(&agent(), "POST", &format!("{url}{path}"), &[], "").status;
    assert!(post("/sandbox/snapshots/one") < 300);
    let snapshot = scratch.path("shop.db-snapshot-one");
    assert_plain_copy(&snapshot);
    create_invoices(&url, 1);
    assert!(post("/sandbox/snapshots/one/restore") < 300);
    assert_plain_copy(&snapshot);
    for _ in 0..2 {
        run_coffer(&file, &["backup", "--force", path_text(&copy)]);
        assert_plain_copy(&copy);
    }
    assert!(process.close_input_and_wait());
    assert_eq!((header_versions(&file), invoice_count(&file)), (WAL, 2));
    run_coffer(&restored, &["restore", path_text(&copy)]);
    for name in [&copy, &restored] {
        assert_plain_copy(name);
        for args in [&["audit"][..], &["account", "list"], &["key", "list"]] {
            run_coffer(name, args);
            assert_plain_copy(name);
        }
        run_coffer(name, &["account", "create", "Second", "--sandbox"]);
        assert_plain_copy(name);
        let (mut process, url) = start_on_file(name);
        assert_eq!(header_versions(name), WAL);
        create_invoices(&url, 1);
        assert!(process.close_input_and_wait());
        assert_eq!((header_versions(name), invoice_count(name)), (WAL, 3));
    }
}

#[test]
fn copy_beside_the_log_of_another_file_is_refused() {
    let KilledShop { scratch, file, copy, log } = killed_shop();
    std::fs::copy(&copy, &file).unwrap();
    let before = [&file, &log].map(|path| std::fs::read(path).unwrap());
    let other = scratch.path("other.db");
    let link = scratch.path("link.db");
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let commands: [&[&str]; 12] = [
        &["sandbox", "--listen", "127.0.0.1:0"],
        &["serve", "--listen", "127.0.0.1:0"],
        &["account", "list"],
        &["account", "create", "Shop", "--sandbox"],
        &["key", "list"],
        &["user", "list"],
        &["wallet", "list"],
        &["pool", "list"],
        &["rescan", "litecoin", "--from", "1"],
        &["backup", path_text(&other)],
        &["audit"],
        &["doctor"],
    ];
    for args in commands {
        for name in [&file, &link] {
            let said = run_coffer_failing(name, args);
            for part in [path_text(&file), path_text(&log), "`coffer restore ", "`mv "] {
                assert!(said.contains(part), "{args:?}: {said}");
            }
            assert!(!said.contains("start `coffer serve` once"), "{args:?}: {said}");
        }
    }
    let said = run_coffer_failing(&other, &["restore", path_text(&file)]);
    assert!(said.contains(path_text(&log)), "{said}");
    assert!(!other.exists());
    assert!([&file, &log].map(|path| std::fs::read(path).unwrap()) == before);
}

#[test]
fn copy_beside_the_log_of_another_file_is_mended_by_a_restore() {
    let KilledShop { scratch, file, copy, log } = killed_shop();
    std::fs::copy(&copy, &file).unwrap();
    let left = std::fs::read(&log).unwrap();
    let restored = coffer_output(&file, &["restore", path_text(&copy), "--force"]);
    assert_eq!(restored.code, Some(0), "{restored:?}");
    assert!(restored.errors.contains("cannot be read"), "{restored:?}");
    assert_plain_copy(&file);
    assert_eq!(invoice_count(&file), 2);
    // The log may have the newest writes of a file that the operator has moved.
    assert!(std::fs::read(scratch.path("shop.db-wal-kept0")).unwrap() == left);
    run_coffer(&file, &["audit"]);
}

#[test]
fn copy_beside_the_log_of_another_file_is_mended_by_moving_the_log() {
    let KilledShop { scratch, file, copy, log } = killed_shop();
    let moved = scratch.path("moved.db");
    std::fs::rename(&file, &moved).unwrap();
    std::fs::copy(&copy, &file).unwrap();
    run_coffer_failing(&file, &["audit"]);
    std::fs::rename(&log, scratch.path("moved.db-wal")).unwrap();
    std::fs::remove_file(scratch.path("shop.db-shm")).unwrap();
    let (mut process, url) = start_on_file(&file);
    create_invoices(&url, 1);
    assert!(process.close_input_and_wait());
    assert_eq!((invoice_count(&file), invoice_count(&moved)), (3, 4));
}

#[test]
fn restore_keeps_the_log_of_a_file_that_was_moved() {
    let KilledShop { scratch, file, copy, .. } = killed_shop();
    std::fs::rename(&file, scratch.path("moved.db")).unwrap();
    run_coffer(&file, &["restore", path_text(&copy)]);
    let kept = scratch.path("shop.db-wal-kept0");
    std::fs::rename(kept, scratch.path("moved.db-wal")).unwrap();
    assert_eq!(invoice_count(&scratch.path("moved.db")), 4);
    assert_eq!(invoice_count(&file), 2);
}

#[test]
fn start_on_a_copy_waits_for_its_readers() {
    let scratch = Scratch::new();
    let [file, copy] = ["shop.db", "copy.db"].map(|name| scratch.path(name));
    create_sandbox_file(&file);
    run_coffer(&file, &["backup", path_text(&copy)]);
    let reader = Connection::open(&copy).unwrap();
    reader.execute_batch("begin; select count(*) from invoices").unwrap();
    let log = scratch.path("log");
    let mut process = start_with_log(&copy, &log, &[]);
    let told = || std::fs::read_to_string(&log).unwrap().contains("the start waits");
    assert!(polling::wait_until(told));
    reader.execute_batch("commit").unwrap();
    create_invoices(&process.wait_for_url(), 1);
    assert!(process.close_input_and_wait());
}

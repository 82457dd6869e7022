//! Commands on a file of an older version or in a read-only folder read a temporary copy. A restored copy is
//! upgraded, and its transfers are held.

use crate::process::serve::start_server;
use crate::support::process::start_sandbox;
use crate::support::scratch::{Scratch, path_text};
use crate::support::{TEST, agent, send};
use rusqlite::Connection;
use serde_json::json;
use std::fs::File;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

/// A folder for the files of a test, and another folder for temporary files.
struct TestFolders {
    scratch: Scratch,
    temporary: PathBuf,
}

impl TestFolders {
    fn new() -> TestFolders {
        let scratch = Scratch::new();
        let temporary = scratch.path("temporary");
        std::fs::create_dir(&temporary).unwrap();
        TestFolders { scratch, temporary }
    }

    #[track_caller]
    fn old_version_file(&self, version: &str) -> PathBuf {
        self.scratch.copy_old_file(version, &format!("{version}.db"))
    }

    /// Runs a command on a file and asserts its exit code. Asserts that no temporary file stays, and returns standard
    /// output and standard error.
    #[track_caller]
    fn run_expecting(&self, code: i32, args: &[&str], file: &Path) -> (String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_coffer"));
        command.args(args).args(["--log", "warn", "--file"]).arg(file);
        let output = command.env("TMPDIR", &self.temporary).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {printed}{said}");
        let left = std::fs::read_dir(&self.temporary).unwrap().count();
        assert_eq!(left, 0, "{args:?} left a temporary file: {said}");
        (printed, said)
    }
}

fn schema_version(file: &Path) -> i64 {
    let conn = Connection::open(file).unwrap();
    let version = conn.pragma_query_value(None, "user_version", |row| row.get(0));
    version.unwrap()
}

#[test]
fn old_file_is_audited_checked_and_copied_without_upgrade() {
    for (number, old) in [(1, "v1"), (2, "v2")] {
        let place = TestFolders::new();
        let (file, copy) = (place.old_version_file(old), place.scratch.path("copy.db"));
        let before = std::fs::read(&file).unwrap();
        let told = format!("is of version {number}: a copy in ");
        let (printed, said) = place.run_expecting(0, &["audit"], &file);
        assert!(printed.starts_with("nothing found in "), "{printed}");
        assert!(said.contains(&told), "{said}");
        let (printed, said) = place.run_expecting(1, &["doctor"], &file);
        assert!(
            printed.contains("belongs to a sandbox") && said.contains(&told),
            "{printed}{said}"
        );
        let (printed, _) = place.run_expecting(0, &["backup", path_text(&copy)], &file);
        assert!(printed.contains("is whole"), "{printed}");
        assert!(std::fs::read(&file).unwrap() == before, "the file is unchanged");
        assert_eq!(schema_version(&copy), number, "an older version can continue with the file");
    }
}

#[test]
fn restore_upgrades_an_old_copy_and_holds_transfers() {
    for old in ["v1", "v2"] {
        let place = TestFolders::new();
        let (copy, file) = (place.old_version_file(old), place.scratch.path("shop.db"));
        let before = std::fs::read(&copy).unwrap();
        let (printed, _) =
            place.run_expecting(0, &["restore", path_text(&copy), "--dry-run"], &file);
        assert!(printed.contains("would go on from index 10"), "{printed}");
        assert!(!file.exists());
        let (printed, _) = place.run_expecting(0, &["restore", path_text(&copy)], &file);
        assert!(printed.contains("addresses go on from index 10"), "{printed}");
        let held = if old == "v1" { 0 } else { 2 };
        assert!(printed.contains(&format!("{held} payouts and refunds held")), "{printed}");
        assert!(std::fs::read(&copy).unwrap() == before, "the copy is unchanged");
        assert!(schema_version(&file) > schema_version(&copy));
        assert!(place.run_expecting(0, &["audit"], &file).0.starts_with("nothing found in "));
    }
}

#[test]
fn approved_payout_of_an_old_copy_is_not_sent() {
    let place = TestFolders::new();
    let (copy, file) = (place.old_version_file("v2"), place.scratch.path("shop.db"));
    place.run_expecting(0, &["restore", path_text(&copy)], &file);
    // The audit reports a production file with sales at the sandbox's fixed rates. The test therefore changes the
    // kind of the file only after the restore.
    let conn = Connection::open(&file).unwrap();
    conn.execute_batch("update file set kind = 'production'").unwrap();
    drop(conn);
    let (found, _) = place.run_expecting(1, &["audit"], &file);
    assert!(found.contains("priced by fixed"), "{found}");
    let (signer, sent) = (place.scratch.path("signer"), place.scratch.path("sent"));
    let script = format!("#!/bin/sh\ncat > {}\n", path_text(&sent));
    std::fs::write(&signer, script).unwrap();
    std::fs::set_permissions(&signer, std::fs::Permissions::from_mode(0o755)).unwrap();
    let (mut process, url) = start_server(&file, &["--signer", path_text(&signer)]);
    send(&agent(), "GET", &format!("{url}/readyz"), &[], "").expect(200);
    assert!(process.close_input_and_wait());
    assert!(!sent.exists(), "the signer was started");
    let conn = Connection::open(&file).unwrap();
    let open = "select count(*) from transfers where status = 'approved' and sending = 'restored'";
    let held: i64 = conn.query_row(open, [], |row| row.get(0)).unwrap();
    assert_eq!(held, 1, "an operator decides");
}

#[test]
fn file_in_read_only_folder_is_read_with_its_wal() {
    let place = TestFolders::new();
    let running = place.scratch.path("running.db");
    let (mut process, url) = start_sandbox("127.0.0.1:0", &["--file", path_text(&running)]);
    for _ in 0..3 {
        let body = json!({ "amount": "20.00", "currency": "EUR" }).to_string();
        let path = format!("{url}/v1/invoices");
        send(&agent(), "POST", &path, &[("X-API-Key", TEST)], &body).expect(201);
    }
    process.kill();
    let media = place.scratch.path("media.db");
    for suffix in ["", "-wal"] {
        let name = |stem: &str| place.scratch.path(&format!("{stem}.db{suffix}"));
        std::fs::copy(name("running"), name("media")).unwrap();
    }
    assert!(std::fs::metadata(place.scratch.path("media.db-wal")).unwrap().len() > 0);
    // This dangling symlink makes SQLite fail to create the file even for root, who may write into any folder.
    symlink("/nowhere/at/all", place.scratch.path("media.db-shm")).unwrap();
    let before = std::fs::read(&media).unwrap();
    let told = "cannot be read where it is";
    let (printed, said) = place.run_expecting(0, &["audit"], &media);
    assert!(printed.contains("nothing found in 3 invoices"), "{printed}");
    assert!(said.contains(told), "{said}");
    let (_, said) = place.run_expecting(1, &["doctor"], &media);
    assert!(said.contains(told), "{said}");
    let (copy, restored) = (place.scratch.path("copy.db"), place.scratch.path("restored.db"));
    let (_, said) = place.run_expecting(0, &["backup", path_text(&copy)], &media);
    assert!(said.contains(told), "{said}");
    let (_, said) = place.run_expecting(0, &["restore", path_text(&media)], &restored);
    assert!(said.contains(told), "{said}");
    for file in [&copy, &restored] {
        let (printed, _) = place.run_expecting(0, &["audit"], file);
        assert!(printed.contains("nothing found in 3 invoices"), "{printed}");
    }
    assert!(std::fs::read(&media).unwrap() == before);
    // The command fails on this file, and removes the temporary copy nevertheless.
    std::fs::write(&media, "no database ".repeat(1000)).unwrap();
    place.run_expecting(1, &["audit"], &media);
}

#[test]
fn next_command_removes_files_of_a_killed_command() {
    let place = TestFolders::new();
    let file = place.old_version_file("v2");
    let named = |number: u32| {
        let id = format!("01990000-0000-7000-8000-{number:012}");
        place.temporary.join(format!("coffer-copy-{id}"))
    };
    let filled = |folder: PathBuf| {
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("copy.db"), "secrets").unwrap();
        folder
    };
    let lock = |folder: &Path| {
        let lock = File::create(folder.join("lock")).unwrap();
        let hours_ago = SystemTime::now() - Duration::from_secs(7_200);
        lock.set_modified(hours_ago).unwrap();
        lock
    };
    let (left, in_use, begun) = (filled(named(1)), filled(named(2)), filled(named(3)));
    drop(lock(&left));
    let held = lock(&in_use);
    held.lock().unwrap();
    // This folder was just created and is not locked yet.
    let young = filled(named(4));
    File::create(young.join("lock")).unwrap();
    // A symlink points to an unrelated folder, which must stay.
    let (elsewhere, link) = (place.scratch.path("elsewhere"), named(5));
    std::fs::create_dir(&elsewhere).unwrap();
    drop(lock(&elsewhere));
    symlink(&elsewhere, &link).unwrap();
    let (crafted, others) = (filled(place.temporary.join("coffer-copy-left")), filled(named(6)));
    drop(lock(&crafted));
    drop(lock(&others));
    // Only root can change the owner of a folder. Other users skip this case.
    let given_away = chown(&others, Some(65_534), None).is_ok();
    let fifo = filled(named(7));
    let made = Command::new("mkfifo").arg(fifo.join("lock")).status();
    assert!(made.unwrap().success());
    let mut command = Command::new(env!("CARGO_BIN_EXE_coffer"));
    command.args(["audit", "--log", "warn", "--file"]).arg(&file);
    let output = command.env("TMPDIR", &place.temporary).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(!left.exists());
    assert_eq!(others.exists(), given_away);
    for stays in [in_use, begun, young, link, crafted, fifo, elsewhere.join("lock")] {
        assert!(stays.exists(), "{}", stays.display());
    }
}

//! Commands on a file in a read-only folder read a temporary copy. An approved payout of a restored copy is not sent.

use crate::support::installation::{ETHEREUM, Installation, signer_settings};
use crate::support::sandbox_file::{create_invoices, create_sandbox_file, start_on_file};
use crate::support::scratch::{Scratch, path_text};
use crate::support::{agent, send};
use std::fs::File;
use std::os::unix::fs::{chown, symlink};
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

#[test]
fn approved_payout_of_a_restored_copy_is_not_sent() {
    let mut served = Installation::new();
    let mut running = served.start(&[]);
    let id = served.create_approved_payout_to(&running, ETHEREUM);
    assert!(running.process.close_input_and_wait());
    served.assign_to_signer(&id);
    let (place, copy) = (TestFolders::new(), served.path("copy.db"));
    place.run_expecting(0, &["backup", path_text(&copy)], &served.file);
    let restored = served.path("restored.db");
    let original = std::mem::replace(&mut served.file, restored);
    place.run_expecting(0, &["restore", path_text(&copy)], &served.file);
    let signer = served.write_program("signer", "cat > \"$0.sent\"; sleep 100000");
    let (settings, sent) = (signer_settings(&signer), served.path("signer.sent"));
    let state = "select status || ' ' || ifnull(sending, '') from transfers";
    let mut running = served.start(&settings);
    send(&agent(), "GET", &format!("{}/readyz", running.url), &[], "").expect(200);
    assert!(running.process.close_input_and_wait());
    assert!(!sent.exists(), "the signer was started");
    // An operator decides about the held payout. The signer sends that of the original.
    served.wait_for_query_result(state, &["approved restored"]);
    served.file = original;
    let _running = served.start(&settings);
    served.wait_for_query_result(state, &["processing running"]);
}

#[test]
fn file_in_read_only_folder_is_read_with_its_wal() {
    let place = TestFolders::new();
    let running = place.scratch.path("running.db");
    let (mut process, url) = start_on_file(&running);
    create_invoices(&url, 3);
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
    let file = place.scratch.path("media.db");
    create_sandbox_file(&file);
    // This dangling symlink makes SQLite fail to create the file, so that the command reads a copy.
    symlink("/nowhere/at/all", place.scratch.path("media.db-shm")).unwrap();
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

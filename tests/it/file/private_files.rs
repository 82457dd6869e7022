//! Permissions of new files: only the owner can read them, whatever the umask.

use crate::support::process::Process;
use crate::support::scratch::Scratch;
use crate::support::{agent, send};
use std::fs::Permissions;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Number of files of a sandbox with a snapshot: database, WAL, WAL index, lock and snapshot.
const FILE_COUNT: usize = 5;

/// Builds a command of the binary that runs under this umask.
fn coffer_with_umask(mask: &str, args: &[&str]) -> Command {
    let mut command = Command::new("sh");
    let script = format!("umask {mask} && exec \"$0\" \"$@\"");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_coffer")]);
    command.args(args);
    command
}

/// Builds a `sandbox` command that runs under this umask.
fn sandbox_with_umask(mask: &str, more: &[&str]) -> Command {
    let sandbox = ["sandbox", "--listen", "127.0.0.1:0", "--exit-with-parent"];
    coffer_with_umask(mask, &[&sandbox, more].concat())
}

/// Starts a sandbox and takes a snapshot, so that every kind of file exists.
#[track_caller]
fn start_with_snapshot(sandbox: &mut Command) -> Process {
    let process = Process::start(sandbox);
    let keep = format!("{}/sandbox/snapshots/before", process.wait_for_url());
    send(&agent(), "POST", &keep, &[], "").expect(200);
    process
}

#[track_caller]
fn run_expecting_success(mask: &str, args: &[&str]) -> Output {
    let output = coffer_with_umask(mask, args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {output:?}");
    output
}

/// Returns the name and the mode of each file in the folder, if the name of the file starts with `prefix`.
fn file_modes(folder: &Path, prefix: &str) -> Vec<(String, u32)> {
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    let mut modes: Vec<_> = entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix))
        .map(|entry| {
            let mode = entry.metadata().unwrap().mode() & 0o777;
            (entry.file_name().into_string().unwrap(), mode)
        })
        .collect();
    modes.sort();
    modes
}

#[track_caller]
fn assert_private(folder: &Path, prefix: &str, count: usize) {
    let modes = file_modes(folder, prefix);
    assert!(modes.len() >= count, "{modes:?}");
    assert!(modes.iter().all(|(_, mode)| *mode == 0o600), "{modes:?}");
}

#[test]
fn new_files_are_private_to_their_owner() {
    for mask in ["000", "022", "777"] {
        let folder = Scratch::new();
        let file = folder.path("shop.db");
        let file = file.to_str().unwrap();
        let mut process = start_with_snapshot(&mut sandbox_with_umask(mask, &["--file", file]));
        assert_private(&folder.path(""), "shop.db", FILE_COUNT);
        let copy = folder.path("copy.db");
        let copy = copy.to_str().unwrap();
        run_expecting_success(mask, &["backup", "--file", file, copy]);
        assert_private(&folder.path(""), "copy.db", 1);
        assert!(process.close_input_and_wait());
        std::fs::set_permissions(file, Permissions::from_mode(0o644)).unwrap();
        std::fs::set_permissions(copy, Permissions::from_mode(0o644)).unwrap();
        run_expecting_success(mask, &["backup", "--file", file, copy, "--force"]);
        assert_private(&folder.path(""), "copy.db", 1);
        run_expecting_success(mask, &["restore", "--file", file, copy, "--force"]);
        assert_private(&folder.path(""), "shop.db", 1);
    }
}

#[test]
fn temporary_file_and_snapshots_are_private() {
    let folder = Scratch::new();
    let _process =
        start_with_snapshot(sandbox_with_umask("000", &[]).env("TMPDIR", folder.path("")));
    assert_private(&folder.path(""), "coffer-sandbox-", FILE_COUNT);
}

#[test]
fn doctor_names_files_that_others_can_read() {
    let folder = Scratch::new();
    let file = folder.path("shop.db");
    let name = file.to_str().unwrap();
    run_expecting_success("022", &["account", "create", "Shop", "--file", name]);
    let doctor = || {
        let output = coffer_with_umask("022", &["doctor", "--file", name]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let said = doctor();
    assert!(said.contains("ok: who can read the file"), "{said}");
    std::fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
    let said = doctor();
    let wrong = format!("wrong: {name} is open to others (mode 640); mend: chmod 600 {name}");
    assert!(said.contains(&wrong), "{said}");
}

#[test]
fn doctor_names_a_wal_that_is_not_checkpointed() {
    let folder = Scratch::new();
    let (file, log) = (folder.path("shop.db"), folder.path("shop.db-wal"));
    let name = file.to_str().unwrap();
    run_expecting_success("022", &["account", "create", "Shop", "--file", name]);
    for (bytes, said) in [
        (1 << 28, "ok: log".to_owned()),
        ((1 << 28) + 1, format!("wrong: {} has 256 MiB", log.display())),
    ] {
        // A sparse file uses no disk space.
        std::fs::File::create(&log).unwrap().set_len(bytes).unwrap();
        let output = coffer_with_umask("077", &["doctor", "--file", name]).output().unwrap();
        let told = String::from_utf8(output.stdout).unwrap();
        assert!(told.contains(&said), "{told}");
    }
}

#[test]
fn ready_file_replaces_only_regular_files() {
    let folder = Scratch::new();
    let (pipe, link) = (folder.path("pipe"), folder.path("link"));
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    symlink(&pipe, &link).unwrap();
    for path in [&pipe, &link, &folder.path("")] {
        let args = ["sandbox", "--listen", "127.0.0.1:0", "--exit-with-parent"];
        let mut command = coffer_with_umask("022", &args);
        let command = command.arg("--ready-file").arg(path);
        let output = command.stdin(Stdio::null()).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("exists and is not a file"), "{said}");
    }
    let kinds = [&pipe, &link].map(|path| std::fs::symlink_metadata(path).unwrap().file_type());
    assert!(kinds[0].is_fifo() && kinds[1].is_symlink());
    assert!(file_modes(&folder.path(""), "link-").is_empty());
}

#[test]
fn ready_file_replaces_only_an_earlier_ready_file() {
    let folder = Scratch::new();
    let (notes, ready) = (folder.path("notes"), folder.path("ready"));
    let (old, new) = (folder.path("old.db"), folder.path("new.db"));
    let sandbox = |file: &Path, ready: &Path| {
        let args = ["sandbox", "--listen", "127.0.0.1:0", "--exit-with-parent"];
        let mut command = coffer_with_umask("022", &args);
        command.arg("--file").arg(file).arg("--ready-file").arg(ready);
        let output = command.stdin(Stdio::null()).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        let done = output.status.code() == Some(0);
        assert_eq!(output.stdout.is_empty(), !done, "a failed start prints no ready line");
        (done, said)
    };
    std::fs::write(&notes, "precious").unwrap();
    std::fs::write(&ready, "").unwrap();
    // The server writes its ready file over an empty file or an earlier ready file, but not over a database or
    // another file.
    assert!(sandbox(&old, &ready).0 && sandbox(&old, &ready).0);
    let log = folder.path("new.db-wal");
    for (file, ready, why) in [
        (&old, &old, "exists and is not a ready file"),
        (&new, &new, "is the server's file"),
        (&new, &notes, "exists and is not a ready file"),
    ] {
        let (done, said) = sandbox(file, ready);
        assert!(!done && said.contains(why), "{said}");
    }
    assert!(!log.exists(), "the database was closed cleanly");
    assert_eq!(std::fs::read_to_string(&notes).unwrap(), "precious");
    for file in [&old, &new] {
        let bytes = std::fs::read(file).unwrap();
        assert!(bytes.starts_with(b"SQLite format 3"));
    }
}

#[test]
fn failed_ready_line_leaves_no_ready_file() {
    let folder = Scratch::new();
    let ready = folder.path("ready");
    let args = ["sandbox", "--listen", "127.0.0.1:0", "--exit-with-parent"];
    let mut command = coffer_with_umask("022", &args);
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
    command.arg("--ready-file").arg(&ready).stdin(Stdio::null());
    let output = command.stdout(full.unwrap()).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("standard output: "), "{said}");
    assert!(!ready.exists());
}

#[test]
fn ready_file_does_not_follow_symlinks() {
    let folder = Scratch::new();
    let (ready, victim) = (folder.path("ready"), folder.path("victim"));
    std::fs::write(&victim, "precious").unwrap();
    // One symlink has a temporary name that can be guessed, and another symlink has the name of the ready file.
    symlink(&victim, folder.path("ready-new")).unwrap();
    symlink(&victim, &ready).unwrap();
    for (mask, mode) in [("022", 0o644), ("077", 0o600)] {
        let mut command = sandbox_with_umask(mask, &["--ready-file"]);
        let process = Process::start(command.arg(&ready));
        let line = process.read_line();
        // The ready file exists as soon as the ready line can be read.
        let found = std::fs::symlink_metadata(&ready).unwrap();
        assert!(found.is_file() && found.mode() & 0o777 == mode);
        let written = std::fs::read_to_string(&ready).unwrap();
        assert!(line.starts_with("coffer ready url="), "{line}");
        assert_eq!(written, format!("{line}\n"));
    }
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "precious");
    assert_eq!(file_modes(&folder.path(""), "ready").len(), 2, "no temporary file is left");
}

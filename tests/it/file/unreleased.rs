//! Files from before the first release: every command refuses them with one sentence, and writes nothing.

use crate::support::command::run_coffer;
use crate::support::sandbox_file::{create_sandbox_file, start_on_file};
use crate::support::scratch::{Scratch, path_text};
use crate::support::{agent, send};
use rusqlite::Connection;
use serde_json::json;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Tables of the first two versions, which had no application id.
const TABLES: &str = "create table file (id integer primary key, kind text, checkout_secret blob);
    insert into file values (1, 'production', zeroblob(32));";
/// Application id of all later versions before the first release: the letters "Coff".
const UNRELEASED_ID: i64 = 0x436f_6666;

/// A kind of file from before the first release.
#[derive(Clone, Copy, Debug)]
enum UnreleasedFile {
    /// A file with an application id, after the server has stopped.
    Stopped,
    /// A file with an application id in rollback mode.
    InRollbackMode,
    /// A file without an application id, after the server has stopped.
    WithoutId,
    /// A file without an application id, whose server was killed before its first checkpoint.
    KilledWithoutId,
}

const UNRELEASED_FILES: [UnreleasedFile; 4] = [
    UnreleasedFile::Stopped,
    UnreleasedFile::InRollbackMode,
    UnreleasedFile::WithoutId,
    UnreleasedFile::KilledWithoutId,
];

impl UnreleasedFile {
    /// Creates such a file at `path`.
    fn create(self, path: &Path) {
        let is_killed = matches!(self, UnreleasedFile::KilledWithoutId);
        let made = if is_killed { path.with_extension("running") } else { path.to_owned() };
        let conn = Connection::open(&made).unwrap();
        let mode = if matches!(self, UnreleasedFile::InRollbackMode) { "delete" } else { "wal" };
        conn.pragma_update(None, "journal_mode", mode).unwrap();
        conn.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
        conn.execute_batch(TABLES).unwrap();
        conn.pragma_update(None, "user_version", 2).unwrap();
        if matches!(self, UnreleasedFile::Stopped | UnreleasedFile::InRollbackMode) {
            conn.pragma_update(None, "application_id", UNRELEASED_ID).unwrap();
        }
        if is_killed {
            for suffix in ["", "-wal", "-shm"] {
                let of = |path: &Path| format!("{}{suffix}", path.display());
                std::fs::copy(of(&made), of(path)).unwrap();
            }
            conn.close().unwrap();
            std::fs::remove_file(made).unwrap();
        }
    }
}

/// A file of a folder: name, content, and owner, mode, inode and time of the last change.
type FolderEntry = (PathBuf, Vec<u8>, [i64; 6]);

/// Returns the files of a folder.
fn folder_entries(folder: &Path) -> Vec<FolderEntry> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| {
        let path = entry.unwrap().path();
        let found = std::fs::metadata(&path).unwrap();
        let numbers = [found.uid(), found.gid(), found.mode()].map(i64::from);
        let [user, group, mode] = numbers;
        let inode = i64::try_from(found.ino()).unwrap();
        let facts = [user, group, mode, inode, found.mtime(), found.mtime_nsec()];
        (path.clone(), std::fs::read(path).unwrap(), facts)
    });
    let mut entries: Vec<_> = entries.collect();
    entries.sort();
    entries
}

/// Runs a command, and asserts that it refuses the file at `named` and changes no file of the folder.
#[track_caller]
fn assert_refused(folder: &Path, named: &Path, args: &[&str], input: &str) {
    let before = folder_entries(folder);
    let mut command = Command::new(env!("CARGO_BIN_EXE_coffer"));
    command.args(args).args(["--log", "warn"]).env("COFFER_RATES", "fixed:/nowhere");
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().unwrap();
    // The command may end before it reads its input.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert_eq!(output.status.code(), Some(1), "{args:?}: {said}");
    let why = format!(
        "{} is a file from before the first release of Coffer: open it with commit dd82ed7e, the last one that reads \
         it, or name another file",
        named.display()
    );
    assert!(said.contains(&why), "{args:?}: {said}");
    assert!(folder_entries(folder) == before, "{args:?} changed the folder: {said}");
}

/// Commands that take the file from `--file`, with their input.
const COMMANDS: [(&[&str], &str); 22] = [
    (&["serve", "--listen", "127.0.0.1:0"], ""),
    (&["serve", "--listen", "127.0.0.1:0", "--acme", "pay.example.test", "--acme-agree"], ""),
    (&["sandbox", "--listen", "127.0.0.1:0"], ""),
    (&["account", "list"], ""),
    (&["account", "create", "Shop"], ""),
    (&["account", "create", "Shop", "--sandbox"], ""),
    (&["key", "list"], ""),
    (&["key", "create", "01990000-0000-7000-8000-000000000000", "--mode", "test"], ""),
    (&["user", "list"], ""),
    (&["user", "create", "ada@shop.test", "--role", "operator"], "a long password"),
    (&["user", "setup-link"], ""),
    (&["wallet", "list"], ""),
    (&["wallet", "addresses"], ""),
    (&["wallet", "own", "tron", "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8"], ""),
    (&["pool", "list"], ""),
    (&["pool", "import", "solana", "-"], "So11111111111111111111111111111111111111112\n"),
    (&["rescan", "bitcoin", "--from", "1"], ""),
    (&["audit"], ""),
    (&["audit", "--json"], ""),
    (&["doctor"], ""),
    (&["doctor", "--json"], ""),
    (&["doctor", "--accept-clock"], ""),
];

#[test]
fn every_command_refuses_a_file_from_before_the_first_release() {
    for kind in UNRELEASED_FILES {
        let scratch = Scratch::new();
        // Characters of URIs, and a byte sequence that is not ASCII.
        let file = scratch.path("sh%41p ?#\u{e9}.db");
        kind.create(&file);
        for (args, input) in COMMANDS {
            let args = [args, &["--file", path_text(&file)]].concat();
            assert_refused(&scratch.path("."), &file, &args, input);
        }
    }
}

#[test]
fn backup_and_restore_refuse_a_file_from_before_the_first_release() {
    for kind in UNRELEASED_FILES {
        let scratch = Scratch::new();
        let (file, copy) = (scratch.path("shop.db"), scratch.path("copy.db"));
        let (old, link) = (scratch.path("old.db"), scratch.path("link.db"));
        create_sandbox_file(&file);
        run_coffer(&file, &["backup", path_text(&copy)]);
        kind.create(&old);
        std::os::unix::fs::symlink(&old, &link).unwrap();
        for old in [&old, &link] {
            for [command, file, other] in [
                ["backup", path_text(old), path_text(&copy)],
                ["backup", path_text(&file), path_text(old)],
                ["restore", path_text(old), path_text(&copy)],
                ["restore", path_text(&file), path_text(old)],
            ] {
                for more in [&[][..], &["--force"], &["--dry-run"]] {
                    if (command, more) != ("backup", &["--dry-run"]) {
                        let args = [&[command, "--file", file, other], more].concat();
                        assert_refused(&scratch.path("."), old, &args, "");
                    }
                }
            }
        }
    }
}

#[test]
fn snapshot_from_before_the_first_release_is_neither_restored_nor_replaced() {
    let scratch = Scratch::new();
    let file = scratch.path("shop.db");
    let (_process, url) = start_on_file(&file);
    let old = scratch.path("shop.db-snapshot-old");
    UnreleasedFile::Stopped.create(&old);
    let before = std::fs::read(&old).unwrap();
    for path in ["/sandbox/snapshots/old", "/sandbox/snapshots/old/restore"] {
        let answer = send(&agent(), "POST", &format!("{url}{path}"), &[], &json!({}).to_string());
        answer.assert_error(500, "internal_error", None);
    }
    assert!(std::fs::read(&old).unwrap() == before);
    let beside = |suffix: &str| scratch.path(&format!("shop.db-snapshot-old{suffix}"));
    for suffix in ["-wal", "-shm", "-lock", "-copying"] {
        assert!(!beside(suffix).exists(), "{suffix}");
    }
}

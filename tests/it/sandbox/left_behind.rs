//! Sandboxes leave no files in the temporary folder, and remove the files of killed sandboxes.

use crate::support::process::Process;
use crate::support::scratch::Scratch;
use crate::support::{agent, send};
use coffer::{Config, Server};
use std::collections::BTreeSet;
use std::os::unix::fs::{chown, symlink};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

/// Starts a sandbox with this temporary folder.
fn start_in_folder(folder: &Scratch) -> (Process, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coffer"));
    command.args(["sandbox", "--listen", "127.0.0.1:0", "--exit-with-parent"]);
    let process = Process::start(command.env("TMPDIR", folder.path("")));
    let url = process.wait_for_url();
    (process, url)
}

/// Returns the file names in a folder.
fn file_names(folder: &Scratch) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder.path("")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.collect()
}

/// Sets the modification time of all files in a folder to several hours ago.
fn make_files_old(folder: &Scratch) {
    for name in file_names(folder) {
        // `touch -h` changes the symlink itself, not its target, and does not open named pipes.
        let touched = Command::new("touch")
            .args(["-h", "-d", "2 hours ago"])
            .arg(folder.path(&name))
            .status();
        assert!(touched.unwrap().success());
    }
}

#[test]
fn stopped_sandbox_leaves_no_files() {
    let folder = Scratch::new();
    let (mut process, url) = start_in_folder(&folder);
    let keep = format!("{url}/sandbox/snapshots/before");
    send(&agent(), "POST", &keep, &[], "").expect(200);
    assert!(file_names(&folder).len() >= 3, "{:?}", file_names(&folder));
    assert!(process.close_input_and_wait());
    assert_eq!(file_names(&folder), BTreeSet::new());
}

#[test]
fn next_sandbox_removes_files_of_killed_sandboxes_only() {
    let folder = Scratch::new();
    let (mut killed, _) = start_in_folder(&folder);
    let (mut in_use, url) = start_in_folder(&folder);
    killed.kill();
    make_files_old(&folder);
    let (mut just_killed, _) = start_in_folder(&folder);
    just_killed.kill();
    let before = file_names(&folder);
    let (mut next, _) = start_in_folder(&folder);
    assert!(next.close_input_and_wait());
    let after = file_names(&folder);
    let gone: BTreeSet<_> = before.difference(&after).collect();
    let databases = |names: BTreeSet<&String>| {
        let ends = |name: &&&String| name.ends_with(".db");
        names.iter().filter(ends).count()
    };
    assert_eq!((databases(gone), databases(after.iter().collect())), (1, 2));
    send(&agent(), "GET", &format!("{url}/readyz"), &[], "").expect(200);
    assert!(in_use.close_input_and_wait());
}

#[test]
fn unrelated_files_are_not_opened_or_removed() {
    let folder = Scratch::new();
    let victims = Scratch::new();
    let victim = victims.path("victim");
    std::fs::write(&victim, "money").unwrap();
    let (mut in_use, url) = start_in_folder(&folder);
    let of = |number: u32, beside: &str| {
        folder.path(&format!("coffer-sandbox-{number:016x}.db{beside}"))
    };
    // The lock file and the database of sandbox 1 are named pipes.
    for beside in ["-lock", ""] {
        let made = Command::new("mkfifo").arg(of(1, beside)).status();
        assert!(made.unwrap().success());
    }
    // The lock file of sandbox 2 is a named pipe. The files of sandbox 3 are symlinks, and those of sandbox 4 are
    // folders.
    std::fs::write(of(2, ""), "").unwrap();
    let made = Command::new("mkfifo").arg(of(2, "-lock")).status();
    assert!(made.unwrap().success());
    symlink(&victim, of(3, "")).unwrap();
    symlink(of(1, ""), of(3, "-lock")).unwrap();
    std::fs::create_dir(of(4, "-lock")).unwrap();
    std::fs::create_dir(of(4, "")).unwrap();
    // The lock files in `crafted` have names similar to the running sandbox's files. The next sandbox must
    // nevertheless not remove the running sandbox's files.
    let running = file_names(&folder);
    let running = running.iter().find(|name| {
        let is_ours = |number| of(number, "").ends_with(name);
        name.ends_with(".db") && !(1..=4).any(is_ours)
    });
    let running = running.unwrap().clone();
    let crafted = [
        "coffer-sandbox--lock".to_owned(),
        format!("{}-lock", running.strip_suffix(".db").unwrap()),
        format!("{}-lock", running.get(..20).unwrap()),
        format!("{running}-lock-lock"),
        format!("{running}-snapshot--lock"),
    ];
    for name in &crafted {
        std::fs::write(folder.path(name), "").unwrap();
    }
    // These files belong to another user, if the test has permission to change the owner.
    std::fs::write(of(5, "-lock"), "").unwrap();
    std::fs::write(of(5, ""), "").unwrap();
    let given_away = ["", "-lock"].map(|beside| chown(of(5, beside), Some(65_534), None).is_ok());
    // The next sandbox removes these files: incomplete sets, and sets beside an unrelated file.
    std::fs::write(of(6, "-snapshot-before"), "").unwrap();
    for beside in ["", "-lock", "-wal", "-new7"] {
        std::fs::write(of(7, beside), "").unwrap();
    }
    std::fs::write(of(7, "-else"), "").unwrap();
    make_files_old(&folder);
    let before = file_names(&folder);
    let (mut next, _) = start_in_folder(&folder);
    assert!(next.close_input_and_wait());
    let after = file_names(&folder);
    let gone: BTreeSet<_> = before.difference(&after).cloned().collect();
    let mut expected = vec![of(2, ""), of(6, "-snapshot-before")];
    expected.extend(["", "-lock", "-wal", "-new7"].map(|beside| of(7, beside)));
    if given_away != [true, true] {
        expected.extend(["", "-lock"].map(|beside| of(5, beside)));
    }
    let expected = expected.iter().map(|path| path.file_name().unwrap());
    let expected = expected.map(|name| name.to_str().unwrap().to_owned());
    assert_eq!(gone, expected.collect());
    assert_eq!(std::fs::read(&victim).unwrap(), b"money");
    send(&agent(), "GET", &format!("{url}/readyz"), &[], "").expect(200);
    assert!(in_use.close_input_and_wait());
}

#[test]
fn running_sandbox_without_lock_file_is_kept() {
    let folder = Scratch::new();
    let (mut in_use, url) = start_in_folder(&folder);
    let lock = file_names(&folder);
    let lock = lock.iter().find(|name| name.ends_with("-lock")).unwrap();
    std::fs::remove_file(folder.path(lock)).unwrap();
    make_files_old(&folder);
    let before = file_names(&folder);
    let (mut next, _) = start_in_folder(&folder);
    assert!(next.close_input_and_wait());
    assert_eq!(file_names(&folder), before);
    send(&agent(), "GET", &format!("{url}/readyz"), &[], "").expect(200);
    assert!(in_use.close_input_and_wait());
    assert_eq!(file_names(&folder), BTreeSet::new());
}

#[test]
fn stop_unlocks_file_despite_child_processes() {
    // A child process shares the file locks of its parent until it calls `exec`.
    let scratch = Scratch::new();
    let config = Config { file: Some(scratch.path("kept.db")), ..Config::sandbox() };
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::SeqCst) {
                assert!(Command::new("true").status().unwrap().success());
            }
        });
        let opened = (0..100).map(|_| Server::start(config.clone()).map(drop));
        let refused: Vec<_> = opened.filter_map(Result::err).collect();
        done.store(true, Ordering::SeqCst);
        assert!(refused.is_empty(), "{refused:?}");
    });
}

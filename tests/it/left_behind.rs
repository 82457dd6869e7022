//! What sandboxes leave in the folder for temporary files: nothing, also where one was killed before.

use crate::process::Process;
use crate::support::scratch::Scratch;
use crate::support::{agent, send};
use coffer::{Config, Server};
use std::collections::BTreeSet;
use std::fs::File;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

/// A sandbox whose folder for temporary files this is.
fn sandbox(folder: &Scratch) -> (Process, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coffer"));
    command.args(["sandbox", "--listen", "127.0.0.1:0", "--exit-with-parent"]);
    let process = Process::start(command.env("TMPDIR", folder.path("")));
    let line = process.line();
    let url = line.split("url=").nth(1).unwrap().split(' ').next();
    let url = url.unwrap().to_owned();
    (process, url)
}

/// The names in a folder.
fn names(folder: &Scratch) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder.path("")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.collect()
}

/// Makes every file of a folder look as if it had last been written to hours ago.
fn age(folder: &Scratch) {
    for name in names(folder) {
        let file = File::options().write(true).open(folder.path(&name));
        let hours_ago = SystemTime::now() - Duration::from_secs(7_200);
        file.unwrap().set_modified(hours_ago).unwrap();
    }
}

#[test]
fn a_sandbox_that_ends_leaves_nothing_behind() {
    let folder = Scratch::new();
    let (mut process, url) = sandbox(&folder);
    let keep = format!("{url}/sandbox/snapshots/before");
    send(&agent(), "POST", &keep, &[], "").expect(200);
    assert!(names(&folder).len() >= 3, "{:?}", names(&folder));
    assert!(process.close());
    assert_eq!(names(&folder), BTreeSet::new());
}

#[test]
fn what_a_killed_sandbox_left_goes_with_the_next_and_what_is_in_use_stays() {
    let folder = Scratch::new();
    let (mut killed, _) = sandbox(&folder);
    let (mut in_use, url) = sandbox(&folder);
    killed.kill();
    age(&folder);
    let (mut just_killed, _) = sandbox(&folder);
    just_killed.kill();
    let before = names(&folder);
    let (mut next, _) = sandbox(&folder);
    assert!(next.close());
    let after = names(&folder);
    let gone: BTreeSet<_> = before.difference(&after).collect();
    let databases = |names: BTreeSet<&String>| {
        let ends = |name: &&&String| name.ends_with(".db");
        names.iter().filter(ends).count()
    };
    assert_eq!((databases(gone), databases(after.iter().collect())), (1, 2));
    send(&agent(), "GET", &format!("{url}/readyz"), &[], "").expect(200);
    assert!(in_use.close());
}

#[test]
fn a_file_is_free_again_also_while_other_programs_are_started() {
    // A program that is being started shares the locks of who starts it, until it runs.
    let scratch = Scratch::new();
    let config = Config {
        file: Some(scratch.path("kept.db")),
        ..Config::sandbox()
    };
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

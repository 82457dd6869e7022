//! Commands on a file that does not exist yet: one command, and several at once.

use crate::support::command::coffer_output;
use crate::support::scratch::Scratch;
use std::process::{Command, Stdio};

#[test]
fn read_command_creates_no_file() {
    let scratch = Scratch::new();
    let file = scratch.path("shop.db");
    for args in [["account", "list"], ["key", "list"]] {
        let output = coffer_output(&file, &args);
        assert_eq!(output.code, Some(1));
        assert!(output.errors.contains("does not exist"), "{}", output.errors);
    }
    assert!(!file.exists());
}

#[test]
fn only_the_command_that_creates_a_file_prints_its_path() {
    let scratch = Scratch::new();
    let create = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_coffer"));
        command.args(["account", "create", "Shop", "--file", "coffer.db"]);
        let output = command.current_dir(scratch.path(".")).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let file = scratch.path("coffer.db").canonicalize();
    assert!(file.is_err(), "the file does not exist before");
    let told = create();
    let file = scratch.path("coffer.db").canonicalize().unwrap();
    assert_eq!(told, format!("coffer: made a new file {}\n", file.display()));
    assert_eq!(create(), "");
}

#[test]
fn concurrent_commands_share_one_new_file() {
    for _ in 0..5 {
        let scratch = Scratch::new();
        let file = scratch.path("shop.db");
        let begin = |number: i32| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_coffer"));
            command.args(["account", "create", &format!("Shop {number}"), "--file"]).arg(&file);
            command.stdout(Stdio::null()).spawn().unwrap()
        };
        let begun: Vec<_> = (0..8).map(begin).collect();
        for mut child in begun {
            assert!(child.wait().unwrap().success());
        }
        assert_eq!(coffer_output(&file, &["account", "list"]).printed.lines().count(), 8);
    }
}

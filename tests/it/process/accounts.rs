//! `coffer account` as a process: where it creates a file, and commands that are repeated.

use crate::support::scratch::Scratch;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

/// Runs `coffer account` in a folder that has no file.
fn run_account(folder: &Path, file: Option<&str>, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coffer"));
    command.arg("account").args(args).current_dir(folder).env_remove("COFFER_FILE");
    command.envs(file.map(|file| ("COFFER_FILE", file))).output().unwrap()
}

#[track_caller]
fn assert_account(output: &Output, status: &str) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let account: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(account["status"], status);
    account["id"].as_str().unwrap().to_owned()
}

#[test]
fn create_makes_a_file_only_if_it_is_named() {
    let scratch = Scratch::new();
    let folder = scratch.path("folder");
    std::fs::create_dir(&folder).unwrap();
    let refused = run_account(&folder, None, &["create", "My Shop"]);
    assert!(!refused.status.success());
    let problem = String::from_utf8(refused.stderr).unwrap();
    assert!(
        problem.contains("coffer.db does not exist") && problem.contains("--file"),
        "{problem}"
    );
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    assert_account(&run_account(&folder, Some("named.db"), &["create", "My Shop"]), "pending");
    let flag = run_account(&folder, None, &["create", "My Shop", "--file", "coffer.db"]);
    assert_account(&flag, "pending");
    // The file of the default name exists now, so the command needs no name.
    assert_account(&run_account(&folder, None, &["create", "Second shop"]), "pending");
}

#[test]
fn setup_link_needs_a_public_url_and_an_email_address() {
    let scratch = Scratch::new();
    let file = scratch.path("shop.db");
    assert_account(
        &run_account(Path::new("/"), Some(file.to_str().unwrap()), &["create", "My Shop"]),
        "pending",
    );
    let setup_link = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_coffer"));
        command.args(["user", "setup-link", "--file"]).arg(&file).args(args);
        let output = command.env_remove("COFFER_PUBLIC_URL").output().unwrap();
        let text = if output.status.success() { output.stdout } else { output.stderr };
        String::from_utf8(text).unwrap()
    };
    assert!(setup_link(&[]).contains("--public-url is not set"));
    let url = ["--public-url", "https://pay.example.com"];
    let refused = setup_link(&[&url[..], &["ada"]].concat());
    assert!(refused.contains("email must be one e-mail address"), "{refused}");
    let link = setup_link(&[&url[..], &["ada@example.com"]].concat());
    assert!(link.starts_with("https://pay.example.com/setup?token="), "{link}");
    assert!(link.ends_with("&email=ada%40example%2Ecom\n"), "{link}");
}

#[test]
fn repeated_decision_succeeds_and_changes_nothing() {
    let scratch = Scratch::new();
    let file = scratch.path("shop.db");
    let run = |args: &[&str]| run_account(Path::new("/"), Some(file.to_str().unwrap()), args);
    let id = assert_account(&run(&["create", "My Shop", "--active"]), "active");
    for (verb, status) in
        [("approve", "active"), ("suspend", "suspended"), ("suspend", "suspended")]
    {
        assert_eq!(assert_account(&run(&[verb, &id]), status), id);
    }
    assert!(!run(&["reject", &id]).status.success());
}

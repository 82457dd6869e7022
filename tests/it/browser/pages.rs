//! Runs the tests of `tests/browser` in a real browser, and checks the types of the page scripts.
//!
//! Invariant: the scripts use only what the OpenAPI documents describe.

use crate::support::{Shop, tools};
use std::ffi::OsString;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs, thread};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Returns the path of a program of an npm package in the folder `COFFER_NODE_MODULES`.
fn npm_program(name: &str) -> PathBuf {
    let modules =
        env::var_os("COFFER_NODE_MODULES").unwrap_or_else(|| OsString::from("node_modules"));
    Path::new(&modules).join(".bin").join(name)
}

/// Returns the path of the browser that `COFFER_CHROMIUM` names, or of an installed browser.
/// `chromium-headless-shell` is preferred because it makes the tests a third faster.
fn browser_path() -> PathBuf {
    let windowless = PathBuf::from("/usr/bin/chromium-headless-shell");
    match env::var_os("COFFER_CHROMIUM") {
        Some(named) => named.into(),
        None if windowless.exists() => windowless,
        None => PathBuf::from("/usr/bin/chromium"),
    }
}

#[track_caller]
fn assert_passed(output: &Output) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
}

#[test]
fn all_browser_tests_pass() {
    let untested = "the pages";
    let is_there = |command: &mut Command| tools::run_tool(command, untested).is_some();
    let browser = browser_path();
    if !is_there(Command::new(&browser).arg("--version"))
        || !is_there(Command::new(npm_program("playwright-core")).arg("--version"))
    {
        return;
    }
    let folder = Path::new(ROOT).join("tests/browser");
    let files = fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path());
    let files: Vec<PathBuf> = files
        .filter(|file| file.to_str().is_some_and(|file| file.ends_with(".test.mjs")))
        .collect();
    assert!(!files.is_empty());
    // By default, Node leaves one core unused. This test runs one test file on each core.
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let mut node = Command::new("node");
    node.args(["--test", "--test-reporter=tap"]);
    node.arg(format!("--test-concurrency={cores}")).args(files);
    node.env("COFFER_BINARY", env!("CARGO_BIN_EXE_coffer"));
    node.env("COFFER_CHROMIUM", browser);
    if let Some(output) = tools::run_tool(&mut node, untested) {
        assert_passed(&output);
    }
}

#[test]
fn page_scripts_match_openapi_types() {
    let untested = "the types of the pages' scripts";
    let shop = Shop::open();
    let folder = Path::new(ROOT).join("target/web");
    fs::create_dir_all(&folder).unwrap();
    for (path, name) in [("/v1/openapi.json", "openapi"), ("/sandbox/openapi.json", "controls")] {
        let document = folder.join(format!("{name}.json"));
        fs::write(&document, shop.get(path, None).expect(200).text).unwrap();
        let mut types = Command::new(npm_program("openapi-typescript"));
        types.arg(&document).arg("-o").arg(folder.join(format!("{name}.d.ts")));
        match tools::run_tool(&mut types, untested) {
            Some(output) => assert_passed(&output),
            None => return,
        }
    }
    let mut check = Command::new(npm_program("tsc"));
    check.arg("-p").arg(Path::new(ROOT).join("src/web/jsconfig.json"));
    if let Some(output) = tools::run_tool(&mut check, untested) {
        assert_passed(&output);
    }
}

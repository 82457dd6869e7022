//! The pages in a real browser (`tests/browser`), and their scripts by a type checker.
//!
//! What always holds: the scripts know of the server what its OpenAPI documents say, and nothing else.

use crate::support::{Shop, tools};
use std::ffi::OsString;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs, thread};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// A program of an npm package that is installed where `COFFER_NODE_MODULES` says.
fn program(name: &str) -> PathBuf {
    let modules =
        env::var_os("COFFER_NODE_MODULES").unwrap_or_else(|| OsString::from("node_modules"));
    Path::new(&modules).join(".bin").join(name)
}

/// Returns the browser that `COFFER_CHROMIUM` names, or else an installed one. `chromium-headless-shell` comes first: it has
/// no window, and takes a third less time.
fn browser() -> PathBuf {
    let windowless = PathBuf::from("/usr/bin/chromium-headless-shell");
    match env::var_os("COFFER_CHROMIUM") {
        Some(named) => named.into(),
        None if windowless.exists() => windowless,
        None => PathBuf::from("/usr/bin/chromium"),
    }
}

#[track_caller]
fn passed(output: &Output) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
}

#[test]
fn the_pages() {
    let untested = "the pages";
    let is_there = |command: &mut Command| tools::run(command, untested).is_some();
    let browser = browser();
    if !is_there(Command::new(&browser).arg("--version"))
        || !is_there(Command::new(program("playwright-core")).arg("--version"))
    {
        return;
    }
    let folder = Path::new(ROOT).join("tests/browser");
    let files = fs::read_dir(&folder)
        .unwrap()
        .map(|file| file.unwrap().path());
    let files: Vec<PathBuf> = files
        .filter(|file| {
            file.to_str()
                .is_some_and(|file| file.ends_with(".test.mjs"))
        })
        .collect();
    assert!(!files.is_empty());
    // Node leaves one core idle: with two, its files would run one after another.
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let mut node = Command::new("node");
    node.args(["--test", "--test-reporter=tap"]);
    node.arg(format!("--test-concurrency={cores}")).args(files);
    node.env("COFFER_BINARY", env!("CARGO_BIN_EXE_coffer"));
    node.env("COFFER_CHROMIUM", browser);
    if let Some(output) = tools::run(&mut node, untested) {
        passed(&output);
    }
}

#[test]
fn the_scripts_of_pages_have_the_types_of_the_documents() {
    let untested = "the types of the pages' scripts";
    let shop = Shop::open();
    let folder = Path::new(ROOT).join("target/web");
    fs::create_dir_all(&folder).unwrap();
    for (path, name) in [
        ("/v1/openapi.json", "openapi"),
        ("/sandbox/openapi.json", "controls"),
    ] {
        let document = folder.join(format!("{name}.json"));
        fs::write(&document, shop.get(path, None).expect(200).text).unwrap();
        let mut types = Command::new(program("openapi-typescript"));
        types
            .arg(&document)
            .arg("-o")
            .arg(folder.join(format!("{name}.d.ts")));
        match tools::run(&mut types, untested) {
            Some(output) => passed(&output),
            None => return,
        }
    }
    let mut check = Command::new(program("tsc"));
    check
        .arg("-p")
        .arg(Path::new(ROOT).join("src/web/jsconfig.json"));
    if let Some(output) = tools::run(&mut check, untested) {
        passed(&output);
    }
}

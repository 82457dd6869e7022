//! The sandbox as a test fixture of other projects: in-process in Rust, in pytest and in node:test.
//!
//! The fixtures of pytest and node:test need Python and Node.js: see `support::tools`.

use crate::support::scratch::Scratch;
use crate::support::{agent, send, tools};
use coffer::Sandbox;
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Output};

/// Number of sandboxes. The first sandbox gets one invoice, and each further sandbox one more, so that shared
/// invoices are noticed.
const SANDBOX_COUNT: usize = 8;

fn create_invoice(sandbox: &Sandbox, order: usize) -> Value {
    let url = format!("{}/v1/invoices", sandbox.url());
    let body = json!({ "amount": "20.00", "currency": "EUR", "orderId": format!("order-{order}") });
    let headers = [("X-API-Key", Sandbox::SECRET_TEST)];
    send(&agent(), "POST", &url, &headers, &body.to_string()).expect(201).json()
}

/// Sends a GET request with a key, and parses the JSON response.
fn get_json(sandbox: &Sandbox, path: &str) -> Value {
    let headers = [("X-API-Key", Sandbox::SECRET_TEST)];
    let url = format!("{}{path}", sandbox.url());
    send(&agent(), "GET", &url, &headers, "").expect(200).json()
}

#[test]
fn sandboxes_in_one_process_are_isolated() {
    std::thread::scope(|scope| {
        for number in 1..=SANDBOX_COUNT {
            scope.spawn(move || {
                let sandbox = Sandbox::start().unwrap();
                for order in 0..number {
                    create_invoice(&sandbox, order);
                }
                let clock = format!("{}/sandbox/clock", sandbox.url());
                let step = json!({ "advance": format!("{number}d") });
                let before = get_json(&sandbox, "/sandbox")["counts"]["events"].clone();
                send(&agent(), "POST", &clock, &[], &step.to_string()).expect(200);
                let state = get_json(&sandbox, "/sandbox");
                assert_eq!(before, number, "created, each");
                assert_eq!(state["counts"]["invoices"], number);
                assert_eq!(state["counts"]["events"], 2 * number, "expired, each");
            });
        }
    });
}

#[test]
fn sandbox_starts_and_stops_inside_a_runtime() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let url = runtime.block_on(async {
        let sandbox = Sandbox::start().unwrap();
        create_invoice(&sandbox, 1);
        sandbox.url().to_owned()
    });
    let gone = agent().get(format!("{url}/livez")).call();
    assert!(gone.is_err(), "dropping it stopped it");
}

#[test]
fn library_keys_equal_the_sandbox_keys() {
    let sandbox = Sandbox::start().unwrap();
    let status = |path: &str, key: &str| {
        let url = format!("{}{path}", sandbox.url());
        send(&agent(), "GET", &url, &[("X-API-Key", key)], "").status
    };
    for key in [Sandbox::SECRET_TEST, Sandbox::SECRET_LIVE, Sandbox::LEGACY] {
        assert_eq!(status("/v1/merchant", key), 200, "{key}");
    }
    for key in [Sandbox::PUBLIC_TEST, Sandbox::PUBLIC_LIVE] {
        assert_eq!(status("/v1/public/config", key), 200, "{key}");
    }
}

/// Runs a tool in the folder of the examples against the binary of this build.
#[track_caller]
fn run_example_tool(tool: &str, arguments: &[&str]) -> Option<Output> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let packages = root.join("src/packages/python");
    let modules = format!("{0}/src:{0}/client/src", packages.display());
    let mut command = Command::new(tool);
    command
        .args(arguments)
        .current_dir(root.join("examples"))
        .env("COFFER_BINARY", env!("CARGO_BIN_EXE_coffer"))
        // The variable keeps Python from writing a cache into the folder.
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("PYTHONPATH", modules);
    tools::run_tool(&mut command, "its fixture")
}

/// Asserts that this many tests passed and returns the output.
#[track_caller]
fn assert_tests_passed(output: &Output, count: &str) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
    assert!(out.contains(count), "{out}\n{err}");
    out
}

/// Runs the pytest fixture. The option `-p` loads its plugin, as the entry point of an installed wheel does.
#[test]
fn pytest_fixture_works() {
    let plugin = "coffer_sandbox.pytest_plugin";
    let arguments = ["-q", "-p", "no:cacheprovider", "-p", plugin, "pytest"];
    if let Some(output) = run_example_tool("pytest", &arguments) {
        assert_tests_passed(&output, "10 passed");
    }
}

/// Runs the fixture as an installed npm package, and prints how long a start takes.
#[test]
#[expect(clippy::print_stdout, reason = "whoever runs the tests may see what was measured")]
fn node_fixture_works() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = Scratch::new();
    let modules = folder.path("node_modules");
    std::fs::create_dir(&modules).unwrap();
    for name in ["coffer-client", "coffer-sandbox"] {
        let package = root.join("src/packages/npm").join(name);
        std::os::unix::fs::symlink(package, modules.join(name)).unwrap();
    }
    for name in ["shop.cjs", "shop.test.mjs"] {
        let example = root.join("examples/node-test").join(name);
        std::fs::copy(example, folder.path(name)).unwrap();
    }
    let tests = folder.path("shop.test.mjs");
    let arguments = ["--test", "--test-reporter=tap", tests.to_str().unwrap()];
    if let Some(output) = run_example_tool("node", &arguments) {
        let out = assert_tests_passed(&output, "# pass 7");
        let says = |line: &&str| line.contains("exec to first created invoice, median of 20: ");
        println!("{}", out.lines().find(says).unwrap());
    }
}

//! Nodes that hang, are not there, or are named wrongly; and that nothing secret of them is told.

use crate::support::receiver::{Does, Receiver};
use crate::support::scratch::Scratch;
use crate::support::served::Served;
use serde_json::Value;
use std::process::Command;
use std::time::{Duration, Instant};

const CHAINS: [&str; 6] = [
    "bitcoin", "litecoin", "dogecoin", "ethereum", "base", "polygon",
];
const SECRET: &str = "correct-horse";

/// Each of them has a minute for an answer; the server is ready before, and has ended before.
#[test]
fn nobody_waits_for_six_nodes_that_never_answer() {
    let node = Receiver::that(Does::Hang);
    let served = Served::new();
    let url = node
        .url()
        .replace("http://", &format!("http://coffer:{SECRET}@"));
    let nodes = CHAINS.map(|chain| format!("{chain}={url}?key={SECRET}"));
    let header = format!("base=X-Api-Key: {SECRET}");
    let mut settings = vec!["--node-header", header.as_str()];
    for node in &nodes {
        settings.extend(["--node", node.as_str()]);
    }
    let log = served.path("log");
    let mut running = served.start_logging_with("trace", &log, &settings);
    node.wait(CHAINS.len());
    let told = running.interface("GET", "/dashboard/api/chains", &Value::Null);
    let chains = told.json()["data"].as_array().unwrap().len();
    assert_eq!(
        (chains, told.json()["data"][0]["keepsUp"] == false),
        (6, true)
    );
    assert!(!told.text.contains(SECRET), "{}", told.text);
    running
        .interface("GET", "/readyz", &Value::Null)
        .expect(200);
    let number = running.process.id().to_string();
    let told = Command::new("kill").args(["-TERM", &number]).status();
    let begun = Instant::now();
    assert!(told.unwrap().success() && running.process.close());
    assert!(
        begun.elapsed() < Duration::from_secs(30),
        "it waited for its nodes"
    );
    let logged = std::fs::read_to_string(&log).unwrap();
    assert!(
        logged.contains("bitcoin: followed through http://127.0.0.1"),
        "{logged}"
    );
    assert!(!logged.contains(SECRET), "{logged}");
}

#[test]
fn a_node_that_is_named_wrongly_is_refused_at_the_start() {
    let scratch = Scratch::new();
    let file = scratch.path("shop.db");
    for (args, said) in [
        (&["--node", "correct-horse"][..], "--node must be CHAIN=URL"),
        (
            &["--node", "ripple=http://correct-horse"],
            "--node ripple: must be for one of bitcoin",
        ),
        (&["--node", "base=ws://correct-horse"], "--node base: must "),
        (
            &["--node-header", "base=a: correct-horse"],
            "--node-header base: base has no node",
        ),
        (
            &["--token", "USDC-BASE=0x0"],
            "--token USDC-BASE: is for test networks",
        ),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_coffer"));
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--file"])
            .arg(&file);
        let output = command.args(args).output().unwrap();
        let problem = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{problem}");
        assert!(problem.contains(said), "{problem}");
        assert!(!problem.contains(SECRET), "{problem}");
        assert!(!file.exists());
    }
}

#[test]
fn what_cannot_be_read_again_is_said() {
    let served = Served::new();
    for (args, said) in [
        (["litecoin", "--from", "1"], "litecoin is not followed yet"),
        (["ripple", "--from", "1"], "chain must be one of bitcoin"),
        (["litecoin", "--from", "x"], "from must be a height"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_coffer"));
        command
            .arg("rescan")
            .args(args)
            .arg("--file")
            .arg(&served.file);
        let output = command.output().unwrap();
        let problem = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{problem}");
        assert!(problem.contains(said), "{problem}");
    }
}

//! Nodes that hang, are not there, or are named wrongly; and that nothing secret of them is told.

use crate::support::exchanges::{Exchanges, SOURCES, SourceReply};
use crate::support::installation::{Installation, RunningServer};
use crate::support::polling;
use crate::support::receiver::{Receiver, Reply};
use crate::support::scratch::Scratch;
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const CHAINS: [&str; 6] = [
    "bitcoin", "litecoin", "dogecoin", "ethereum", "base", "polygon",
];
const SECRET: &str = "correct-horse";
/// How long a stopping server with nothing under way may take, by its interface.
const STOPPING: Duration = Duration::from_secs(2);

/// A server with a node of each chain at this url.
#[track_caller]
fn with_nodes_at(served: &Installation, url: &str, log: &Path) -> RunningServer {
    let nodes = CHAINS.map(|chain| format!("{chain}={url}"));
    let header = format!("base=X-Api-Key: {SECRET}");
    let mut settings = vec!["--node-header", header.as_str()];
    for node in &nodes {
        settings.extend(["--node", node.as_str()]);
    }
    served.start_logging_with("trace", log, &settings)
}

/// The url of a node, with a secret wherever one can be.
fn secret(url: &str) -> String {
    let url = url.replace("http://", &format!("http://coffer:{SECRET}@"));
    format!("{url}?key={SECRET}")
}

/// Asks it to end, and sees that it does so by itself and in time.
#[track_caller]
fn ends_in_time(running: &mut RunningServer) {
    let number = running.process.id().to_string();
    let told = Command::new("kill").args(["-TERM", &number]).status();
    let begun = Instant::now();
    assert!(told.unwrap().success() && running.process.wait_success());
    let took = begun.elapsed();
    assert!(took <= STOPPING, "it waited for its nodes: {took:?}");
}

/// What was logged says where each node is, and nothing that is secret.
#[track_caller]
fn tells_no_secret(log: &Path) {
    let logged = std::fs::read_to_string(log).unwrap();
    for chain in CHAINS {
        let followed = format!("{chain}: followed through http://127.");
        assert!(logged.contains(&followed), "{logged}");
    }
    assert!(!logged.contains(SECRET), "{logged}");
}

/// Each of them has a minute for an answer that never comes, or never ends: the server is ready before, and has ended before.
#[test]
fn nobody_waits_for_six_nodes_that_never_answer_or_never_end_an_answer() {
    for does in [Reply::Hang, Reply::Partial] {
        let node = Receiver::replying(does);
        let served = Installation::new();
        let log = served.path("log");
        let mut running = with_nodes_at(&served, &secret(&node.url()), &log);
        // It has been ready since before: none of these is ever answered.
        node.wait(CHAINS.len());
        let told = running.operator_request("GET", "/dashboard/api/chains", &Value::Null);
        let chains = told.json()["data"].as_array().unwrap().len();
        assert_eq!(
            (chains, told.json()["data"][0]["keepsUp"] == false),
            (6, true)
        );
        assert!(!told.text.contains(SECRET), "{}", told.text);
        running
            .operator_request("GET", "/readyz", &Value::Null)
            .expect(200);
        ends_in_time(&mut running);
        tells_no_secret(&log);
    }
}

#[test]
fn nobody_waits_for_six_nodes_that_are_not_there() {
    let served = Installation::new();
    let log = served.path("log");
    let url = format!("http://{}", Receiver::unused_address());
    let mut running = with_nodes_at(&served, &secret(&url), &log);
    running
        .operator_request("GET", "/readyz", &Value::Null)
        .expect(200);
    // Each of them rests, to try once more.
    let chains = || running.operator_request("GET", "/dashboard/api/chains", &Value::Null);
    let failed = |chain: &Value| chain["problem"].is_string();
    let have_all_failed = || {
        chains().json()["data"]
            .as_array()
            .unwrap()
            .iter()
            .all(failed)
    };
    assert!(polling::until(have_all_failed));
    ends_in_time(&mut running);
    tells_no_secret(&log);
}

#[test]
fn nobody_waits_for_sources_of_rates_that_never_answer() {
    let exchanges = Exchanges::open([(); 4].map(|()| SourceReply::Nothing));
    let node = Receiver::replying(Reply::Hang);
    let served = Installation::new();
    let log = served.path("log");
    let (node_url, rates) = (secret(&node.url()), exchanges.setting(&SOURCES));
    let nodes = format!("bitcoin={node_url}");
    let settings = ["--node", &nodes, "--rates", &rates];
    let mut running = served.start_logging_with("debug", &log, &settings);
    running
        .operator_request("GET", "/readyz", &Value::Null)
        .expect(200);
    // Each source is asked, and so is the node, for its head.
    node.wait(1);
    let asked = || {
        SOURCES
            .iter()
            .all(|source| exchanges.request_count(source) > 0)
    };
    assert!(polling::until(asked));
    ends_in_time(&mut running);
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
    let served = Installation::new();
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

//! Nodes that hang, are unreachable or have an invalid URL. Their URLs contain secrets, which are not logged.

use crate::support::command::coffer_output;
use crate::support::exchanges::{Exchanges, SOURCES, SourceReply};
use crate::support::installation::{Installation, RunningServer};
use crate::support::polling;
use crate::support::receiver::{Receiver, Reply};
use crate::support::scratch::Scratch;
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const CHAINS: [&str; 6] = ["bitcoin", "litecoin", "dogecoin", "ethereum", "base", "polygon"];
const SECRET: &str = "correct-horse";
/// Maximum time for a server without work in progress to stop.
const STOP_TIME_MAX: Duration = Duration::from_secs(2);

/// Starts a server with a node for each chain, all at this URL.
#[track_caller]
fn start_with_nodes_at(served: &Installation, url: &str, log: &Path) -> RunningServer {
    let nodes = CHAINS.map(|chain| format!("{chain}={url}"));
    let header = format!("base=X-Api-Key: {SECRET}");
    let mut settings = vec!["--node-header", header.as_str()];
    for node in &nodes {
        settings.extend(["--node", node.as_str()]);
    }
    served.start_with_log_and_settings("trace", log, &settings)
}

/// Returns the URL of a node that contains a secret in every possible part.
fn url_with_secrets(url: &str) -> String {
    let url = url.replace("http://", &format!("http://coffer:{SECRET}@"));
    format!("{url}?key={SECRET}")
}

/// Stops the server and asserts that it exits in time.
#[track_caller]
fn assert_stops_in_time(running: &mut RunningServer) {
    let number = running.process.id().to_string();
    let told = Command::new("kill").args(["-TERM", &number]).status();
    let begun = Instant::now();
    assert!(told.unwrap().success() && running.process.wait_for_success());
    let took = begun.elapsed();
    assert!(took <= STOP_TIME_MAX, "it waited for its nodes: {took:?}");
}

/// Asserts that the log contains each node's address and no secret.
#[track_caller]
fn assert_no_secret_logged(log: &Path) {
    let logged = std::fs::read_to_string(log).unwrap();
    for chain in CHAINS {
        let followed = format!("chain configured: chain={chain} node=http://127.");
        assert!(logged.contains(&followed), "{logged}");
    }
    assert!(!logged.contains(SECRET), "{logged}");
}

/// A request to a node times out after a minute. The server becomes ready and stops without waiting for the response.
#[test]
fn hanging_nodes_do_not_delay_start_and_stop() {
    for does in [Reply::Hang, Reply::Partial] {
        let node = Receiver::start_with_reply(does);
        let served = Installation::new();
        let log = served.path("log");
        let mut running = start_with_nodes_at(&served, &url_with_secrets(&node.url()), &log);
        // The server is ready, although the node has answered none of these requests.
        node.wait_for_requests(CHAINS.len());
        let told = running.operator_request("GET", "/dashboard/api/chains", &Value::Null);
        let chains = told.json()["data"].as_array().unwrap().len();
        assert_eq!((chains, told.json()["data"][0]["keepsUp"] == false), (6, true));
        assert!(!told.text.contains(SECRET), "{}", told.text);
        running.operator_request("GET", "/readyz", &Value::Null).expect(200);
        assert_stops_in_time(&mut running);
        assert_no_secret_logged(&log);
    }
}

#[test]
fn unreachable_nodes_do_not_delay_start_and_stop() {
    let served = Installation::new();
    let log = served.path("log");
    let url = format!("http://{}", Receiver::unused_address());
    let mut running = start_with_nodes_at(&served, &url_with_secrets(&url), &log);
    running.operator_request("GET", "/readyz", &Value::Null).expect(200);
    // After a failed request, each chain waits for its next attempt.
    let chains = || running.operator_request("GET", "/dashboard/api/chains", &Value::Null);
    let failed = |chain: &Value| chain["problem"].is_string();
    let have_all_failed = || chains().json()["data"].as_array().unwrap().iter().all(failed);
    assert!(polling::wait_until(have_all_failed));
    assert_stops_in_time(&mut running);
    assert_no_secret_logged(&log);
}

#[test]
fn hanging_rate_sources_do_not_delay_start_and_stop() {
    let exchanges = Exchanges::start([(); 4].map(|()| SourceReply::Nothing));
    let node = Receiver::start_with_reply(Reply::Hang);
    let served = Installation::new();
    let log = served.path("log");
    let (node_url, rates) = (url_with_secrets(&node.url()), exchanges.rates_setting(&SOURCES));
    let nodes = format!("bitcoin={node_url}");
    let settings = ["--node", &nodes, "--rates", &rates];
    let mut running = served.start_with_log_and_settings("debug", &log, &settings);
    running.operator_request("GET", "/readyz", &Value::Null).expect(200);
    // The test waits until the node and each rate source have received a request.
    node.wait_for_requests(1);
    let asked = || SOURCES.iter().all(|source| exchanges.request_count(source) > 0);
    assert!(polling::wait_until(asked));
    assert_stops_in_time(&mut running);
}

#[test]
fn invalid_node_url_is_rejected_at_start() {
    let scratch = Scratch::new();
    let file = scratch.path("shop.db");
    for (args, said) in [
        (&["--node", "correct-horse"][..], "--node must be CHAIN=URL"),
        (&["--node", "ripple=http://correct-horse"], "--node ripple: must be for one of bitcoin"),
        (&["--node", "base=ws://correct-horse"], "--node base: must "),
        (&["--node-header", "base=a: correct-horse"], "--node-header base: base has no node"),
        (&["--token", "USDC-BASE=0x0"], "--token USDC-BASE: is for test networks"),
    ] {
        let serve = ["serve", "--listen", "127.0.0.1:0"];
        let output = coffer_output(&file, &[&serve, args].concat());
        let problem = output.errors;
        assert_eq!(output.code, Some(1), "{problem}");
        assert!(problem.contains(said), "{problem}");
        assert!(!problem.contains(SECRET), "{problem}");
        assert!(!file.exists());
    }
}

#[test]
fn rescan_explains_invalid_arguments() {
    let served = Installation::new();
    for (args, said) in [
        (["litecoin", "--from", "1"], "litecoin is not followed yet"),
        (["ripple", "--from", "1"], "chain must be one of bitcoin"),
        (["litecoin", "--from", "x"], "from must be a height"),
    ] {
        let output = coffer_output(&served.file, &[&["rescan"], &args[..]].concat());
        let problem = output.errors;
        assert_eq!(output.code, Some(1), "{problem}");
        assert!(problem.contains(said), "{problem}");
    }
}

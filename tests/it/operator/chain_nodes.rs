//! Nodes that operators enter: tried, stored without being shown, followed at once, and removed by a restore elsewhere.

use crate::support::anvil::Node;
use crate::support::electrumx::Electrumx;
use crate::support::installation::{Installation, NO_RATES, RunningServer};
use crate::support::litecoind::Litecoind;
use crate::support::operator_interface::OperatorInterface;
use crate::support::process::Process;
use crate::support::receiver::{Receiver, Reply};
use crate::support::{Response, agent, send};
use serde_json::{Value, json};
use std::net::TcpListener;
use std::process::{Command, Output};

const NULL: Value = Value::Null;
const ETHEREUM: &str = "/dashboard/api/chain-nodes/ethereum";
/// Chain id of the test network that the tests follow.
const SEPOLIA: u64 = 11_155_111;
/// A text in the url, or in the answer of a node, that no response and no log may have.
const SECRET: &str = "verysecret";

/// Sends the url of the ethereum node.
#[track_caller]
fn put(running: &RunningServer, url: &str) -> Response {
    running.operator_request("PUT", ETHEREUM, &json!({ "url": url }))
}

/// Returns the node of ethereum in the list.
#[track_caller]
fn ethereum_node(running: &RunningServer) -> Value {
    let list = running.operator_request("GET", "/dashboard/api/chain-nodes", &NULL).expect(200);
    assert!(!list.text.contains(SECRET), "{}", list.text);
    let list = list.json();
    assert_eq!(list["data"].as_array().unwrap().len(), 8);
    let mut nodes = list["data"].as_array().unwrap().iter();
    nodes.find(|one| one["chain"] == "ethereum").unwrap().clone()
}

/// Returns the number of stored urls.
fn stored_urls(served: &Installation) -> i64 {
    let sql = "select count(url) from chain_nodes";
    served.open_file().query_row(sql, [], |row| row.get(0)).unwrap()
}

/// Waits until the chain was read up to this height.
#[track_caller]
fn wait_for_height(served: &Installation, height: u32) {
    let query = format!(
        "select iif(max(height) >= {height}, 'read', 'not yet') from chain_cursors where chain = 'ethereum'"
    );
    served.wait_for_query_result(&query, &["read"]);
}

/// Stops the server and starts it again with these settings.
#[track_caller]
fn restart(served: &Installation, mut before: RunningServer, settings: &[&str]) -> RunningServer {
    assert!(before.process.close_input_and_wait());
    served.restart(&before, settings)
}

/// Starts a server with this public url, and stops it when it is ready.
#[track_caller]
fn serve_once(served: &Installation, public_url: &str) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coffer"));
    command.args(["serve", "--listen", "127.0.0.1:0", "--log", "off", "--exit-with-parent"]);
    command.args(["--public-url", public_url, "--file"]).arg(&served.file);
    command.env("COFFER_RATES", NO_RATES);
    let mut process = Process::start(&mut command);
    assert_eq!(process.wait_for_url(), public_url);
    assert!(process.close_input_and_wait());
}

/// Runs a command on the file.
#[track_caller]
fn run(args: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coffer"));
    command.args(args).args(["--log", "warn"]).envs(environment.iter().copied());
    command.output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn node_is_tried_stored_and_followed_at_once() {
    let Some(node) = Node::start(SEPOLIA, "nodes in the file") else { return };
    node.mine(3);
    let (served, settings) = (Installation::new(), ["--test-networks"]);
    let log = served.path("log");
    let running = served.start_with_log_and_settings("trace", &log, &settings);
    assert_eq!(ethereum_node(&running)["source"], "none");
    let url = format!("{}/?key={SECRET}", node.url);
    let url = url.replace("http://", &format!("http://user:{SECRET}@"));
    let tried = put(&running, &url).expect(200);
    assert!(!tried.text.contains(SECRET), "{}", tried.text);
    let tried = tried.json();
    assert_eq!((&tried["network"], &tried["height"]), (&json!("11155111"), &json!(3)));
    let stored = ethereum_node(&running);
    assert_eq!((&stored["source"], &stored["node"]), (&json!("file"), &json!(node.url)));
    assert_eq!(stored["changedBy"], "operator@shop.test");
    wait_for_height(&served, 3);
    // Another url of the same node: the chain goes on without a restart.
    let other = node.url.replace("127.0.0.1", "localhost");
    put(&running, &other).expect(200);
    node.mine(1);
    wait_for_height(&served, 4);
    let chains = running.operator_get("/dashboard/api/chains");
    assert_eq!(chains["data"][0]["node"], json!(other));
    // Every operator is told, and the audit log has the host only.
    let summary = running.operator_request("GET", "/dashboard/api/summary", &NULL).expect(200);
    assert!(!summary.text.contains(SECRET));
    let told = &summary.json()["nodeChanges"];
    assert_eq!((&told[0]["node"], &told[0]["removed"]), (&json!(other), &json!(false)));
    let week = "update chain_nodes set changed_at = changed_at - 604800000";
    served.open_file().execute_batch(week).unwrap();
    let summary = running.operator_request("GET", "/dashboard/api/summary", &NULL).expect(200);
    assert_eq!(summary.json()["nodeChanges"], json!([]));
    let audit = running.operator_request("GET", "/dashboard/api/audit-log", &NULL).expect(200);
    assert!(audit.text.contains("chain_node.set") && !audit.text.contains(SECRET));
    // Without the node, the chain is not followed. It goes on when the node is entered again.
    running.operator_request("DELETE", ETHEREUM, &NULL).expect(204);
    running.operator_request("DELETE", ETHEREUM, &NULL).assert_error(404, "not_found", None);
    let chains = running.operator_get("/dashboard/api/chains");
    assert_eq!(chains["data"], json!([]));
    node.mine(1);
    put(&running, &url).expect(200);
    wait_for_height(&served, 5);
    // A restart keeps the node. Settings replace it, and are shown.
    let running = restart(&served, running, &settings);
    node.mine(1);
    wait_for_height(&served, 6);
    let setting = format!("ethereum=http://user:{SECRET}@127.0.0.1:1/{SECRET}");
    let running = restart(&served, running, &["--test-networks", "--node", &setting]);
    let shown = ethereum_node(&running);
    let by_settings = (&json!("settings"), &json!("http://127.0.0.1:1"));
    assert_eq!((&shown["source"], &shown["node"]), by_settings);
    for method in ["PUT", "DELETE"] {
        let body = if method == "PUT" { json!({ "url": url }) } else { NULL };
        let refused = running.operator_request(method, ETHEREUM, &body);
        refused.assert_error(409, "invalid_transition", None);
    }
    assert_eq!(stored_urls(&served), 1);
    drop(running);
    assert!(!std::fs::read_to_string(&log).unwrap().contains(SECRET));
}

#[test]
fn node_and_electrum_servers_of_litecoin_are_followed() {
    let untested = "nodes of litecoin in the file";
    let Some(node) = Litecoind::start(&["-txindex=1"], untested) else { return };
    node.fund_wallet();
    let (served, running) = Installation::start_new(&["--test-networks"]);
    let set = |url: &str| {
        let path = "/dashboard/api/chain-nodes/litecoin";
        running.operator_request("PUT", path, &json!({ "url": url })).expect(200).json()
    };
    let wait_for = |height: &Value| {
        let query = format!(
            "select iif(max(height) >= {height}, 'read', 'not yet') from chain_cursors where chain = 'litecoin'"
        );
        served.wait_for_query_result(&query, &["read"]);
    };
    let tried = set(&node.url());
    assert_eq!(tried["network"], "regtest");
    wait_for(&tried["height"]);
    let Some(server) = Electrumx::start(&node, &[], untested) else { return };
    node.mine(1);
    let servers = [server.url(), server.url().replace("127.0.0.1", "localhost")];
    let tried = set(&servers.join(","));
    assert_eq!(tried["network"], "regtest");
    let label = format!("{} (1 of 2), {} (2 of 2)", servers[0], servers[1]);
    assert_eq!(tried["node"]["node"], json!(label));
    wait_for(&tried["height"]);
}

#[test]
fn odd_urls_are_refused_and_not_repeated() {
    let (served, running) = Installation::start_new(&[]);
    for url in [
        "",
        " ",
        "verysecret",
        "ftp://verysecret@node.example",
        "http://verysecret@",
        "http://verysecret@node.example:0",
        "http://verysecret@node.example:99999",
        "http://verysecret@node.example\nCOFFER_FILE=x",
        "http://very secret@node.example",
        "http://verysecret@node.example\r\nX: y",
        "http://verysecret@127.0.0.1:1,http://verysecret@169.254.169.254",
        "http://a,http://b,http://c,http://d,http://verysecret",
        "http://verysecret@127.0.0.1:1,",
        "http://verysecret@169.254.169.254/latest/meta-data",
        "http://verysecret@[::ffff:169.254.169.254]/",
        "http://verysecret@[::ffff:a9fe:a9fe]/",
        "http://verysecret@[fe80::1]:8545",
        "http://verysecret@[64:ff9b::a9fe:a9fe]/",
        "http://verysecret@100.100.100.200/",
        "http://verysecret@metadata.google.internal/",
        "HTTP://verysecret@METADATA.google.internal./",
        "electrum://node.example:50001",
    ] {
        let refused = put(&running, url);
        refused.assert_error(400, "invalid_request", Some("url"));
        assert!(!refused.text.contains(SECRET), "{}", refused.text);
    }
    let long = format!("http://{}.example", "x".repeat(2000));
    put(&running, &long).assert_error(400, "invalid_request", Some("url"));
    let unknown = json!({ "url": "http://127.0.0.1:1", "header": "x" });
    let refused = running.operator_request("PUT", ETHEREUM, &unknown);
    refused.assert_error(400, "invalid_request", Some("header"));
    let path = "/dashboard/api/chain-nodes/ripple";
    let refused = running.operator_request("PUT", path, &json!({ "url": "http://127.0.0.1:1" }));
    refused.assert_error(404, "not_found", None);
    assert_eq!(stored_urls(&served), 0);
}

#[test]
fn numeric_notations_of_link_local_addresses_are_refused() {
    let (served, running) = Installation::start_new(&[]);
    for url in ["http://2852039166/", "http://0xa9fea9fe/", "http://0251.0376.0251.0376/"] {
        let refused = put(&running, url);
        refused.assert_error(400, "invalid_request", Some("url"));
        assert!(!refused.text.contains("no answer in time"), "{}", refused.text);
    }
    assert_eq!(stored_urls(&served), 0);
}

#[test]
fn failing_node_is_described_by_kind_and_status() {
    let (served, running) = Installation::start_new(&[]);
    let body = |text: &str| Reply::Text(200, text.to_owned());
    let large = format!(r#"{{"jsonrpc":"2.0","id":1,"result":"{}"}}"#, "7".repeat(5 << 20));
    let error =
        format!(r#"{{"jsonrpc":"2.0","id":null,"error":{{"code":-32000,"message":"{SECRET}"}}}}"#);
    for (reply, told) in [
        (Reply::Status(404), "status 404"),
        (Reply::Text(401, SECRET.to_owned()), "status 401"),
        (Reply::Text(500, SECRET.to_owned()), "status 500"),
        (Reply::Redirect("http://169.254.169.254/".to_owned()), "redirect"),
        (body(&format!("<html>{SECRET}</html>")), "is not that of one"),
        (body(&large), "bytes"),
        (body(&error), "answered with an error"),
        (Reply::Close, "cannot be asked"),
    ] {
        let node = Receiver::start_with_reply(reply.clone());
        let refused = put(&running, &format!("{}/{SECRET}", node.url()));
        refused.assert_error(400, "invalid_request", Some("url"));
        assert!(refused.text.contains(told), "{reply:?}: {}", refused.text);
        assert!(!refused.text.contains(SECRET), "{}", refused.text);
    }
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let refused = put(&running, &format!("http://{closed}/"));
    assert!(refused.text.contains("connection refused"), "{}", refused.text);
    assert_eq!(stored_urls(&served), 0);
}

#[test]
fn trials_are_few_at_once_and_in_a_minute() {
    let (_served, running) = Installation::start_new(&[]);
    let hanging = Receiver::start_with_reply(Reply::Hang);
    let (url, cookie) = (format!("{}{ETHEREUM}", running.url), running.cookie().to_owned());
    let body = json!({ "url": hanging.url() }).to_string();
    std::thread::scope(|scope| {
        let trial = || {
            let headers = [("cookie", cookie.as_str())];
            send(&agent(), "PUT", &url, &headers, &body)
        };
        let trials: Vec<_> = (0..4).map(|_| scope.spawn(trial)).collect();
        let mut answers: Vec<_> = trials.into_iter().map(|one| one.join().unwrap()).collect();
        answers.sort_by_key(|answer| answer.status);
        for answer in &answers[..2] {
            answer.assert_error(400, "invalid_request", Some("url"));
            assert!(answer.text.contains("no answer in time"), "{}", answer.text);
        }
        for answer in &answers[2..] {
            answer.assert_error(429, "too_many_attempts", None);
        }
    });
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let statuses: Vec<u16> =
        (0..12).map(|_| put(&running, &format!("http://{closed}/")).status).collect();
    assert!(statuses.contains(&400) && statuses.contains(&429), "{statuses:?}");
}

#[test]
fn node_of_another_network_is_refused() {
    let Some(node) = Node::start(SEPOLIA, "nodes of test networks") else { return };
    let (served, running) = Installation::start_new(&[]);
    let refused = put(&running, &node.url);
    refused.assert_error(400, "invalid_request", Some("url"));
    assert!(refused.text.contains("test network"), "{}", refused.text);
    let cursor = "insert into chain_cursors (chain, network, height, hash, time, complete_height, complete_hash,
            head_height, head_time, stepped_at) values ('ethereum', '17000', 9, 'h', 0, 9, 'h', 9, 0, 0);
        insert into chain_blocks (chain, height, hash) values ('ethereum', 9, 'h')";
    served.open_file().execute_batch(cursor).unwrap();
    let running = restart(&served, running, &["--test-networks"]);
    let refused = put(&running, &node.url);
    refused.assert_error(400, "invalid_request", Some("url"));
    assert!(refused.text.contains("follows ethereum on 17000"), "{}", refused.text);
    assert_eq!(stored_urls(&served), 0);
}

#[test]
fn only_operators_of_a_production_server_change_nodes() {
    let interface = OperatorInterface::open();
    let body = json!({ "url": "http://127.0.0.1:1" });
    for (method, path) in
        [("GET", "/dashboard/api/chain-nodes"), ("PUT", ETHEREUM), ("DELETE", ETHEREUM)]
    {
        let body = if method == "PUT" { &body } else { &NULL };
        let refused = interface.send(&interface.merchant, method, path, body);
        refused.assert_error(403, "forbidden", None);
        interface.shop.send(method, path, &[], "").assert_error(401, "unauthorized", None);
    }
    let refused = interface.send_as_operator("PUT", ETHEREUM, &body);
    refused.assert_error(409, "invalid_transition", None);
    let list = interface.send_as_operator("GET", "/dashboard/api/chain-nodes", &NULL);
    assert_eq!(list.expect(200).json()["data"], json!([]));
}

#[test]
fn restore_under_another_public_url_removes_the_node() {
    let Some(node) = Node::start(SEPOLIA, "restored nodes") else { return };
    let (served, running) = Installation::start_new(&["--test-networks"]);
    put(&running, &format!("{}/?key={SECRET}", node.url)).expect(200);
    let one = running.url.clone();
    drop(running);
    let (file, copy) = (served.file.to_str().unwrap(), served.path("copy.db"));
    let copy = copy.to_str().unwrap();
    let made = stdout(&run(&["backup", copy, "--file", file], &[]));
    assert!(made.contains("passwords of nodes: ethereum"), "{made}");
    let made = stdout(&run(&["backup", copy, "--force", "--json", "--file", file], &[]));
    let made: Value = serde_json::from_str(&made).unwrap();
    assert_eq!(made["nodes"], json!(["ethereum"]));
    let restore = ["restore", copy, "--force", "--file", file];
    let same = stdout(&run(&restore, &[("COFFER_PUBLIC_URL", &format!("{one}/"))]));
    assert!(!same.contains("the node of"), "{same}");
    assert_eq!(stored_urls(&served), 1);
    let dry = [&restore[..], &["--dry-run"]].concat();
    let other = [("COFFER_PUBLIC_URL", "https://two.example")];
    let would = stdout(&run(&dry, &other));
    assert!(would.contains("the node of ethereum would be removed"), "{would}");
    assert_eq!(stored_urls(&served), 1);
    let removed = stdout(&run(&restore, &other));
    assert!(removed.contains("the node of ethereum is removed"), "{removed}");
    assert_eq!(stored_urls(&served), 0);
    let doctor = stdout(&run(&["doctor", "--file", file], &[]));
    assert!(doctor.contains("the node of ethereum was removed by a restore"), "{doctor}");
    // A restore that knows no public url leaves the decision to the next server.
    run(&restore, &[]);
    assert_eq!(stored_urls(&served), 1);
    serve_once(&served, &one);
    assert_eq!(stored_urls(&served), 1);
    serve_once(&served, "https://two.example");
    assert_eq!(stored_urls(&served), 0);
    let running = served.start(&["--test-networks"]);
    let shown = ethereum_node(&running);
    assert_eq!((&shown["source"], &shown["missing"]), (&json!("none"), &json!(true)));
    put(&running, &node.url).expect(200);
    assert_eq!(ethereum_node(&running)["missing"], false);
    drop(running);
    // A server that only changes its public url keeps the nodes.
    serve_once(&served, "https://three.example");
    assert_eq!(stored_urls(&served), 1);
}

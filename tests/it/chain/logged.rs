//! Log lines for the states of a chain: connected, lagging, caught up, reorganised, stopped.
//!
//! Invariant: each start logs each state once, and no log line contains a credential of a node.

use super::till::TestnetShop;
use crate::support::installation::RunningServer;
use crate::support::litecoind::Litecoind;
use crate::support::polling;
use serde_json::json;

/// Starts the server and waits for this log line.
#[track_caller]
fn start_and_wait_for_log(till: &TestnetShop, said: &str) -> RunningServer {
    let running = till.start_with_debug_log();
    let logged = || std::fs::read_to_string(till.log_path()).unwrap();
    assert!(polling::wait_until(|| logged().contains(said)), "{}", logged());
    running
}

/// Stops the server and returns its log lines about the chain, without the node's URL.
#[track_caller]
fn stop_and_read_log(till: &TestnetShop, running: RunningServer) -> Vec<String> {
    let logged = running.stop_and_read_log(&till.log_path());
    for sent in ["coffer:regtest", "Y29mZmVyOnJlZ3Rlc3Q", "getblock", "jsonrpc"] {
        assert!(!logged.contains(sent), "{logged}");
    }
    let of_chain = logged.lines().filter(|line| line.contains(" chain=litecoin"));
    let lines = of_chain.filter_map(|line| line.split_once("] "));
    // This line depends on timing: it is logged only if the chain starts before the server has read the rates.
    let lines = lines.filter(|(_, said)| *said != "waiting for the first rates: chain=litecoin");
    // The node chooses the position of the output at random, so the test removes the position from the log lines.
    let mut lines = lines.map(|(_, said)| match said.split_once(" position=") {
        Some((payment, _)) => payment.to_owned(),
        None => said.to_owned(),
    });
    let followed = lines.next().unwrap();
    assert!(followed.starts_with("chain configured: chain=litecoin node=http://127.0.0.1:"));
    lines.collect()
}

#[test]
fn chain_state_change_is_logged_once() {
    let Some(node) = Litecoind::start(&[], "log lines of a chain") else {
        return;
    };
    node.mine(101);
    let till = TestnetShop::with_utxo_chain("litecoin", &node.url());
    let running = start_and_wait_for_log(&till, "following started");
    till.wait_for_rate("litecoin", "LTC");
    let invoice = till.create_invoice(&running, "LTC");
    let connected =
        |height: u32| format!("connected: chain=litecoin network=regtest height={height}");
    assert_eq!(
        stop_and_read_log(&till, running),
        [connected(101), "following started: chain=litecoin height=101".to_owned()]
    );
    let txid = node.pay(invoice["depositAddress"].as_str().unwrap(), "0.25");
    let mined = node.mine(1);
    let running = till.start_with_debug_log();
    let seen = "select coalesce((select block_height from observations), '') || ''";
    till.served.wait_for_query_result(seen, &["102"]);
    let payment = |what: &str| format!("payment {what}: chain=litecoin txid={txid}");
    assert_eq!(stop_and_read_log(&till, running), [connected(102), payment("seen")]);
    reorganise_and_catch_up(&till, &node, &mined[0], payment("confirmed"));
    reorganise_past_watched_depth(&till, &node);
}

#[track_caller]
fn reorganise_and_catch_up(
    till: &TestnetShop,
    node: &Litecoind,
    given_up: &str,
    confirmed: String,
) {
    let connected =
        |height: u32| format!("connected: chain=litecoin network=regtest height={height}");
    node.call("invalidateblock", json!([given_up]));
    node.mine(2);
    let running = start_and_wait_for_log(till, "reorg: ");
    let at_head = "select height || '' from chain_cursors";
    till.served.wait_for_query_result(at_head, &["103"]);
    let reorganised = "reorg: chain=litecoin fork=101 depth=1 payments=1".to_owned();
    assert_eq!(stop_and_read_log(till, running), [connected(103), reorganised]);
    node.mine(150);
    let running = start_and_wait_for_log(till, "caught up");
    let caught_up = [
        connected(253),
        confirmed,
        "lagging: chain=litecoin blocks=50".to_owned(),
        "caught up: chain=litecoin height=253".to_owned(),
    ];
    assert_eq!(stop_and_read_log(till, running), caught_up);
}

#[track_caller]
fn reorganise_past_watched_depth(till: &TestnetShop, node: &Litecoind) {
    let newest = node.call_text("getbestblockhash", json!([]));
    node.call("invalidateblock", json!([newest]));
    let running = start_and_wait_for_log(till, "lagging");
    let lagging = "node lagging: chain=litecoin missing=253 newest=252".to_owned();
    assert_eq!(stop_and_read_log(till, running), [lagging]);
    let below = node.call_text("getblockhash", json!([50]));
    node.call("invalidateblock", json!([below]));
    node.mine(210);
    let stopped = "stopped: chain=litecoin reason=litecoin was reorganised deeper than it is watched: its block 70 is not \
        the one that was read; to go on, run `coffer rescan litecoin --from HEIGHT`";
    let connected = "connected: chain=litecoin network=regtest height=259";
    let running = start_and_wait_for_log(till, "stopped: ");
    assert_eq!(stop_and_read_log(till, running), [connected, stopped]);
    // The server has stopped the chain and waits for a person.
    let running = start_and_wait_for_log(till, "stopped: ");
    assert_eq!(stop_and_read_log(till, running), [stopped]);
    // The node comes back to the branch that was read, and the chain goes on without a person.
    let other = node.call_text("getblockhash", json!([50]));
    node.call("invalidateblock", json!([other]));
    node.call("reconsiderblock", json!([newest]));
    let running = start_and_wait_for_log(till, "resumed: chain=litecoin height=253");
    drop(stop_and_read_log(till, running));
    node.call("invalidateblock", json!([below]));
    node.call("reconsiderblock", json!([other]));
    let running = start_and_wait_for_log(till, "stopped: ");
    assert_eq!(stop_and_read_log(till, running), [connected, stopped]);
    // Block 70 is the lowest reorganised block. A rescan from block 71 is rejected, because a rescan must start at
    // block 70 or below.
    let ordered = "select count(*) || ' ' || ifnull(min(from_height), '') from rescans";
    till.run_coffer(&["rescan", "litecoin", "--from", "71"]);
    till.served.wait_for_query_result(ordered, &["0 "]);
    till.run_coffer(&["rescan", "litecoin", "--from", "70"]);
    till.served.wait_for_query_result(ordered, &["1 70"]);
    let running = till.start();
    let at_head = "select height || ' ' || ifnull(stopped, '') from chain_cursors";
    till.served.wait_for_query_result(at_head, &["259 "]);
    drop(running);
    till.served.assert_audit_clean();
}

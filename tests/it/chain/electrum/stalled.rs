//! A server that no longer tells of new blocks, and answers everything else.

use super::refused::{assert_books_match, chain_view};
use super::{CONFIRMED, UNTESTED, start_shop};
use crate::support::electrum_proxy::{ElectrumFault, ElectrumProxy};
use crate::support::electrumx::Electrumx;
use crate::support::litecoind::Litecoind;
use crate::support::polling;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// Age of the blocks before the server stalls, in seconds: more than three usual block times.
const OLD_S: i64 = 3_600;

/// Starts a node whose blocks have this age in seconds, and its Electrum server.
#[track_caller]
fn start_with_blocks_of_age(age_s: i64) -> Option<(Litecoind, Electrumx)> {
    let node = Litecoind::start(&["-txindex=1"], UNTESTED)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    node.set_time(i64::try_from(now.as_secs()).unwrap() - age_s);
    node.fund_wallet();
    let server = Electrumx::start(&node, &[], UNTESTED)?;
    Some((node, server))
}

/// Returns a fault that repeats the newest block of now for ever.
#[track_caller]
fn stalled_tip(node: &Litecoind) -> ElectrumFault {
    let hash = node.call("getbestblockhash", json!([]));
    let header = node.call("getblockheader", json!([hash, false]));
    let tip = json!({ "height": node.call("getblockcount", json!([])), "hex": header });
    let change = move |result: &mut Value| *result = tip.clone();
    ElectrumFault::Changes("blockchain.headers.subscribe", Arc::new(change))
}

/// Plays a first server that stalls at a block of this age.
#[track_caller]
fn play_failover(age_s: i64) {
    let Some((node, server)) = start_with_blocks_of_age(age_s) else {
        return;
    };
    let liar = ElectrumProxy::start(server.port);
    let (till, mut running, to) = start_shop(&format!("{},{}", liar.url(), server.url()));
    assert!(running.process.close_input_and_wait());
    liar.inject(stalled_tip(&node));
    node.call("setmocktime", json!([0]));
    let txid = node.pay(&to, "0.25");
    node.mine(4);
    running = till.start();
    let state = format!("select state from observations where txid = '{txid}'");
    till.served.wait_for_query_result(&state, &["confirmed"]);
    assert!(liar.fault_count() > 0);
    let in_use = || chain_view(&running)["nodeInUse"].as_str().unwrap_or_default().to_owned();
    assert!(polling::wait_until(|| in_use().contains(&server.port.to_string())), "{}", in_use());
    // Further payments are seen and confirmed while the first server stays behind.
    let later = node.pay(&to, "0.3");
    node.mine(4);
    let state = format!("select state from observations where txid = '{later}'");
    till.served.wait_for_query_result(&state, &["confirmed"]);
    assert_books_match(&till, &node, &[&to]);
    assert_eq!(chain_view(&running)["keepsUp"], true);
    assert!(running.process.close_input_and_wait());
}

#[test]
fn second_server_takes_over_from_one_that_tells_no_new_block() {
    play_failover(OLD_S);
}

#[test]
fn second_server_takes_over_at_once_if_a_payment_is_in_a_block_above_the_newest_one() {
    play_failover(0);
}

#[test]
fn only_server_that_tells_no_new_block_delays_payments_until_it_does() {
    let Some((node, server)) = start_with_blocks_of_age(OLD_S) else {
        return;
    };
    let liar = ElectrumProxy::start(server.port);
    let (till, mut running, to) = start_shop(&liar.url());
    liar.inject(stalled_tip(&node));
    node.call("setmocktime", json!([0]));
    let txid = node.pay(&to, "0.25");
    till.served.wait_for_query_result("select count(*) || '' from observations", &["1"]);
    node.mine(4);
    // The server names a block for the payment that it does not tell of.
    let told = || chain_view(&running)["problem"].as_str().unwrap_or_default().to_owned();
    let is_named = || told().contains(&txid) && told().contains("has no block above");
    assert!(polling::wait_until(is_named), "{}", told());
    till.served.wait_for_query_result(CONFIRMED, &["0"]);
    // Its newest block is older than three usual block times.
    assert!(polling::wait_until(|| chain_view(&running)["keepsUp"] == false));
    liar.inject(ElectrumFault::None);
    assert_books_match(&till, &node, &[&to]);
    assert!(polling::wait_until(|| chain_view(&running)["problem"].is_null()), "{}", told());
    assert_eq!(chain_view(&running)["keepsUp"], true);
    assert!(running.process.close_input_and_wait());
}

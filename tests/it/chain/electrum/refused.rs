//! One bad answer, one address or one server hides no payment and stops no chain: a proxy between the server and
//! ElectrumX gives the bad answers.
//!
//! Invariant: nothing false is booked, and after the fault everything is right without a restart.

use super::{doctor_args, start_electrumx, start_shop};
use crate::chain::lied_to::peak_memory_kib;
use crate::chain::till::TestnetShop;
use crate::file::audit::findings;
use crate::support::electrum_proxy::{BadAnswer, ElectrumFault, ElectrumProxy};
use crate::support::installation::RunningServer;
use crate::support::litecoind::Litecoind;
use crate::support::polling;
use crate::support::received::amounts_in_file;
use coffer::domain::address::output_script;
use coffer::domain::chain::Chain;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

pub(super) const SEEN: &str = "select count(*) || '' from observations";
const CONFIRMED: &str = "select count(*) || '' from observations where state = 'confirmed'";

/// Returns the script hash of an address, as the Electrum protocol defines it.
fn script_hash(address: &str) -> String {
    let script = output_script(Chain::Litecoin, address).unwrap();
    let hash = Sha256::digest(script);
    hash.iter().rev().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the view of the chain in the operator interface.
#[track_caller]
pub(super) fn chain_view(running: &RunningServer) -> Value {
    let shown = running.operator_request("GET", "/dashboard/api/chains", &Value::Null);
    shown.expect(200).json()["data"][0].clone()
}

/// Creates an invoice, and returns its address.
#[track_caller]
pub(super) fn new_address(till: &TestnetShop, running: &RunningServer) -> String {
    let invoice = till.create_invoice(running, "LTC");
    invoice["depositAddress"].as_str().unwrap().to_owned()
}

/// Asserts that exactly the payments of the node are stored, and that all of them are confirmed.
#[track_caller]
pub(super) fn assert_books_match(till: &TestnetShop, node: &Litecoind, to: &[&String]) {
    node.mine(20);
    let to: BTreeSet<String> = to.iter().map(|address| (*address).clone()).collect();
    let came = node.received_amounts(&to, "LTC");
    till.served.wait_for_query_result(CONFIRMED, &[&came.len().to_string()]);
    assert_eq!(amounts_in_file(&till.served.open_file()), came);
    assert_eq!(findings(&till.served.file), Vec::<String>::new());
}

#[test]
fn failed_history_hides_no_payment() {
    let Some((node, server)) = start_electrumx(&[]) else {
        return;
    };
    let liar = ElectrumProxy::start(server.port);
    let (till, mut running, to) = start_shop(&liar.url());
    let history = "blockchain.scripthash.get_history";
    liar.inject(ElectrumFault::Answers(history, BadAnswer::Error, 2));
    node.pay(&to, "0.25");
    till.served.wait_for_query_result(SEEN, &["1"]);
    assert!(liar.fault_count() >= 2);
    assert_books_match(&till, &node, &[&to]);
    assert!(running.process.close_input_and_wait());
}

#[test]
fn address_with_a_long_history_is_set_aside_and_others_go_on() {
    let Some((node, server)) = start_electrumx(&[]) else {
        return;
    };
    let liar = ElectrumProxy::start(server.port);
    let (till, mut running, long) = start_shop(&liar.url());
    let other = new_address(&till, &running);
    let until_seen = |txid: &str| {
        let seen = format!("select count(*) || '' from observations where txid = '{txid}'");
        till.served.wait_for_query_result(&seen, &["1"]);
    };
    until_seen(&node.pay(&long, "0.1"));
    liar.inject(ElectrumFault::RefusesScript(script_hash(&long)));
    let hidden = node.pay(&long, "0.2");
    until_seen(&node.pay(&other, "0.3"));
    let is_named = |running: &RunningServer| {
        assert!(polling::wait_until(|| chain_view(running)["setAside"][0]["id"] == *long));
        let view = chain_view(running);
        let problem = view["problem"].as_str().unwrap();
        assert!(problem.contains(&long) && problem.contains("history too large"), "{view}");
        assert_eq!(
            (&view["keepsUp"], &view["setAside"][0]["kind"]),
            (&json!(true), &json!("address"))
        );
    };
    is_named(&running);
    let said = till.run_coffer(&doctor_args(&till));
    assert!(said.contains(&long), "{said}");
    // The chain goes on after a restart, and for an invoice that is created while the address is refused.
    assert!(running.process.close_input_and_wait());
    let log = till.served.path("log");
    running = till.served.start_with_log_and_settings("info", &log, &till.settings());
    let third = new_address(&till, &running);
    until_seen(&node.pay(&third, "0.4"));
    is_named(&running);
    liar.inject(ElectrumFault::None);
    until_seen(&hidden);
    assert!(polling::wait_until(|| chain_view(&running)["problem"].is_null()));
    let log = std::fs::read_to_string(log).unwrap();
    for line in [
        "WARN  coffer::worker::watch_chain] set",
        "INFO  coffer::worker::watch_chain] no longer set",
    ] {
        let line = format!("{line} aside: chain=litecoin address={long}");
        assert_eq!(log.matches(&line).count(), 1, "{line}: {log}");
    }
    assert_books_match(&till, &node, &[&long, &other, &third]);
    assert!(running.process.close_input_and_wait());
}

#[test]
fn history_with_a_missing_entry_is_named_until_it_is_whole() {
    let Some((node, server)) = start_electrumx(&[]) else {
        return;
    };
    let liar = ElectrumProxy::start(server.port);
    let (till, mut running, to) = start_shop(&liar.url());
    let first = node.pay(&to, "0.1");
    till.served.wait_for_query_result(SEEN, &["1"]);
    node.mine(12);
    till.served.wait_for_query_result(CONFIRMED, &["1"]);
    let keep_first = move |result: &mut Value| {
        let entries = result.as_array_mut().unwrap();
        entries.retain(|entry| entry["tx_hash"] == *first);
    };
    let history = "blockchain.scripthash.get_history";
    liar.inject(ElectrumFault::Changes(history, Arc::new(keep_first)));
    node.pay(&to, "0.2");
    let told = || chain_view(&running)["problem"].as_str().unwrap_or_default().to_owned();
    let is_named = || told().contains(&to) && told().contains("leaves something out");
    assert!(polling::wait_until(is_named), "{}", told());
    till.served.wait_for_query_result(SEEN, &["1"]);
    liar.inject(ElectrumFault::None);
    till.served.wait_for_query_result(SEEN, &["2"]);
    assert!(polling::wait_until(|| chain_view(&running)["problem"].is_null()));
    assert_books_match(&till, &node, &[&to]);
    assert!(running.process.close_input_and_wait());
}

/// Returns a fault that changes the heights in histories.
fn false_heights(change: impl Fn(u64) -> u64 + Send + Sync + 'static) -> ElectrumFault {
    let change = move |result: &mut Value| {
        for entry in result.as_array_mut().into_iter().flatten() {
            if let Some(height) = entry["height"].as_u64().filter(|height| *height > 0) {
                entry["height"] = change(height).into();
            }
        }
    };
    ElectrumFault::Changes("blockchain.scripthash.get_history", Arc::new(change))
}

#[test]
fn false_height_of_one_server_hides_no_payment_that_another_proves() {
    let Some((node, server)) = start_electrumx(&[]) else {
        return;
    };
    let liar = ElectrumProxy::start(server.port);
    let (honest, lying) = (server.url(), liar.url());
    for urls in [format!("{lying},{honest}"), format!("{honest},{lying}")] {
        let (till, mut running, to) = start_shop(&urls);
        let mut applied = 0;
        for (time, fault) in [
            false_heights(|height| height + 1000),
            false_heights(|_| 4_294_967_295),
            false_heights(|height| height + 4_294_967_296),
            false_heights(|height| height - 50),
        ]
        .into_iter()
        .enumerate()
        {
            liar.inject(fault);
            let txid = node.pay(&to, &format!("0.1{time}"));
            node.mine(4);
            let state = format!("select state from observations where txid = '{txid}'");
            till.served.wait_for_query_result(&state, &["confirmed"]);
            applied += liar.fault_count();
        }
        // A second server that was caught is left alone for a while.
        assert!(applied > 0);
        liar.inject(ElectrumFault::None);
        node.mine(20);
        let all = "select (count(*) = sum(state = 'confirmed')) || '' from observations";
        till.served.wait_for_query_result(all, &["1"]);
        assert!(running.process.close_input_and_wait());
        assert_eq!(findings(&till.served.file), Vec::<String>::new());
    }
}

#[test]
fn height_that_no_chain_has_is_no_mempool() {
    let Some((node, server)) = start_electrumx(&[]) else {
        return;
    };
    let liar = ElectrumProxy::start(server.port);
    let (till, mut running, to) = start_shop(&liar.url());
    liar.inject(false_heights(|height| height + 4_294_967_296));
    node.pay(&to, "0.25");
    till.served.wait_for_query_result(SEEN, &["1"]);
    node.mine(1);
    let told = || chain_view(&running)["problem"].as_str().unwrap_or_default().to_owned();
    let is_named = || told().contains(&to) && told().contains("heights that are none");
    assert!(polling::wait_until(is_named), "{}", told());
    liar.inject(ElectrumFault::None);
    assert_books_match(&till, &node, &[&to]);
    assert!(running.process.close_input_and_wait());
}

#[test]
fn false_height_of_the_only_server_is_named_and_stops_nothing() {
    let Some((node, server)) = start_electrumx(&[]) else {
        return;
    };
    let liar = ElectrumProxy::start(server.port);
    let (till, mut running, to) = start_shop(&liar.url());
    let other = new_address(&till, &running);
    liar.inject(false_heights(|height| height + 1000));
    let txid = node.pay(&to, "0.25");
    till.served.wait_for_query_result(SEEN, &["1"]);
    node.mine(1);
    // The address is listed, too, because the height belongs to no status that the server tells.
    let is_listed = || {
        let view = chain_view(&running);
        let mut parts = view["setAside"].as_array().unwrap().iter();
        parts.any(|part| part["kind"] == "transaction" && part["id"] == *txid)
    };
    assert!(polling::wait_until(is_listed), "{}", chain_view(&running));
    let height = chain_view(&running)["height"].as_u64().unwrap();
    node.pay(&other, "0.5");
    till.served.wait_for_query_result(SEEN, &["2"]);
    node.mine(1);
    assert!(polling::wait_until(|| chain_view(&running)["height"].as_u64() > Some(height)));
    liar.inject(ElectrumFault::None);
    assert_books_match(&till, &node, &[&to, &other]);
    assert!(polling::wait_until(|| chain_view(&running)["problem"].is_null()));
    assert!(running.process.close_input_and_wait());
}

/// Methods that a shop calls while it is paid.
const METHODS: [&str; 6] = [
    "blockchain.headers.subscribe",
    "blockchain.block.headers",
    "blockchain.scripthash.subscribe",
    "blockchain.scripthash.get_history",
    "blockchain.transaction.get",
    "blockchain.transaction.get_merkle",
];

/// Returns each bad answer of each method. A call that hangs ends by the time limit, whatever its method.
fn all_cases() -> impl Iterator<Item = (&'static str, BadAnswer)> {
    let cases = METHODS.into_iter().flat_map(|method| BadAnswer::ALL.map(|bad| (method, bad)));
    cases.filter(|(method, bad)| {
        *bad != BadAnswer::Hang || *method == "blockchain.scripthash.get_history"
    })
}

/// Pays a new address in each case, while a method gets a bad answer, `times` times. `wait` returns once the fault may
/// end. Returns the addresses.
#[track_caller]
pub(super) fn pay_during_bad_answers(
    till: &TestnetShop,
    running: &RunningServer,
    node: &Litecoind,
    liar: &ElectrumProxy,
    times: u64,
    cases: impl Iterator<Item = (&'static str, BadAnswer)>,
    wait: impl Fn(&str, usize),
) -> Vec<String> {
    let mut paid = Vec::new();
    for (method, bad) in cases {
        liar.inject(ElectrumFault::Answers(method, bad, times));
        // A new address makes the shop subscribe.
        let to = new_address(till, running);
        node.pay(&to, "0.25");
        node.mine(1);
        paid.push(to);
        wait(&format!("{method} {bad:?}"), paid.len());
        liar.inject(ElectrumFault::None);
        till.served.wait_for_query_result(SEEN, &[&paid.len().to_string()]);
    }
    paid
}

/// Plays the bad answers of the only server, each up to this many times.
#[track_caller]
fn play_with_one_server(times: u64) {
    let Some((node, server)) = start_electrumx(&[]) else {
        return;
    };
    let liar = ElectrumProxy::start(server.port);
    let (till, mut running, _) = start_shop(&liar.url());
    let wait = |about: &str, _| {
        assert!(polling::wait_until(|| liar.fault_count() >= 1), "{about}");
    };
    let paid = pay_during_bad_answers(&till, &running, &node, &liar, times, all_cases(), wait);
    assert_books_match(&till, &node, &paid.iter().collect::<Vec<_>>());
    assert!(running.process.close_input_and_wait());
}

#[test]
fn single_bad_answer_of_the_only_server_loses_no_payment() {
    play_with_one_server(1);
}

#[test]
fn lasting_bad_answers_of_the_only_server_lose_no_payment() {
    play_with_one_server(u64::MAX);
}

#[test]
fn bad_answers_of_a_second_server_hide_no_payment() {
    let Some((node, server)) = start_electrumx(&[]) else {
        return;
    };
    let liar = ElectrumProxy::start(server.port);
    let (till, mut running, _) = start_shop(&format!("{},{}", server.url(), liar.url()));
    let wait = |_: &str, paid: usize| {
        till.served.wait_for_query_result(SEEN, &[&paid.to_string()]);
    };
    let paid = pay_during_bad_answers(&till, &running, &node, &liar, u64::MAX, all_cases(), wait);
    assert_books_match(&till, &node, &paid.iter().collect::<Vec<_>>());
    assert!(running.process.close_input_and_wait());
}

#[test]
fn honest_second_server_replaces_a_first_one_with_bad_answers() {
    let Some((node, server)) = start_electrumx(&[]) else {
        return;
    };
    for method in METHODS {
        let liar = ElectrumProxy::start(server.port);
        let (till, mut running, to) = start_shop(&format!("{},{}", liar.url(), server.url()));
        liar.inject(ElectrumFault::Answers(method, BadAnswer::Html, u64::MAX));
        let txid = node.pay(&to, "0.25");
        node.mine(4);
        let state = format!("select state from observations where txid = '{txid}'");
        till.served.wait_for_query_result(&state, &["confirmed"]);
        assert!(running.process.close_input_and_wait());
        assert_eq!(findings(&till.served.file), Vec::<String>::new());
    }
}

#[test]
#[expect(clippy::print_stderr, reason = "prints the time to see a payment")]
fn second_server_that_drips_or_never_ends_a_line_delays_no_payment() {
    let Some((node, server)) = start_electrumx(&[]) else {
        return;
    };
    let liar = ElectrumProxy::start(server.port);
    let (till, mut running, to) = start_shop(&format!("{},{}", server.url(), liar.url()));
    for (time, fault) in [ElectrumFault::Drips, ElectrumFault::LongLine].into_iter().enumerate() {
        liar.inject(fault.clone());
        let since = Instant::now();
        node.pay(&to, &format!("0.2{time}"));
        till.served.wait_for_query_result(SEEN, &[&(time + 1).to_string()]);
        eprintln!("beside a second server that {fault:?}: seen after {:?}", since.elapsed());
        assert!(polling::wait_until(|| liar.fault_count() >= 1));
    }
    let memory = peak_memory_kib(&running);
    assert!(memory < 200 * 1024, "{memory} KiB");
    liar.inject(ElectrumFault::None);
    assert_books_match(&till, &node, &[&to]);
    assert!(running.process.close_input_and_wait());
}

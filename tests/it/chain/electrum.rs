//! Chains read through Electrum: a real ElectrumX in front of a litecoind. Some tests put a proxy that changes
//! responses in front of ElectrumX.

mod certificates;
mod invented;
mod main_network;
mod over_tls;
mod refused;
mod stalled;

use super::till::{TPUB, TestnetShop};
use super::watch::{LIMITS, WatchList};
use crate::chain::till::deposit_address;
use crate::support::electrum_proxy::{ElectrumFault, ElectrumProxy};
use crate::support::electrumx::Electrumx;
use crate::support::installation::RunningServer;
use crate::support::litecoind::Litecoind;
use crate::support::polling;
use crate::support::ports::free_port;
use crate::support::process::Process;
use crate::support::received::amounts_in_file;
use crate::support::scratch::Scratch;
use coffer::chain::Node;
use coffer::chain::electrum::{Electrum, ServerUrl};
use coffer::domain::Mode;
use coffer::domain::address::simulated_address;
use coffer::domain::chain::Chain;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::process::Command;
use std::time::Instant;

const UNTESTED: &str = "payments by an Electrum server";

/// Starts a node with coins and its Electrum server; `None` where the machine lacks one of these programs.
#[track_caller]
fn start_electrumx(settings: &[(&str, &str)]) -> Option<(Litecoind, Electrumx)> {
    let node = Litecoind::start(&["-txindex=1"], UNTESTED)?;
    node.fund_wallet();
    let server = Electrumx::start(&node, settings, UNTESTED)?;
    Some((node, server))
}

#[track_caller]
fn electrum_client(urls: &[&str]) -> Electrum {
    let urls = urls.iter().map(|url| ServerUrl::parse(url).unwrap());
    Electrum::new(Chain::Litecoin, urls.collect(), LIMITS).unwrap()
}

/// Starts a shop, and returns it with the deposit address of an invoice.
#[track_caller]
fn start_shop(urls: &str) -> (TestnetShop, RunningServer, String) {
    let till = TestnetShop::with_utxo_chain("litecoin", urls);
    let running = till.start();
    till.wait_for_rate("litecoin", "LTC");
    let invoice = till.create_invoice(&running, "LTC");
    let to = deposit_address(&invoice);
    (till, running, to)
}

/// Query for the number of confirmed payments.
const CONFIRMED: &str = "select count(*) || '' from observations where block_height is not null";

#[test]
fn false_electrum_responses_change_nothing() {
    let Some((node, server)) = start_electrumx(&[]) else {
        return;
    };
    let liar = ElectrumProxy::start(server.port);
    let (till, running, to) = start_shop(&liar.url());
    let mut paid = 0;
    for lie in [
        ElectrumFault::FalseProof,
        ElectrumFault::FalseBytes,
        ElectrumFault::FalseHeader,
        ElectrumFault::Invents(200),
        ElectrumFault::UnknownScripts,
        ElectrumFault::Excessive,
        ElectrumFault::LongLine,
    ] {
        liar.inject(lie.clone());
        node.pay(&to, &format!("0.0{}", paid + 1));
        node.mine(1);
        paid += 1;
        assert!(polling::wait_until(|| liar.fault_count() >= 2), "{lie:?}");
        let is_harmless = matches!(lie, ElectrumFault::UnknownScripts);
        if !is_harmless {
            till.served.wait_for_query_result(CONFIRMED, &[&(paid - 1).to_string()]);
            let ready = running.operator_request("GET", "/readyz?verbose", &Value::Null);
            ready.expect(200);
        }
        liar.inject(ElectrumFault::None);
        till.served.wait_for_query_result(CONFIRMED, &[&paid.to_string()]);
    }
    node.mine(20);
    let rest = "select count(*) || '' from observations where state != 'confirmed'";
    till.served.wait_for_query_result(rest, &["0"]);
    drop(running);
    till.served.assert_audit_clean();
    let came = node.received_amounts(&BTreeSet::from([to]), "LTC");
    assert_eq!(came.len(), paid);
    assert_eq!(amounts_in_file(&till.served.open_file()), came);
}

#[test]
fn second_electrum_server_reveals_a_hidden_payment() {
    let Some((node, server)) = start_electrumx(&[]) else {
        return;
    };
    let liar = ElectrumProxy::start(server.port);
    liar.inject(ElectrumFault::Hides);
    let (honest, hiding) = (server.url(), liar.url());
    let seen = "select count(*) || '' from observations";
    let unconfirmed = "select count(*) || '' from observations where state != 'confirmed'";
    let mut paid = 0;
    for urls in [format!("{hiding},{honest}"), format!("{honest},{hiding}")] {
        let (till, mut running, to) = start_shop(&urls);
        node.pay(&to, "0.25");
        paid += 1;
        // Both shops have the same wallet, so the second shop also sees the payment to the first.
        till.served.wait_for_query_result(seen, &[&paid.to_string()]);
        node.mine(12);
        till.served.wait_for_query_result(unconfirmed, &["0"]);
        assert!(liar.fault_count() > 0);
        assert!(running.process.close_input_and_wait());
        till.served.assert_audit_clean();
    }
    // The only server of this shop hides the payment, so the payment stays unseen.
    let (till, _running, to) = start_shop(&hiding);
    node.pay(&to, "0.25");
    liar.inject(ElectrumFault::Hides);
    assert!(polling::wait_until(|| liar.fault_count() >= 1));
    till.served.wait_for_query_result(seen, &["0"]);
    let said = till.run_coffer(&doctor_args(&till));
    for part in [
        "ElectrumX",
        "one server can hide a payment",
        "requests to litecoin: about 12240 a day (every 30 s), 35280 while money is expected",
    ] {
        assert!(said.contains(part), "{said}");
    }
}

#[test]
#[expect(clippy::print_stderr, reason = "prints the time to see a payment")]
fn electrum_notification_reveals_a_payment() {
    let Some((node, server)) = start_electrumx(&[]) else {
        return;
    };
    let (till, mut running, to) = start_shop(&server.url());
    // The next scheduled poll is ten seconds away. Only a notification from the Electrum server can cause an earlier
    // poll.
    let height = node.call("getblockcount", json!([]));
    let read = format!("select (height = {height}) || '' from chain_cursors");
    till.served.wait_for_query_result(&read, &["1"]);
    let since = Instant::now();
    node.pay(&to, "0.25");
    till.served.wait_for_query_result("select count(*) || '' from observations", &["1"]);
    // The printed time includes up to 0.2 seconds before the Electrum server polls the mempool of its node.
    eprintln!("a payment is seen {:?} after it was sent", since.elapsed());
    assert!(running.process.close_input_and_wait());
}

/// Returns the arguments of `coffer doctor`: the settings of the shop without the webhook setting, which `coffer
/// doctor` does not accept.
fn doctor_args(till: &TestnetShop) -> Vec<&str> {
    let settings = till.settings();
    let (settings, _) = settings.split_at(settings.len() - 2);
    [&["doctor"][..], settings].concat()
}

#[test]
#[expect(clippy::print_stderr, reason = "prints the number of requests")]
fn five_thousand_addresses_are_watched_at_one_electrum_server() {
    let Some((node, server)) = start_electrumx(&[]) else {
        return;
    };
    let ours = node.new_address("bech32");
    let addresses = (0..5_000).map(|index| simulated_address(Mode::Live, Chain::Litecoin, index));
    let addresses: Vec<String> = addresses.chain([ours.clone()]).collect();
    let names: Vec<&str> = addresses.iter().map(String::as_str).collect();
    let watch = WatchList::for_addresses(Chain::Litecoin, &names).with_polled_addresses(&names);
    let mut electrum = electrum_client(&[&server.url()]);
    let since = Instant::now();
    assert_eq!(electrum.network().unwrap(), "regtest");
    electrum.head().unwrap();
    assert!(electrum.mempool(&[], &watch).unwrap().received.is_empty());
    let (first, took) = (electrum.request_count(), since.elapsed());
    let first_bytes = electrum.traffic_bytes();
    // These requests are one poll that finds no change. The test measures their number and size.
    electrum.head().unwrap();
    electrum.mempool(&[], &watch).unwrap();
    electrum.head().unwrap();
    let step = electrum.request_count() - first;
    let step_bytes = electrum.traffic_bytes() - first_bytes;
    eprintln!(
        "5001 addresses: {first} requests and {first_bytes} bytes in {took:?}, then {step} and {step_bytes} a step: \
         {} requests and {} bytes a day at one every 30 s",
        step * 2_880,
        step_bytes * 2_880
    );
    // Each address is subscribed to, and the empty history of each is read once.
    assert!(first < 2 * 5_001 + 40 && step <= 4, "{first} {step}");
    let txid = node.pay(&ours, "0.25");
    assert!(polling::wait_until(|| electrum.has_notification()));
    let since = Instant::now();
    electrum.head().unwrap();
    let read = electrum.mempool(&[], &watch).unwrap();
    electrum.head().unwrap();
    let took = since.elapsed();
    eprintln!("a payment is known {took:?} after the notice");
    assert_eq!(read.received.len(), 1);
    assert_eq!(read.received[0].txid, txid);
}

#[test]
fn addresses_over_the_server_limit_use_more_connections() {
    let Some((node, server)) = start_electrumx(&[]) else {
        return;
    };
    let liar = ElectrumProxy::start(server.port);
    liar.inject(ElectrumFault::WatchesAtMost(100));
    let ours: Vec<String> = (0..3).map(|_| node.new_address("bech32")).collect();
    let others = (0..297).map(|index| simulated_address(Mode::Live, Chain::Litecoin, index));
    let addresses: Vec<String> = others.chain(ours.clone()).collect();
    let names: Vec<&str> = addresses.iter().map(String::as_str).collect();
    let watch = WatchList::for_addresses(Chain::Litecoin, &names).with_polled_addresses(&names);
    let mut electrum = electrum_client(&[&liar.url()]);
    electrum.head().unwrap();
    assert!(electrum.mempool(&[], &watch).unwrap().received.is_empty());
    assert!(liar.fault_count() > 0);
    let remarks = electrum.operator_remarks().join("; ");
    assert!(remarks.contains("at most 100 addresses a connection"), "{remarks}");
    for to in &ours {
        let txid = node.pay(to, "0.25");
        assert!(polling::wait_until(|| electrum.has_notification()));
        electrum.head().unwrap();
        let read = electrum.mempool(&[], &watch).unwrap();
        assert!(read.received.iter().any(|one| one.txid == txid));
    }
    // Eight connections accept 100 addresses each, so 801 addresses are one too many.
    let many = (0..801).map(|index| simulated_address(Mode::Live, Chain::Litecoin, index));
    let many: Vec<String> = many.collect();
    let names: Vec<&str> = many.iter().map(String::as_str).collect();
    let watch = WatchList::for_addresses(Chain::Litecoin, &names).with_polled_addresses(&names);
    electrum.mempool(&[], &watch).unwrap();
    let aside = electrum.set_aside();
    let reasons: BTreeSet<&str> = aside.iter().map(|one| one.reason.as_str()).collect();
    assert_eq!(aside.len(), 1);
    assert!(reasons.iter().all(|why| why.contains("name another server")), "{reasons:?}");
}

#[test]
fn payments_are_kept_when_an_address_history_gets_too_long() {
    let Some((node, server)) = start_electrumx(&[]) else {
        return;
    };
    let liar = ElectrumProxy::start(server.port);
    let to = node.new_address("bech32");
    let watch = WatchList::for_addresses(Chain::Litecoin, &[&to]).with_polled_addresses(&[&to]);
    let mut electrum = electrum_client(&[&liar.url()]);
    electrum.head().unwrap();
    electrum.mempool(&[], &watch).unwrap();
    let mut look = |txid: &str| {
        assert!(polling::wait_until(|| electrum.has_notification()));
        electrum.head().unwrap();
        let read = electrum.mempool(&[], &watch).unwrap();
        read.received.iter().any(|one| one.txid == txid)
    };
    let first = node.pay(&to, "0.25");
    assert!(look(&first));
    liar.inject(ElectrumFault::RefusesHistories);
    node.pay(&to, "0.5");
    assert!(look(&first));
    assert!(liar.fault_count() > 0);
}

/// Returns the commands of the guide *Go live with bitcoin without a node*, for litecoin.
fn litecoin_commands() -> Vec<String> {
    let guide = include_str!("../../../src/web/guides/bitcoin-without-a-node.md");
    let blocks = guide.split("```sh electrum\n").skip(1);
    let blocks = blocks.map(|rest| rest.split("```").next().unwrap());
    let commands = blocks.flat_map(str::lines).map(|command| {
        let command = command.replace("bitcoin", "litecoin").replace("BITCOIN", "LITECOIN");
        command.replace("BTC", "LTC").replace("1.00", "20.00")
    });
    commands.collect()
}

/// Runs the commands of the guide on litecoin, with additional settings for a test network and fixed rates.
#[test]
fn guide_commands_receive_a_first_payment_without_a_node() {
    let Some((node, server)) = start_electrumx(&[]) else {
        return;
    };
    let commands = litecoin_commands();
    assert_eq!(commands.len(), 8, "{commands:?}");
    let folder = Scratch::new();
    std::fs::write(folder.path("litecoin.key"), TPUB).unwrap();
    let rates = folder.path("rates.json");
    std::fs::write(&rates, r#"{"LTC": {"EUR": "80", "USD": "90"}}"#).unwrap();
    let listen = format!("127.0.0.1:{}", free_port());
    let binary = std::path::Path::new(env!("CARGO_BIN_EXE_coffer"));
    let shell = |script: String| {
        let mut command = Command::new("bash");
        let path = std::env::var("PATH").unwrap();
        let path = format!("{}:{path}", binary.parent().unwrap().display());
        let rates = format!("fixed:{}", rates.display());
        command
            .args(["-c", &script])
            .current_dir(folder.path("."))
            .env("PATH", path)
            .env("COFFER_RATES", rates)
            .env("COFFER_TEST_NETWORKS", "1")
            .env("COFFER_LISTEN", &listen);
        command
    };
    let named = format!("{0},{0}", server.url());
    let is_there = |command: &str| {
        let there =
            command.replace("electrums://one.example:50002,electrums://two.example:50002", &named);
        there.replace("add litecoin", "add litecoin --script wpkh --network regtest")
    };
    let before: Vec<String> = commands[..6].iter().map(|command| is_there(command)).collect();
    let set_up = format!("{}\nexport -p >env", before.join("\n"));
    let said = shell(set_up).output().unwrap();
    let said = String::from_utf8(said.stdout).unwrap();
    assert!(said.contains("ok: node of litecoin"), "{said}");
    let serve = format!(". ./env; exec {}", commands[6]);
    let served = Process::start(&mut shell(serve));
    assert!(served.wait_for_url().starts_with("https://pay.example.com"));
    let invoice = format!(". ./env; {}", commands[7]);
    let invoice = invoice.replace("127.0.0.1:8080", &listen);
    let file = rusqlite::Connection::open(folder.path("shop.db")).unwrap();
    let until = |sql: &str| {
        assert!(
            polling::wait_until(|| file.query_row(sql, [], |row| row.get(0)) == Ok(1_u32)),
            "{sql}"
        );
    };
    until("select count(*) from chain_cursors where exists (select 1 from rate_figures)");
    let output = shell(invoice).output().unwrap();
    let made: Value = serde_json::from_slice(&output.stdout).unwrap();
    node.pay(made["depositAddress"].as_str().unwrap(), "0.25");
    node.mine(3);
    until("select count(*) from observations where state = 'confirmed'");
}

//! Cost of live chains: reading large blocks with many watched addresses, catching up, deriving addresses, and memory.
//!
//!     cargo run --release --example load -- --chains [--quick]
//!
//! The simulated node is in `blocks`, the cost of address queries in `asked`. Coffer runs as the real binary with real
//! settings. A ratio compares two measurements made directly one after the other.

mod asked;

use crate::blocks::Node;
use crate::book::Range;
use crate::client::{load, numbered};
use crate::litecoind::Litecoind;
use crate::plan::Plan;
use crate::process::{Place, Server};
use crate::{Failure, wire};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const FILE: &str = "chains.db";
const FIRST_LITECOIN: &str = "12a765e31ffd4059bada1e25190f6e98c99d9714d334efa41a195a7e7e04bfe2";
const FIRST_BITCOIN: &str = "000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f";
const FIRST_DOGECOIN: &str = "1a91e3dace36e2be3bf030a65679fe821aa1d6ef92e7c9902eb318182c355691";
/// Account m/84'/0'/0' of the first test vector of BIP 39.
const KEY: &str = "xpub6CatWdiZiodmUeTDp8LT5or8nmbKNcuyvz7WyksVFkKB4RHwCD3XyuvPEbvqAQY3rAPshWcMLoP2fMFMKHPJ4ZeZXYVUhLv1VMrjPC7PW6V";
/// Account of a test network.
const TEST_KEY: &str = "tpubDC8msFGeGuwnKG9Upg7DM2b4DaRqg3CUZa5g8v2SRQ6K4NSkxUgd7HsL2XVWbVm39yBA4LAxysQAm397zwQSQoQgewGiYZqrA9DsP4zbQ1M";
const RATES: &str = r#"{"LTC": {"EUR": "80", "USD": "90"}, "SOL": {"EUR": "150", "USD": "160"}}"#;
/// Number of blocks over which the cost of one is averaged.
const BLOCKS: u32 = 40;
const OUTPUTS: u32 = 5_000;
const CONNECTIONS: usize = 64;
/// Number of watched addresses of a wallet beyond those that are handed out.
const AHEAD: u32 = 1_000;
/// Number of addresses over three chains.
const A_THIRD: u32 = 333_334;

/// Measures everything and prints the results as they arrive.
pub fn measure(place: &Place, is_quick: bool) -> Result<(), Failure> {
    println!("what live chains cost");
    for watched in [1_000, 100_000, 1_000_000] {
        large_blocks(place, watched)?;
    }
    memory(place)?;
    creates(place, &if is_quick { Plan::quick() } else { Plan::full() })?;
    asked::by_name(place)?;
    asked::by_pool(place)?;
    catching_up(place, if is_quick { 500 } else { 5_000 })
}

/// Measures blocks with many outputs, none of which belongs to Coffer.
fn large_blocks(place: &Place, watched: u32) -> Result<(), Failure> {
    let node = Node::start(FIRST_LITECOIN, 100)?;
    place.remove(FILE);
    add_wallet(place, "litecoin", watched.saturating_sub(AHEAD), &[])?;
    let server = serve(place, &[("litecoin", node.url())], &[])?;
    let begun = Instant::now();
    until_followed(&server, &["litecoin"], watched)?;
    let derived = begun.elapsed();
    let cpu = server.cpu()?;
    node.grow(BLOCKS);
    let asked = node.until_asked(BLOCKS);
    let one = |whole: Duration| whole.as_secs_f64() * 1e3 / f64::from(BLOCKS - 1);
    println!(
        "  a block of {OUTPUTS} outputs, {watched:>9} watched: {:>6.1} ms, of which CPU of Coffer {:.1} and the node {:.1}; {:.1} MB anonymous; derived in {:.1} s",
        one(asked.took()),
        one(server.cpu()?.saturating_sub(cpu)),
        one(asked.worked),
        server.memory()?.anonymous_kb as f64 / 1024.0,
        derived.as_secs_f64(),
    );
    Ok(())
}

/// Measures three chains with a million addresses in total.
fn memory(place: &Place) -> Result<(), Failure> {
    place.remove(FILE);
    let first_blocks =
        [("bitcoin", FIRST_BITCOIN), ("litecoin", FIRST_LITECOIN), ("dogecoin", FIRST_DOGECOIN)];
    let (mut kept, mut nodes) = (Vec::new(), Vec::new());
    for (chain, first_block) in first_blocks {
        add_wallet(place, chain, A_THIRD - AHEAD, &[])?;
        let node = Node::start(first_block, 100)?;
        nodes.push((chain, node.url()));
        kept.push(node);
    }
    let server = serve(place, &nodes, &[])?;
    let chains = first_blocks.map(|(chain, _)| chain);
    until_followed(&server, &chains, A_THIRD)?;
    for node in &kept {
        node.grow(BLOCKS);
    }
    for node in &kept {
        node.until_asked(BLOCKS);
    }
    let megabytes = server.memory()?.anonymous_kb as f64 / 1024.0;
    let verdict = verdict(megabytes <= 64.0);
    println!(
        "  serve with three chains and 1 000 000 addresses: {megabytes:.1} MB anonymous, goal ≤ 64 {verdict}"
    );
    Ok(())
}

/// Measures live invoices with separate addresses, compared with test invoices.
fn creates(place: &Place, plan: &Plan) -> Result<(), Failure> {
    place.remove(FILE);
    let node = Node::start(FIRST_LITECOIN, 100)?;
    let account = account(place)?;
    let key = |mode| key(place, &account, mode);
    let (live, test) = (key("live")?, key("test")?);
    add_wallet(place, "litecoin", 0, &[])?;
    let rates = rates(place)?;
    let server =
        serve(place, &[("litecoin", node.url())], &["--rates", &rates, "--rate-limit", "0"])?;
    until(&server, "coffer_chain_keeps_up{chain=\"litecoin\"} 1")?;
    until_on_offer(&server, &live, "LTC")?;
    let (mut ratios, mut rates) = (Vec::new(), Vec::new());
    for _ in 0..plan.rounds {
        let per_second = |key: &str| -> Result<f64, Failure> {
            let key = key.to_owned();
            let requests = numbered(move |number| {
                wire::request_as(&key, "POST", "/v1/invoices", &order(number, "LTC"))
            });
            let made = load(plan, &server, CONNECTIONS, requests, false)?;
            match made.measured.failed {
                0 => Ok(made.measured.per_second),
                failed => Err(format!("{failed} invoices were not created").into()),
            }
        };
        let (of_test, of_live) = (per_second(&test)?, per_second(&live)?);
        ratios.push(of_live / of_test);
        rates.push(of_live);
    }
    let ratio = Range::of(ratios.into_iter()).ok_or("no rounds")?;
    let rate = Range::of(rates.into_iter()).ok_or("no rounds")?;
    let verdict = verdict(ratio.median >= 0.5);
    println!(
        "  create in LTC, live / test, {CONNECTIONS} connections: {:.2} ({:.2}–{:.2}), {:.0} a second, goal ≥ 0.50 {verdict}",
        ratio.median, ratio.low, ratio.high, rate.median
    );
    Ok(())
}

/// Creates an account that may take live payments.
fn account(place: &Place) -> Result<String, Failure> {
    let account = place.run(FILE, &["account", "create", "Shop"], "")?;
    let account = text(&account, "id")?;
    place.run(FILE, &["account", "approve", account], "")?;
    Ok(account.to_owned())
}

fn key(place: &Place, account: &str, mode: &str) -> Result<String, Failure> {
    let made = place.run(FILE, &["key", "create", account, "--mode", mode], "")?;
    text(&made, "key").map(str::to_owned)
}

/// Returns the setting of fixed rates.
fn rates(place: &Place) -> Result<String, Failure> {
    let rates = place.file("rates.json");
    std::fs::write(&rates, RATES)?;
    Ok(format!("fixed:{}", rates.display()))
}

fn order(number: usize, asset: &str) -> String {
    json!({ "amount": "20.00", "currency": "EUR", "asset": asset, "orderId": format!("order-{number}") })
        .to_string()
}

/// Waits for the first rates, which arrive shortly after the server listens.
fn until_on_offer(server: &Server, key: &str, asset: &str) -> Result<(), Failure> {
    let currencies = wire::request_as(key, "GET", "/v1/currencies", "");
    while !String::from_utf8(wire::ask(server.address, &currencies)?)?.contains(asset) {
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

/// Measures the time to read all blocks of a real litecoind, compared with the time of the node to serve them.
fn catching_up(place: &Place, blocks: u32) -> Result<(), Failure> {
    let Some(node) = Litecoind::start(&place.file("litecoind"))? else {
        println!("  catching up: litecoind is not on this machine");
        return Ok(());
    };
    place.remove(FILE);
    add_wallet(place, "litecoin", 0, &["--network", "regtest"])?;
    let nodes = [("litecoin", node.url())];
    let server = serve(place, &nodes, &["--test-networks"])?;
    until(&server, "coffer_chain_keeps_up{chain=\"litecoin\"} 1")?;
    server.end();
    node.mine(blocks)?;
    let height = node.height()?;
    let mut alone = Vec::new();
    let mut measured = Vec::new();
    for number in 0..3 {
        let begun = Instant::now();
        node.read(height - blocks + 1, height)?;
        alone.push(begun.elapsed());
        let copy = format!("chains-{number}.db");
        place.copy(FILE, &copy)?;
        let server = place.serve(&copy, &settings(&nodes, &["--test-networks"]))?;
        let first = until_height(&server, height - blocks + 1)?;
        measured.push(until_height(&server, height)?.duration_since(first));
        server.end();
        place.remove(&copy);
    }
    let ratios = alone.iter().zip(&measured);
    let ratios = ratios.map(|(alone, measured)| alone.as_secs_f64() / measured.as_secs_f64());
    let ratio = Range::of(ratios).ok_or("no rounds")?;
    let verdict = verdict(ratio.median >= 0.5);
    println!(
        "  {blocks} blocks of litecoind, its answers alone / read by Coffer: {:.2} ({:.2}–{:.2}), goal ≥ 0.50 {verdict}",
        ratio.median, ratio.low, ratio.high
    );
    Ok(())
}

fn verdict(met: bool) -> &'static str {
    if met { "met" } else { "MISSED" }
}

fn add_wallet(place: &Place, chain: &str, next: u32, more: &[&str]) -> Result<(), Failure> {
    let next = next.to_string();
    let mut args = vec!["wallet", "add", chain, "--yes", "--force", "--next", &next];
    args.extend(more);
    args.extend(["--script", if chain == "dogecoin" { "pkh" } else { "wpkh" }]);
    let key = if more.is_empty() { KEY } else { TEST_KEY };
    place.run(FILE, &args, key).map(drop)
}

fn settings(nodes: &[(&str, String)], more: &[&str]) -> Vec<String> {
    let nodes = nodes.iter().map(|(chain, url)| format!("--node={chain}={url}"));
    nodes.chain(more.iter().map(|one| (*one).to_owned())).collect()
}

fn serve(place: &Place, nodes: &[(&str, String)], more: &[&str]) -> Result<Server, Failure> {
    place.serve(FILE, &settings(nodes, more))
}

/// Waits until the server follows the chain, and asserts that it watches this many addresses of each chain.
fn until_followed(server: &Server, chains: &[&str], watched: u32) -> Result<(), Failure> {
    for chain in chains {
        until(server, &format!("coffer_chain_keeps_up{{chain=\"{chain}\"}} 1"))?;
        let name = format!("coffer_chain_watched_addresses{{chain=\"{chain}\"}} ");
        let found = figure(server, &name)?.unwrap_or(0);
        if found != watched {
            return Err(format!("{found} addresses of {chain} are watched, not {watched}").into());
        }
    }
    Ok(())
}

/// Waits until the metrics contain this line.
fn until(server: &Server, line: &str) -> Result<(), Failure> {
    while !figures(server)?.lines().any(|one| one == line) {
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

/// Waits until the blocks of litecoin are read up to this height. Returns the time.
fn until_height(server: &Server, height: u32) -> Result<Instant, Failure> {
    const NAME: &str = "coffer_chain_height{chain=\"litecoin\"} ";
    loop {
        if figure(server, NAME)?.is_some_and(|read| read >= height) {
            return Ok(Instant::now());
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Returns the metric of this name, if it exists.
fn figure(server: &Server, name: &str) -> Result<Option<u32>, Failure> {
    let figures = figures(server)?;
    let found = figures.lines().find_map(|line| line.strip_prefix(name));
    Ok(found.and_then(|found| found.parse().ok()))
}

fn figures(server: &Server) -> Result<String, Failure> {
    Ok(String::from_utf8(wire::ask(server.address, &wire::request("GET", "/metrics", ""))?)?)
}

fn text<'a>(answer: &'a Value, name: &str) -> Result<&'a str, Failure> {
    let text = answer.get(name).and_then(Value::as_str);
    text.ok_or_else(|| format!("{name} is no text in {answer}").into())
}

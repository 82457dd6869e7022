//! Cost of address queries: an Electrum server and a Solana node.

use super::{
    BLOCKS, FILE, account, add_wallet, key, order, rates, serve, until, until_height,
    until_on_offer,
};
use crate::electrum::Electrum;
use crate::process::{Place, Server};
use crate::solana::Solana;
use crate::{Failure, wire};
use coffer::domain::Mode;
use coffer::domain::address::{can_sign, simulated_address};
use coffer::domain::chain::Chain;
use std::time::{Duration, Instant};

/// Addresses of open invoices, watched at an Electrum server.
const BY_NAME: usize = 5_000;
/// Addresses of open invoices, polled at a Solana node of a network without tokens, where an address has one account.
const BY_POOL: usize = 1_000;
/// Maximum number of pool addresses that an account may take in a minute.
const OF_ONE_ACCOUNT: usize = 10;
/// Number of polls over which the cost of one is averaged.
const POLLS: u64 = 3;

/// Measures an Electrum server that watches the addresses of open invoices.
pub(super) fn by_name(place: &Place) -> Result<(), Failure> {
    place.remove(FILE);
    let node = Electrum::start()?;
    node.grow()?;
    let live = key(place, &account(place)?, "live")?;
    add_wallet(place, "litecoin", 0, &["--network", "regtest"])?;
    let rates = rates(place)?;
    let settings = ["--test-networks", "--rates", &rates, "--rate-limit", "0"];
    let server = serve(place, &[("litecoin", node.url())], &settings)?;
    until(&server, "coffer_chain_keeps_up{chain=\"litecoin\"} 1")?;
    until_on_offer(&server, &live, "LTC")?;
    hand_out(&server, &live, BY_NAME, "LTC")?;
    let (begun, cpu) = (Instant::now(), server.cpu()?);
    // Of each address the status is asked for, and the history is read once.
    while node.asked().subscriptions.min(node.asked().histories) < BY_NAME as u64 {
        std::thread::sleep(Duration::from_millis(2));
    }
    let (took, watching) = (begun.elapsed(), server.cpu()?.saturating_sub(cpu));
    let (before, cpu) = (node.asked(), server.cpu()?);
    for _ in 0..BLOCKS {
        let height = node.grow()?;
        until_height(&server, height)?;
    }
    let (after, blocks) = (node.asked(), u64::from(BLOCKS));
    let one = server.cpu()?.saturating_sub(cpu).as_secs_f64() * 1e3 / f64::from(BLOCKS);
    println!(
        "  {BY_NAME} addresses at one Electrum server: watched {:.1} s after the last was handed out, CPU {:.1} s; a block \
            without money: {} requests, {} bytes, CPU {one:.1} ms; {:.1} MB anonymous",
        took.as_secs_f64(),
        watching.as_secs_f64(),
        (after.requests - before.requests) / blocks,
        (after.bytes - before.bytes) / blocks,
        server.memory()?.anonymous_kb as f64 / 1024.0,
    );
    Ok(())
}

/// Measures a Solana node that is polled for the addresses of open invoices.
pub(super) fn by_pool(place: &Place) -> Result<(), Failure> {
    place.remove(FILE);
    let node = Solana::start()?;
    let accounts = (0..BY_POOL / OF_ONE_ACCOUNT).map(|_| key(place, &account(place)?, "live"));
    let keys: Vec<String> = accounts.collect::<Result<_, Failure>>()?;
    let addresses = (0..).map(|index| simulated_address(Mode::Live, Chain::Solana, index));
    let addresses = addresses.filter(|address| can_sign(address));
    // An account may not take more addresses than it leaves for others.
    let addresses: Vec<String> = addresses.take(BY_POOL + 2 * OF_ONE_ACCOUNT).collect();
    place.run(FILE, &["pool", "import", "solana", "-"], &addresses.join("\n"))?;
    let rates = rates(place)?;
    let settings = ["--test-networks", "--rates", &rates, "--rate-limit", "0"];
    let server = serve(place, &[("solana", node.url())], &settings)?;
    until(&server, "coffer_chain_keeps_up{chain=\"solana\"} 1")?;
    for live in &keys {
        until_on_offer(&server, live, "SOL")?;
        hand_out(&server, live, OF_ONE_ACCOUNT, "SOL")?;
    }
    // The first poll of an address also requests its history.
    let until_polls = |more: u64| {
        let wanted = node.polls() + more;
        while node.polls() < wanted {
            std::thread::sleep(Duration::from_millis(2));
        }
    };
    until_polls(8);
    let (before, cpu) = (node.asked(), server.cpu()?);
    until_polls(POLLS);
    let after = node.asked();
    let one = server.cpu()?.saturating_sub(cpu).as_secs_f64() * 1e3 / POLLS as f64;
    println!(
        "  {BY_POOL} addresses at one node of Solana: a poll without money: {} requests for {} accounts, {} bytes, CPU \
            {one:.1} ms; {:.1} MB anonymous",
        (after.requests - before.requests) / POLLS,
        (after.accounts - before.accounts) / POLLS,
        (after.bytes - before.bytes) / POLLS,
        server.memory()?.anonymous_kb as f64 / 1024.0,
    );
    Ok(())
}

/// Creates this many live invoices in a coin.
fn hand_out(server: &Server, live: &str, count: usize, asset: &str) -> Result<(), Failure> {
    for number in 0..count {
        let request = wire::request_as(live, "POST", "/v1/invoices", &order(number, asset));
        let made = String::from_utf8(wire::ask(server.address, &request)?)?;
        if !made.contains("\"depositAddress\":\"") {
            return Err(made.into());
        }
    }
    Ok(())
}

//! All kinds of nodes at once, with faults, while the server is killed repeatedly. In the end the file agrees with
//! the nodes, memory has not grown, and idle threads use almost no processor time.
//!
//! `COFFER_SOAK_SECONDS` sets the duration and enables the measurements. Without `COFFER_SOAK_SECONDS`, the test
//! plays twelve rounds.

mod front;
mod solana;

use super::killed::tron::{ASSET as TRON_TOKEN, TronPayer};
use super::killed::{AnvilPayer, LitecoindPayer, RandomPayer};
use super::till::TestnetShop;
use crate::chain::till::deposit_address;
use crate::operator::wallets::{EVM_XPUB, run_wallet_command};
use crate::support::anvil::Node;
use crate::support::command::coffer_output_with_input;
use crate::support::dice::Dice;
use crate::support::electrum_proxy::ElectrumProxy;
use crate::support::electrumx::Electrumx;
use crate::support::installation::RunningServer;
use crate::support::litecoind::Litecoind;
use crate::support::polling;
use crate::support::received::{ReceivedAmounts, amounts_in_file};
use crate::support::rpc_proxy::RpcProxy;
use crate::support::surfpool::{SOL, Surfpool, USDC, USDT, address_without_key};
use crate::support::tron::{self, TOKEN, encode_address};
use front::{EVM_METHODS, FaultyProxy, SOLANA_METHODS, UTXO_METHODS};
use solana::SolanaPayer;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::{Duration, Instant};

const UNTESTED: &str = "all kinds of node at once";
/// Default number of rounds.
const ROUNDS: usize = 12;
/// Number of invoices on each chain.
const INVOICES: usize = 6;
/// Number of blocks that are mined at once to confirm all payments.
const CONFIRMING_BLOCKS: u32 = 50;
const CONFIRM_ROUNDS_MAX: usize = 40;
/// Allowed growth of the memory of a server between two idle moments, in kB.
const GROWTH_KB_MAX: u64 = 8 * 1024;
/// Duration of the measurement of an idle server.
const IDLE: Duration = Duration::from_secs(60);
/// Allowed share of one processor for the thread of an idle chain.
const IDLE_SHARE_MAX: f64 = 0.005;

/// A chain, its payer, the proxy between server and node, and the addresses to pay.
struct SoakChain {
    chain: &'static str,
    payer: Box<dyn RandomPayer>,
    front: FaultyProxy,
    to: Vec<String>,
}

fn start_utxo_chain(chain: &'static str, asset: &'static str) -> Option<SoakChain> {
    let node = Litecoind::start(&["-txindex=1"], UNTESTED)?;
    node.fund_wallet();
    let front = match chain {
        "dogecoin" => FaultyProxy::Honest(RpcProxy::start_as_dogecoin(&node.url())),
        "bitcoin" => {
            let server = Electrumx::start(&node, &[], UNTESTED)?;
            FaultyProxy::Electrum {
                liar: ElectrumProxy::start_as_bitcoin(server.port),
                _server: server,
            }
        }
        _ => FaultyProxy::RpcProxy(RpcProxy::start(&node.url()), UTXO_METHODS),
    };
    let sent = Vec::new();
    let payer = Box::new(LitecoindPayer { node, chain, asset, sent });
    let to = Vec::new();
    Some(SoakChain { chain, payer, front, to })
}

/// Starts an EVM chain, and returns it with the setting of its token.
fn start_evm_chain(
    id: u64,
    chain: &'static str,
    asset: &'static str,
    coin: &'static str,
) -> Option<(SoakChain, String)> {
    let node = Node::start(id, UNTESTED)?;
    let token = node.deploy_token();
    // The token contract is now in a block that is too deep for later reorgs.
    node.mine(5);
    let front = FaultyProxy::RpcProxy(RpcProxy::start(&node.url), EVM_METHODS);
    let setting = format!("{asset}={token}");
    let payer = Box::new(AnvilPayer { node, token, asset, coin });
    let to = Vec::new();
    let side = SoakChain { chain, payer, front, to };
    Some((side, setting))
}

/// Starts every chain, and returns the settings of the tokens; `None` where the machine lacks a node.
fn start_chains() -> Option<(Vec<SoakChain>, Vec<String>)> {
    let mut sides = vec![
        start_utxo_chain("bitcoin", "BTC")?,
        start_utxo_chain("litecoin", "LTC")?,
        start_utxo_chain("dogecoin", "DOGE")?,
    ];
    let mut tokens = Vec::new();
    for (id, chain, asset, coin) in [
        (11_155_111, "ethereum", "USDC-ERC20", "ETH"),
        (84_532, "base", "USDC-BASE", ""),
        (80_002, "polygon", "USDC-POLYGON", ""),
    ] {
        let (side, token) = start_evm_chain(id, chain, asset, coin)?;
        sides.push(side);
        tokens.push(token);
    }
    let node = tron::Node::start();
    let front = FaultyProxy::Tron(node.start_another());
    let payer = Box::new(TronPayer(node));
    let to = Vec::new();
    sides.push(SoakChain { chain: "tron", payer, front, to });
    tokens.push(format!("{TRON_TOKEN}={}", encode_address(TOKEN)));
    let node = Surfpool::start(UNTESTED)?;
    tokens.extend([USDC, USDT].map(|asset| format!("{asset}={}", node.mint_address(asset))));
    sides.push(SoakChain {
        chain: "solana",
        front: FaultyProxy::RpcProxy(RpcProxy::start(&node.url), SOLANA_METHODS),
        payer: Box::new(SolanaPayer(node)),
        to: Vec::new(),
    });
    Some((sides, tokens))
}

/// Opens a shop that accepts the coins of all chains.
#[track_caller]
fn open_shop(sides: &[SoakChain], tokens: &[String]) -> TestnetShop {
    let mut till = TestnetShop::new(&[]);
    for side in sides {
        let node = format!("{}={}", side.chain, side.front.url());
        till.add_settings(vec!["--node".to_owned(), node]);
    }
    for token in tokens {
        till.add_settings(vec!["--token".to_owned(), token.clone()]);
    }
    for chain in ["bitcoin", "litecoin", "dogecoin"] {
        till.add_wallet(chain, super::till::TPUB, &[]).json_lines();
    }
    for family in ["evm", "tron"] {
        run_wallet_command(&till.served.file, &["add", family, "--yes"], EVM_XPUB).json_lines();
    }
    let pool: Vec<String> = (0..20).map(address_without_key).collect();
    let import = ["pool", "import", "solana", "-"];
    coffer_output_with_input(&till.served.file, &import, &pool.join("\n")).json_lines();
    till
}

/// Returns the assets that the test pays on a chain.
fn paid_assets(chain: &str) -> &'static [&'static str] {
    match chain {
        "bitcoin" => &["BTC"],
        "litecoin" => &["LTC"],
        "dogecoin" => &["DOGE"],
        "ethereum" => &["USDC-ERC20", "ETH"],
        "base" => &["USDC-BASE"],
        "polygon" => &["USDC-POLYGON"],
        "solana" => &[SOL, USDC, USDT],
        _ => &["TRX", TRON_TOKEN],
    }
}

/// Waits until the newest block of every chain was read.
#[track_caller]
fn wait_until_chains_read(till: &TestnetShop, sides: &[SoakChain]) {
    let heights: Vec<String> = sides
        .iter()
        .map(|side| format!("(chain = '{}' and height = {})", side.chain, side.payer.height()))
        .collect();
    let read = format!(
        "select (count(*) = {}) || '' from chain_cursors where {}",
        sides.len(),
        heights.join(" or ")
    );
    till.served.wait_for_query_result(&read, &["1"]);
}

/// Returns the anonymous memory of a server, in kB.
#[track_caller]
fn anonymous_memory_kb(running: &RunningServer) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", running.process.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("RssAnon:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Returns the processor time of each thread of a server, in hundredths of a second.
#[track_caller]
fn processor_ticks(running: &RunningServer) -> BTreeMap<String, u64> {
    let folder = format!("/proc/{}/task", running.process.id());
    let threads = fs::read_dir(folder).unwrap().map(Result::unwrap);
    let read = threads.map(|thread| {
        let stat = fs::read_to_string(thread.path().join("stat")).unwrap();
        let (name, rest) = stat.split_once('(').unwrap().1.rsplit_once(')').unwrap();
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let used = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
        (format!("{name} {}", thread.file_name().display()), used)
    });
    read.collect()
}

/// Asserts that no thread of an idle server uses more than [`IDLE_SHARE_MAX`] of a processor.
#[track_caller]
#[expect(clippy::print_stderr, reason = "printed for manual runs")]
fn assert_no_thread_spins(running: &RunningServer) {
    let (before, begun) = (processor_ticks(running), Instant::now());
    assert!(polling::wait_until(|| begun.elapsed() >= IDLE));
    for (thread, after) in processor_ticks(running) {
        let used = after - before.get(&thread).unwrap_or(&0);
        let share = Duration::from_millis(10 * used).as_secs_f64() / begun.elapsed().as_secs_f64();
        eprintln!("soak: idle for a minute, {thread}: {:.2} %", 100.0 * share);
        assert!(share <= IDLE_SHARE_MAX, "{thread} takes {share}");
    }
}

/// At random, reorganises blocks, starts a fault, ends all faults, or pays.
fn play_random_event(side: &mut SoakChain, dice: &mut Dice) {
    match dice.roll(6) {
        0 => {
            let depth = 1 + u32::from(dice.once_in(2));
            side.payer.reorganise(dice, depth);
        }
        1 => side.front.start_fault(dice),
        2 => side.front.clear_faults(),
        _ => side.payer.pay_all(dice, &side.to),
    }
}

#[test]
#[expect(clippy::print_stderr, reason = "printed for manual runs")]
fn payments_are_stored_once_despite_faults_and_kills() {
    let Some((mut sides, tokens)) = start_chains() else {
        return;
    };
    let seconds = std::env::var("COFFER_SOAK_SECONDS").ok();
    let time = seconds.map(|seconds| Duration::from_secs(seconds.parse().unwrap()));
    let till = open_shop(&sides, &tokens);
    let mut running = till.start();
    for side in &mut sides {
        let assets = paid_assets(side.chain);
        till.wait_for_rate(side.chain, assets[0].split('-').next().unwrap());
        let made = (0..INVOICES).map(|at| {
            let invoice = till.create_invoice(&running, assets[at % assets.len()]);
            deposit_address(&invoice)
        });
        side.to = made.collect();
    }
    let (mut dice, begun) = (Dice::new(11), Instant::now());
    let (mut rounds, mut kills, mut memory) = (0, 0, Vec::new());
    loop {
        let over = time.map_or(rounds >= ROUNDS, |time| begun.elapsed() >= time);
        if over {
            break;
        }
        rounds += 1;
        let at = dice.roll(sides.len());
        play_random_event(&mut sides[at], &mut dice);
        // In the second half the server keeps running, so that its memory can be measured.
        let may_kill = time.is_none_or(|time| begun.elapsed() < time / 2);
        if may_kill && dice.once_in(3) {
            running.process.kill();
            running = till.start();
            kills += 1;
        }
        if dice.once_in(4) {
            sides.iter().for_each(|side| side.front.clear_faults());
            wait_until_chains_read(&till, &sides);
            if !may_kill {
                memory.push(anonymous_memory_kb(&running));
            }
        }
    }
    sides.iter().for_each(|side| side.front.clear_faults());
    if time.is_some() {
        wait_until_chains_read(&till, &sides);
        memory.push(anonymous_memory_kb(&running));
        let (first, last) = (memory[0], memory[memory.len() - 1]);
        eprintln!("soak: anonymous memory in kB, in the second half: {memory:?}");
        assert!(last <= first + GROWTH_KB_MAX, "{memory:?}");
        assert_no_thread_spins(&running);
    }
    drop(running);
    let count = assert_file_matches_nodes(&till, &sides);
    let seconds = begun.elapsed().as_secs();
    eprintln!(
        "soak: {seconds} s, {rounds} rounds, {kills} kills; {count} payments came, each is in the file once"
    );
}

/// Asserts that the file has each payment exactly once, and returns their number.
#[track_caller]
fn assert_file_matches_nodes(till: &TestnetShop, sides: &[SoakChain]) -> usize {
    let file = till.served.open_file();
    for _ in 0..CONFIRM_ROUNDS_MAX {
        for side in sides {
            side.payer.mine_empty(CONFIRMING_BLOCKS);
        }
        let mut running = till.start();
        wait_until_chains_read(till, sides);
        assert!(running.process.close_input_and_wait());
        let seen = "select count(*) from observations where state = 'seen'";
        let seen: u32 = file.query_row(seen, [], |row| row.get(0)).unwrap();
        if seen == 0 {
            break;
        }
    }
    till.served.assert_audit_clean();
    let mut came = ReceivedAmounts::new();
    for side in sides {
        let to: BTreeSet<String> = side.to.iter().cloned().collect();
        came.extend(side.payer.received_by(&to));
    }
    assert_eq!(amounts_in_file(&file), came);
    came.len()
}

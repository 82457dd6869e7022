//! Chain nodes on the command line: their settings, `coffer rescan`, and the node checks of `coffer doctor`.
//!
//! Invariant: only scheme, host, port and path of a node's URL are printed, and no headers.

use super::checks::Check;
use super::invocation::{Invocation, option, required, switch};
use super::output::print_line;
use super::progress::{SharedProgress, show_progress};
use crate::app::following::live_mode;
use crate::chain::follow::{StepTargets, unknown_network_message};
use crate::chain::rpc::Limits;
use crate::chain::setting::{ChainNodes, FollowedNodeUrls};
use crate::chain::{Node, NodeError};
use crate::clock::Clock;
use crate::config::SettingValues;
use crate::domain::chain::Chain;
use crate::domain::progress::to_count;
use crate::domain::set_aside::set_aside_problem;
use crate::domain::stale_head::{REMEDY, age_without_skew_ms, stale_head_warning};
use crate::domain::wallet::{stopped_wallet_problem, stopped_wallet_remedy};
use crate::domain::{Block, ChainPosition, ChainState, Progress, Refusal, Time, WalletNetwork};
use crate::service::followed::rescans::order_rescan;
use crate::service::{Error, open_shared};
use crate::store::chain_nodes::ChainNodeRow;
use crate::store::doctor::FileProblem;
use crate::store::unexplained::{self, UnexplainedBalance};
use crate::store::{FileKind, Reader, Store, chain_cursors, keys, rescans, set_aside, wallets};
use crate::worker::watch_chain::PollIntervals;
use clap::Command;
use serde_json::json;
use std::str::FromStr;
use std::sync::RwLock;
use std::time::Duration;

/// Depth of the block from which transactions are requested. Most outputs of such a block are spent, and a node
/// without a transaction index cannot look up their transactions.
const INDEXED_DEPTH: u32 = 1000;

/// Timeout of one request to a node in `coffer doctor`, in milliseconds.
const ANSWER_MS_MAX: u64 = 10_000;

const RESCAN_CHECK_EVERY: Duration = Duration::from_millis(200);

/// Maximum number of addresses with an unexplained balance that are reported.
const UNEXPLAINED_MAX: u32 = 20;

pub(super) fn configured_nodes(values: &SettingValues<'_>) -> Result<FollowedNodeUrls, Error> {
    let test_networks = values.is_switch_on("test-networks")?;
    let (headers, tokens) = (values.keyed_values("node-header")?, values.keyed_values("token")?);
    let nodes = values.keyed_values("node")?;
    FollowedNodeUrls::parse_settings(&nodes, &headers, &tokens, test_networks)
        .map_err(Error::Failed)
}

pub(super) fn rescan_command(command: Command) -> Command {
    command.args([
        required("chain", "CHAIN", "The chain, like bitcoin"),
        option("from", "HEIGHT", "First block to read again").required(true),
        switch("wait", "Wait until the server has read them"),
    ])
}

pub(super) fn run_rescan(invocation: &Invocation<'_>) -> Result<(), Error> {
    let chain = Chain::from_str(&invocation.text("chain"))
        .map_err(|problem| Refusal::field("chain", problem.to_string()))?;
    let from: u32 = invocation
        .text("from")
        .parse()
        .map_err(|_| Refusal::field("from", "must be a height: a whole number from 0"))?;
    let as_json = invocation.wants_json()?;
    let file = invocation.database_path()?;
    let store = open_shared(&file, Some(FileKind::Production), false, show_progress)?;
    let now = Clock::new(0, None).now();
    let ordered = store.write_and_wait(move |tx| {
        order_rescan(tx, now, chain, from)?;
        Ok::<_, Error>(rescans::active_for_chain(tx, chain)?.map(|rescan| rescan.seq))
    })?;
    let waits = invocation.has("wait");
    if waits && let Some(seq) = ordered {
        wait_for_rescan(&store, chain, seq)?;
    }
    print_line(&match (as_json, waits) {
        (true, _) => json!({ "chain": chain, "from": from, "done": waits }).to_string(),
        (false, true) => format!("{chain} was read again from block {from} on"),
        (false, false) => {
            format!("{chain} is read again from block {from} on, by the server that follows it")
        }
    })
}

fn wait_for_rescan(store: &Store, chain: Chain, seq: i64) -> Result<(), Error> {
    let state = || {
        store.read_snapshot(|db| {
            let cursor = chain_cursors::of_chain(db, chain)?;
            Ok::<_, Error>((rescans::active_for_chain(db, chain)?, cursor))
        })
    };
    loop {
        let (under_way, cursor) = state()?;
        let reached = cursor.as_ref().map(|cursor| cursor.reached.block.height);
        let Some(rescan) = under_way else {
            let stopped = cursor.and_then(|cursor| cursor.stopped);
            let failed =
                |why| Error::Failed(format!("the rescan ended, and {chain} is stopped: {why}"));
            return stopped.map_or(Ok(()), |why| Err(failed(why)));
        };
        if rescan.seq != seq {
            return Err(Error::Failed(format!(
                "another rescan of {chain} was ordered, from block {} on",
                rescan.from_height
            )));
        }
        let behind = reached.unwrap_or_default().saturating_add(1);
        let of = to_count(behind.saturating_sub(rescan.from_height));
        let done = to_count(rescan.next_height.saturating_sub(rescan.from_height)).min(of);
        let part = "blocks read again";
        show_progress(Progress::Done { part, done, of });
        std::thread::sleep(RESCAN_CHECK_EVERY);
    }
}

/// Returns the last final block read on each account-based chain.
pub(super) fn final_blocks(db: &Reader<'_>) -> Result<Vec<(Chain, Block)>, Error> {
    let mut cursors = chain_cursors::all(db)?;
    cursors.retain(|cursor| !cursor.chain.has_outputs());
    let of_each = cursors.into_iter();
    Ok(of_each.map(|cursor| (cursor.chain, cursor.complete)).collect())
}

/// Checks the node at every URL: its network, its newest block, and whether it knows the last final block that was
/// read.
pub(super) fn check_nodes(nodes: &FollowedNodeUrls, finals: &[(Chain, Block)]) -> Vec<Check> {
    let of_chain = |one| std::iter::repeat(one).zip(ChainNodes::url_labels(one)).enumerate();
    let urls: Vec<(usize, (&ChainNodes, &str))> =
        nodes.of_chains.iter().flat_map(of_chain).collect();
    let answered = SharedProgress::new("nodes asked", urls.len());
    let now = Clock::new(0, None).real_now();
    let check = |(place, (one, shown)): (usize, (&ChainNodes, &str))| {
        let chain = one.chain;
        let limits = Limits { timeout_ms: ANSWER_MS_MAX, ..Limits::default() };
        let mut node = one.create_node(place, limits)?;
        let last = finals.iter().find(|(of, _)| *of == chain);
        let last = last.map(|(_, block)| block);
        let result = check_node(node.as_mut(), chain, last, nodes.test_networks, now);
        answered.increment();
        Some(match result {
            Ok(state) => (format!("node of {chain} at {shown}: {state}"), Vec::new()),
            Err((problem, mend)) => {
                let about = format!("node of {chain} at {shown}: {problem}");
                let mend = mend.to_owned();
                (format!("node of {chain}"), vec![FileProblem { about, mend }])
            }
        })
    };
    // Each node has its own thread, so a node that hangs delays no other.
    std::thread::scope(|scope| {
        let start = |one| scope.spawn(move || check(one));
        let started: Vec<_> = urls.into_iter().map(start).collect();
        let ended = started.into_iter().map(|one| one.join());
        let asked = ended.filter_map(Result::ok).flatten();
        asked.chain(nodes.of_chains.iter().map(describe_requests)).collect()
    })
}

/// Describes how many requests a day a node receives with these settings. Never reports a problem.
fn describe_requests(node: &ChainNodes) -> Check {
    let chain = node.chain;
    let cost = node.cost();
    let (otherwise, expected) = PollIntervals::requests_per_day_range(chain, &cost);
    let pace = PollIntervals::for_chain(chain);
    let (seldom, often) = (pace.otherwise.as_secs(), pace.expected.as_secs());
    let besides = if cost.each_transaction {
        "besides one for each of the chain's transactions, so the node should be your own"
    } else {
        "besides a few for each payment; public nodes often allow about 100000 a day for nothing, and some much less"
    };
    let besides = match cost.addresses {
        0 => besides.to_owned(),
        addresses => format!("while somebody may pay to {addresses} addresses, {besides}"),
    };
    let about = format!(
        "requests to {chain}: about {otherwise} a day (every {seldom} s), {expected} while money is expected all day (every \
         {often} s), {besides}"
    );
    (about, Vec::new())
}

/// Checks every chain that was followed. Reports stopped chains, unexplained balances and wallets of another network.
pub(super) fn check_chains(db: &Reader<'_>) -> Result<Check, Error> {
    let mut complaints = Vec::new();
    for cursor in chain_cursors::all(db)? {
        let stranger = wallets::wallet_of_other_network(db, &cursor)?;
        let (chain, network) = (cursor.chain, cursor.network);
        complaints.extend(
            unexplained::of_chain(db, chain, UNEXPLAINED_MAX)?
                .iter()
                .map(describe_unexplained_balance),
        );
        complaints.extend(set_aside_problem(chain, &set_aside::of_chain(db, chain)?).map(
            |about| FileProblem {
                about: format!("{chain}: {about}"),
                mend: format!("name the url of another node of {chain} with --node"),
            },
        ));
        if let Some(why) = cursor.stopped {
            complaints.push(FileProblem {
                about: format!("{chain} is stopped: {why}"),
                mend: format!("find the cause, then run `coffer rescan {chain} --from HEIGHT`"),
            });
        } else if let Some(row) = stranger {
            let own = row.wallet.network;
            complaints.push(FileProblem {
                about: format!("{chain} is followed on {network}, and its wallet is of {own}"),
                mend: "`coffer wallet add` one of that network, or name another node".to_owned(),
            });
        }
    }
    Ok(("chains".to_owned(), complaints))
}

/// Checks that no node is missing since a restore under another public url.
pub(super) fn check_missing_nodes(rows: &[ChainNodeRow], nodes: &FollowedNodeUrls) -> Check {
    let missing = rows.iter().filter(|row| row.is_missing && nodes.find(row.chain).is_none());
    let complaints = missing.map(|row| FileProblem {
        about: format!("the node of {} was removed by a restore: {}", row.chain, row.node),
        mend: "enter it again on the page Chains, or name it with --node".to_owned(),
    });
    ("nodes in the file".to_owned(), complaints.collect())
}

/// Checks that coins are on offer if a live key exists.
pub(super) fn check_offered_coins(
    db: &Reader<'_>,
    nodes: &FollowedNodeUrls,
    now: Time,
) -> Result<Check, Error> {
    let why = match keys::takes_live_payments(db, now)? {
        true => live_mode(nodes, false).no_coin_reasons(db, |_| Ok(None))?,
        false => None,
    };
    let complaint = why.map(|why| FileProblem {
        about: format!("a live key exists, but no coin is on offer: {why}"),
        mend: "name a node with --node or enter one on the page Chains, add a wallet with `coffer wallet add`, and let \
            `coffer serve` read the chain"
            .to_owned(),
    });
    let about = "coins on offer".to_owned();
    Ok((about, complaint.into_iter().collect()))
}

/// Describes an address with a higher balance than the known payments explain.
fn describe_unexplained_balance(found: &UnexplainedBalance) -> FileProblem {
    let (asset, chain, address) = (found.asset, found.asset.chain, &found.address);
    let (balance, known) = (asset.format_units(found.balance), asset.format_units(found.known));
    let id = asset.id;
    FileProblem {
        about: format!("{address} on {chain} has {balance} {id}, but known payments are {known}"),
        mend: format!(
            "find the transaction in which a contract sent the rest, and claim it: \
             POST /dashboard/api/chains/{chain}/claims"
        ),
    }
}

/// Checks that no wallet is stopped, including retired wallets.
pub(super) fn check_wallets(db: &Reader<'_>) -> Result<Check, Error> {
    let all = wallets::all(db)?;
    let stopped = all.iter().filter_map(|row| {
        let index = row.stopped_index?;
        Some(FileProblem {
            about: stopped_wallet_problem(&row.id, index),
            mend: stopped_wallet_remedy(row.wallet.chain.address_pool(), index),
        })
    });
    Ok(("wallets".to_owned(), stopped.collect()))
}

/// Returns the node's network and newest block, or a problem with its fix.
fn check_node(
    node: &mut dyn Node,
    chain: Chain,
    last: Option<&Block>,
    test_networks: bool,
    now: Time,
) -> Result<String, (String, &'static str)> {
    let said = |error: NodeError| {
        let mend = match error {
            NodeError::Wrong(_) => "name another url, or the right login, with --node",
            NodeError::Unreachable(_) => "start it, or allow this machine to reach it",
            NodeError::Limited(_) => "use a node of your own, or one that allows more requests",
            NodeError::Behind | NodeError::Lied(_) => "try again, or use another node",
        };
        (error.to_string(), mend)
    };
    let network = node.network().map_err(said)?;
    let (main, tests) = chain.row().networks;
    if network != main && !tests.contains(&network.as_str()) {
        let problem = format!("is the wrong one: {}", unknown_network_message(chain, &network));
        return Err((problem, "name another url with --node"));
    }
    if !WalletNetwork::Main.includes_node_network(chain, &network) && !test_networks {
        let problem = format!("it is on the test network {network}");
        return Err((problem, "use another node, or pass --test-networks"));
    }
    let head = node.head().map_err(said)?;
    if !head.is_complete {
        let problem = format!("it has block {} and is not up to date", head.block.height);
        return Err((problem, "wait until it has caught up, and let it reach its peers"));
    }
    if let Some(problem) = node.final_problem() {
        return Err(said(problem.to_error()));
    }
    let reached = ChainPosition { block: head.block.clone(), time: head.time };
    let age_ms = age_without_skew_ms(now.since_ms(head.time));
    if let Some(problem) = stale_head_warning(chain, &network, &reached, age_ms) {
        return Err((problem, REMEDY));
    }
    let height = head.block.height;
    if let Some(Block { height, hash }) = last.filter(|last| last.height <= height)
        && let Some(other) = node.block_hash_at(*height).map_err(said)?
        && other != *hash
    {
        let problem =
            format!("it has block {height} as {other}, and {hash} was final when it was read");
        return Err((
            problem,
            "use another node; where several answer at one url, name one of them",
        ));
    }
    if chain == Chain::Dogecoin {
        require_transaction_index(node, chain, height)?;
    }
    let untold = if node.has_traces() == Some(false) {
        "; it has no trace_block, so payments from contracts are not seen; claim them by transaction"
    } else {
        ""
    };
    let remarks = node.operator_remarks().into_iter().map(|one| format!("; {one}"));
    let remarks: String = remarks.collect();
    Ok(format!("{network}, block {height} of {}{untold}{remarks}", head.time))
}

/// Returns an error if the node has no transaction index. Reads a block deep in the chain, and requests its
/// transactions one by one. Most of their outputs are spent.
fn require_transaction_index(
    node: &mut dyn Node,
    chain: Chain,
    height: u32,
) -> Result<(), (String, &'static str)> {
    let (nobody, known) = (RwLock::default(), ChainState::initial(chain));
    let nobody = StepTargets::new(&nobody, &known);
    let old = height.saturating_sub(INDEXED_DEPTH);
    let read = node.blocks(old, old, &nobody).map(drop);
    let mend =
        "start it with txindex=1 and without pruning: its blocks show the ids of transactions only";
    read.map_err(|error| (error.to_string(), mend))
}

//! Random histories of chains: payments, replacements, reorgs, nodes that lag, and a process that is killed at any
//! commit. At the end the file has exactly the outputs on the chain, and a rescan changes nothing. An older copy of
//! the file reaches the same state, except for addresses that were assigned after the copy was taken.
//!
//! Invariant: a history depends on its seed alone, which a failure prints. The environment may set the number of
//! histories and the first seed.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test fails by panicking"
)]

#[path = "../../../tests/it/support/dice.rs"]
mod dice;
mod history;
mod many;
pub(super) mod shop;
mod transfers;
mod unowned_payments;

use super::ChainWatch;
use crate::chain::follow::WatchedAddresses;
use crate::domain::asset::Chain;
use crate::service::Service;
use history::ChainHistory;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, RwLock};

/// Extended public key of a test wallet.
const ZPUB: &str = "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs";
const XPUB: &str = "xpub6DCoCpSuQZB2jawqnGMEPS63ePKWkwWPH4TU45Q7LPXWuNd8TMtVxRrgjtEshuqpK3mdhaWHPFsBngh5GFZaM6si3yZdUsT8ddYM3PwnATt";

/// Number of steps in one history.
const STEPS: usize = 60;
/// Number of histories for each of Bitcoin and Ethereum, unless the environment sets another number.
const HISTORIES: u64 = 100;
/// One of this many histories continues from an older copy of the file. A restore derives thousands of addresses and
/// is slow.
const RESTORED_ONCE_IN: u64 = 4;

/// Totals of several histories.
#[derive(Debug, Default)]
struct HistoryCounts {
    transactions: usize,
    replacements: usize,
    forks: usize,
    kills: usize,
    nodes_stuck: usize,
    addresses: usize,
    /// Number of our outputs on the chain at the end.
    outputs: usize,
    restored: usize,
    /// Number of outputs to addresses that the restored copy does not know.
    unknown: usize,
}

impl HistoryCounts {
    fn add(&mut self, more: &HistoryCounts) {
        self.transactions += more.transactions;
        self.replacements += more.replacements;
        self.forks += more.forks;
        self.kills += more.kills;
        self.nodes_stuck += more.nodes_stuck;
        self.addresses += more.addresses;
        self.outputs += more.outputs;
        self.restored += more.restored;
        self.unknown += more.unknown;
    }
}

/// Returns a follower that watches these addresses of a chain.
pub(super) fn start_watch(service: &Arc<Service>, chain: Chain, ours: &[String]) -> ChainWatch {
    let mut addresses = WatchedAddresses::default();
    for address in ours {
        addresses.insert(chain, address);
    }
    let addresses = Arc::new(RwLock::new(addresses));
    ChainWatch {
        blocks_max: 7,
        outputs_max: 2,
        part_ms_max: 1000,
        ..ChainWatch::new(Arc::downgrade(service), chain, addresses)
    }
}

/// Returns the number of histories for each coin, and the first seed. Both come from the environment.
#[expect(clippy::disallowed_methods, reason = "the length of a test is no setting")]
fn history_count_and_seed() -> (u64, u64) {
    let number = |name| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let many = number("COFFER_HISTORIES").map_or(HISTORIES, |many| many / 2);
    (many, number("COFFER_SEED").unwrap_or(1))
}

/// Returns the number of histories of a coin, where `many` is the number for Bitcoin. Tron and Solana need fewer.
fn history_count(asset: &str, many: u64) -> u64 {
    match asset {
        "TRX" | "SOL" => many.div_ceil(4),
        _ => many,
    }
}

/// Runs the random histories of a coin.
fn run_histories(asset: &str) {
    let (many, first) = history_count_and_seed();
    let many = history_count(asset, many);
    let mut counts = HistoryCounts::default();
    for seed in first..first + many {
        match catch_unwind(AssertUnwindSafe(|| run_history(asset, seed))) {
            Ok(played) => counts.add(&played),
            Err(failed) => {
                print_line(&format!(
                    "{asset}: COFFER_HISTORIES=2 COFFER_SEED={seed} plays it again"
                ));
                resume_unwind(failed);
            }
        }
    }
    print_line(&format!("{asset}: {many} from seed {first} on: {counts:?}"));
}

#[expect(clippy::print_stderr, reason = "whoever runs the tests can play it again")]
fn print_line(text: &str) {
    eprintln!("{text}");
}

fn run_history(asset: &str, seed: u64) -> HistoryCounts {
    let mut history = ChainHistory::new(asset, seed);
    for _ in 0..STEPS {
        history.perform_random_action();
        history.follow_once(true);
    }
    history.finalize_all();
    let seen = history.assert_matches_chain();
    // A complete rescan, during which the process is killed, results in the same outputs and balances.
    let books = history.shop.merchant_balances();
    history.rescan_chain();
    assert_eq!(history.assert_matches_chain(), seen, "seed {seed}");
    assert_eq!(history.shop.merchant_balances(), books, "seed {seed}");
    if !seed.is_multiple_of(RESTORED_ONCE_IN) || !history.has_file_copy() {
        return history.counts;
    }
    let mut restored = history.restore_copy();
    if seed.is_multiple_of(2 * RESTORED_ONCE_IN) {
        restored.finalize_all();
        restored.rescan_chain();
    } else {
        restored.rescan_chain();
        restored.finalize_all();
    }
    // The restored file has the same outputs, although it lacks some of the addresses.
    assert_eq!(restored.assert_matches_chain(), seen, "seed {seed}");
    let books = restored.shop.merchant_balances();
    restored.rescan_chain();
    assert_eq!(restored.assert_matches_chain(), seen, "seed {seed}");
    assert_eq!(restored.shop.merchant_balances(), books, "seed {seed}");
    restored.counts
}

#[test]
fn file_matches_bitcoin_after_random_histories() {
    run_histories("BTC");
}

#[test]
fn file_matches_ethereum_after_random_histories() {
    run_histories("ETH");
}

#[test]
fn file_matches_tron_after_random_histories() {
    run_histories("TRX");
}

#[test]
fn file_matches_solana_after_random_histories() {
    run_histories("SOL");
}

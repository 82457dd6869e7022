//! Chains that are followed, as they are answered.
//!
//! Of a node its scheme, host, port and place are shown, and nothing else.

use crate::domain::chain::Chain;
use crate::domain::fields::{Schema, Shown, view};
use crate::domain::time::Time;

view! {
    pub ChainView, object "chain" {
        /// Which.
        chain: Chain [Schema::CHAIN] = "litecoin";
        /// Its node's urls, of each the scheme, the host and the port, and of several also the place.
        node: String = "http://127.0.0.1:9332";
        /// The network that it is followed on, by the name that its nodes use; null before its first step.
        network: Option<String> [Schema::OrNull(&Schema::STRING)] = "main";
        /// The newest block of the node at the last step.
        head_height: Option<u32> [Schema::OrNull(&Schema::COUNT)] = 2900001;
        /// The last block that was read.
        height: Option<u32> [Schema::OrNull(&Schema::COUNT)] = 2900001;
        /// The last block that was read for good: on account chains the last that was final.
        complete_height: Option<u32> [Schema::OrNull(&Schema::COUNT)] = 2900001;
        /// How many blocks are still to be read.
        lag_blocks: Option<u32> [Schema::OrNull(&Schema::COUNT)] = 0;
        /// Up to when the chain has been looked at, in UTC.
        scanned_to: Option<Time> [Schema::OrNull(&Schema::MOMENT)] = "2026-11-21T09:30:00.000Z";
        /// How long ago that is, in whole seconds.
        lag_seconds: Option<i64> [Schema::OrNull(&Schema::COUNT)] = 4;
        /// Whether its coins can be on offer: it has been looked at in the last 15 minutes, and is not stopped.
        keeps_up: bool = true;
        /// What is wrong; null while all is well.
        problem: Option<String> [Schema::OrNull(&Schema::STRING)] = null;
        /// How many addresses are watched.
        watched_addresses: usize = 120;
        /// How many requests were made to its nodes since the server started; each of a batch counts.
        requests: u64 = 61234;
        /// How many requests a day its nodes are asked: those that were made in the last 24 hours, or since the start
        /// where that is less, as many as that makes in a day; null in the first ten minutes.
        requests_per_day: Option<u64> [Schema::OrNull(&Schema::COUNT)] = 24480;
        /// The next block of the rescan that is under way.
        rescan_at: Option<u32> [Schema::OrNull(&Schema::COUNT)] = null;
        /// Addresses that have more than is known to have come to them, where the node does not tell what contracts
        /// send: find the transaction, and claim it.
        unexplained: Vec<UnexplainedView> [Schema::ListUpTo(UNEXPLAINED_MAX, &UnexplainedView::SCHEMA)] = [];
    }
}

view! {
    pub UnexplainedView {
        /// The address.
        address: String;
        /// The coin.
        asset: &'static str [Schema::ASSET];
        /// What it has, in whole coins.
        balance_crypto: String;
        /// What is known to have come to it.
        known_crypto: String;
        /// Behind the block of this height.
        height: u32;
    }
}

/// The most addresses that are shown of those that have more than is known.
pub const UNEXPLAINED_MAX: u32 = 100;

//! JSON of the followed chains.
//!
//! Invariant: responses show only scheme, host and port of a node's URL, and the number of the URL if there are
//! several URLs.

use crate::domain::chain::Chain;
use crate::domain::fields::{Schema, ViewField, view};
use crate::domain::{SetAsideKind, Time};

view! {
    pub ChainView, object "chain" {
        /// The chain.
        chain: Chain [Schema::CHAIN] = "litecoin";
        /// URLs of the node with scheme, host and port; with several nodes, also the number.
        node: String = "http://127.0.0.1:9332";
        /// URL in use, with scheme, host, port and number; null with one URL, and before the first request.
        node_in_use: Option<String> [Schema::OrNull(&Schema::STRING)] = null;
        /// Network by the nodes' name; null before the first step.
        network: Option<String> [Schema::OrNull(&Schema::STRING)] = "main";
        /// Height of the node's newest block at the last step.
        head_height: Option<u32> [Schema::OrNull(&Schema::COUNT)] = 2900001;
        /// Time in the header of that block, in UTC.
        head_at: Option<Time> [Schema::OrNull(&Schema::MOMENT)] = "2026-11-21T09:29:12.000Z";
        /// Time since headAt, in whole seconds; 0 if headAt is later than the server's clock.
        head_age_seconds: Option<i64> [Schema::OrNull(&Schema::COUNT)] = 52;
        /// Height of the last block that was read.
        height: Option<u32> [Schema::OrNull(&Schema::COUNT)] = 2900001;
        /// Height of the last block that was read completely; on account chains the last final block.
        complete_height: Option<u32> [Schema::OrNull(&Schema::COUNT)] = 2900001;
        /// Number of blocks that are still to be read.
        lag_blocks: Option<u32> [Schema::OrNull(&Schema::COUNT)] = 0;
        /// Time up to which the chain has been read, in UTC.
        scanned_to: Option<Time> [Schema::OrNull(&Schema::MOMENT)] = "2026-11-21T09:30:00.000Z";
        /// Time since scannedTo, in whole seconds.
        lag_seconds: Option<i64> [Schema::OrNull(&Schema::COUNT)] = 4;
        /// Whether its coins can be on offer: it is not stopped, was read in the last 15 minutes, and its node has not
        /// failed for more than 3 usual block times (at least 5 seconds).
        keeps_up: bool = true;
        /// The problem; null if there is none.
        problem: Option<String> [Schema::OrNull(&Schema::STRING)] = null;
        /// Number of watched addresses.
        watched_addresses: usize = 120;
        /// Number of requests to the nodes since the server started. Each request of a batch counts.
        requests: u64 = 61234;
        /// Requests to the nodes per day, extrapolated from the last 24 hours or from the time since the start; null
        /// in the first ten minutes.
        requests_per_day: Option<u64> [Schema::OrNull(&Schema::COUNT)] = 24480;
        /// Height of the next block of a running rescan.
        rescan_at: Option<u32> [Schema::OrNull(&Schema::COUNT)] = null;
        /// Addresses whose balance exceeds the known payments, on chains whose node does not report payments of
        /// contracts. Find the transaction and claim it.
        unexplained: Vec<UnexplainedView> [Schema::ListUpTo(UNEXPLAINED_MAX, &UnexplainedView::SCHEMA)] = [];
        /// Transactions and addresses that the node does not give, although it gives everything else. They are asked
        /// for again.
        set_aside: Vec<SetAsideView> [Schema::ListUpTo(SET_ASIDE_MAX, &SetAsideView::SCHEMA)] = [];
    }
}

view! {
    pub SetAsideView {
        /// What is set aside.
        kind: SetAsideKind;
        /// The address or the transaction id.
        id: String;
        /// Why it cannot be read: the end of a sentence that begins with "its node".
        reason: String;
    }
}

view! {
    pub UnexplainedView {
        /// The address.
        address: String;
        /// The coin.
        asset: &'static str [Schema::ASSET];
        /// Balance in whole coins.
        balance_crypto: String;
        /// Sum of the known payments, in whole coins.
        known_crypto: String;
        /// Height of the block after which the balance was read.
        height: u32;
    }
}

/// Largest number of parts that are set aside in a response.
pub const SET_ASIDE_MAX: u32 = 100;

/// Largest number of addresses with an unexplained balance in a response. Such a balance is more than the sum of the
/// address's known payments.
pub const UNEXPLAINED_MAX: u32 = 100;

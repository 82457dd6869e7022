//! The JSON of the chains that are followed, for the operator interface.
//!
//! Invariant: of a node its scheme, host, port and place are shown, and nothing else.

use crate::domain::chain::Chain;
use crate::domain::time::Time;
use serde::Serialize;

/// A chain that has a node.
#[derive(Debug, Serialize)]
#[serde(tag = "object", rename = "chain", rename_all = "camelCase")]
pub struct ChainView {
    /// Which.
    pub chain: Chain,
    /// Its node's urls, of each the scheme, the host, the port, and of several the place, like `(1 of 2)`.
    pub node: String,
    /// The network that it is followed on; none before its first step.
    pub network: Option<String>,
    /// The newest block of the node at the last step.
    pub head_height: Option<u32>,
    /// The last block that was read.
    pub height: Option<u32>,
    /// The last block that was read for good.
    pub complete_height: Option<u32>,
    /// How many blocks are still to be read.
    pub lag_blocks: Option<u32>,
    /// Up to when the chain has been looked at.
    pub scanned_to: Option<Time>,
    /// How long ago that is, in whole seconds.
    pub lag_seconds: Option<i64>,
    /// Are its coins on offer, as far as the chain goes?
    pub keeps_up: bool,
    /// What is wrong.
    pub problem: Option<String>,
    /// How many addresses are watched.
    pub watched_addresses: usize,
    /// How many requests were made to its nodes since the start.
    pub requests: u64,
    /// How many a day that makes; none in the first ten minutes.
    pub requests_per_day: Option<u64>,
    /// The next block of the rescan that is under way.
    pub rescan_at: Option<u32>,
    /// Addresses that have more than is known to have come to them; the first hundred.
    pub unexplained: Vec<UnexplainedView>,
}

/// An address that has more than is known to have come to it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UnexplainedView {
    /// The address.
    pub address: String,
    /// The coin.
    pub asset: &'static str,
    /// What it has, in whole coins.
    pub balance_crypto: String,
    /// What is known to have come to it.
    pub known_crypto: String,
    /// Behind the block of this height.
    pub height: u32,
}

//! Watched addresses and outputs for the tests of clients.

use coffer::chain::rpc::{Endpoint, Limits, Rpc};
use coffer::chain::utxo::Utxo;
use coffer::chain::{BlockRead, NodeError, ReceivedOutput, WatchTargets};
use coffer::domain::chain::Chain;
use coffer::domain::{PolledAddress, Time, address};
use std::collections::HashSet;

/// Addresses and outputs that a client watches.
#[derive(Default)]
pub struct WatchList {
    scripts: HashSet<Vec<u8>>,
    outputs: HashSet<(String, u32)>,
    named: Vec<PolledAddress>,
}

impl WatchList {
    /// Returns a list that watches these addresses of a chain.
    #[track_caller]
    pub fn for_addresses(chain: Chain, addresses: &[&str]) -> WatchList {
        let script = |address: &&str| address::output_script(chain, address).unwrap();
        WatchList {
            scripts: addresses.iter().map(script).collect(),
            outputs: HashSet::new(),
            named: Vec::new(),
        }
    }

    /// Adds addresses that the client polls individually.
    pub fn with_polled_addresses(mut self, addresses: &[&str]) -> WatchList {
        let named = addresses.iter().map(|address| PolledAddress {
            address: (*address).to_owned(),
            since: Time(0),
            is_daily: false,
        });
        self.named = named.collect();
        self
    }

    /// Adds an output, whose spending is watched.
    pub fn with_output(mut self, txid: &str, position: u32) -> WatchList {
        self.outputs.insert((txid.to_owned(), position));
        self
    }
}

impl WatchTargets for WatchList {
    fn has_script(&self, script: &[u8]) -> bool {
        self.scripts.contains(script)
    }

    fn has_account(&self, _: &[u8; 20]) -> bool {
        false
    }

    fn has_output(&self, txid: &str, position: u32) -> bool {
        self.outputs.contains(&(txid.to_owned(), position))
    }

    fn queried_accounts(&self, _: usize) -> Option<Vec<[u8; 20]>> {
        None
    }

    fn polled_addresses(&self) -> &[PolledAddress] {
        &self.named
    }
}

/// Accounts that a client watches.
pub struct WatchedAccounts(pub Vec<[u8; 20]>);

impl WatchTargets for WatchedAccounts {
    fn has_script(&self, _: &[u8]) -> bool {
        false
    }

    fn has_account(&self, account: &[u8; 20]) -> bool {
        self.0.contains(account)
    }

    fn has_output(&self, _: &str, _: u32) -> bool {
        false
    }

    fn queried_accounts(&self, max: usize) -> Option<Vec<[u8; 20]>> {
        (self.0.len() <= max).then(|| self.0.clone())
    }
}

/// Returns all payments of these blocks, in order.
pub fn collect_payments(blocks: Vec<BlockRead>) -> Vec<ReceivedOutput> {
    let received = blocks.into_iter().flat_map(|block| block.received);
    received.collect()
}

/// Limits for a node that responds at once.
pub const LIMITS: Limits = Limits {
    timeout_ms: 30_000,
    connect_timeout_ms: 10_000,
    answer_bytes_max: 64 * 1024 * 1024,
    batch_calls_max: 100,
    failures_max: 3,
    refuses_metadata: false,
};

/// Returns a client of the node at these URLs.
#[track_caller]
pub fn utxo_client(chain: Chain, urls: &str, limits: Limits) -> Utxo {
    let rpc = Rpc::new(Endpoint::parse_list(urls).unwrap(), Vec::new(), limits);
    Utxo::new(chain, rpc).unwrap()
}

/// Returns transaction, position, address and amount in base units of each payment.
pub fn payment_tuples(received: &[ReceivedOutput]) -> Vec<(String, u32, String, u128)> {
    let told = received.iter();
    let told = told.map(|one| {
        let (txid, address) = (one.txid.clone(), one.address.clone());
        (txid, one.position, address, one.amount.0)
    });
    told.collect()
}

/// Returns transaction, position, address and amount in base units of each payment in `blocks`.
pub fn block_payment_tuples(blocks: &[BlockRead]) -> Vec<(String, u32, String, u128)> {
    blocks.iter().flat_map(|block| payment_tuples(&block.received)).collect()
}

/// Returns the name of the error variant.
pub fn error_kind(error: &NodeError) -> &'static str {
    match error {
        NodeError::Unreachable(_) => "unreachable",
        NodeError::Limited(_) => "limited",
        NodeError::Behind => "behind",
        NodeError::Lied(_) => "lied",
        NodeError::Wrong(_) => "wrong",
    }
}

//! A client of a Solana node that follows the chain step by step, without a database file.

use crate::support::received::ReceivedAmounts;
use crate::support::surfpool::{Surfpool, USDC, USDT};
use coffer::chain::follow::{FollowOutcome as CameOf, StepOptions, compute_step};
use coffer::chain::rpc::{Endpoint, Limits, Rpc};
use coffer::chain::solana::Solana;
use coffer::chain::tokens::Tokens;
use coffer::chain::{Node, NodeError, WatchTargets};
use coffer::domain::asset::Chain;
use coffer::domain::{
    Block, ChainPosition, ChainState, ChainStep, ChainStepOutcome, ForwardStep, Observation,
    OpenObservation, PaymentState, PolledAddress, Time,
};
use std::collections::BTreeSet;
use std::time::{SystemTime, UNIX_EPOCH};

pub const UNTESTED: &str = "payments on Solana";

pub fn current_time() -> Time {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    Time(i64::try_from(since.as_millis()).unwrap())
}

/// Addresses that a client watches.
pub struct WatchedAddresses(pub Vec<PolledAddress>);

impl WatchedAddresses {
    pub fn from_addresses(addresses: &[String]) -> WatchedAddresses {
        WatchedAddresses(addresses.iter().map(|address| polled_address(address, false)).collect())
    }
}

pub fn polled_address(address: &str, is_daily: bool) -> PolledAddress {
    PolledAddress { address: address.to_owned(), since: Time(0), is_daily }
}

impl WatchTargets for WatchedAddresses {
    fn has_script(&self, _: &[u8]) -> bool {
        false
    }

    fn has_account(&self, _: &[u8; 20]) -> bool {
        false
    }

    fn has_output(&self, _: &str, _: u32) -> bool {
        false
    }

    fn queried_accounts(&self, _: usize) -> Option<Vec<[u8; 20]>> {
        None
    }

    fn polled_addresses(&self) -> &[PolledAddress] {
        &self.0
    }
}

/// Returns a client of the node at this URL, which knows the mints of the node.
#[track_caller]
pub fn solana_client(node: &Surfpool, url: &str) -> Solana {
    solana_client_with_tokens(url, node_tokens(node))
}

/// Like [`solana_client`], with this time limit of each request.
#[track_caller]
pub fn client_with_timeout(node: &Surfpool, url: &str, timeout_ms: u64) -> Solana {
    create_client(url, node_tokens(node), timeout_ms)
}

fn node_tokens(node: &Surfpool) -> Tokens {
    Tokens::from([USDC, USDT].map(|asset| (asset, node.mint_address(asset).to_owned())))
}

#[track_caller]
pub fn solana_client_with_tokens(url: &str, tokens: Tokens) -> Solana {
    create_client(url, tokens, 5_000)
}

#[track_caller]
fn create_client(url: &str, tokens: Tokens, timeout_ms: u64) -> Solana {
    let limits = Limits { timeout_ms, answer_bytes_max: 1 << 20, ..Limits::default() };
    let rpc = Rpc::new(Endpoint::parse_list(url).unwrap(), Vec::new(), limits);
    Solana::new(rpc, tokens).unwrap()
}

/// A client that follows a chain as a server does, and keeps its state in memory.
pub struct Follower {
    pub node: Solana,
    pub known: ChainState,
    pub ours: WatchedAddresses,
    pub found: Vec<Observation>,
}

impl Follower {
    /// Starts to watch these addresses at the newest block of the node.
    #[track_caller]
    pub fn start_at_head(node: Solana, addresses: &[String]) -> Follower {
        let mut follower = Follower {
            node,
            known: ChainState::initial(Chain::Solana),
            ours: WatchedAddresses::from_addresses(addresses),
            found: Vec::new(),
        };
        follower.step().unwrap();
        follower
    }

    pub fn step(&mut self) -> Result<Option<ChainStep>, NodeError> {
        let manner = StepOptions {
            now: current_time(),
            blocks_max: Chain::Solana.row().step_blocks_max,
            test_networks: true,
            rescans: false,
        };
        let came = compute_step(&mut self.node, &self.known, &self.ours, manner, &mut |_| {})?;
        let CameOf::Step(taken) = came else {
            return Ok(None);
        };
        self.apply_step(&taken);
        self.node.mark_answers_stored();
        Ok(Some(*taken))
    }

    fn apply_step(&mut self, taken: &ChainStep) {
        let known = &mut self.known;
        match &taken.outcome {
            ChainStepOutcome::Started { to, complete, .. } => {
                known.cursor = Some(to.clone());
                known.complete = Some(complete.clone());
            }
            ChainStepOutcome::Forward(forward) => {
                known.cursor = Some(forward.to.clone());
                known.complete = forward.complete.clone().or(known.complete.take());
                known.set_aside.clone_from(&forward.set_aside);
                self.found.extend(forward.found.iter().cloned());
                let open = forward.found.iter().map(to_open_observation);
                known.open.extend(open);
                let complete = known.complete.as_ref().map_or(0, |block| block.height);
                let is_open = |one: &OpenObservation| {
                    one.block.as_ref().is_some_and(|at| at.height > complete)
                };
                known.open.retain(is_open);
            }
            ChainStepOutcome::RolledBackTo(fork) => {
                let time = known.cursor.as_ref().unwrap().time;
                known.cursor = Some(ChainPosition { block: fork.clone(), time });
                known.kept.retain(|block| block.height <= fork.height);
            }
            other => unreachable!("{other:?}"),
        }
        known.network = Some(taken.network.clone());
        known.kept.extend(taken.keep.iter().cloned());
        known.kept.sort_by_key(|block| std::cmp::Reverse(block.height));
        known.kept.dedup();
    }

    /// Runs steps until the head is reached, as one poll of a server does, and returns the new observations.
    #[track_caller]
    pub fn poll(&mut self) -> Vec<Observation> {
        let before = self.found.len();
        loop {
            let taken = self.step().unwrap().unwrap();
            let ChainStepOutcome::Forward(forward) = taken.outcome else {
                unreachable!("{:?}", taken.outcome);
            };
            if has_reached_head(&forward, &taken.head.block) {
                return self.found[before..].to_vec();
            }
        }
    }

    /// Returns each observed payment once.
    pub fn observed_payments(&self) -> ReceivedAmounts {
        let of = |one: &Observation| {
            let place = (one.txid.clone(), one.position);
            (place, (one.asset.id.to_owned(), one.amount.0))
        };
        self.found.iter().map(of).collect()
    }

    pub fn complete_height(&self) -> u32 {
        self.known.complete.as_ref().unwrap().height
    }
}

fn has_reached_head(forward: &ForwardStep, head: &Block) -> bool {
    forward.to.block == *head && forward.complete.is_none()
}

fn to_open_observation(of: &Observation) -> OpenObservation {
    OpenObservation {
        txid: of.txid.clone(),
        position: of.position,
        address: of.address.clone(),
        state: PaymentState::Seen,
        block: of.block.clone(),
        has_vanished: false,
        spends: of.spends.clone(),
    }
}

/// Asserts that the observations of these addresses agree with the node.
#[track_caller]
pub fn assert_agrees_with_node(node: &Surfpool, follower: &Follower, ours: &[String]) {
    let ours: BTreeSet<String> = ours.iter().cloned().collect();
    assert_eq!(follower.observed_payments(), node.received_amounts(&ours));
}

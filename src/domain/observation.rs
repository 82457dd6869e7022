//! Observations: money that was seen at one place of a chain, before it is matched to its owner.
//!
//! Invariant: a place has one observation, however often it is read.

use super::asset::{Asset, Mode};
use super::chain::Chain;
use super::money::coin::Units;
use super::payment::PaymentState;
use super::time::Time;
use serde::{Deserialize, Serialize};

/// Largest number of outputs of one transaction that are written in one step.
pub const OUTPUTS_MAX: usize = 200;

/// First position of transfers by contracts on EVM chains, by their ordinal in the transaction. Positions of logs are lower.
pub const CONTRACTS_FROM: u32 = 1_000_000;
/// First position of claimed transfers by contracts. No transaction has so many transfers.
pub const CLAIMS_FROM: u32 = 1_500_000;
/// First position of observations that another one at the same place replaced.
pub const REPLACED_FROM: u32 = 1 << 31;

/// Key of an observation. It does not change when the transaction moves to another block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservationKey {
    /// Live or test.
    pub mode: Mode,
    /// The chain.
    pub chain: Chain,
    /// Id of the transaction.
    pub txid: String,
    /// Index inside the transaction.
    pub position: u32,
}

/// A block of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Number of blocks before it.
    pub height: u32,
    /// Hash in the notation of its chain.
    pub hash: String,
}

/// Origin of the money of a transaction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum InputSource {
    /// An output of an earlier transaction: its id, and its position there.
    Output(String, u32),
    /// An address, on chains that have accounts.
    Address(String),
    /// A coinbase input: the money is newly mined.
    Coinbase,
}

/// Money that was seen at one place of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// Live or test.
    pub mode: Mode,
    /// The coin, and with it the chain.
    pub asset: &'static Asset,
    /// Id of the transaction.
    pub txid: String,
    /// Index inside the transaction.
    pub position: u32,
    /// Recipient address.
    pub address: String,
    /// Amount.
    pub amount: Units,
    /// Time of the first sighting in the mempool, or the time of the block if that is earlier.
    pub seen_at: Time,
    /// Block of the transaction; `None` while it is in the mempool.
    pub block: Option<Block>,
    /// Origin of the money, as far as it was read.
    pub spends: Vec<InputSource>,
}

impl Observation {
    /// Returns the key of the observation.
    pub fn key(&self) -> ObservationKey {
        ObservationKey {
            mode: self.mode,
            chain: self.asset.chain,
            txid: self.txid.clone(),
            position: self.position,
        }
    }
}

/// An observation that is stored.
#[derive(Clone, Debug)]
pub struct StoredObservation {
    /// Order of insertion.
    pub seq: i64,
    /// The observation.
    pub seen: Observation,
    /// State on the chain.
    pub state: PaymentState,
    /// Time of confirmation; `None` if it is not confirmed.
    pub confirmed_at: Option<Time>,
}

/// A transfer between addresses of the operator. It books nothing.
#[derive(Clone, Debug)]
pub struct OwnTransfer {
    /// Order of insertion.
    pub seq: i64,
    /// Public id.
    pub id: String,
    /// The observation, by its `seq`.
    pub observation: i64,
    /// Id of the transaction.
    pub txid: String,
    /// State on the chain.
    pub state: PaymentState,
}

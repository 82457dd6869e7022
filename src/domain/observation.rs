//! Observations: payments seen at one position of a transaction, before they are matched to an owner.
//!
//! Invariant: a position has one observation, however often its block is read.

use super::asset::{Asset, Mode};
use super::chain::Chain;
use super::money::coin::Units;
use super::payment::PaymentState;
use super::time::Time;
use serde::{Deserialize, Serialize};

/// Maximum number of outputs of one transaction that a follower stores in one step.
pub const OUTPUTS_MAX: usize = 200;

/// Lowest position of observations that are transfers by contracts. Logs have lower positions.
pub const CONTRACTS_FROM: u32 = 1_000_000;
/// Lowest position of claimed transfers by contracts. No transaction has so many other transfers that they reach this
/// position.
pub const CLAIMS_FROM: u32 = 1_500_000;
/// Lowest position of replaced observations, whose original position now belongs to another observation.
pub const REPLACED_FROM: u32 = 1 << 31;

/// Key of an observation. It does not change when the transaction moves to another block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservationKey {
    /// Mode: live or test.
    pub mode: Mode,
    /// Chain of the transaction.
    pub chain: Chain,
    /// Id of the transaction on the chain.
    pub txid: String,
    /// Position in the transaction: output index or log index.
    pub position: u32,
}

/// Text that stands for the hash of a block at a height that never gets a block.
pub const NO_BLOCK: &str = "skipped";

/// A block of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Height of the block: the number of blocks before it.
    pub height: u32,
    /// Block hash, in the notation of the chain.
    pub hash: String,
}

/// Source of the money of a transaction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum InputSource {
    /// An output of an earlier transaction: the transaction id and the output index.
    Output(String, u32),
    /// The sending address, on chains with accounts.
    Address(String),
    /// The coinbase input of newly mined money.
    Coinbase,
}

/// Money that was seen at one position of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// Mode: live or test.
    pub mode: Mode,
    /// Coin of the money. It also determines the chain.
    pub asset: &'static Asset,
    /// Id of the transaction on the chain.
    pub txid: String,
    /// Position in the transaction: output index or log index.
    pub position: u32,
    /// Address that received the money.
    pub address: String,
    /// Amount that was received.
    pub amount: Units,
    /// Time of the first mempool sighting or of the block, whichever is earlier.
    pub seen_at: Time,
    /// Block of the transaction; `None` while it is in the mempool.
    pub block: Option<Block>,
    /// Sources of the money, as far as they were read.
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

/// An observation in the database.
#[derive(Clone, Debug)]
pub struct StoredObservation {
    /// Row number, in order of insertion.
    pub seq: i64,
    /// The observation.
    pub seen: Observation,
    /// State of the observation on the chain.
    pub state: PaymentState,
    /// Time of confirmation; `None` if the observation is not confirmed.
    pub confirmed_at: Option<Time>,
}

/// A transfer between two addresses of the operator. No ledger entry is booked for it.
#[derive(Clone, Debug)]
pub struct OwnTransfer {
    /// Row number, in order of insertion.
    pub seq: i64,
    /// Public id.
    pub id: String,
    /// `seq` of the observation.
    pub observation: i64,
    /// Id of the transaction on the chain.
    pub txid: String,
    /// State of the observation on the chain.
    pub state: PaymentState,
}

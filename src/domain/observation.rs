//! An observation: money that was seen at one place of a chain.
//!
//! What lives here: where it was seen, how much it was, and its state on its chain. What does not: what it is for
//! (`payment`, `deposit`, `unmatched`). What always holds: a place has one observation, however often it is looked
//! at.

use super::asset::{Asset, Mode};
use super::chain::Chain;
use super::money::coin::Units;
use super::payment::PaymentState;
use super::time::Time;
use serde::{Deserialize, Serialize};

/// The most of what was seen in one transaction that is written in one step.
pub const OUTPUTS_MAX: usize = 200;

/// Positions on EVM chains from here on are of what contracts sent, by its ordinal in the transaction; those of logs end
/// before.
pub const CONTRACTS_FROM: u32 = 1_000_000;
/// From here on of what was claimed to have been sent so: no transaction sends so often.
pub const CLAIMS_FROM: u32 = 1_500_000;

/// Where money was seen: for ever the same, whatever block its transaction is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Live or test.
    pub mode: Mode,
    /// Which chain.
    pub chain: Chain,
    /// The transaction.
    pub txid: String,
    /// Counted inside the transaction.
    pub position: u32,
}

/// A block of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Blocks before it.
    pub height: u32,
    /// Its hash, as its chain writes it.
    pub hash: String,
}

/// Where the money of a transaction comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Spent {
    /// An output of an earlier transaction: its id, and its position there.
    Output(String, u32),
    /// An address, on chains that have accounts.
    Address(String),
    /// Nowhere: it was newly made, for whoever found a block.
    Coinbase,
}

/// What was seen at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// Live or test.
    pub mode: Mode,
    /// The coin, and with it the chain.
    pub asset: &'static Asset,
    /// The transaction.
    pub txid: String,
    /// Counted inside the transaction.
    pub position: u32,
    /// Where to.
    pub address: String,
    /// What was sent.
    pub amount: Units,
    /// The earlier of mempool sighting and block time.
    pub seen_at: Time,
    /// The block that it is in, where it is in one.
    pub block: Option<Block>,
    /// Where the money comes from, as far as that was looked at.
    pub spends: Vec<Spent>,
}

impl Observation {
    /// Where it was seen.
    pub fn place(&self) -> Place {
        Place {
            mode: self.mode,
            chain: self.asset.chain,
            txid: self.txid.clone(),
            position: self.position,
        }
    }
}

/// An observation as it stands in the file.
#[derive(Clone, Debug)]
pub struct Observed {
    /// Order of insertion.
    pub seq: i64,
    /// What was seen.
    pub seen: Observation,
    /// Where it stands on its chain.
    pub state: PaymentState,
    /// When it was confirmed, while it is.
    pub confirmed_at: Option<Time>,
}

/// Money of our own that was seen on its way: it books nothing.
#[derive(Clone, Debug)]
pub struct OwnTransfer {
    /// Order of insertion.
    pub seq: i64,
    /// The name outside the file.
    pub id: String,
    /// What was seen on the chain, by its `seq`.
    pub observation: i64,
    /// The transaction.
    pub txid: String,
    /// Where it stands on its chain.
    pub state: PaymentState,
}

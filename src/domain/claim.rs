//! A claim: a person says that a transaction paid one of our addresses by way of a contract, which its node does not tell.
//!
//! What does not live here: asking the node (`chain`), and taking it in (`service`). What always holds: a claim ends once,
//! with what came of it.

use super::asset::Asset;
use super::money::coin::Units;
use super::text_enum::text_enum;
use super::time::Time;

/// The most equal amounts to one address that one transaction is believed to send.
pub const ORDINAL_MAX: u32 = 1000;
/// The most claims of a chain that wait for its node.
pub const OPEN_MAX: i64 = 100;

text_enum! {
    /// What came of a claim.
    pub enum ClaimOutcome {
        /// It was taken in, as anything that is seen.
        Recorded = "recorded",
        /// It had been taken in before.
        Known = "known",
        /// The node does not bear it out, or it cannot be taken in.
        Refused = "refused",
    }
}

/// A claim.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Order of insertion.
    pub seq: i64,
    /// The name outside the file.
    pub id: String,
    /// The transaction.
    pub txid: String,
    /// The coin.
    pub asset: &'static Asset,
    /// Where to.
    pub address: String,
    /// How much.
    pub amount: Units,
    /// Which of several equal ones in the transaction, from 1.
    pub ordinal: u32,
    /// Who claimed it: an operator's email.
    pub asked_by: String,
    /// When.
    pub asked_at: Time,
    /// What came of it; nothing while its node has not been asked.
    pub outcome: Option<ClaimOutcome>,
    /// When.
    pub ended_at: Option<Time>,
    /// Why it was refused.
    pub reason: Option<String>,
}

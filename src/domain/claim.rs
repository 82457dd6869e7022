//! Claims of payments that a contract sent. Some nodes do not report such payments, so an operator enters the
//! transaction.
//!
//! Invariant: a claim gets exactly one outcome, which never changes.

use super::asset::Asset;
use super::fields::input;
use super::fields::rule::integer;
use super::fields::text_rule::text;
use super::money::coin::Units;
use super::text_enum::text_enum;
use super::time::Time;

/// Largest accepted [`Claim::ordinal`].
pub const ORDINAL_MAX: u32 = 1000;
/// Largest number of open claims on one chain.
pub const OPEN_MAX: i64 = 100;

text_enum! {
    /// Outcome of a claim.
    pub enum ClaimOutcome {
        /// The claimed payment was recorded as an observation.
        Recorded = "recorded",
        /// The claimed payment had already been recorded.
        Known = "known",
        /// The node does not confirm the payment, or the payment cannot be recorded.
        Refused = "refused",
    }
}

const TEXT_CHARS_MAX: usize = 128;

input! {
    /// A payment that a contract sent.
    pub ClaimPayment, checked asset, txid, address, amount, ordinal; unknown refused {
        /// Transaction id.
        required txid: String = text(1..=TEXT_CHARS_MAX), "0x040ffd5925d40e11c67b7238a7fc9957850b8b9a46e9729fab88c24d6a98aff2";
        /// Asset id; default: the chain's own coin. Tokens are seen by their logs.
        optional asset: String = text(1..=TEXT_CHARS_MAX);
        /// Deposit address of this service.
        required address: String = text(1..=TEXT_CHARS_MAX), "0x8ba1f109551bD432803012645Ac136ddd64DBA72";
        /// Amount in whole coins.
        required amount: String = text(1..=TEXT_CHARS_MAX).with_pattern(1, "^[0-9]+(\\.[0-9]+)?$"), "0.05";
        /// Number of the payment among equal amounts to this address in the transaction; default 1.
        optional ordinal: i64 = integer(1..=ORDINAL_MAX as i64);
    }
}

/// A claim that a contract's transaction paid an address.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Row number, in order of insertion.
    pub seq: i64,
    /// Public id.
    pub id: String,
    /// Transaction id.
    pub txid: String,
    /// Coin of the payment.
    pub asset: &'static Asset,
    /// Address that received the payment.
    pub address: String,
    /// Amount of the payment.
    pub amount: Units,
    /// Number of the payment among equal payments of the transaction: 1 for the first payment of this amount to this
    /// address.
    pub ordinal: u32,
    /// Email address of the operator who made the claim.
    pub asked_by: String,
    /// Time at which the claim was made.
    pub asked_at: Time,
    /// Outcome; `None` until the node has answered.
    pub outcome: Option<ClaimOutcome>,
    /// Time of the outcome.
    pub ended_at: Option<Time>,
    /// Reason for the outcome `refused`.
    pub reason: Option<String>,
}

//! A claim: a person says that a transaction paid one of our addresses by way of a contract, which its node does not tell.
//!
//! What does not live here: asking the node (`chain`), and taking it in (`service`). What always holds: a claim ends once,
//! with what came of it.

use super::asset::Asset;
use super::fields::input;
use super::fields::rule::integer;
use super::fields::text_rule::text;
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

/// The longest text of a claim, in characters.
const TEXT_CHARS_MAX: usize = 128;

input! {
    /// A payment that a contract sent: which transaction paid which address how much.
    pub ClaimPayment, checked asset, txid, address, amount, ordinal; unknown refused {
        /// The transaction.
        required txid: String = text(1..=TEXT_CHARS_MAX), "0x040ffd5925d40e11c67b7238a7fc9957850b8b9a46e9729fab88c24d6a98aff2";
        /// The chain's own coin, which is what is meant where it is left out: tokens are seen by their logs.
        optional asset: String = text(1..=TEXT_CHARS_MAX);
        /// An address that was handed out here.
        required address: String = text(1..=TEXT_CHARS_MAX), "0x8ba1f109551bD432803012645Ac136ddd64DBA72";
        /// How much, in whole coins.
        required amount: String = text(1..=TEXT_CHARS_MAX).of_form(1, "^[0-9]+(\\.[0-9]+)?$"), "0.05";
        /// Which of several equal amounts to that address in the transaction; 1 where it is left out.
        optional ordinal: i64 = integer(1..=ORDINAL_MAX as i64);
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

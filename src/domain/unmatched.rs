//! A payment that matched nothing: money that nobody was asked to pay.
//!
//! What always holds: it makes no ledger entry and changes no status; a person looks at it.

use super::asset::{Asset, Mode};
use super::money::coin::Units;
use super::payment::PaymentState;
use super::text_enum::text_enum;
use super::time::Time;

/// The longest note, in characters.
pub const NOTE_CHARS_MAX: usize = 1000;

text_enum! {
    /// Why a payment matched nothing.
    pub enum UnmatchedReason {
        /// The address is no invoice's and no customer's.
        UnknownAddress = "unknown_address",
        /// The address is an invoice's, to which this coin was never quoted.
        UnquotedCoin = "unquoted_coin",
        /// The address is an invoice's, and it is worth less than 0.01 there.
        Dust = "dust",
        /// It is worth more than can be booked.
        TooLarge = "too_large",
        /// It cannot be priced: no rate of the coin was ever known.
        NoRate = "no_rate",
        /// It was newly made with its block, and cannot be spent for a long while.
        Coinbase = "coinbase",
        /// The address is a customer's, and nothing watched its chain yet.
        Unwatched = "unwatched",
    }
}

text_enum! {
    /// What a person made of it.
    ///
    /// ```text
    /// open ──assign──→ assigned      ──undo, until it has once been confirmed──→ open
    ///   ├────return──→ returned      ──undo──→ open
    ///   └────dismiss─→ dismissed     ──undo──→ open
    /// ```
    pub enum Resolution {
        /// It was given to an invoice or to a customer.
        Assigned = "assigned",
        /// It was paid back.
        Returned = "returned",
        /// Nothing is to be done, for a reason.
        Dismissed = "dismissed",
    }
}

/// A payment that matched nothing.
#[derive(Clone, Debug)]
pub struct Unmatched {
    /// Order of insertion.
    pub seq: i64,
    /// The name outside the file.
    pub id: String,
    /// What was seen on the chain, by its `seq`.
    pub observation: i64,
    /// Where it stands on its chain.
    pub state: PaymentState,
    /// Live or test.
    pub mode: Mode,
    /// The coin it came in.
    pub asset: &'static Asset,
    /// The transaction.
    pub txid: String,
    /// Output or log index in it.
    pub position: u32,
    /// Where to.
    pub address: String,
    /// What was sent.
    pub amount: Units,
    /// Why it matched nothing.
    pub reason: UnmatchedReason,
    /// The id of the account whose address it is, where it is somebody's.
    pub account_id: Option<String>,
    /// The id of the invoice whose address it is.
    pub invoice_id: Option<String>,
    /// The earlier of mempool sighting and block time.
    pub seen_at: Time,
    /// What a person made of it; nothing while nobody has.
    pub outcome: Option<Resolution>,
    /// When.
    pub resolved_at: Option<Time>,
    /// Why.
    pub note: Option<String>,
    /// The transaction that paid it back.
    pub return_txid: Option<String>,
}

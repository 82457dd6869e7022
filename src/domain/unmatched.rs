//! A payment that matched nothing: money that nobody was asked to pay.
//!
//! What always holds: it makes no ledger entry and changes no status; a person looks at it.

use super::asset::{Asset, Mode};
use super::customer::REF_CHARS_MAX;
use super::fields::rule::{DescribedRule, OrNull, described};
use super::fields::text_rule::{TextRule, text};
use super::fields::{Schema, input};
use super::money::coin::Units;
use super::payment::PaymentState;
use super::refusal::Refusal;
use super::text_enum::text_enum;
use super::time::Time;
use super::transfer::inputs::TXID_CHARS_MAX;
use super::transfer::request::txid;

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

input! {
    /// What came of a payment: with returnTxid it was paid back, without it nothing is to be done. At least one of the
    /// two; null means absent.
    pub ResolveUnmatchedPayment, checked note, return_txid; unknown refused, besides {
        "anyOf": [
            { "required": ["note"], "properties": { "note": { "type": "string" } } },
            { "required": ["returnTxid"], "properties": { "returnTxid": { "type": "string" } } }
        ]
    } {
        /// The reason, for whoever asks later.
        optional note: String = OrNull(text(1..=NOTE_CHARS_MAX)), "the sender asked for it";
        /// The transaction that paid it back.
        optional return_txid: String = OrNull(text(1..=TXID_CHARS_MAX).of_form(1, "^[!-~]{1,128}$")), "0x9c0ffd5925d40e11c67b7238a7fc9957850b8b9a46e9729fab88c24d6a98aff2";
    }
}

impl ResolveUnmatchedPayment {
    /// Returns what came of the payment.
    ///
    /// # Errors
    /// `invalid_request` if neither field says it, or if what paid it back is no id of a transaction.
    pub fn outcome(&self) -> Result<Resolution, Refusal> {
        match (&self.note, &self.return_txid) {
            (_, Some(text)) => {
                txid(text).map_err(|refusal| Refusal {
                    param: Some("returnTxid".to_owned()),
                    ..refusal
                })?;
                Ok(Resolution::Returned)
            }
            (Some(_), None) => Ok(Resolution::Dismissed),
            (None, None) => {
                let problem = "must be given, or returnTxid where it was paid back";
                Err(Refusal::field("note", problem))
            }
        }
    }
}

input! {
    /// Whom a payment that matched nothing is for: an invoice, or a customer of an account. Exactly one of invoice and
    /// account; null means absent.
    pub AssignUnmatchedPayment, checked invoice, account, customer; unknown refused, besides {
        "oneOf": [
            {
                "required": ["invoice"],
                "properties": {
                    "invoice": { "type": "string" }, "account": { "type": "null" }, "customer": { "type": "null" }
                }
            },
            {
                "required": ["account", "customer"],
                "properties": {
                    "invoice": { "type": "null" }, "account": { "type": "string" }, "customer": { "type": "string" }
                }
            }
        ]
    } {
        /// Id of the invoice, of the payment's mode.
        optional invoice: String = ID, "01a1fd70-f1c0-72d6-a3de-4fa0dcc29946";
        /// Id of the customer's account.
        optional account: String = ID;
        /// The merchant's own name for the customer, who is known in the payment's mode.
        optional customer: String = OrNull(text(1..=REF_CHARS_MAX).of_form(1, "^[A-Za-z0-9._:-]{1,120}$"));
    }
}

const ID: DescribedRule<TextRule> = described(text(1..=40), Schema::Nullable(&Schema::UUID));

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

//! Unmatched payments: money that could not be assigned to an invoice or a customer.
//!
//! Invariant: an unmatched payment makes no ledger entry and changes no status. A person has to resolve it.

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
use super::transfer::request::parse_txid;

/// Longest note of a resolution, in characters.
pub const NOTE_CHARS_MAX: usize = 1000;

text_enum! {
    /// Reason why a payment is unmatched.
    pub enum UnmatchedReason {
        /// The address belongs to no invoice and no customer.
        UnknownAddress = "unknown_address",
        /// The address belongs to an invoice that has no quote in this coin.
        UnquotedCoin = "unquoted_coin",
        /// The address belongs to an invoice, but the payment is worth less than 0.01.
        Dust = "dust",
        /// The value is too large for the ledger.
        TooLarge = "too_large",
        /// The payment has no value, because no rate of the coin was ever known.
        NoRate = "no_rate",
        /// The payment is a coinbase output, which cannot be spent for a long time.
        Coinbase = "coinbase",
    }
}

text_enum! {
    /// Resolution of an unmatched payment by a person.
    ///
    /// ```text
    /// open ──assign──→ assigned      ──undo, until it has once been confirmed──→ open
    ///   ├────return──→ returned      ──undo──→ open
    ///   └────dismiss─→ dismissed     ──undo──→ open
    /// ```
    pub enum UnmatchedResolution {
        /// Assigned to an invoice or to a customer.
        Assigned = "assigned",
        /// Paid back to the sender.
        Returned = "returned",
        /// Closed with a reason; no action is needed.
        Dismissed = "dismissed",
    }
}

input! {
    /// Outcome of an unmatched payment: returned with returnTxid, else no action. At least one of the two; null means
    /// absent.
    pub ResolveUnmatchedPayment, checked note, return_txid; unknown refused, besides {
        "anyOf": [
            { "required": ["note"], "properties": { "note": { "type": "string" } } },
            { "required": ["returnTxid"], "properties": { "returnTxid": { "type": "string" } } }
        ]
    } {
        /// Reason, for later readers.
        optional note: String = OrNull(text(1..=NOTE_CHARS_MAX)), "the sender asked for it";
        /// Transaction id of the return.
        optional return_txid: String = OrNull(text(1..=TXID_CHARS_MAX).with_pattern(1, "^[!-~]{1,128}$")), "0x9c0ffd5925d40e11c67b7238a7fc9957850b8b9a46e9729fab88c24d6a98aff2";
    }
}

impl ResolveUnmatchedPayment {
    /// Returns the resolution that the request describes.
    ///
    /// # Errors
    /// `invalid_request` if `note` and `returnTxid` are missing, or if `returnTxid` is not a transaction id.
    pub fn resolution(&self) -> Result<UnmatchedResolution, Refusal> {
        match (&self.note, &self.return_txid) {
            (_, Some(text)) => {
                parse_txid(text).map_err(|refusal| Refusal {
                    param: Some("returnTxid".to_owned()),
                    ..refusal
                })?;
                Ok(UnmatchedResolution::Returned)
            }
            (Some(_), None) => Ok(UnmatchedResolution::Dismissed),
            (None, None) => {
                let problem = "must be given, or returnTxid if the payment was returned";
                Err(Refusal::field("note", problem))
            }
        }
    }
}

input! {
    /// Recipient of an unmatched payment: an invoice, or a customer of an account. Exactly one of invoice and
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
        /// Id of an invoice in the payment's mode.
        optional invoice: String = ID, "01a1fd70-f1c0-72d6-a3de-4fa0dcc29946";
        /// Id of the customer's account.
        optional account: String = ID;
        /// The merchant's own reference of a customer who is known in the payment's mode.
        optional customer: String = OrNull(text(1..=REF_CHARS_MAX).with_pattern(1, "^[A-Za-z0-9._:-]{1,120}$"));
    }
}

const ID: DescribedRule<TextRule> = described(text(1..=40), Schema::Nullable(&Schema::UUID));

/// A payment that matched no invoice and no customer.
#[derive(Clone, Debug)]
pub struct UnmatchedPayment {
    /// Row number, in order of insertion.
    pub seq: i64,
    /// Public id.
    pub id: String,
    /// `seq` of the payment's observation.
    pub observation: i64,
    /// State of the payment on its chain.
    pub state: PaymentState,
    /// Mode: live or test.
    pub mode: Mode,
    /// Coin of the payment.
    pub asset: &'static Asset,
    /// Transaction id.
    pub txid: String,
    /// Position in the transaction: output index or log index.
    pub position: u32,
    /// Address that received the payment.
    pub address: String,
    /// Amount that was sent.
    pub amount: Units,
    /// Reason why the payment is unmatched.
    pub reason: UnmatchedReason,
    /// Id of the account that owns the address, if any.
    pub account_id: Option<String>,
    /// Id of the invoice that owns the address, if any.
    pub invoice_id: Option<String>,
    /// Time of the mempool sighting or of the block, whichever is earlier.
    pub seen_at: Time,
    /// Resolution; `None` while the payment is open.
    pub outcome: Option<UnmatchedResolution>,
    /// Time of the resolution.
    pub resolved_at: Option<Time>,
    /// Reason for the resolution.
    pub note: Option<String>,
    /// Id of the transaction that paid the money back.
    pub return_txid: Option<String>,
}

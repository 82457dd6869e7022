//! Payments to an invoice, with their state machine.
//!
//! Invariant: the value of a payment, and whether it is on time, are decided once: when the payment is recorded.

pub mod inputs;

use super::address::encoding::Encoding;
use super::asset::{Asset, Mode};
use super::chain::Chain;
use super::money::Cents;
use super::money::coin::Units;
use super::rate::RateQuote;
use super::refusal::{Refusal, RefusalCode};
use super::signature::hex;
use super::text_enum::text_enum;
use super::time::Time;
use sha2::{Digest, Sha256, Sha512};

text_enum! {
    /// State of a payment.
    ///
    /// ```text
    /// seen ──→ confirmed ──→ seen (orphaned: its block was reorganized away)
    ///   └──→ dropped ←──┘
    /// dropped ──→ seen | confirmed
    /// ```
    pub enum PaymentState {
        /// On the chain or in its mempool, and not final yet.
        Seen = "seen",
        /// Final by the confirmation rule of the coin.
        Confirmed = "confirmed",
        /// Disappeared: replaced, double-spent or reorganized away.
        Dropped = "dropped",
    }
}

impl PaymentState {
    /// Returns `true` if the payment is final by the confirmation rule of the coin.
    pub const fn is_confirmed(self) -> bool {
        matches!(self, PaymentState::Confirmed)
    }

    /// Checks that the state machine has a step to `next`.
    ///
    /// # Errors
    ///
    /// `invalid_transition` if it has none.
    pub fn check_change(self, next: PaymentState) -> Result<(), Refusal> {
        if self.may_become(next) {
            return Ok(());
        }
        let message = format!("a payment that is {self} cannot become {next}");
        Err(Refusal::for_param(RefusalCode::InvalidTransition, "state", message))
    }

    /// Returns `true` if the state machine has a step to `next`.
    pub const fn may_become(self, next: PaymentState) -> bool {
        match (self, next) {
            (PaymentState::Seen, PaymentState::Confirmed | PaymentState::Dropped)
            | (PaymentState::Confirmed, PaymentState::Seen | PaymentState::Dropped)
            | (PaymentState::Dropped, PaymentState::Seen | PaymentState::Confirmed) => true,
            (PaymentState::Seen, PaymentState::Seen)
            | (PaymentState::Confirmed, PaymentState::Confirmed)
            | (PaymentState::Dropped, PaymentState::Dropped) => false,
        }
    }
}

/// A payment to one of an invoice's addresses.
#[derive(Clone, Debug)]
pub struct Payment {
    /// Row number, in order of insertion.
    pub seq: i64,
    /// Public id.
    pub id: String,
    /// `seq` of the invoice.
    pub invoice: i64,
    /// `seq` of the quote to whose address the payment was sent.
    pub quote: i64,
    /// `seq` of the payment's observation.
    pub observation: i64,
    /// Mode: live or test.
    pub mode: Mode,
    /// Coin of the payment.
    pub asset: &'static Asset,
    /// Transaction id.
    pub txid: String,
    /// Position in the transaction: output index or log index.
    pub position: u32,
    /// Amount that was sent.
    pub amount: Units,
    /// Rate that determined the value. For a payment on time, this is the rate of the quote.
    pub quoted: RateQuote,
    /// Value in the currency of the invoice.
    pub value: Cents,
    /// `true` if the payment was seen before the deadline.
    pub on_time: bool,
    /// State of the payment on its chain.
    pub state: PaymentState,
    /// `true` if the payment has ever been confirmed.
    pub was_confirmed: bool,
    /// Time of the first sighting. If the payment replaces another payment, this is the time of the replaced payment.
    pub seen_at: Time,
    /// Time of confirmation; `None` while the payment is not confirmed.
    pub confirmed_at: Option<Time>,
}

impl Payment {
    /// Returns `true` if the payment counts for its invoice: it is in a block or in the mempool.
    pub fn counts_for_invoice(&self) -> bool {
        self.state != PaymentState::Dropped
    }
}

/// Returns the transaction id of a simulated payment, in the form of its chain.
pub fn simulated_txid(chain: Chain, label: &str) -> String {
    match chain.row().encoding {
        Encoding::Utxo(_) | Encoding::Tron => hex(&Sha256::digest(label)),
        Encoding::Evm => format!("0x{}", hex(&Sha256::digest(label))),
        Encoding::Solana => bs58::encode(Sha512::digest(label)).into_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::PaymentState;

    #[test]
    fn every_state_may_become_any_other_state() {
        for from in PaymentState::ALL {
            for to in PaymentState::ALL {
                assert_eq!(from.may_become(*to), from != to, "{from} to {to}");
            }
        }
    }
}

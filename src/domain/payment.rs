//! A payment: what was seen on a chain for an invoice.
//!
//! What lives here: the payment and its state machine. What does not: the invoice's status, which is computed
//! from payments. What always holds: whether it was on time and what it is worth are judged once, when it is recorded.

pub mod inputs;

use super::address::Encoding;
use super::asset::{Asset, Mode};
use super::chain::Chain;
use super::money::Cents;
use super::money::coin::Units;
use super::rate::Quoted;
use super::signature::hex;
use super::text_enum::text_enum;
use super::time::Time;
use sha2::{Digest, Sha256, Sha512};

text_enum! {
    /// Where a payment stands.
    ///
    /// ```text
    /// seen ──→ confirmed ──→ seen (orphaned: its block was reorganised away)
    ///   └──→ dropped ←──┘
    /// dropped ──→ seen | confirmed
    /// ```
    pub enum PaymentState {
        /// On the chain or in its mempool, not yet final.
        Seen = "seen",
        /// Final, as far as the chain's depth says.
        Confirmed = "confirmed",
        /// Gone: replaced, double-spent or reorganised away.
        Dropped = "dropped",
    }
}

impl PaymentState {
    /// Is it final, as far as the chain's depth says?
    pub const fn is_confirmed(self) -> bool {
        matches!(self, PaymentState::Confirmed)
    }

    /// Does the machine have a step to `next`?
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
    /// Order of insertion.
    pub seq: i64,
    /// The name outside the file.
    pub id: String,
    /// The invoice it pays.
    pub invoice: i64,
    /// The quote whose address it went to.
    pub quote: i64,
    /// What was seen on the chain, by its `seq`.
    pub observation: i64,
    /// Live or test.
    pub mode: Mode,
    /// The coin it came in.
    pub asset: &'static Asset,
    /// The transaction.
    pub txid: String,
    /// Output or log index in it.
    pub position: u32,
    /// What was sent.
    pub amount: Units,
    /// The rate it was judged at: that of its quote, where it came in time.
    pub quoted: Quoted,
    /// What it is worth, in the invoice's currency.
    pub value: Cents,
    /// Seen before the deadline?
    pub on_time: bool,
    /// Where it stands.
    pub state: PaymentState,
    /// Has it ever been confirmed?
    pub was_confirmed: bool,
    /// From when it counts: when it was seen, or what it replaces.
    pub seen_at: Time,
    /// When it was confirmed, while it is.
    pub confirmed_at: Option<Time>,
}

impl Payment {
    /// Does it count for its invoice: is it on the chain, or on its way there, as far as anybody knows?
    pub fn counts(&self) -> bool {
        self.state != PaymentState::Dropped
    }
}

/// The transaction id of a simulated payment, in the form its chain writes ids.
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
    fn every_state_may_become_every_other_and_not_itself() {
        for from in PaymentState::ALL {
            for to in PaymentState::ALL {
                assert_eq!(from.may_become(*to), from != to, "{from} to {to}");
            }
        }
    }
}

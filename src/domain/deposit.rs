//! A deposit: a payment to a customer's address.
//!
//! What lives here: the deposit and its state machine. What does not: its ledger entries (`ledger`). What always
//! holds: a deposit shows a rate and a value from when it is first seen; its first block fixes both; its first
//! confirmation fixes the fee.

use super::asset::{Asset, Mode};
use super::money::coin::Units;
use super::money::{Cents, Overflow};
use super::payment::PaymentState;
use super::rate::Quoted;
use super::text_enum::text_enum;
use super::time::Time;

text_enum! {
    /// Where a deposit stands: as freely as a payment.
    ///
    /// ```text
    /// detected ──→ confirmed ──→ detected (orphaned: its block was reorganised away)
    ///     └──→ dropped ←──┘
    /// dropped ──→ detected | confirmed
    /// ```
    pub enum DepositStatus {
        /// On the chain or in its mempool, not yet final.
        Detected = "detected",
        /// Final, as far as the chain's depth says.
        Confirmed = "confirmed",
        /// Gone: replaced, double-spent or reorganised away.
        Dropped = "dropped",
    }
}

impl DepositStatus {
    /// Does the machine have a step to `next`? The same steps as a payment has.
    pub const fn may_become(self, next: DepositStatus) -> bool {
        self.state().may_become(next.state())
    }

    /// The state of a payment that stands so.
    pub const fn state(self) -> PaymentState {
        match self {
            DepositStatus::Detected => PaymentState::Seen,
            DepositStatus::Confirmed => PaymentState::Confirmed,
            DepositStatus::Dropped => PaymentState::Dropped,
        }
    }
}

impl From<PaymentState> for DepositStatus {
    fn from(state: PaymentState) -> DepositStatus {
        match state {
            PaymentState::Seen => DepositStatus::Detected,
            PaymentState::Confirmed => DepositStatus::Confirmed,
            PaymentState::Dropped => DepositStatus::Dropped,
        }
    }
}

/// A payment to one of a customer's addresses.
#[derive(Clone, Debug)]
pub struct Deposit {
    /// Order of insertion.
    pub seq: i64,
    /// The name outside the file.
    pub id: String,
    /// Whose customer's.
    pub account: i64,
    /// Live or test.
    pub mode: Mode,
    /// The customer.
    pub customer: i64,
    /// What was seen on the chain, by its `seq`.
    pub observation: i64,
    /// The merchant's own name for the customer.
    pub customer_ref: String,
    /// The coin it came in.
    pub asset: &'static Asset,
    /// Where to.
    pub address: String,
    /// The transaction.
    pub txid: String,
    /// Output or log index in it.
    pub position: u32,
    /// What was sent.
    pub amount: Units,
    /// EUR per whole coin: when it was seen, until it is first in a block; from then on what it was at that moment.
    pub quoted: Quoted,
    /// When the rate was fixed: when it was first in a block.
    pub fixed_at: Option<Time>,
    /// What it is worth, in EUR.
    pub gross: Cents,
    /// The service's fee in EUR: expected, until it is first confirmed.
    pub fee: Cents,
    /// Where it stands.
    pub status: DepositStatus,
    /// Has it ever been confirmed?
    pub was_confirmed: bool,
    /// When it was seen, or what it replaces.
    pub created_at: Time,
    /// When it was confirmed, while it is.
    pub confirmed_at: Option<Time>,
}

impl Deposit {
    /// What is left for the merchant, in EUR.
    ///
    /// # Errors
    /// [`Overflow`], which a fee between zero and the gross value rules out.
    pub fn net(&self) -> Result<Cents, Overflow> {
        self.gross.minus(self.fee)
    }
}

#[cfg(test)]
mod tests {
    use super::{DepositStatus, PaymentState};

    #[test]
    fn a_deposit_moves_as_a_payment_does() {
        for from in DepositStatus::ALL {
            for to in DepositStatus::ALL {
                assert_eq!(from.may_become(*to), from != to, "{from} to {to}");
            }
        }
        for state in PaymentState::ALL {
            assert_eq!(DepositStatus::from(*state).state(), *state);
        }
    }
}

//! Deposits: payments to a customer's address.
//!
//! Invariant: a deposit has a rate and a value as soon as it is seen. The first block fixes the rate and the value.
//! The first confirmation fixes the fee.

use super::asset::{Asset, Mode};
use super::money::coin::Units;
use super::money::{Cents, Overflow};
use super::payment::PaymentState;
use super::rate::RateQuote;
use super::text_enum::text_enum;
use super::time::Time;

text_enum! {
    /// Status of a deposit. It changes like the state of a payment.
    ///
    /// ```text
    /// detected ──→ confirmed ──→ detected (orphaned: its block was reorganized away)
    ///     └──→ dropped ←──┘
    /// dropped ──→ detected | confirmed
    /// ```
    pub enum DepositStatus {
        /// On the chain or in its mempool, and not final yet.
        Detected = "detected",
        /// Has the confirmations that the coin needs.
        Confirmed = "confirmed",
        /// Gone: replaced, double-spent or reorganized away.
        Dropped = "dropped",
    }
}

impl DepositStatus {
    /// Returns `true` if this status may change to `next`. The status of a deposit changes like the state of a
    /// payment.
    pub const fn may_become(self, next: DepositStatus) -> bool {
        self.payment_state().may_become(next.payment_state())
    }

    /// Returns the payment state that matches this status.
    pub const fn payment_state(self) -> PaymentState {
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
    /// Row number, in order of insertion.
    pub seq: i64,
    /// Public id.
    pub id: String,
    /// `seq` of the merchant's account.
    pub account: i64,
    /// Mode: live or test.
    pub mode: Mode,
    /// `seq` of the customer.
    pub customer: i64,
    /// `seq` of the observation on the chain.
    pub observation: i64,
    /// The merchant's reference for the customer.
    pub customer_ref: String,
    /// Coin of the deposit.
    pub asset: &'static Asset,
    /// Address that received the payment.
    pub address: String,
    /// Transaction id.
    pub txid: String,
    /// Position in the transaction: output index or log index.
    pub position: u32,
    /// Amount that was sent.
    pub amount: Units,
    /// Rate in EUR per whole coin: the rate when the deposit was first seen, and from the first block on the rate at
    /// the time of this block.
    pub quoted: RateQuote,
    /// Time at which the first block fixed the rate; `None` before the first block.
    pub fixed_at: Option<Time>,
    /// Value in EUR, before the fee.
    pub gross: Cents,
    /// Fee of the service in EUR. It is an estimate until the first confirmation.
    pub fee: Cents,
    /// Status of the deposit.
    pub status: DepositStatus,
    /// `true` if the deposit has ever been confirmed.
    pub was_confirmed: bool,
    /// Time when the deposit was first seen. A deposit that replaces another deposit has the time of the replaced
    /// deposit.
    pub created_at: Time,
    /// Time of confirmation; `None` while the deposit is not confirmed.
    pub confirmed_at: Option<Time>,
}

impl Deposit {
    /// Returns the net amount for the merchant, in EUR.
    ///
    /// # Errors
    /// [`Overflow`]. It cannot occur while the fee is between zero and the gross value.
    pub fn net_amount(&self) -> Result<Cents, Overflow> {
        self.gross.minus(self.fee)
    }
}

#[cfg(test)]
mod tests {
    use super::{DepositStatus, PaymentState};

    #[test]
    fn deposit_status_changes_like_a_payment_state() {
        for from in DepositStatus::ALL {
            for to in DepositStatus::ALL {
                assert_eq!(from.may_become(*to), from != to, "{from} to {to}");
            }
        }
        for state in PaymentState::ALL {
            assert_eq!(DepositStatus::from(*state).payment_state(), *state);
        }
    }
}

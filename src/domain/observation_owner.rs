//! Owners of observations: what money that arrived on a chain is for.

use super::deposit::Deposit;
use super::invoice::Invoice;
use super::observation::{Observation, OwnTransfer};
use super::payment::{Payment, PaymentState};
use super::refusal::Refusal;
use super::unmatched::UnmatchedPayment;

/// Owner of an observation, with its own record of it.
#[derive(Debug)]
pub enum ObservationOwner {
    /// A payment of an invoice.
    Payment(Box<(Invoice, Payment)>),
    /// A deposit of a customer.
    Deposit(Box<Deposit>),
    /// A transfer between addresses of the operator.
    Own(OwnTransfer),
    /// A payment without a matching recipient.
    Unmatched(Box<UnmatchedPayment>),
    /// An output to the destination of payouts or refunds.
    Destination(OwnedOutput),
}

/// An output that belongs to a destination.
#[derive(Clone, Copy, Debug)]
pub struct OwnedOutput {
    /// `seq` of the observation.
    pub observation: i64,
    /// `seq` of the destination.
    pub destination: i64,
    /// `seq` of the transfer for which the output counts.
    pub transfer: Option<i64>,
    /// State of the output on its chain.
    pub state: PaymentState,
}

impl ObservationOwner {
    /// Returns the state of the observation on its chain.
    pub fn state(&self) -> PaymentState {
        match self {
            ObservationOwner::Payment(both) => both.1.state,
            ObservationOwner::Deposit(deposit) => deposit.status.payment_state(),
            ObservationOwner::Own(transfer) => transfer.state,
            ObservationOwner::Unmatched(unmatched) => unmatched.state,
            ObservationOwner::Destination(output) => output.state,
        }
    }

    /// Returns the `seq` of the observation.
    pub fn observation_seq(&self) -> i64 {
        match self {
            ObservationOwner::Payment(both) => both.1.observation,
            ObservationOwner::Deposit(deposit) => deposit.observation,
            ObservationOwner::Own(transfer) => transfer.observation,
            ObservationOwner::Unmatched(unmatched) => unmatched.observation,
            ObservationOwner::Destination(output) => output.observation,
        }
    }
}

/// Result of storing or changing an observation.
#[derive(Debug)]
pub struct IntakeOutcome {
    /// Owner after the change.
    pub owned: ObservationOwner,
    /// `true` if the observation was not stored before.
    pub is_new: bool,
    /// Reason why the observation could not be booked. A new observation is then stored as unmatched, and a known one
    /// stays unchanged.
    pub refusal: Option<Refusal>,
}

impl IntakeOutcome {
    /// Returns the owner if the observation could be booked.
    ///
    /// # Errors
    ///
    /// The refusal, if it could not be booked.
    pub fn into_booked_owner(self) -> Result<ObservationOwner, Refusal> {
        match self.refusal {
            Some(refusal) => Err(refusal),
            None => Ok(self.owned),
        }
    }

    /// Returns the outcome for an observation that was stored before.
    pub fn already_stored(owned: ObservationOwner) -> IntakeOutcome {
        IntakeOutcome { owned, is_new: false, refusal: None }
    }
}

/// A change of an observation on its chain.
#[derive(Clone, Copy)]
pub enum ObservationChange<'a> {
    /// The observation exists and is not final: it reappeared, or a reorg removed its block.
    Seen,
    /// The observation is final.
    Confirmed,
    /// The observation is gone from its chain.
    Dropped,
    /// Another transaction replaced the observed transaction. This observation of the new transaction replaces the
    /// old observation.
    ReplacedBy(&'a Observation),
}

//! The owner of an observation: what it came to.

use crate::domain::deposit::Deposit;
use crate::domain::invoice::Invoice;
use crate::domain::observation::OwnTransfer;
use crate::domain::payment::{Payment, PaymentState};
use crate::domain::refusal::Refusal;
use crate::domain::transfer::on_chain::SentOutput;
use crate::domain::unmatched::Unmatched;
use crate::service::Error;
use crate::store::{
    Reader, deposits, invoices, own_transfers, payments, sent_outputs, unmatched_payments,
};

/// Owner of an observation.
pub(in crate::service) enum Owned {
    /// A payment of an invoice.
    Payment(Box<(Invoice, Payment)>),
    /// A deposit of a customer.
    Deposit(Box<Deposit>),
    /// Money of our own that moves.
    Own(OwnTransfer),
    /// A payment that matched nothing.
    Unmatched(Box<Unmatched>),
    /// An output to the destination of a payout or refund.
    Sent(SentOutput),
}

impl Owned {
    /// Its state on its chain.
    pub(in crate::service) fn state(&self) -> PaymentState {
        match self {
            Owned::Payment(both) => both.1.state,
            Owned::Deposit(deposit) => deposit.status.state(),
            Owned::Own(transfer) => transfer.state,
            Owned::Unmatched(unmatched) => unmatched.state,
            Owned::Sent(output) => output.state,
        }
    }

    /// Its observation, by its `seq`.
    pub(super) fn observation(&self) -> i64 {
        match self {
            Owned::Payment(both) => both.1.observation,
            Owned::Deposit(deposit) => deposit.observation,
            Owned::Own(transfer) => transfer.observation,
            Owned::Unmatched(unmatched) => unmatched.observation,
            Owned::Sent(output) => output.observation,
        }
    }
}

/// Result of taking something in.
pub(in crate::service) struct Outcome {
    /// Owner as it is now.
    pub(in crate::service) owned: Owned,
    /// Was nothing known of its place before?
    pub(in crate::service) is_new: bool,
    /// Why it could not be booked, where it is kept for that reason only.
    pub(in crate::service) refusal: Option<Refusal>,
}

impl Outcome {
    /// Returns the owner if it could be booked, else the reason why not.
    pub(in crate::service) fn booked(self) -> Result<Owned, Error> {
        match self.refusal {
            Some(refusal) => Err(refusal.into()),
            None => Ok(self.owned),
        }
    }

    /// It was known.
    pub(super) fn known(owned: Owned) -> Outcome {
        Outcome {
            owned,
            is_new: false,
            refusal: None,
        }
    }
}

/// The one thing that an observation came to.
pub(super) fn owned(db: &Reader<'_>, observation: i64) -> Result<Owned, Error> {
    if let Some(payment) = payments::of_observation(db, observation)? {
        let invoice = invoices::by_seq(db, payment.invoice)?;
        return Ok(Owned::Payment(Box::new((invoice, payment))));
    }
    if let Some(deposit) = deposits::of_observation(db, observation)? {
        return Ok(Owned::Deposit(Box::new(deposit)));
    }
    if let Some(transfer) = own_transfers::of_observation(db, observation)? {
        return Ok(Owned::Own(transfer));
    }
    if let Some(output) = sent_outputs::of_observation(db, observation)? {
        return Ok(Owned::Sent(output));
    }
    let unmatched = unmatched_payments::of_observation(db, observation)?;
    let none = || Error::Failed(format!("observation {observation} belongs to nothing"));
    Ok(Owned::Unmatched(Box::new(unmatched.ok_or_else(none)?)))
}

//! Finds the owner of an observation: the recipient of a new observation, or the stored owner of an earlier one.
//!
//! Invariant: only the chain, the address, the coin and the origin of the money decide. Text from a sender has no
//! effect.

use crate::domain::customer::Customer;
use crate::domain::deposit::Deposit;
use crate::domain::invoice::Invoice;
use crate::domain::observation::{InputSource, Observation, ObservationKey, OwnTransfer};
use crate::domain::payment::{Payment, PaymentState};
use crate::domain::quote::Quote;
use crate::domain::refusal::Refusal;
use crate::domain::time::Time;
use crate::domain::unmatched::{UnmatchedPayment, UnmatchedReason};
use crate::service::Error;
use crate::service::transfers::watched_destination;
use crate::store::addresses::{AddressOwner, find_owner};
use crate::store::{
    Reader, customers, deposits, destinations, invoices, observations, own_transfers, payments,
    quotes, unmatched_payments,
};

pub(in crate::service) enum ObservationOwner {
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
pub(in crate::service) struct OwnedOutput {
    /// `seq` of the observation.
    pub(in crate::service) observation: i64,
    /// `seq` of the destination.
    pub(in crate::service) destination: i64,
    /// `seq` of the transfer for which the output counts.
    pub(in crate::service) transfer: Option<i64>,
    /// State of the output on its chain.
    pub(in crate::service) state: PaymentState,
}

impl ObservationOwner {
    /// Returns the state of the observation on its chain.
    pub(in crate::service) fn state(&self) -> PaymentState {
        match self {
            ObservationOwner::Payment(both) => both.1.state,
            ObservationOwner::Deposit(deposit) => deposit.status.payment_state(),
            ObservationOwner::Own(transfer) => transfer.state,
            ObservationOwner::Unmatched(unmatched) => unmatched.state,
            ObservationOwner::Destination(output) => output.state,
        }
    }

    /// Returns the `seq` of the observation.
    pub(in crate::service) fn observation_seq(&self) -> i64 {
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
pub(in crate::service) struct IntakeOutcome {
    /// Owner after the change.
    pub(in crate::service) owned: ObservationOwner,
    /// `true` if the observation was not stored before.
    pub(in crate::service) is_new: bool,
    /// Reason why the observation could not be booked. A new observation is then stored as unmatched, and a known one
    /// stays unchanged.
    pub(in crate::service) refusal: Option<Refusal>,
}

impl IntakeOutcome {
    /// Returns the owner if the observation could be booked. Otherwise returns the refusal as an error.
    pub(in crate::service) fn into_booked_owner(self) -> Result<ObservationOwner, Error> {
        match self.refusal {
            Some(refusal) => Err(refusal.into()),
            None => Ok(self.owned),
        }
    }

    /// Returns the outcome for an observation that was stored before.
    pub(super) fn already_stored(owned: ObservationOwner) -> IntakeOutcome {
        IntakeOutcome { owned, is_new: false, refusal: None }
    }
}

/// Returns the owner of a stored observation.
pub(super) fn owner_of_observation(
    db: &Reader<'_>,
    observation: i64,
) -> Result<ObservationOwner, Error> {
    if let Some(payment) = payments::of_observation(db, observation)? {
        let invoice = invoices::by_seq(db, payment.invoice)?;
        return Ok(ObservationOwner::Payment(Box::new((invoice, payment))));
    }
    if let Some(deposit) = deposits::of_observation(db, observation)? {
        return Ok(ObservationOwner::Deposit(Box::new(deposit)));
    }
    if let Some(transfer) = own_transfers::of_observation(db, observation)? {
        return Ok(ObservationOwner::Own(transfer));
    }
    if let Some((destination, transfer)) = destinations::of_observation(db, observation)? {
        let state = observations::by_seq(db, observation)?.state;
        let output = OwnedOutput { observation, destination, transfer, state };
        return Ok(ObservationOwner::Destination(output));
    }
    let unmatched = unmatched_payments::of_observation(db, observation)?;
    let none = || Error::Failed(format!("observation {observation} belongs to nothing"));
    Ok(ObservationOwner::Unmatched(Box::new(unmatched.ok_or_else(none)?)))
}

/// Recipient of a new observation.
pub(super) enum Recipient {
    /// An invoice, with the quote that the observation pays.
    Invoice(Box<Invoice>, Quote),
    /// A customer, who owns the paid address.
    Customer(Customer),
    /// The operator: the money comes from an address of the operator.
    Own,
    /// A watched destination of payouts or refunds, by its `seq`.
    Destination(i64),
    /// No recipient, for this reason.
    Nobody(UnmatchedReason),
}

/// `seq` of the account that owns an address, and `seq` of its invoice if the address belongs to one.
pub(super) type OwnerIds = (Option<i64>, Option<i64>);

/// Returns `true` if the money comes from an address of this file, or from an address that was declared as the
/// operator's.
fn is_from_own_address(db: &Reader<'_>, seen: &Observation) -> Result<bool, Error> {
    let (mode, chain) = (seen.mode, seen.asset.chain);
    for spent in &seen.spends {
        let from = match spent {
            InputSource::Coinbase => None,
            InputSource::Address(address) => Some(address.clone()),
            InputSource::Output(txid, position) => {
                let place = ObservationKey { mode, chain, txid: txid.clone(), position: *position };
                observations::by_key(db, &place)?.map(|spent| spent.seen.address)
            }
        };
        let Some(from) = from else {
            continue;
        };
        if find_owner(db, mode, chain, &from)?.is_some()
            || own_transfers::is_own_address(db, mode, chain, &from)?
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the recipient of an observation and the owner of its address.
///
/// An output to a watched destination of payouts or refunds belongs to the destination, even if its address became ours
/// later. Money from the operator has the recipient `Own`. Otherwise the owner of the address is the recipient. An invoice needs a quote of
/// the coin. The output of a coinbase transaction has no recipient.
pub(super) fn find_recipient(
    db: &Reader<'_>,
    now: Time,
    seen: &Observation,
    (is_real, at_hand): (bool, Option<Invoice>),
) -> Result<(Recipient, OwnerIds), Error> {
    if is_real && let Some(destination) = watched_destination(db, now, seen)? {
        return Ok((Recipient::Destination(destination.seq), (None, None)));
    }
    let owner = find_owner(db, seen.mode, seen.asset.chain, &seen.address)?;
    if is_from_own_address(db, seen)? {
        return Ok((Recipient::Own, (None, None)));
    }
    let is_newly_made = seen.spends.contains(&InputSource::Coinbase);
    match owner {
        None => Ok((Recipient::Nobody(UnmatchedReason::UnknownAddress), (None, None))),
        Some(AddressOwner::Customer(seq)) => {
            let customer = customers::by_seq(db, seq)?;
            let address_of = (Some(customer.account), None);
            let matched = if is_newly_made {
                Recipient::Nobody(UnmatchedReason::Coinbase)
            } else {
                Recipient::Customer(customer)
            };
            Ok((matched, address_of))
        }
        Some(AddressOwner::Invoice(seq)) => {
            let invoice = match at_hand.filter(|invoice| invoice.seq == seq) {
                Some(invoice) => invoice,
                None => invoices::by_seq(db, seq)?,
            };
            let quote = quotes::of_invoice(db, seq)?
                .into_iter()
                .find(|quote| quote.asset == seen.asset && quote.address == seen.address);
            let address_of = (Some(invoice.account), Some(seq));
            let matched = match quote {
                _ if is_newly_made => Recipient::Nobody(UnmatchedReason::Coinbase),
                Some(quote) => Recipient::Invoice(Box::new(invoice), quote),
                None => Recipient::Nobody(UnmatchedReason::UnquotedCoin),
            };
            Ok((matched, address_of))
        }
    }
}

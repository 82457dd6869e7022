//! Owners of observations, which are in several tables.

use super::{
    Reader, StoreError, deposits, destinations, invoices, observations, own_transfers, payments,
    unmatched_payments,
};
use crate::domain::{ObservationOwner, OwnedOutput};

/// Returns the owner of a stored observation.
pub fn of_observation(db: &Reader<'_>, observation: i64) -> Result<ObservationOwner, StoreError> {
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
    let none = || StoreError::Failed(format!("observation {observation} belongs to nothing"));
    Ok(ObservationOwner::Unmatched(Box::new(unmatched.ok_or_else(none)?)))
}

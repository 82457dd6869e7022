//! Finds the recipient of a new observation.
//!
//! Invariant: only the chain, the address, the coin and the origin of the money decide. Text from a sender has no
//! effect.

use crate::domain::{
    Customer, InputSource, Invoice, Observation, ObservationKey, Quote, Time, UnmatchedReason,
};
use crate::service::Error;
use crate::service::transfers::watched_destination;
use crate::store::addresses::{AddressOwner, find_owner};
use crate::store::{Reader, customers, invoices, observations, own_transfers, quotes};

pub(super) enum Recipient {
    Invoice(Box<Invoice>, Quote),
    /// A customer, who owns the paid address.
    Customer(Customer),
    /// The operator: the money comes from an address of the operator.
    Own,
    /// A watched destination of payouts or refunds, by its `seq`.
    Destination(i64),
    Nobody(UnmatchedReason),
}

/// `seq` of the account that owns an address, and `seq` of its invoice if the address belongs to one.
type OwnerIds = (Option<i64>, Option<i64>);

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
    is_real: bool,
    at_hand: Option<Invoice>,
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

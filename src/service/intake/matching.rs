//! Whom an observation belongs to.
//!
//! What does not live here: what happens to it then. What always holds: only the chain, the address, the coin and
//! the origin of the money decide; nothing that a sender can write decides.

use crate::domain::customer::Customer;
use crate::domain::invoice::Invoice;
use crate::domain::observation::{Observation, Place, Spent};
use crate::domain::quote::Quote;
use crate::domain::time::Time;
use crate::domain::transfer::Transfer;
use crate::domain::unmatched::UnmatchedReason;
use crate::service::Error;
use crate::service::transfers::{Arrival, classify};
use crate::store::addresses::{Owner, owner};
use crate::store::{Reader, customers, invoices, observations, own_transfers, quotes, read_backs};

/// Where an observation belongs.
pub(super) enum Match {
    /// To an invoice, at a quote.
    Invoice(Box<Invoice>, Quote),
    /// To a customer.
    Customer(Customer),
    /// To ourselves.
    Own,
    /// To a payout or refund: one whose transaction is attached, or this one, whose amount it is exactly.
    Sent(Option<Box<Transfer>>),
    /// To nobody.
    Nobody(UnmatchedReason),
}

/// Whose address it is that something was sent to: the account, and the invoice where it is one's.
pub(super) type AddressOf = (Option<i64>, Option<i64>);

/// Is it money of our own: from an address of ours, or from one that was declared as such?
fn is_own(db: &Reader<'_>, seen: &Observation) -> Result<bool, Error> {
    let (mode, chain) = (seen.mode, seen.asset.chain);
    for spent in &seen.spends {
        let from = match spent {
            Spent::Coinbase => None,
            Spent::Address(address) => Some(address.clone()),
            Spent::Output(txid, position) => {
                let place = Place {
                    mode,
                    chain,
                    txid: txid.clone(),
                    position: *position,
                };
                observations::at(db, &place)?.map(|spent| spent.seen.address)
            }
        };
        let Some(from) = from else {
            continue;
        };
        if owner(db, mode, chain, &from)?.is_some()
            || own_transfers::is_declared(db, mode, chain, &from)?
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns `true` if it is in a block of before its chain was watched.
fn is_before_watched(db: &Reader<'_>, seen: &Observation) -> Result<bool, Error> {
    match &seen.block {
        Some(block) if seen.mode.is_live() => {
            Ok(read_backs::covers(db, seen.asset.chain, block.height)?)
        }
        Some(_) | None => Ok(false),
    }
}

/// The owner of an observation: at an address of others the payout or refund that leads there; we, where the money is our own;
/// else the owner of the address, and then the quote of the coin there. Nobody, where it was newly made.
pub(super) fn matched(
    db: &Reader<'_>,
    now: Time,
    seen: &Observation,
    at_hand: Option<Invoice>,
) -> Result<(Match, AddressOf), Error> {
    let owner = owner(db, seen.mode, seen.asset.chain, &seen.address)?;
    if owner.is_none() {
        match classify(db, now, seen)? {
            Arrival::Attached => return Ok((Match::Sent(None), (None, None))),
            Arrival::Exact(transfer) => {
                return Ok((Match::Sent(Some(transfer)), (None, None)));
            }
            Arrival::Proposed(_) => {}
        }
    }
    if is_own(db, seen)? {
        return Ok((Match::Own, (None, None)));
    }
    let is_newly_made = seen.spends.contains(&Spent::Coinbase);
    match owner {
        None => Ok((Match::Nobody(UnmatchedReason::UnknownAddress), (None, None))),
        Some(Owner::Customer(seq)) => {
            let customer = customers::by_seq(db, seq)?;
            let address_of = (Some(customer.account), None);
            let matched = if is_newly_made {
                Match::Nobody(UnmatchedReason::Coinbase)
            } else if is_before_watched(db, seen)? {
                Match::Nobody(UnmatchedReason::Unwatched)
            } else {
                Match::Customer(customer)
            };
            Ok((matched, address_of))
        }
        Some(Owner::Invoice(seq)) => {
            let invoice = match at_hand.filter(|invoice| invoice.seq == seq) {
                Some(invoice) => invoice,
                None => invoices::by_seq(db, seq)?,
            };
            let quote = quotes::of_invoice(db, seq)?
                .into_iter()
                .find(|quote| quote.asset == seen.asset && quote.address == seen.address);
            let address_of = (Some(invoice.account), Some(seq));
            let matched = match quote {
                _ if is_newly_made => Match::Nobody(UnmatchedReason::Coinbase),
                Some(quote) => Match::Invoice(Box::new(invoice), quote),
                None => Match::Nobody(UnmatchedReason::UnquotedCoin),
            };
            Ok((matched, address_of))
        }
    }
}

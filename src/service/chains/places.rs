//! Where what was seen is: what of a transaction stands in which state, what it takes the place of, and whether it is ours.
//!
//! What always holds: nothing is written here, and what gave its place to something else is not looked at any more.

use crate::domain::asset::{Chain, Mode};
use crate::domain::following::Forward;
use crate::domain::observation::{Observation, Place};
use crate::domain::payment::PaymentState;
use crate::service::Error;
use crate::store::{Reader, addresses, observations, pool_addresses};

/// Positions from here on are of what gave its place to something else.
const GAVE_WAY: u32 = 1 << 31;

/// What is in this state at the places of a transaction.
pub(super) fn places(
    db: &Reader<'_>,
    chain: Chain,
    txid: &str,
    state: PaymentState,
) -> Result<Vec<Place>, Error> {
    let of_transaction = observations::of_transaction(db, Mode::Live, chain, txid)?;
    let found = of_transaction.into_iter().filter(|observed| {
        observed.state == state
            && observed.seen.block.is_none()
            && observed.seen.position < GAVE_WAY
    });
    Ok(found.map(|observed| observed.seen.place()).collect())
}

/// The place of what a new transaction takes the place of: something of the same coin to the same address, in a transaction
/// that is gone for this one.
pub(super) fn replaced_by(
    db: &Reader<'_>,
    seen: &Observation,
    forward: Option<&Forward>,
) -> Result<Option<Place>, Error> {
    let gone = forward.into_iter().flat_map(|forward| &forward.gone);
    for gone in gone.filter(|gone| gone.by == seen.txid) {
        for place in places(db, seen.asset.chain, &gone.txid, PaymentState::Seen)? {
            let old = observations::at(db, &place)?;
            if old
                .is_some_and(|old| old.seen.asset == seen.asset && old.seen.address == seen.address)
            {
                return Ok(Some(place));
            }
        }
    }
    Ok(None)
}

/// Is the address one of ours? What passed the filter may be another's.
pub(super) fn is_ours(db: &Reader<'_>, seen: &Observation) -> Result<bool, Error> {
    let (chain, address) = (seen.asset.chain, &seen.address);
    Ok(addresses::owner(db, Mode::Live, chain, address)?.is_some()
        || pool_addresses::has(db, chain, address)?)
}

/// A place of live mode.
pub(super) fn place_of(chain: Chain, txid: String, position: u32) -> Place {
    Place {
        mode: Mode::Live,
        chain,
        txid,
        position,
    }
}

//! Where what was seen is: what of a transaction stands in which state, what it takes the place of, and whether it is ours;
//! and whether a step begins where its chain stands.
//!
//! What always holds: nothing is written here, and what gave its place to something else is not looked at any more.

use crate::domain::asset::{Chain, Mode};
use crate::domain::following::{ChainStep, Forward, Moves};
use crate::domain::observation::{Observation, Place};
use crate::domain::payment::PaymentState;
use crate::service::Error;
use crate::store::chain_cursors::Cursor;
use crate::store::{
    Reader, addresses, observations, observations_on_chain, pool_addresses, rescans,
};

/// Positions from here on are of what gave its place to something else.
pub(super) const GAVE_WAY: u32 = 1 << 31;

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
        let first = observations_on_chain::first_seen_in;
        if let Some(position) = first(db, &gone.txid, seen.asset, &seen.address)? {
            return Ok(Some(place_of(
                seen.asset.chain,
                gone.txid.clone(),
                position,
            )));
        }
    }
    Ok(None)
}

/// Is the address one of ours? What passed the filter may be another's.
pub(super) fn is_ours(db: &Reader<'_>, chain: Chain, address: &str) -> Result<bool, Error> {
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

/// Does a step begin where the chain stands?
pub(super) fn begins_there(
    db: &Reader<'_>,
    step: &ChainStep,
    cursor: Option<&Cursor>,
) -> Result<bool, Error> {
    let stands_at = cursor.map(|cursor| &cursor.reached.block);
    let is_stopped = cursor.is_some_and(|cursor| cursor.stopped.is_some());
    if stands_at != step.from.as_ref() {
        return Ok(false);
    }
    match &step.moves {
        Moves::Rescanned(rescanned) => {
            let rescan = rescans::of_chain(db, step.chain)?;
            let is_next = rescan.is_some_and(|rescan| rescan.next_height == rescanned.from);
            Ok(is_next && is_stopped == rescanned.restarts)
        }
        Moves::Started { .. }
        | Moves::BackTo(_)
        | Moves::Stopped(_)
        | Moves::Forward(_)
        | Moves::Claimed(_)
        | Moves::Looked(_)
        | Moves::Dated { .. } => Ok(!is_stopped),
    }
}

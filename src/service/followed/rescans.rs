//! Requests to read blocks of a chain again.

use crate::domain::asset::Chain;
use crate::domain::{Refusal, Time};
use crate::service::{Error, Service, Step};
use crate::store::{Tx, chain_blocks, chain_cursors, rescans};
use std::sync::Arc;

impl Service {
    /// Calls [`order_rescan`] and blocks the thread until the commit.
    pub fn order_rescan(self: &Arc<Self>, now: Time, chain: Chain, from: u32) -> Result<(), Error> {
        self.write_and_wait(now, move |step| order_rescan(step.tx, now, chain, from))
    }
}

/// Orders a rescan of a chain's blocks from this height.
///
/// # Errors
///
/// `invalid_request` if the chain is not followed, or `from` is above the last block that was read. `invalid_request`
/// also if the chain is stopped and `from` is above the lowest block that a reorg removed.
pub fn order_rescan(tx: &Tx<'_>, now: Time, chain: Chain, from: u32) -> Result<(), Error> {
    let Some(cursor) = chain_cursors::of_chain(tx, chain)? else {
        let problem = format!("{chain} is not followed yet: no server has reached a node of it");
        return Err(Refusal::field("chain", problem).into());
    };
    let height = cursor.reached.block.height;
    if from > height {
        let problem = format!("must be at most {height}, up to where {chain} has been read");
        return Err(Refusal::field("from", problem).into());
    }
    if cursor.stopped.is_some()
        && let Some(given_up) = chain_blocks::newest_first(tx, chain)?.last()
        && from > given_up.height
    {
        let lowest = given_up.height;
        let problem = format!(
            "must be at most {lowest}, as the block that was read at {lowest} is on the chain no more"
        );
        return Err(Refusal::field("from", problem).into());
    }
    Ok(rescans::insert(tx, chain, from, now)?)
}

/// Orders a rescan from a height, unless a current rescan still has to read this height.
pub(in crate::service) fn order_rescan_unless_covered(
    step: &Step<'_>,
    chain: Chain,
    from: u32,
) -> Result<(), Error> {
    let Step { tx, now, .. } = *step;
    let Some(cursor) = chain_cursors::of_chain(tx, chain)? else {
        return Ok(());
    };
    if from > cursor.reached.block.height || cursor.stopped.is_some() {
        return Ok(());
    }
    match rescans::active_for_chain(tx, chain)? {
        Some(rescan) if rescan.next_height <= from => Ok(()),
        Some(rescan) => order_rescan(tx, now, chain, from.min(rescan.from_height)),
        None => order_rescan(tx, now, chain, from),
    }
}

//! Orders rescans of blocks from before a chain was watched, for approved payouts and refunds.
//!
//! `chain::follow` finds the height of the chain at a given time.
//!
//! Invariant: a chain is rescanned once for its transfers, for at most 30 days.

use super::order_rescan;
use crate::domain::asset::Chain;
use crate::domain::time::{DAY_MS, Time};
use crate::service::{Error, Service, transfers};
use crate::store::{Reader, Tx, chain_cursors, rescans};

/// Longest time to read back, in milliseconds.
const READ_BACK_MS_MAX: i64 = 30 * DAY_MS;

/// Returns the oldest time from which a chain must be read and for which no block height is known yet.
pub(super) fn oldest_time_without_height(
    db: &Reader<'_>,
    now: Time,
    chain: Chain,
) -> Result<Option<Time>, Error> {
    let oldest = transfers::oldest_approval_without_height(db, chain)?;
    Ok(oldest.map(|at| at.max(now.plus_ms(-READ_BACK_MS_MAX))))
}

impl Service {
    /// Records the height of a chain at the time of [`oldest_time_without_height`], and orders a rescan from this height.
    ///
    /// Blocks from before `unread` are not read.
    pub(super) fn record_read_back_height(
        &self,
        tx: &Tx<'_>,
        now: Time,
        chain: Chain,
        (unread, height): (Time, u32),
    ) -> Result<(), Error> {
        if self.record_watch_height(tx, now, chain, (unread, height))? {
            order_rescan_unless_covered(tx, now, chain, height)?;
        }
        Ok(())
    }
}

/// Orders a rescan from a height, unless a current rescan still has to read this height.
pub(in crate::service) fn order_rescan_unless_covered(
    tx: &Tx<'_>,
    now: Time,
    chain: Chain,
    from: u32,
) -> Result<(), Error> {
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

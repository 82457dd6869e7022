//! Orders rescans of blocks from before a chain was watched, for approved payouts and refunds.
//!
//! `chain::follow` finds the height of the chain at a given time.
//!
//! Invariant: a chain is rescanned once for its transfers, for at most 30 days.

use crate::domain::Time;
use crate::domain::asset::Chain;
use crate::domain::time::DAY_MS;
use crate::service::followed::rescans::order_rescan_unless_covered;
use crate::service::transfers::watch::record_watch_height;
use crate::service::{Error, Step, transfers};
use crate::store::Reader;

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

/// Records the height of a chain at the time of [`oldest_time_without_height`], and orders a rescan from this height.
///
/// Blocks from before `unread` are not read.
pub(super) fn record_read_back_height(
    step: &Step<'_>,
    chain: Chain,
    unread: Time,
    height: u32,
) -> Result<(), Error> {
    if record_watch_height(step, chain, unread, height)? {
        order_rescan_unless_covered(step, chain, height)?;
    }
    Ok(())
}

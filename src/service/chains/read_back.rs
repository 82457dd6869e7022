//! Chains that are read back: for payouts and refunds that were approved, and for addresses that customers had, before their
//! chain was watched.
//!
//! What does not live here: finding the block of a time (`chain::follow`), and reading it (a rescan does). What always
//! holds: each is read back once, at most 30 days.

use super::order_rescan;
use crate::domain::asset::Chain;
use crate::domain::time::{DAY_MS, Time};
use crate::service::{Error, Service, transfers};
use crate::store::{Reader, Tx, chain_cursors, read_backs, rescans};

/// How far back a chain is read.
const READ_BACK_MS_MAX: i64 = 30 * DAY_MS;

/// The oldest time from which on a chain is to be read and of which the block is unknown; at most 30 days ago.
pub(super) fn undated(db: &Reader<'_>, now: Time, chain: Chain) -> Result<Option<Time>, Error> {
    let oldest = [
        transfers::undated(db, chain)?,
        read_backs::undated(db, chain)?,
    ];
    let oldest = oldest.into_iter().flatten().min();
    Ok(oldest.map(|at| at.max(now.plus_ms(-READ_BACK_MS_MAX))))
}

impl Service {
    /// Takes the height of a chain at the time of [`undated`], and has the blocks from there on read. `unread`: blocks of before
    /// are not read.
    pub(super) fn dated(
        &self,
        tx: &Tx<'_>,
        now: Time,
        chain: Chain,
        (unread, height): (Time, u32),
    ) -> Result<(), Error> {
        let is_for_transfers = self.transfers_dated(tx, now, chain, (unread, height))?;
        let is_for_addresses = read_backs::date(tx, chain, height, unread)?;
        if is_for_transfers || is_for_addresses {
            rescan_from(tx, now, chain, height)?;
        }
        Ok(())
    }
}

/// Orders a rescan, unless one is under way that reads those blocks yet.
pub(in crate::service) fn rescan_from(
    tx: &Tx<'_>,
    now: Time,
    chain: Chain,
    from: u32,
) -> Result<(), Error> {
    let Some(cursor) = chain_cursors::of(tx, chain)? else {
        return Ok(());
    };
    if from > cursor.reached.block.height || cursor.stopped.is_some() {
        return Ok(());
    }
    match rescans::of(tx, chain)? {
        Some(rescan) if rescan.next_height <= from => Ok(()),
        Some(rescan) => order_rescan(tx, now, chain, from.min(rescan.from_height)),
        None => order_rescan(tx, now, chain, from),
    }
}

//! Orders rescans of blocks from before a chain was watched, for approved payouts and refunds and for addresses of
//! customers.
//!
//! `chain::follow` finds the block of a time.
//!
//! Invariant: a chain is read back once for transfers and once for addresses. The limit is 30 days if every block has
//! to be read.

use super::order_rescan;
use crate::domain::asset::Chain;
use crate::domain::time::{DAY_MS, Time};
use crate::service::{Error, Service, transfers};
use crate::store::{Reader, Tx, chain_cursors, read_backs, rescans};

/// Largest time to read back, in milliseconds: always for transfers, and for addresses if every block has to be read.
const READ_BACK_MS_MAX: i64 = 30 * DAY_MS;

/// Returns the oldest time from which a chain must be read and whose block is still unknown.
pub(super) fn undated(db: &Reader<'_>, now: Time, chain: Chain) -> Result<Option<Time>, Error> {
    let for_transfers = transfers::undated(db, chain)?.map(|at| at.max(earliest(now)));
    let for_addresses = read_backs::undated(db, chain)?.map(|at| for_addresses(chain, now, at));
    Ok([for_transfers, for_addresses].into_iter().flatten().min())
}

fn earliest(now: Time) -> Time {
    now.plus_ms(-READ_BACK_MS_MAX)
}

/// Returns the time from which a chain is read for addresses that were given out at `given_out`.
fn for_addresses(chain: Chain, now: Time, given_out: Time) -> Time {
    if chain.is_queried_by_address() {
        given_out
    } else {
        given_out.max(earliest(now))
    }
}

impl Service {
    /// Records the height of a chain at the time of [`undated`], and orders a rescan from there.
    ///
    /// Blocks from before `unread` are not read.
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

/// Orders a rescan from a height, unless a current rescan still covers it.
pub(in crate::service) fn rescan_from(
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
    match rescans::of_chain(tx, chain)? {
        Some(rescan) if rescan.next_height <= from => Ok(()),
        Some(rescan) => order_rescan(tx, now, chain, from.min(rescan.from_height)),
        None => order_rescan(tx, now, chain, from),
    }
}

#[cfg(test)]
mod tests {
    use super::for_addresses;
    use crate::domain::asset::Chain;
    use crate::domain::time::{DAY_MS, Time};

    #[test]
    fn only_a_chain_that_is_asked_by_name_is_read_back_more_than_30_days() {
        let given_out = Time(DAY_MS);
        let later = |days: i64| given_out.plus_ms(days * DAY_MS);
        for (days, of_tron) in [(29, given_out), (30, given_out), (100, later(70))] {
            assert_eq!(for_addresses(Chain::Tron, later(days), given_out), of_tron);
            let of_solana = for_addresses(Chain::Solana, later(days), given_out);
            assert_eq!(of_solana, given_out);
        }
    }
}

//! Orders rescans of blocks from before a chain was watched, for approved payouts and refunds and for addresses of
//! customers.
//!
//! `chain::follow` finds the height of the chain at a given time.
//!
//! Invariant: a chain is rescanned once for transfers and once for addresses. The limit is 30 days if every block has
//! to be read.

use super::order_rescan;
use crate::domain::asset::Chain;
use crate::domain::time::{DAY_MS, Time};
use crate::service::{Error, Service, transfers};
use crate::store::{Reader, Tx, chain_cursors, read_backs, rescans};

/// Longest time to read back, in milliseconds. Always applies to transfers. Applies to addresses only if every block
/// has to be read.
const READ_BACK_MS_MAX: i64 = 30 * DAY_MS;

/// Returns the oldest time from which a chain must be read and for which no block height is known yet.
pub(super) fn oldest_time_without_height(
    db: &Reader<'_>,
    now: Time,
    chain: Chain,
) -> Result<Option<Time>, Error> {
    let for_transfers = transfers::oldest_approval_without_height(db, chain)?
        .map(|at| at.max(earliest_read_back_time(now)));
    let for_addresses =
        read_backs::start_of_pending_read(db, chain)?.map(|at| read_back_start(chain, now, at));
    Ok([for_transfers, for_addresses].into_iter().flatten().min())
}

fn earliest_read_back_time(now: Time) -> Time {
    now.plus_ms(-READ_BACK_MS_MAX)
}

/// Returns the time from which to read a chain for addresses that were handed out at `given_out`.
fn read_back_start(chain: Chain, now: Time, given_out: Time) -> Time {
    if chain.is_queried_by_address() {
        given_out
    } else {
        given_out.max(earliest_read_back_time(now))
    }
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
        let is_for_transfers = self.record_watch_height(tx, now, chain, (unread, height))?;
        let is_for_addresses = read_backs::set_start_height(tx, chain, height, unread)?;
        if is_for_transfers || is_for_addresses {
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

#[cfg(test)]
mod tests {
    use super::read_back_start;
    use crate::domain::asset::Chain;
    use crate::domain::time::{DAY_MS, Time};

    #[test]
    fn only_chains_queried_by_address_are_read_back_over_30_days() {
        let given_out = Time(DAY_MS);
        let later = |days: i64| given_out.plus_ms(days * DAY_MS);
        for (days, of_tron) in [(29, given_out), (30, given_out), (100, later(70))] {
            assert_eq!(read_back_start(Chain::Tron, later(days), given_out), of_tron);
            let of_solana = read_back_start(Chain::Solana, later(days), given_out);
            assert_eq!(of_solana, given_out);
        }
    }
}

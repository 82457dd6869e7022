//! Selects the addresses that each step queries one by one at a node.
//!
//! Invariant: each live address of a chain's pool is queried at least once a day.

use crate::domain::asset::Chain;
use crate::domain::time::{DAY_MS, MINUTE_MS};
use crate::domain::{ChainState, PolledAddress, Time, Wallet};
use crate::service::{Error, Service};
use crate::store::addresses::{self, LiveAddress};
use crate::store::wallets::WalletRow;
use crate::store::{Reader, chains, destinations, observations_on_chain, wallets};
use std::collections::{BTreeMap, HashSet};
use std::sync::{Mutex, PoisonError};

/// Number of a wallet's addresses, starting at its next index, that every step queries at the node.
const POLLED_AHEAD: u32 = 20;
/// Number of indexes below a wallet's next index whose addresses are queried once a day if they have no owner.
/// Addresses above the next index are queried at least as often.
///
/// After a restore of an older copy, the file does not know which of these addresses were handed out.
const BELOW_DAILY: u32 = 10_000;
/// Time after an invoice's deadline during which every step queries the invoice's address, in milliseconds.
const POLLED_AFTER_DEADLINE_MS: i64 = 30 * DAY_MS;
const MINUTES: i64 = DAY_MS / MINUTE_MS;

type DerivedWallet = (Wallet, BTreeMap<u32, String>);

/// Cache of the addresses that a step queries one by one.
#[derive(Debug, Default)]
pub(super) struct PolledAddresses {
    pools: Mutex<BTreeMap<&'static str, OpenPoolAddresses>>,
    /// Wallet addresses without an owner, by the wallet's `seq` and the address index.
    derived: Mutex<BTreeMap<i64, DerivedWallet>>,
}

/// Addresses of one pool that every step queries at the node.
#[derive(Debug, Default)]
struct OpenPoolAddresses {
    /// `seq` of the last address that was loaded into `open`.
    last: i64,
    open: Vec<LiveAddress>,
}

impl PolledAddresses {
    /// Returns the addresses of customers, and those of invoices whose deadline passed less than 30 days ago.
    fn open_addresses_of_chain(
        &self,
        db: &Reader<'_>,
        now: Time,
        chain: Chain,
    ) -> Result<Vec<LiveAddress>, Error> {
        let mut pools = self.pools.lock().unwrap_or_else(PoisonError::into_inner);
        let of_pool = pools.entry(chain.address_pool()).or_default();
        let is_open = |one: &LiveAddress| {
            let ended = one.expires_at;
            ended.is_none_or(|ended| now.since_ms(ended) <= POLLED_AFTER_DEADLINE_MS)
        };
        let (mut last, mut new) = (of_pool.last, Vec::new());
        addresses::each_live_after(db, chain, of_pool.last, |one| {
            last = last.max(one.seq);
            new.extend(is_open(&one).then_some(one));
        })?;
        of_pool.open.retain(is_open);
        of_pool.open.append(&mut new);
        of_pool.last = last;
        Ok(of_pool.open.clone())
    }

    /// Returns the addresses of a wallet at these indexes, in the same order.
    fn wallet_addresses(&self, row: &WalletRow, indexes: &[u32]) -> Vec<String> {
        let mut derived = self.derived.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || (row.wallet, BTreeMap::new());
        let of_wallet = derived.entry(row.seq).or_insert_with(new);
        if of_wallet.0 != row.wallet {
            *of_wallet = new();
        }
        let mut branch = None;
        let mut derive = |index| {
            let branch = branch.get_or_insert_with(|| row.wallet.receiving_branch());
            let derived = branch.as_ref().and_then(|branch| branch.derive_address(index));
            // Derivation fails with a probability of 2^-127.
            derived.map(|derived| derived.address).unwrap_or_default()
        };
        let kept = &mut of_wallet.1;
        let addresses = indexes.iter().map(|index| {
            let address = kept.entry(*index).or_insert_with(|| derive(*index));
            address.clone()
        });
        addresses.collect()
    }
}

impl Service {
    /// Returns the addresses that a step of a chain queries one by one. During a rescan, returns all addresses.
    pub(in crate::service) fn addresses_to_poll(
        &self,
        db: &Reader<'_>,
        now: Time,
        known: &ChainState,
    ) -> Result<Vec<PolledAddress>, Error> {
        let chain = known.chain;
        let mut named = PollList::default();
        for one in self.live.open_addresses.open_addresses_of_chain(db, now, chain)? {
            named.push(one.address, one.since, false);
        }
        destinations::each_watched_in_pool(db, chain, |address| named.push(address, now, false))?;
        let complete = known.complete.as_ref().map_or(0, |block| block.height);
        observations_on_chain::each_unsettled_address(db, chain, complete, |address| {
            named.push(address, now, false);
        })?;
        // `looked_at` is the time up to which new blocks have been scanned. During a rescan, all addresses are due.
        let looked_at = chains::lagging_chains(db)?.scanned_to(chain);
        let looked_at = looked_at.filter(|_| known.rescan.is_none());
        let due = DueMinutes::since_previous_step(looked_at, now);
        let all = wallets::all(db)?.into_iter();
        for row in all.filter(|of| of.wallet.chain.address_pool() == chain.address_pool()) {
            let ahead = row.next_index..row.next_index.saturating_add(POLLED_AHEAD);
            let lowest = row.next_index.saturating_sub(BELOW_DAILY);
            let mut indexes = self.live.unowned.derived_indexes(row.seq, lowest);
            indexes.retain(|index| ahead.contains(index) || due.contains(i64::from(*index)));
            let derived = self.live.open_addresses.wallet_addresses(&row, &indexes);
            for (index, address) in indexes.into_iter().zip(derived) {
                named.push(address, row.created_at, !ahead.contains(&index));
            }
        }
        if !due.is_empty() {
            addresses::each_live_after(db, chain, 0, |one| {
                if due.contains(one.seq) {
                    named.push(one.address, one.since, true);
                }
            })?;
            addresses::each_unassigned(db, chain, |(seq, address, since)| {
                if due.contains(seq) {
                    named.push(address, since, true);
                }
            })?;
        }
        Ok(named.list)
    }
}

/// List of addresses to query, without duplicates.
#[derive(Default)]
struct PollList {
    list: Vec<PolledAddress>,
    seen: HashSet<String>,
}

impl PollList {
    fn push(&mut self, address: String, since: Time, is_daily: bool) {
        if !address.is_empty() && self.seen.insert(address.clone()) {
            self.list.push(PolledAddress { address, since, is_daily });
        }
    }
}

/// Range of minutes since the previous step. Each address is queried in one minute of the day, which its index or
/// `seq` selects.
struct DueMinutes {
    /// Last minute before the range, counted from 1970.
    after: i64,
    to: i64,
}

impl DueMinutes {
    /// Returns the minutes that began since the previous step, at most a day. Returns a whole day if there was no
    /// previous step.
    fn since_previous_step(looked_at: Option<Time>, now: Time) -> DueMinutes {
        let minute = |at: Time| at.0.div_euclid(MINUTE_MS);
        let to = minute(now);
        let day_before = to.saturating_sub(MINUTES);
        let after = looked_at.map_or(day_before, minute);
        DueMinutes { after: after.clamp(day_before, to), to }
    }

    fn is_empty(&self) -> bool {
        self.after >= self.to
    }

    /// Returns `true` if the index or `seq` of an address selects a minute in the range.
    fn contains(&self, number: i64) -> bool {
        let behind = self.to.saturating_sub(number).rem_euclid(MINUTES);
        behind < self.to.saturating_sub(self.after)
    }
}

#[cfg(test)]
mod tests {
    use super::{DueMinutes, MINUTE_MS, MINUTES, Time};

    #[test]
    fn each_address_is_polled_once_a_day() {
        for pause in [7_000, MINUTE_MS, 61_000, 11 * MINUTE_MS, 3 * 60 * MINUTE_MS] {
            let begin = Time(1_700_000_000_000);
            let days = 2 * MINUTES * MINUTE_MS;
            let mut counts = [0_u32; 3];
            let mut at = begin;
            while at.since_ms(begin) < days {
                let next = at.plus_ms(pause);
                let due = DueMinutes::since_previous_step(Some(at), next);
                for (count, number) in counts.iter_mut().zip([0, 719, 1_440_001]) {
                    *count += u32::from(due.contains(number));
                }
                at = next;
            }
            assert!(counts.iter().all(|count| (2..=3).contains(count)), "{pause}: {counts:?}");
        }
        let now = Time(1_700_000_000_000);
        for since in [None, Some(Time(0)), Some(now.plus_ms(-MINUTES * MINUTE_MS))] {
            let due = DueMinutes::since_previous_step(since, now);
            assert!((0..2_000).all(|number| due.contains(number)));
        }
        assert!(DueMinutes::since_previous_step(Some(now), now).is_empty());
        assert!(DueMinutes::since_previous_step(Some(now.plus_ms(MINUTE_MS)), now).is_empty());
    }
}

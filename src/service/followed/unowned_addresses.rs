//! Wallet addresses around the next index that have no owner in this file. After a restore of an older copy, or if a
//! key is used elsewhere, these addresses may be in use.
//!
//! `chains::unowned_payments` handles payments to these addresses.
//!
//! Invariant: addresses are derived outside of transactions, and each address is watched before it is stored here.

use crate::domain::Wallet;
use crate::domain::asset::Chain;
use crate::domain::wallet::INDEX_END;
use crate::service::{Error, Service};
use crate::store::wallets::{self, WalletRow};
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Number of indexes below a wallet's next index that are derived if they have no owner. Deriving one index takes
/// some 50 µs at every start.
const INDEXES_BELOW_NEXT: u32 = 1_000_000;
/// Number of indexes to derive, starting at a wallet's next index.
const INDEXES_ABOVE_NEXT: u32 = 1000;
/// Number of indexes to derive in one call. A chain's follower can stop between calls.
const INDEXES_PER_CALL: u32 = 500;
/// Number of addresses above which a log line is written: deriving so many addresses takes seconds in which the chain
/// is not read.
const LOGGED_ADDRESSES_MIN: usize = 20_000;

/// Addresses of every wallet whose chain is followed, stored as fingerprints of eight bytes.
#[derive(Debug, Default)]
pub(in crate::service) struct UnownedAddresses {
    all: Mutex<Vec<WalletFingerprints>>,
    /// Lock that is held while addresses are derived, so that only one chain of a pool derives them at a time.
    filling: Mutex<()>,
    secret: RandomState,
}

#[derive(Debug)]
struct WalletFingerprints {
    wallet: i64,
    pool: &'static str,
    derives: Wallet,
    /// Next index of the wallet when the wallet was last read.
    next: u32,
    /// First index that is neither derived nor in `missing`.
    to: u32,
    /// Ranges of indexes to derive. The last range is derived first, because addresses above the next index are
    /// likely to be paid sooner.
    missing: Vec<Range<u32>>,
    /// Fingerprints of consecutive addresses, with the index of the first.
    runs: Vec<(u32, Vec<u64>)>,
}

impl UnownedAddresses {
    fn lock(&self) -> MutexGuard<'_, Vec<WalletFingerprints>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fingerprint(&self, address: &str) -> u64 {
        self.secret.hash_one(address)
    }

    /// Returns the `seq` of the wallet that has this address, and the index of the address.
    pub(in crate::service) fn find_index(&self, chain: Chain, address: &str) -> Option<(i64, u32)> {
        let wanted = self.fingerprint(address);
        let all = self.lock();
        let mut of_pool = all.iter().filter(|of| of.pool == chain.address_pool());
        of_pool.find_map(|of| {
            let mut runs = of.runs.iter();
            runs.find_map(|(from, prints)| {
                let at = prints.iter().position(|print| *print == wanted)?;
                Some((of.wallet, from.saturating_add(u32::try_from(at).ok()?)))
            })
        })
    }

    /// Returns the indexes of a wallet, starting at `from`, that had no owner when they were derived.
    pub(super) fn derived_indexes(&self, wallet: i64, from: u32) -> Vec<u32> {
        let all = self.lock();
        let runs = all.iter().filter(|of| of.wallet == wallet);
        let runs = runs.flat_map(|of| &of.runs);
        let indexes =
            runs.flat_map(|(first, run)| *first..first.saturating_add(fingerprint_count(run)));
        indexes.filter(|index| *index >= from).collect()
    }

    /// Returns the next indexes of a wallet to derive, or `None` if all are derived.
    ///
    /// Calls `unused` once for each wallet, and again if the wallet's next index went back or the wallet changed.
    fn next_indexes_to_derive(
        &self,
        row: &WalletRow,
        unused: impl FnOnce(Range<u32>) -> Result<Vec<Range<u32>>, Error>,
    ) -> Result<Option<Range<u32>>, Error> {
        let end = row.next_index.saturating_add(INDEXES_ABOVE_NEXT).min(INDEX_END);
        let goes_on =
            |of: &WalletFingerprints| of.next <= row.next_index && of.derives == row.wallet;
        if !self.lock().iter().any(|of| of.wallet == row.seq && goes_on(of)) {
            // Indexes below the wallet's first index in this file are included: they were handed out elsewhere and
            // can still be paid.
            let from = row.next_index.saturating_sub(INDEXES_BELOW_NEXT);
            let mut missing = unused(from..row.next_index)?;
            missing.push(row.next_index..end);
            let (pool, count) =
                (row.wallet.chain.address_pool(), missing.iter().map(Range::len).sum::<usize>());
            if count > LOGGED_ADDRESSES_MIN {
                log::info!(
                    "deriving unused addresses before more blocks are read: pool={pool} wallet={} count={count}",
                    row.id
                );
            }
            let mut all = self.lock();
            let known = all.iter().position(|of| of.wallet == row.seq);
            // Addresses that were derived before are still watched, so they stay.
            let runs = known.map(|at| all.remove(at).runs).unwrap_or_default();
            all.push(WalletFingerprints {
                wallet: row.seq,
                pool: row.wallet.chain.address_pool(),
                derives: row.wallet,
                next: row.next_index,
                to: end,
                missing,
                runs,
            });
        }
        let mut all = self.lock();
        let Some(of) = all.iter_mut().find(|of| of.wallet == row.seq) else {
            return Ok(None);
        };
        of.next = row.next_index;
        if of.to < end {
            let from = of.to.max(row.next_index.saturating_sub(INDEXES_BELOW_NEXT));
            of.missing.push(from..end);
            of.to = end;
        }
        of.missing.retain(|range| !range.is_empty());
        let next = of.missing.last();
        Ok(next.map(|next| next.start..next.end.min(next.start.saturating_add(INDEXES_PER_CALL))))
    }

    /// Stores the fingerprints of derived addresses, which are watched now.
    fn insert(&self, row: &WalletRow, derived: Range<u32>, prints: Vec<u64>) {
        let mut all = self.lock();
        let Some(of) = all.iter_mut().find(|of| of.wallet == row.seq) else {
            return;
        };
        if let Some(missing) = of.missing.last_mut() {
            missing.start = derived.end;
        }
        match of.runs.last_mut() {
            Some((from, run)) if from.saturating_add(fingerprint_count(run)) == derived.start => {
                run.extend(prints);
            }
            _ => of.runs.push((derived.start, prints)),
        }
    }
}

fn fingerprint_count(run: &[u64]) -> u32 {
    u32::try_from(run.len()).unwrap_or(u32::MAX)
}

impl Service {
    /// Derives a batch of a chain's wallet addresses. Omits addresses that have an owner in this file. Returns `true`
    /// once all are derived.
    ///
    /// Passes each address to `look_for` with a number to sort by: the index minus the wallet's next index. An index
    /// below the next index gets a larger number than all others.
    pub fn derive_unowned_addresses(
        &self,
        chain: Chain,
        mut look_for: impl FnMut(&str, u32),
    ) -> Result<bool, Error> {
        let unowned = &self.live.unowned;
        let _filling = unowned.filling.lock().unwrap_or_else(PoisonError::into_inner);
        let rows = self.read(|db| Ok(wallets::all(db)?))?;
        let pool = chain.address_pool();
        for row in rows.iter().filter(|of| of.wallet.chain.address_pool() == pool) {
            let Some(range) = unowned
                .next_indexes_to_derive(row, |below| self.unowned_index_ranges(row, below))?
            else {
                continue;
            };
            let branch = row.wallet.receiving_branch();
            let derive = |index: u32| {
                let derived = branch.as_ref().and_then(|branch| branch.derive_address(index));
                // Derivation fails with a probability of 2^-127.
                let address = derived.map(|derived| derived.address).unwrap_or_default();
                let next = row.next_index;
                let distance =
                    index.checked_sub(next).unwrap_or(next.saturating_add(INDEXES_ABOVE_NEXT));
                look_for(&address, distance);
                unowned.fingerprint(&address)
            };
            let prints = range.clone().map(derive).collect();
            unowned.insert(row, range, prints);
            return Ok(false);
        }
        Ok(true)
    }

    fn unowned_index_ranges(
        &self,
        row: &WalletRow,
        within: Range<u32>,
    ) -> Result<Vec<Range<u32>>, Error> {
        let (mut unused, mut from) = (Vec::new(), within.start);
        let note = |index: u32| {
            if index > from {
                unused.push(from..index);
            }
            from = from.max(index.saturating_add(1));
        };
        self.read(|db| Ok(wallets::each_handed_out_index(db, row, note)?))?;
        if from < within.end {
            unused.push(from..within.end);
        }
        Ok(unused)
    }
}

#[cfg(test)]
#[expect(
    clippy::unwrap_used,
    clippy::single_range_in_vec_init,
    reason = "a test fails by panicking, and means the range"
)]
mod tests {
    use super::{
        INDEX_END, INDEXES_ABOVE_NEXT, INDEXES_BELOW_NEXT, INDEXES_PER_CALL, UnownedAddresses,
        WalletRow,
    };
    use crate::domain::asset::Chain;
    use crate::domain::wallet::read;
    use crate::domain::{Time, WalletHints};
    use std::ops::Range;

    const EVM: &str = "xpub6DCoCpSuQZB2jawqnGMEPS63ePKWkwWPH4TU45Q7LPXWuNd8TMtVxRrgjtEshuqpK3mdhaWHPFsBngh5GFZaM6si3yZdUsT8ddYM3PwnATt";

    fn wallet_row(next_index: u32) -> WalletRow {
        WalletRow {
            seq: 1,
            id: String::new(),
            name: None,
            wallet: read(Chain::Ethereum, EVM, &WalletHints::default()).unwrap(),
            first_index: 0,
            next_index,
            least_index: 0,
            created_at: Time(0),
            added_at: Time(0),
            retired_at: None,
            stopped_at: None,
            stopped_index: None,
        }
    }

    /// Returns all indexes to derive, in their order, with adjacent ranges joined.
    fn ranges_to_derive(
        unowned: &UnownedAddresses,
        next: u32,
        unused: &[Range<u32>],
    ) -> Vec<Range<u32>> {
        let (row, mut found) = (wallet_row(next), Vec::<Range<u32>>::new());
        while let Some(range) =
            unowned.next_indexes_to_derive(&row, |_| Ok(unused.to_vec())).unwrap()
        {
            assert!(u32::try_from(range.len()).unwrap() <= INDEXES_PER_CALL);
            unowned.insert(&row, range.clone(), vec![0; range.len()]);
            match found.last_mut() {
                Some(last) if last.end == range.start => last.end = range.end,
                _ => found.push(range),
            }
        }
        found
    }

    #[test]
    fn each_unowned_address_is_derived_once() {
        let unowned = UnownedAddresses::default();
        let unused = [3..5, 10..2000];
        assert_eq!(
            ranges_to_derive(&unowned, 3000, &unused),
            [3000..3000 + INDEXES_ABOVE_NEXT, 10..2000, 3..5]
        );
        assert_eq!(ranges_to_derive(&unowned, 3000, &[]), []);
        // The next index was lowered to 50. Indexes from 50 on are derived first, then 7 and 8, which have no owner.
        assert_eq!(ranges_to_derive(&unowned, 50, &[7..9]), [50..50 + INDEXES_ABOVE_NEXT, 7..9]);
        assert_eq!(ranges_to_derive(&unowned, 3000, &[]), [1050..3000 + INDEXES_ABOVE_NEXT]);
        // The next index advanced by one, so one more index is derived: 3000 + 1000.
        assert_eq!(ranges_to_derive(&unowned, 3001, &[]), [4000..4001]);
        assert_eq!(ranges_to_derive(&unowned, 9000, &[]), [4001..10_000]);
        // If the next index is far too high, only the addresses near it are derived.
        let far = 2_000_000_000;
        assert_eq!(
            ranges_to_derive(&unowned, far, &[]),
            [far - INDEXES_BELOW_NEXT..far + INDEXES_ABOVE_NEXT]
        );
        let end = INDEX_END;
        assert_eq!(ranges_to_derive(&unowned, end, &[]), [end - INDEXES_BELOW_NEXT..end]);
        assert_eq!(ranges_to_derive(&unowned, end, &[]), []);
    }
}

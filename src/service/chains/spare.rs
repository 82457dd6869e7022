//! Addresses around a wallet's next index that nobody has, as far as this file knows: a copy that was restored knows less
//! than the wallet, and a key may be in use elsewhere.
//!
//! What does not live here: what is done where something comes there (`astray`). What always holds: they are derived
//! outside of every transaction, and somebody looks for each of them before it is known here.

use crate::domain::asset::Chain;
use crate::domain::wallet::{INDEX_END, Wallet};
use crate::service::{Error, Service};
use crate::store::wallets::{self, WalletRow};
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// So many indexes below the next one are looked for, as far as nobody has them. More are skipped by a slip only, and each
/// takes some 50 µs to derive at every start.
const BELOW: u32 = 1_000_000;
/// So many from the next one on.
const ABOVE: u32 = 1000;
/// So many are derived at once: whoever follows a chain can be stopped in between.
const AT_ONCE: u32 = 500;
/// More that are to be derived take seconds, in which nothing is read of the chain: the log says so.
const LONG: usize = 20_000;

/// Those of every wallet whose chain is followed: eight bytes for each address.
#[derive(Debug, Default)]
pub(super) struct Spare {
    all: Mutex<Vec<Around>>,
    /// Chains of one pool wait for one another here.
    filling: Mutex<()>,
    secret: RandomState,
}

/// Those of one wallet.
#[derive(Debug)]
struct Around {
    /// The wallet, by its `seq`.
    wallet: i64,
    pool: &'static str,
    /// What derives them.
    derives: Wallet,
    /// Its next index, when it was looked at last.
    next: u32,
    /// From there on, indexes below this one are derived, or are still to be.
    to: u32,
    /// What is still to be derived, first from the last one: those above, which are paid sooner than those below.
    missing: Vec<Range<u32>>,
    /// Fingerprints of the addresses from an index on.
    runs: Vec<(u32, Vec<u64>)>,
}

impl Spare {
    fn all(&self) -> MutexGuard<'_, Vec<Around>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fingerprint(&self, address: &str) -> u64 {
        self.secret.hash_one(address)
    }

    /// Which wallet it is of, by its `seq`, and its index there.
    pub(super) fn find(&self, chain: Chain, address: &str) -> Option<(i64, u32)> {
        let wanted = self.fingerprint(address);
        let all = self.all();
        let mut of_pool = all.iter().filter(|of| of.pool == chain.address_pool());
        of_pool.find_map(|of| {
            let mut runs = of.runs.iter();
            runs.find_map(|(from, prints)| {
                let at = prints.iter().position(|print| *print == wanted)?;
                Some((of.wallet, from.saturating_add(u32::try_from(at).ok()?)))
            })
        })
    }

    /// The indexes of a wallet, from this one on, that nobody had when they were derived.
    pub(super) fn indexes(&self, wallet: i64, from: u32) -> Vec<u32> {
        let all = self.all();
        let runs = all.iter().filter(|of| of.wallet == wallet);
        let runs = runs.flat_map(|of| &of.runs);
        let indexes = runs.flat_map(|(first, run)| *first..first.saturating_add(count(run)));
        indexes.filter(|index| *index >= from).collect()
    }

    /// What is to be derived next of a wallet; nothing where all is there. `unused` is asked once for each wallet, and where
    /// one went back, or looks otherwise.
    fn next(
        &self,
        row: &WalletRow,
        unused: impl FnOnce(Range<u32>) -> Result<Vec<Range<u32>>, Error>,
    ) -> Result<Option<Range<u32>>, Error> {
        let end = row.next_index.saturating_add(ABOVE).min(INDEX_END);
        let goes_on = |of: &Around| of.next <= row.next_index && of.derives == row.wallet;
        if !self
            .all()
            .iter()
            .any(|of| of.wallet == row.seq && goes_on(of))
        {
            // Also those below the first one here: they were given elsewhere, and money may still come.
            let from = row.next_index.saturating_sub(BELOW);
            let mut missing = unused(from..row.next_index)?;
            missing.push(row.next_index..end);
            let (pool, count) = (
                row.wallet.chain.address_pool(),
                missing.iter().map(Range::len).sum::<usize>(),
            );
            if count > LONG {
                log::info!(
                    "{pool}: wallet {} has {count} indexes that nobody was given; their addresses are derived before \
                     more blocks are read",
                    row.id
                );
            }
            let mut all = self.all();
            let known = all.iter().position(|of| of.wallet == row.seq);
            // What was derived before is looked for, and stays known.
            let runs = known.map(|at| all.remove(at).runs).unwrap_or_default();
            all.push(Around {
                wallet: row.seq,
                pool: row.wallet.chain.address_pool(),
                derives: row.wallet,
                next: row.next_index,
                to: end,
                missing,
                runs,
            });
        }
        let mut all = self.all();
        let Some(of) = all.iter_mut().find(|of| of.wallet == row.seq) else {
            return Ok(None);
        };
        of.next = row.next_index;
        if of.to < end {
            let from = of.to.max(row.next_index.saturating_sub(BELOW));
            of.missing.push(from..end);
            of.to = end;
        }
        of.missing.retain(|range| !range.is_empty());
        let next = of.missing.last();
        Ok(next.map(|next| next.start..next.end.min(next.start.saturating_add(AT_ONCE))))
    }

    /// These were derived, and are looked for.
    fn put(&self, row: &WalletRow, derived: Range<u32>, prints: Vec<u64>) {
        let mut all = self.all();
        let Some(of) = all.iter_mut().find(|of| of.wallet == row.seq) else {
            return;
        };
        if let Some(missing) = of.missing.last_mut() {
            missing.start = derived.end;
        }
        match of.runs.last_mut() {
            Some((from, run)) if from.saturating_add(count(run)) == derived.start => {
                run.extend(prints);
            }
            _ => of.runs.push((derived.start, prints)),
        }
    }
}

fn count(run: &[u64]) -> u32 {
    u32::try_from(run.len()).unwrap_or(u32::MAX)
}

impl Service {
    /// Derives some of the addresses of a chain's wallets that nobody has yet, or had in a file that was lost, and hands
    /// each to `look_for`, with how far its index is from the wallet's next one, above it first. True once all are derived.
    ///
    /// # Errors
    /// None that a caller causes.
    pub fn look_ahead(
        &self,
        chain: Chain,
        mut look_for: impl FnMut(&str, u32),
    ) -> Result<bool, Error> {
        let spare = &self.live.spare;
        let _filling = spare.filling.lock().unwrap_or_else(PoisonError::into_inner);
        let rows = self.read(|db| Ok(wallets::all(db)?))?;
        let pool = chain.address_pool();
        for row in rows
            .iter()
            .filter(|of| of.wallet.chain.address_pool() == pool)
        {
            let Some(range) = spare.next(row, |below| self.unused(row, below))? else {
                continue;
            };
            let branch = row.wallet.receiving();
            let derive = |index: u32| {
                let derived = branch.as_ref().and_then(|branch| branch.derive(index));
                // Once in 2^127 there is none.
                let address = derived.map(|derived| derived.address).unwrap_or_default();
                let next = row.next_index;
                let distance = index
                    .checked_sub(next)
                    .unwrap_or(next.saturating_add(ABOVE));
                look_for(&address, distance);
                spare.fingerprint(&address)
            };
            let prints = range.clone().map(derive).collect();
            spare.put(row, range, prints);
            return Ok(false);
        }
        Ok(true)
    }

    /// The indexes of a wallet in this range that nobody has.
    fn unused(&self, row: &WalletRow, within: Range<u32>) -> Result<Vec<Range<u32>>, Error> {
        let (mut unused, mut from) = (Vec::new(), within.start);
        let note = |index: u32| {
            if index > from {
                unused.push(from..index);
            }
            from = from.max(index.saturating_add(1));
        };
        self.read(|db| Ok(wallets::each_handed_out(db, row, note)?))?;
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
    use super::{ABOVE, AT_ONCE, BELOW, INDEX_END, Spare, WalletRow};
    use crate::domain::asset::Chain;
    use crate::domain::time::Time;
    use crate::domain::wallet::{WalletHints, read};
    use std::ops::Range;

    const EVM: &str = "xpub6DCoCpSuQZB2jawqnGMEPS63ePKWkwWPH4TU45Q7LPXWuNd8TMtVxRrgjtEshuqpK3mdhaWHPFsBngh5GFZaM6si3yZdUsT8ddYM3PwnATt";

    fn row(next_index: u32) -> WalletRow {
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

    /// Everything that is to be derived, in its order, as ranges that do not touch.
    fn ranges(spare: &Spare, next: u32, unused: &[Range<u32>]) -> Vec<Range<u32>> {
        let (row, mut found) = (row(next), Vec::<Range<u32>>::new());
        while let Some(range) = spare.next(&row, |_| Ok(unused.to_vec())).unwrap() {
            assert!(u32::try_from(range.len()).unwrap() <= AT_ONCE);
            spare.put(&row, range.clone(), vec![0; range.len()]);
            match found.last_mut() {
                Some(last) if last.end == range.start => last.end = range.end,
                _ => found.push(range),
            }
        }
        found
    }

    #[test]
    fn a_thousand_above_and_what_nobody_has_below_are_derived_once() {
        let spare = Spare::default();
        let unused = [3..5, 10..2000];
        assert_eq!(
            ranges(&spare, 3000, &unused),
            [3000..3000 + ABOVE, 10..2000, 3..5]
        );
        assert_eq!(ranges(&spare, 3000, &[]), []);
        // It went back: an index had been mistyped.
        assert_eq!(ranges(&spare, 50, &[7..9]), [50..50 + ABOVE, 7..9]);
        assert_eq!(ranges(&spare, 3000, &[]), [1050..3000 + ABOVE]);
        // What was handed out meanwhile, or skipped.
        assert_eq!(ranges(&spare, 3001, &[]), [4000..4001]);
        assert_eq!(ranges(&spare, 9000, &[]), [4001..10_000]);
        // By a slip.
        let far = 2_000_000_000;
        assert_eq!(ranges(&spare, far, &[]), [far - BELOW..far + ABOVE]);
        let end = INDEX_END;
        assert_eq!(ranges(&spare, end, &[]), [end - BELOW..end]);
        assert_eq!(ranges(&spare, end, &[]), []);
    }
}

//! Addresses derived ahead of need, so that the writer does not derive them.
//!
//! `store::wallets` decides which index is next.
//!
//! Invariant: each address in stock can be derived again from its wallet and index, so a lost stock loses no data.

use super::destination_check::{UPCOMING_INDEXES, skip_if_destination};
use super::{Error, Service};
use crate::domain::asset::Chain;
use crate::domain::wallet::INDEX_END;
use crate::domain::{Mode, ReceivingBranch, Wallet, WalletAddress};
use crate::store::wallets::{self, WalletRow};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Number of addresses of a wallet to keep in stock, in addition to one for each waiting write.
const STOCKED_AHEAD: u32 = 128;

/// Stocks of the wallets that handed out addresses since the start.
#[derive(Default)]
pub(super) struct AddressStock(Mutex<Vec<WalletStock>>);

struct WalletStock {
    wallet: Wallet,
    branch: Arc<ReceivingBranch>,
    /// First index that is neither derived nor being derived.
    derived_to: u32,
    /// Derived addresses by index. `None` for an index to skip.
    ready: BTreeMap<u32, Option<WalletAddress>>,
}

impl AddressStock {
    fn lock(&self) -> MutexGuard<'_, Vec<WalletStock>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Derives the missing next addresses of a wallet, once half of the stock is used. `usable` filters out the
    /// addresses to skip.
    fn fill(
        &self,
        row: &WalletRow,
        waiting: u32,
        usable: impl FnOnce(
            Vec<(u32, WalletAddress)>,
        ) -> Result<Vec<(u32, Option<WalletAddress>)>, Error>,
    ) -> Result<(), Error> {
        let Some((branch, from, to)) = self.range_to_derive(row, waiting) else {
            return Ok(());
        };
        // The lock is not held during the derivation, because the writer needs the lock.
        let derived = (from..to).filter_map(|index| Some((index, branch.derive_address(index)?)));
        let derived = usable(derived.collect())?;
        let mut all = self.lock();
        if let Some(ahead) = all.iter_mut().find(|ahead| ahead.wallet == row.wallet) {
            ahead.ready.extend(derived);
        }
        Ok(())
    }

    /// Returns the branch and the range of indexes to derive now, if any.
    fn range_to_derive(
        &self,
        row: &WalletRow,
        waiting: u32,
    ) -> Option<(Arc<ReceivingBranch>, u32, u32)> {
        let next = row.next_index;
        let mut all = self.lock();
        if all.iter().all(|ahead| ahead.wallet != row.wallet) {
            all.push(WalletStock {
                wallet: row.wallet,
                branch: Arc::new(row.wallet.receiving_branch()?),
                derived_to: next,
                ready: BTreeMap::new(),
            });
        }
        let ahead = all.iter_mut().find(|ahead| ahead.wallet == row.wallet)?;
        ahead.ready = ahead.ready.split_off(&next);
        // If the owner lowered the next index, the derived addresses are too far above the index to be needed soon.
        let far = next.saturating_add(STOCKED_AHEAD);
        if ahead.ready.keys().next().is_some_and(|first| *first > far) {
            ahead.ready.clear();
            ahead.derived_to = next;
        }
        let from = ahead.derived_to.max(next);
        let least = next.saturating_add(STOCKED_AHEAD / 2).saturating_add(waiting);
        if from >= least.min(INDEX_END) {
            return None;
        }
        // The next `UPCOMING_INDEXES` addresses are refused as destinations, so no transfer pays a stocked address.
        let to = next.saturating_add(STOCKED_AHEAD.saturating_add(waiting).min(UPCOMING_INDEXES));
        ahead.derived_to = to.min(INDEX_END);
        Some((Arc::clone(&ahead.branch), from, ahead.derived_to))
    }

    /// Returns the address of a wallet at an index. `None` if the index is to be skipped. `usable` decides whether to
    /// skip an address that is not in stock.
    ///
    /// # Errors
    ///
    /// The errors of `usable`. [`Error::Failed`] if the index has no address, which has a probability of 2^-127.
    pub(super) fn address(
        &self,
        wallet: &Wallet,
        index: u64,
        usable: impl FnOnce(WalletAddress) -> Result<Option<WalletAddress>, Error>,
    ) -> Result<Option<WalletAddress>, Error> {
        let index = u32::try_from(index).unwrap_or(INDEX_END);
        let in_stock = {
            let all = self.lock();
            let ahead = all.iter().find(|ahead| ahead.wallet == *wallet);
            ahead.and_then(|ahead| ahead.ready.get(&index).cloned())
        };
        if let Some(in_stock) = in_stock {
            return Ok(in_stock);
        }
        // Another process may have moved the next index past the stock, so the address is not in stock.
        let derived = wallet
            .receiving_branch()
            .and_then(|branch| branch.derive_address(index))
            .ok_or_else(|| Error::Failed(format!("a wallet has no address {index}")))?;
        usable(derived)
    }
}

impl Service {
    /// Fills the stock of this chain before the writer needs the addresses.
    pub(super) fn fill_stock(&self, mode: Mode, chain: Chain) -> Result<(), Error> {
        if self.is_simulated(mode) || chain.row().imported {
            return Ok(());
        }
        let waiting = u32::try_from(self.waiting_write_count()).unwrap_or(u32::MAX);
        let row = self.read(|db| Ok::<_, Error>(wallets::active_for_chain(db, chain)?))?;
        let Some(row) = row else {
            return Ok(());
        };
        self.stock.fill(&row, waiting, |derived| {
            self.read(|db| {
                let usable = |(index, derived)| Ok((index, skip_if_destination(db, derived)?));
                derived.into_iter().map(usable).collect()
            })
        })
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{AddressStock, STOCKED_AHEAD, WalletAddress, WalletRow};
    use crate::domain::asset::Chain;
    use crate::domain::wallet::{INDEX_END, read};
    use crate::domain::{Time, WalletHints};

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

    /// Returns the indexes in stock.
    fn stocked_indexes(stock: &AddressStock) -> Vec<u32> {
        let all = stock.lock();
        all.iter().flat_map(|ahead| ahead.ready.keys().copied()).collect()
    }

    #[test]
    fn stock_contains_the_next_addresses_of_the_wallet() {
        let stock = AddressStock::default();
        for (next, waiting, from, to) in [
            (0, 0, 0, STOCKED_AHEAD),
            (5, 0, 5, STOCKED_AHEAD),
            (STOCKED_AHEAD / 2, 0, STOCKED_AHEAD / 2, STOCKED_AHEAD),
            (
                STOCKED_AHEAD / 2 + 1,
                0,
                STOCKED_AHEAD / 2 + 1,
                STOCKED_AHEAD + STOCKED_AHEAD / 2 + 1,
            ),
            (70, 200, 70, 70 + STOCKED_AHEAD + 200),
            // The next index is beyond the stock, so the stock starts again at the next index.
            (5000, 0, 5000, 5000 + STOCKED_AHEAD),
            (INDEX_END - 3, 0, INDEX_END - 3, INDEX_END),
            // The next index is far below the stock, so the stock starts again at the next index.
            (10, 0, 10, 10 + STOCKED_AHEAD),
            (INDEX_END, 0, INDEX_END, INDEX_END),
        ] {
            let all = |derived: Vec<(u32, WalletAddress)>| {
                Ok(derived.into_iter().map(|(index, one)| (index, Some(one))).collect())
            };
            stock.fill(&wallet_row(next), waiting, all).unwrap();
            assert_eq!(stocked_indexes(&stock), (from..to).collect::<Vec<_>>(), "{next}");
        }
        let wallet = wallet_row(0).wallet;
        for index in [0, INDEX_END - 1] {
            let derived = wallet.receiving_branch().unwrap().derive_address(index);
            let found = stock.address(&wallet, u64::from(index), |derived| Ok(Some(derived)));
            assert_eq!(found.unwrap(), derived, "{index}");
        }
        let beyond = stock.address(&wallet, u64::from(INDEX_END), |derived| Ok(Some(derived)));
        assert!(beyond.is_err());
    }

    #[test]
    fn unusable_index_in_stock_has_no_address() {
        let (stock, row) = (AddressStock::default(), wallet_row(0));
        let not_three = |derived: Vec<(u32, WalletAddress)>| {
            let usable = |(index, one)| (index, Some(one).filter(|_| index != 3));
            Ok(derived.into_iter().map(usable).collect())
        };
        stock.fill(&row, 0, not_three).unwrap();
        let usable = |index| {
            let found = stock.address(&row.wallet, index, |_| Ok(None));
            found.unwrap().is_some()
        };
        let far = u64::from(STOCKED_AHEAD);
        assert_eq!([2, 3, 4, far].map(usable), [true, false, true, false]);
    }
}

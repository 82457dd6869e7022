//! Checks destinations: money sent to one of our deposit addresses would come back as a payment.
//!
//! Invariant: payout addresses and new transfers exclude addresses that were handed out, are in a pool, or are among
//! the next 1 000 of a wallet. A wallet skips an address to which a transfer sends money.

use super::{Error, Service};
use crate::domain::asset::Chain;
use crate::domain::wallet::INDEX_END;
use crate::domain::{Mode, Wallet, WalletAddress};
use crate::store::wallets::{self, WalletRow};
use crate::store::{FileKind, Reader, addresses, pool_addresses};
use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;
use std::sync::{Mutex, PoisonError};

/// Number of indexes above a wallet's next index whose addresses count as ours.
pub(super) const UPCOMING_INDEXES: u32 = 1000;

/// The next addresses of each wallet, by the wallet's `seq`.
#[derive(Default)]
pub(super) struct UpcomingAddresses(Mutex<HashMap<i64, NextAddresses>>);

struct NextAddresses {
    wallet: Wallet,
    by_index: BTreeMap<u32, String>,
}

/// Returns the indexes of a wallet whose addresses count as ours before they are handed out.
fn upcoming_indexes(row: &WalletRow) -> RangeInclusive<u32> {
    let last = row.next_index.saturating_add(UPCOMING_INDEXES);
    row.next_index..=last.min(INDEX_END.saturating_sub(1))
}

impl UpcomingAddresses {
    /// Returns `true` if an address is among the next addresses of a wallet. Derives missing addresses first.
    fn contains(&self, row: &WalletRow, address: &str) -> bool {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let next = all
            .entry(row.seq)
            .or_insert_with(|| NextAddresses { wallet: row.wallet, by_index: BTreeMap::new() });
        if next.wallet != row.wallet {
            next.wallet = row.wallet;
            next.by_index.clear();
        }
        next.by_index = next.by_index.split_off(&row.next_index);
        let mut branch = None;
        for index in upcoming_indexes(row) {
            next.by_index.entry(index).or_insert_with(|| {
                let branch = branch.get_or_insert_with(|| row.wallet.receiving_branch());
                let derived = branch.as_ref().and_then(|branch| branch.derive_address(index));
                // An index has no address with a probability of 2^-127.
                derived.map(|derived| derived.address).unwrap_or_default()
            });
        }
        let mut within = next.by_index.range(upcoming_indexes(row));
        within.any(|(_, upcoming)| upcoming == address)
    }
}

impl Service {
    /// Derives the next addresses of every wallet, so that the writer does not derive them.
    pub fn derive_upcoming_addresses(&self) -> Result<(), Error> {
        if self.kind == FileKind::Sandbox {
            return Ok(());
        }
        for row in self.read(|db| Ok::<_, Error>(wallets::all(db)?))? {
            self.upcoming.contains(&row, "");
        }
        Ok(())
    }

    /// Returns the canonical form of a destination address that is not ours.
    ///
    /// # Errors
    ///
    /// The inner error is the end of a sentence that begins with the field's name.
    pub fn external_destination(
        &self,
        db: &Reader<'_>,
        mode: Mode,
        chain: Chain,
        text: &str,
    ) -> Result<Result<String, String>, Error> {
        let address = match self.valid_destination(db, mode, chain, text)? {
            Ok(address) => address,
            Err(problem) => return Ok(Err(problem)),
        };
        if !self.is_simulated(mode) && self.is_our_address(db, chain, &address)? {
            let problem = "is a deposit address of this service: a transfer to it would be booked as a payment. Give an address of another wallet";
            return Ok(Err(problem.to_owned()));
        }
        Ok(Ok(address))
    }

    /// Returns `true` if an address was handed out, is in a pool, or is one of a wallet's next 1 000.
    fn is_our_address(&self, db: &Reader<'_>, chain: Chain, address: &str) -> Result<bool, Error> {
        if addresses::find_owner(db, Mode::Live, chain, address)?.is_some()
            || pool_addresses::has_address(db, chain, address)?
            || self.live.is_unowned_address(chain, address)
        {
            return Ok(true);
        }
        let rows = wallets::all(db)?;
        let pool = chain.address_pool();
        let mut of_pool = rows.iter().filter(|row| row.wallet.chain.address_pool() == pool);
        Ok(of_pool.any(|row| self.upcoming.contains(row, address)))
    }
}

/// Returns the derived address, or `None` if a transfer sends money to this address.
pub(super) fn skip_if_destination(
    db: &Reader<'_>,
    derived: WalletAddress,
) -> Result<Option<WalletAddress>, Error> {
    let is_sent_to = addresses::is_destination(db, &derived.address)?;
    Ok((!is_sent_to).then_some(derived))
}

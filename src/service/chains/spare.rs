//! Addresses around a wallet's next index that nobody has, as far as this file knows: a copy that was restored knows less
//! than the wallet, and a key may be in use elsewhere.
//!
//! What does not live here: whose the money is that comes there: nobody's, until a person says so. What always holds: they
//! are derived once, outside of every transaction.

use crate::domain::asset::Chain;
use crate::domain::wallet::INDEX_END;
use crate::service::{Error, Service};
use crate::store::wallets::{self, WalletRow};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// So many indexes below the next one: twice as many as a restored copy is moved on by.
const BELOW: u32 = 2000;
/// So many from the next one on.
const ABOVE: u32 = 1000;

/// Those of every wallet whose chain is followed.
#[derive(Debug, Default)]
pub(super) struct Spare(Mutex<Vec<Around>>);

/// Those of one wallet.
#[derive(Debug)]
struct Around {
    /// The wallet, by its `seq`.
    wallet: i64,
    pool: &'static str,
    /// Up to which index they are derived.
    to: u32,
    addresses: Vec<String>,
}

impl Spare {
    fn all(&self) -> MutexGuard<'_, Vec<Around>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Is it one of them?
    pub(super) fn has(&self, chain: Chain, address: &str) -> bool {
        let all = self.all();
        let mut of_pool = all.iter().filter(|of| of.pool == chain.address_pool());
        of_pool.any(|of| of.addresses.iter().any(|other| other == address))
    }

    /// Derives what is missing of a wallet.
    fn fill(&self, row: &WalletRow) {
        let known = self
            .all()
            .iter()
            .find(|of| of.wallet == row.seq)
            .map(|of| of.to);
        let from = known.unwrap_or(row.next_index.saturating_sub(BELOW).max(row.first_index));
        let to = row.next_index.saturating_add(ABOVE).min(INDEX_END);
        let Some(branch) = row.wallet.receiving().filter(|_| from < to) else {
            return;
        };
        let derived = (from..to).filter_map(|index| branch.derive(index));
        let derived: Vec<String> = derived.map(|derived| derived.address).collect();
        let mut all = self.all();
        match all.iter_mut().find(|of| of.wallet == row.seq) {
            Some(of) => {
                of.addresses.extend(derived);
                of.to = of.to.max(to);
            }
            None => all.push(Around {
                wallet: row.seq,
                pool: row.wallet.chain.address_pool(),
                to,
                addresses: derived,
            }),
        }
    }
}

impl Service {
    /// The addresses of a chain's wallets that nobody has yet, or had in a file that was lost.
    pub(super) fn each_spare_address(
        &self,
        chain: Chain,
        mut each: impl FnMut(&str),
    ) -> Result<(), Error> {
        let pool = chain.address_pool();
        let rows = self.read(|db| Ok(wallets::all(db)?))?;
        let of_pool = rows
            .iter()
            .filter(|row| row.wallet.chain.address_pool() == pool);
        of_pool.for_each(|row| self.live.spare.fill(row));
        let all = self.live.spare.all();
        for of in all.iter().filter(|of| of.pool == pool) {
            of.addresses.iter().for_each(|address| each(address));
        }
        Ok(())
    }
}

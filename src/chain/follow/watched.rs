//! What is looked for: addresses by a filter, and outputs that unconfirmed payments spend.
//!
//! What always holds: an address that is in the filter when a block is read is found in it.

use crate::chain::Watched;
use crate::chain::filter::Filter;
use crate::domain::address;
use crate::domain::chain::Chain;
use crate::domain::following::{Known, Open};
use crate::domain::observation::Spent;
use crate::domain::payment::PaymentState;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

/// Everything that is watched on the chains of one pool.
#[derive(Default)]
pub struct Addresses {
    /// Scripts, or accounts.
    pub filter: Filter,
    /// The accounts, while they are few.
    accounts: Vec<[u8; 20]>,
    /// How often the file may have had others in it than were told.
    changes: u64,
    /// How many of these changes had come before it was read.
    loaded: Option<u64>,
}

/// More accounts than this are not asked for by name by anybody.
const ACCOUNTS_MAX: usize = 1000;

impl Addresses {
    /// Puts in an address of a chain; nothing where it is none, or the chain is not searched by scripts or accounts.
    pub fn insert(&mut self, chain: Chain, address: &str) {
        if let Some(script) = address::script(chain, address) {
            self.filter.insert(&script);
        } else if let Some(account) = address::account(chain, address)
            && self.filter.insert(&account)
            && self.accounts.len() <= ACCOUNTS_MAX
        {
            self.accounts.push(account);
        }
    }

    /// Has the file to be read? Which change that will then include.
    pub fn wanted(&self) -> Option<u64> {
        (self.loaded != Some(self.changes)).then_some(self.changes)
    }

    /// The file was read, up to this change.
    pub fn loaded(&mut self, change: u64) {
        self.loaded = self.loaded.max(Some(change));
    }
}

/// What is watched on all chains: those of one pool share it.
pub struct Pools(Vec<(&'static str, Arc<RwLock<Addresses>>)>);

impl Default for Pools {
    fn default() -> Pools {
        let of = |chain: Chain| (chain.address_pool(), Arc::default());
        Pools(Chain::of_each_pool().map(of).collect())
    }
}

impl Pools {
    /// What is watched on a chain.
    pub fn of(&self, chain: Chain) -> Arc<RwLock<Addresses>> {
        let pool = |(pool, _): &&(&'static str, _)| *pool == chain.address_pool();
        let found = self.0.iter().find(pool);
        found.map_or_else(Arc::default, |(_, addresses)| Arc::clone(addresses))
    }

    /// Watches an address from now on.
    pub fn insert(&self, chain: Chain, address: &str) {
        let addresses = self.of(chain);
        let mut addresses = addresses.write().unwrap_or_else(PoisonError::into_inner);
        addresses.insert(chain, address);
    }

    /// The file may have others in it by now than were told: it is read again before the next step of each chain. What is
    /// watched stays watched.
    pub fn doubt(&self) {
        for (_, addresses) in &self.0 {
            let mut addresses = addresses.write().unwrap_or_else(PoisonError::into_inner);
            addresses.changes = addresses.changes.saturating_add(1);
        }
    }
}

/// What one step looks for.
pub struct Looking<'a> {
    addresses: &'a RwLock<Addresses>,
    /// By transaction.
    outputs: HashMap<String, Vec<u32>>,
}

impl<'a> Looking<'a> {
    /// Looks for what came to these addresses, and for whoever spends what unconfirmed payments spend.
    pub fn of(addresses: &'a RwLock<Addresses>, known: &Known) -> Looking<'a> {
        let mut outputs: HashMap<String, Vec<u32>> = HashMap::new();
        for open in known.open.iter().filter(|open| is_unconfirmed(open)) {
            for spent in &open.spends {
                if let Spent::Output(txid, position) = spent {
                    outputs.entry(txid.clone()).or_default().push(*position);
                }
            }
        }
        Looking { addresses, outputs }
    }

    fn look<T>(&self, at: impl FnOnce(&Addresses) -> T) -> T {
        at(&self
            .addresses
            .read()
            .unwrap_or_else(PoisonError::into_inner))
    }
}

/// Is it seen, and in no block?
pub(super) fn is_unconfirmed(open: &Open) -> bool {
    open.state == PaymentState::Seen && open.block.is_none()
}

impl Watched for Looking<'_> {
    fn has_script(&self, script: &[u8]) -> bool {
        self.look(|addresses| addresses.filter.contains(script))
    }

    fn has_account(&self, account: &[u8; 20]) -> bool {
        self.look(|addresses| addresses.filter.contains(account))
    }

    fn has_output(&self, txid: &str, position: u32) -> bool {
        let positions = self.outputs.get(txid);
        positions.is_some_and(|positions| positions.contains(&position))
    }

    fn accounts(&self, max: usize) -> Option<Vec<[u8; 20]>> {
        let few = |addresses: &Addresses| {
            (addresses.accounts.len() <= max.min(ACCOUNTS_MAX)).then(|| addresses.accounts.clone())
        };
        self.look(few)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{Chain, Pools};

    #[test]
    fn the_file_is_read_once_and_again_after_each_doubt() {
        let pools = Pools::default();
        let (base, bitcoin) = (pools.of(Chain::Base), pools.of(Chain::Bitcoin));
        let first = base.read().unwrap().wanted().unwrap();
        // One that comes while it is read is not forgotten.
        pools.doubt();
        base.write().unwrap().loaded(first);
        let second = base.read().unwrap().wanted().unwrap();
        base.write().unwrap().loaded(second);
        // Read twice at once, by two chains of one pool.
        base.write().unwrap().loaded(first);
        assert_eq!(pools.of(Chain::Polygon).read().unwrap().wanted(), None);
        assert!(bitcoin.read().unwrap().wanted().is_some());
        pools.doubt();
        assert!(base.read().unwrap().wanted().is_some());
    }
}

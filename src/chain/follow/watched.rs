//! What is looked for: addresses by a filter, and outputs that unconfirmed payments spend.
//!
//! What always holds: an address that is in the filter when a block is read is found in it.

use crate::chain::Watched;
use crate::chain::filter::Filter;
use crate::domain::address::{self, Network};
use crate::domain::chain::Chain;
use crate::domain::following::{ChainState, OpenObservation, PolledAddress};
use crate::domain::observation::InputSource;
use crate::domain::payment::PaymentState;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, PoisonError, RwLock};

/// Everything that is watched on the chains of one pool.
#[derive(Default)]
pub struct WatchedAddresses {
    /// Scripts, or accounts.
    pub filter: Filter,
    /// The accounts that somebody has, while they are few.
    accounts: BTreeSet<[u8; 20]>,
    /// Accounts that nobody has, and how far from the next one to be handed out they are.
    spare: HashMap<[u8; 20], u32>,
    /// Are there, or were there ever, more of these than are kept by name?
    spare_is_cut: bool,
    /// How often the file may have had others in it than were told.
    changes: u64,
    /// How many of these changes had come before it was read.
    loaded: Option<u64>,
}

/// More accounts than this are not asked for by name by anybody.
const ACCOUNTS_MAX: usize = 1000;
/// More accounts that nobody has are not asked for by name: three wallets', with a thousand each, and room for a restored one.
const SPARE_MAX: usize = 4000;

impl WatchedAddresses {
    /// Puts in an address of a chain; nothing where it is none, or the chain is not searched by scripts or accounts.
    pub fn insert(&mut self, chain: Chain, address: &str) {
        if let Some(script) = address::output_script(chain, address) {
            self.filter.insert(&script);
        } else if let Some(account) = address::account_bytes(chain, address) {
            self.filter.insert(&account);
            self.spare.remove(&account);
            if self.accounts.len() <= ACCOUNTS_MAX {
                self.accounts.insert(account);
            }
        } else if address::parse(chain, Network::Main, address).is_ok() {
            // Its node is asked by name, so this only counts.
            self.filter.insert(address.as_bytes());
        }
    }

    /// Puts in an address that nobody has, so far from the next one that is handed out.
    pub fn insert_spare(&mut self, chain: Chain, address: &str, distance: u32) {
        if let Some(account) = address::account_bytes(chain, address) {
            if self.spare.len() >= SPARE_MAX {
                self.spare_is_cut = true;
                self.filter.insert(&account);
            } else if self.filter.insert(&account) {
                self.spare.insert(account, distance);
            }
        } else {
            self.insert(chain, address);
        }
    }

    /// The accounts that somebody has, where they are so few, and so many of the others, the nearest first.
    fn by_name(&self, max: usize, spare_max: usize) -> Option<Vec<[u8; 20]>> {
        if self.accounts.len() > max.min(ACCOUNTS_MAX) {
            return None;
        }
        let mut nearest: Vec<_> = self.spare.iter().collect();
        nearest.sort_unstable_by_key(|(account, distance)| (**distance, **account));
        let nearest = nearest.into_iter().take(spare_max);
        let accounts = self.accounts.iter().copied();
        Some(
            accounts
                .chain(nearest.map(|(account, _)| *account))
                .collect(),
        )
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
pub struct AddressPools(Vec<(&'static str, Arc<RwLock<WatchedAddresses>>)>);

impl Default for AddressPools {
    fn default() -> AddressPools {
        let of = |chain: Chain| (chain.address_pool(), Arc::default());
        AddressPools(Chain::first_of_each_pool().map(of).collect())
    }
}

impl AddressPools {
    /// What is watched on a chain.
    pub fn of(&self, chain: Chain) -> Arc<RwLock<WatchedAddresses>> {
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
pub struct StepTargets<'a> {
    addresses: &'a RwLock<WatchedAddresses>,
    named: &'a [PolledAddress],
    /// By transaction.
    outputs: HashMap<String, Vec<u32>>,
}

impl<'a> StepTargets<'a> {
    /// Looks for what came to these addresses, and for whoever spends what unconfirmed payments spend, or what transactions
    /// spend that were sent from here.
    pub fn of(addresses: &'a RwLock<WatchedAddresses>, known: &'a ChainState) -> StepTargets<'a> {
        let mut outputs: HashMap<String, Vec<u32>> = HashMap::new();
        let open = known.open.iter().filter(|open| is_unconfirmed(open));
        let open = open.map(|open| &open.spends);
        let sent = known.sent.iter().map(|sent| &sent.spends);
        for spent in open.chain(sent).flatten() {
            if let InputSource::Output(txid, position) = spent {
                outputs.entry(txid.clone()).or_default().push(*position);
            }
        }
        StepTargets {
            addresses,
            named: &known.named,
            outputs,
        }
    }

    fn look<T>(&self, at: impl FnOnce(&WatchedAddresses) -> T) -> T {
        at(&self
            .addresses
            .read()
            .unwrap_or_else(PoisonError::into_inner))
    }
}

/// Is it seen, and in no block?
pub(super) fn is_unconfirmed(open: &OpenObservation) -> bool {
    open.state == PaymentState::Seen && open.block.is_none()
}

impl Watched for StepTargets<'_> {
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
        self.look(|addresses| addresses.by_name(max, max.saturating_sub(addresses.accounts.len())))
    }

    fn all_accounts(&self, max: usize) -> Option<Vec<[u8; 20]>> {
        let all = |addresses: &WatchedAddresses| {
            let named = addresses.by_name(max, SPARE_MAX);
            named.filter(|_| !addresses.spare_is_cut)
        };
        self.look(all)
    }

    fn named(&self) -> &[PolledAddress] {
        self.named
    }

    fn outputs(&self) -> Vec<(String, u32)> {
        let outputs = self.outputs.iter();
        let each = outputs.flat_map(|(txid, at)| at.iter().map(|at| (txid.clone(), *at)));
        each.collect()
    }
}

/// The same, for what is read for good: accounts that nobody has are all looked for.
pub(super) struct Thorough<'a>(pub(super) &'a dyn Watched);

impl Watched for Thorough<'_> {
    fn has_script(&self, script: &[u8]) -> bool {
        self.0.has_script(script)
    }

    fn has_account(&self, account: &[u8; 20]) -> bool {
        self.0.has_account(account)
    }

    fn has_output(&self, txid: &str, position: u32) -> bool {
        self.0.has_output(txid, position)
    }

    fn accounts(&self, max: usize) -> Option<Vec<[u8; 20]>> {
        self.0.all_accounts(max)
    }

    fn all_accounts(&self, max: usize) -> Option<Vec<[u8; 20]>> {
        self.0.all_accounts(max)
    }

    fn named(&self) -> &[PolledAddress] {
        self.0.named()
    }

    fn outputs(&self) -> Vec<(String, u32)> {
        self.0.outputs()
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{AddressPools, Chain, ChainState, RwLock, StepTargets, WatchedAddresses};
    use crate::chain::Watched;
    use crate::domain::address::{self, simulated};
    use crate::domain::asset::Mode;

    #[test]
    fn what_nobody_has_is_named_behind_what_somebody_has_and_in_full_for_good() {
        let known = ChainState::nothing(Chain::Base);
        let account = |index: u64| {
            let text = simulated(Mode::Live, Chain::Base, index);
            (address::account_bytes(Chain::Base, &text).unwrap(), text)
        };
        let watched = RwLock::new(WatchedAddresses::default());
        let named = |max: usize| StepTargets::of(&watched, &known).accounts(max);
        let all = |max: usize| StepTargets::of(&watched, &known).all_accounts(max);
        // The nearest is put in last.
        for distance in (0..1000_u32).rev() {
            let (_, text) = account(u64::from(distance));
            let mut watched = watched.write().unwrap();
            watched.insert_spare(Chain::Base, &text, distance);
        }
        let first = |count: u64| (0..count).map(|index| account(index).0).collect::<Vec<_>>();
        assert_eq!(named(500), Some(first(500)));
        assert_eq!(all(500), Some(first(1000)));
        // One that is handed out is asked for first, and once.
        watched.write().unwrap().insert(Chain::Base, &account(7).1);
        watched.write().unwrap().insert(Chain::Base, &account(7).1);
        let names = named(3).unwrap();
        assert_eq!(names, [account(7).0, account(0).0, account(1).0]);
        assert_eq!(all(3).unwrap().len(), 1000);
        assert_eq!((named(0), all(0)), (None, None));
        assert!(StepTargets::of(&watched, &known).has_account(&account(999).0));
        // More than a wallet that was restored has: by contract, for good.
        for index in 1000..=4001_u32 {
            let (_, text) = account(u64::from(index));
            watched
                .write()
                .unwrap()
                .insert_spare(Chain::Base, &text, index);
        }
        assert_eq!(named(3).unwrap().len(), 3);
        assert_eq!(all(500), None);
        // Of those beyond, too, one that is handed out is asked for by name; and nobody takes what is left for all.
        for index in 10..=4001 {
            let address = account(index).1;
            watched.write().unwrap().insert(Chain::Base, &address);
            let few = watched.read().unwrap().accounts.len() <= 500;
            assert!(!few || named(500).unwrap().contains(&account(index).0));
        }
        assert_eq!(all(500), None);
    }

    #[test]
    fn the_file_is_read_once_and_again_after_each_doubt() {
        let pools = AddressPools::default();
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

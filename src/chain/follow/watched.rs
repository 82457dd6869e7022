//! Selects the addresses and outputs to watch. A filter finds addresses. The watched outputs are those that
//! unconfirmed payments and sent transactions spend.
//!
//! Invariant: a read of a block finds every payment to an address that is already in the filter.

use crate::chain::WatchTargets;
use crate::chain::filter::AddressFilter;
use crate::domain::chain::Chain;
use crate::domain::{
    ChainState, InputSource, Network, OpenObservation, PaymentState, PolledAddress, address,
};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, PoisonError, RwLock};

/// All watched addresses of the chains that share one address pool.
#[derive(Default)]
pub struct WatchedAddresses {
    /// Filter of scripts or accounts.
    pub filter: AddressFilter,
    /// Assigned accounts. Further accounts are not inserted once there are more than [`ACCOUNTS_MAX`].
    accounts: BTreeSet<[u8; 20]>,
    /// Unassigned accounts, each with its distance from the next index to be assigned.
    spare: HashMap<[u8; 20], u32>,
    /// `true` if there were ever more unassigned accounts than [`SPARE_MAX`].
    spare_is_cut: bool,
    /// Number of requests to read the database again. See [`AddressPools::request_reload`].
    changes: u64,
    /// Value of `changes` before the last read of the database; `None` before the first read.
    loaded: Option<u64>,
}

/// Largest number of assigned accounts in one filter of logs.
const ACCOUNTS_MAX: usize = 1000;
/// Largest number of unassigned accounts in one filter of logs. Three wallets have a thousand unassigned accounts
/// each; a thousand more allow for a restored wallet.
const SPARE_MAX: usize = 4000;

impl WatchedAddresses {
    /// Inserts an address of a chain. Ignores a text that is not an address of the chain.
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
            // The node is queried by address, so the filter is used only to count addresses.
            self.filter.insert(address.as_bytes());
        }
    }

    /// Inserts an unassigned address with its distance from the next index to be assigned.
    pub fn insert_unassigned(&mut self, chain: Chain, address: &str, distance: u32) {
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

    /// Returns the assigned accounts, then up to `spare_max` unassigned accounts in the order in which they will be
    /// assigned. `None` if too many accounts are assigned.
    fn accounts_to_query(&self, max: usize, spare_max: usize) -> Option<Vec<[u8; 20]>> {
        if self.accounts.len() > max.min(ACCOUNTS_MAX) {
            return None;
        }
        let mut nearest: Vec<_> = self.spare.iter().collect();
        nearest.sort_unstable_by_key(|(account, distance)| (**distance, **account));
        let nearest = nearest.into_iter().take(spare_max);
        let accounts = self.accounts.iter().copied();
        Some(accounts.chain(nearest.map(|(account, _)| *account)).collect())
    }

    /// Returns the number of the reload request that is not yet done, or `None` if all addresses of the database are
    /// loaded.
    pub fn pending_reload(&self) -> Option<u64> {
        (self.loaded != Some(self.changes)).then_some(self.changes)
    }

    /// Records that all reload requests up to this number are done.
    pub fn mark_reload_done(&mut self, change: u64) {
        self.loaded = self.loaded.max(Some(change));
    }
}

/// The watched addresses of all chains. Chains of one address pool share one set.
pub struct AddressPools(Vec<(&'static str, Arc<RwLock<WatchedAddresses>>)>);

impl Default for AddressPools {
    fn default() -> AddressPools {
        let of = |chain: Chain| (chain.address_pool(), Arc::default());
        AddressPools(Chain::first_of_each_pool().map(of).collect())
    }
}

impl AddressPools {
    /// Returns the watched addresses of a chain.
    pub fn for_chain(&self, chain: Chain) -> Arc<RwLock<WatchedAddresses>> {
        let pool = |(pool, _): &&(&'static str, _)| *pool == chain.address_pool();
        let found = self.0.iter().find(pool);
        found.map_or_else(Arc::default, |(_, addresses)| Arc::clone(addresses))
    }

    /// Adds an address to the watched addresses of a chain.
    pub fn insert(&self, chain: Chain, address: &str) {
        let addresses = self.for_chain(chain);
        let mut addresses = addresses.write().unwrap_or_else(PoisonError::into_inner);
        addresses.insert(chain, address);
    }

    /// Requests a new read of the database before the next step of each chain, because the database may contain more
    /// addresses. Addresses that are already watched stay watched.
    pub fn request_reload(&self) {
        for (_, addresses) in &self.0 {
            let mut addresses = addresses.write().unwrap_or_else(PoisonError::into_inner);
            addresses.changes = addresses.changes.saturating_add(1);
        }
    }
}

/// The addresses and outputs that one step looks for.
pub struct StepTargets<'a> {
    addresses: &'a RwLock<WatchedAddresses>,
    named: &'a [PolledAddress],
    /// Positions of outputs, by transaction id.
    outputs: HashMap<String, Vec<u32>>,
}

impl<'a> StepTargets<'a> {
    /// Creates the targets: these addresses, and the outputs that unconfirmed payments and sent transactions spend.
    pub fn new(addresses: &'a RwLock<WatchedAddresses>, known: &'a ChainState) -> StepTargets<'a> {
        let mut outputs: HashMap<String, Vec<u32>> = HashMap::new();
        let open = known.open.iter().filter(|open| is_unconfirmed(open));
        let open = open.map(|open| &open.spends);
        let sent = known.sent.iter().map(|sent| &sent.spends);
        for spent in open.chain(sent).flatten() {
            if let InputSource::Output(txid, position) = spent {
                outputs.entry(txid.clone()).or_default().push(*position);
            }
        }
        StepTargets { addresses, named: &known.named, outputs }
    }

    fn with_addresses<T>(&self, at: impl FnOnce(&WatchedAddresses) -> T) -> T {
        at(&self.addresses.read().unwrap_or_else(PoisonError::into_inner))
    }
}

pub(super) fn is_unconfirmed(open: &OpenObservation) -> bool {
    open.state == PaymentState::Seen && open.block.is_none()
}

impl WatchTargets for StepTargets<'_> {
    fn has_script(&self, script: &[u8]) -> bool {
        self.with_addresses(|addresses| addresses.filter.contains(script))
    }

    fn has_account(&self, account: &[u8; 20]) -> bool {
        self.with_addresses(|addresses| addresses.filter.contains(account))
    }

    fn has_output(&self, txid: &str, position: u32) -> bool {
        let positions = self.outputs.get(txid);
        positions.is_some_and(|positions| positions.contains(&position))
    }

    fn queried_accounts(&self, max: usize) -> Option<Vec<[u8; 20]>> {
        self.with_addresses(|addresses| {
            addresses.accounts_to_query(max, max.saturating_sub(addresses.accounts.len()))
        })
    }

    fn accounts_with_unassigned(&self, max: usize) -> Option<Vec<[u8; 20]>> {
        let all = |addresses: &WatchedAddresses| {
            let named = addresses.accounts_to_query(max, SPARE_MAX);
            named.filter(|_| !addresses.spare_is_cut)
        };
        self.with_addresses(all)
    }

    fn reads_new_blocks(&self) -> bool {
        true
    }

    fn polled_addresses(&self) -> &[PolledAddress] {
        self.named
    }

    fn watched_outputs(&self) -> Vec<(String, u32)> {
        let outputs = self.outputs.iter();
        let each = outputs.flat_map(|(txid, at)| at.iter().map(|at| (txid.clone(), *at)));
        each.collect()
    }
}

/// Targets for a second read of blocks. The accounts to query include all unassigned accounts.
pub(super) struct SecondReadTargets<'a>(pub(super) &'a dyn WatchTargets);

impl WatchTargets for SecondReadTargets<'_> {
    fn has_script(&self, script: &[u8]) -> bool {
        self.0.has_script(script)
    }

    fn has_account(&self, account: &[u8; 20]) -> bool {
        self.0.has_account(account)
    }

    fn has_output(&self, txid: &str, position: u32) -> bool {
        self.0.has_output(txid, position)
    }

    fn queried_accounts(&self, max: usize) -> Option<Vec<[u8; 20]>> {
        self.0.accounts_with_unassigned(max)
    }

    fn accounts_with_unassigned(&self, max: usize) -> Option<Vec<[u8; 20]>> {
        self.0.accounts_with_unassigned(max)
    }

    fn polled_addresses(&self) -> &[PolledAddress] {
        self.0.polled_addresses()
    }

    fn watched_outputs(&self) -> Vec<(String, u32)> {
        self.0.watched_outputs()
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{AddressPools, Chain, ChainState, RwLock, StepTargets, WatchedAddresses};
    use crate::chain::WatchTargets;
    use crate::domain::Mode;
    use crate::domain::address::{self, simulated_address};

    #[test]
    fn unassigned_accounts_follow_assigned_ones() {
        let known = ChainState::initial(Chain::Base);
        let account = |index: u64| {
            let text = simulated_address(Mode::Live, Chain::Base, index);
            (address::account_bytes(Chain::Base, &text).unwrap(), text)
        };
        let watched = RwLock::new(WatchedAddresses::default());
        let named = |max: usize| StepTargets::new(&watched, &known).queried_accounts(max);
        let all = |max: usize| StepTargets::new(&watched, &known).accounts_with_unassigned(max);
        // The account with the smallest distance is inserted last.
        for distance in (0..1000_u32).rev() {
            let (_, text) = account(u64::from(distance));
            let mut watched = watched.write().unwrap();
            watched.insert_unassigned(Chain::Base, &text, distance);
        }
        let first = |count: u64| (0..count).map(|index| account(index).0).collect::<Vec<_>>();
        assert_eq!(named(500), Some(first(500)));
        assert_eq!(all(500), Some(first(1000)));
        // An assigned account comes first in the filter of logs, and only once.
        watched.write().unwrap().insert(Chain::Base, &account(7).1);
        watched.write().unwrap().insert(Chain::Base, &account(7).1);
        let names = named(3).unwrap();
        assert_eq!(names, [account(7).0, account(0).0, account(1).0]);
        assert_eq!(all(3).unwrap().len(), 1000);
        assert_eq!((named(0), all(0)), (None, None));
        assert!(StepTargets::new(&watched, &known).has_account(&account(999).0));
        // Now there are more than `SPARE_MAX` unassigned accounts, so the list of all accounts would be incomplete
        // and is not returned.
        for index in 1000..=4001_u32 {
            let (_, text) = account(u64::from(index));
            watched.write().unwrap().insert_unassigned(Chain::Base, &text, index);
        }
        assert_eq!(named(3).unwrap().len(), 3);
        assert_eq!(all(500), None);
        // An assigned account is in the filter of logs, even if it was not among the first `SPARE_MAX` unassigned
        // accounts. The list of all accounts stays incomplete, and is never returned.
        for index in 10..=4001 {
            let address = account(index).1;
            watched.write().unwrap().insert(Chain::Base, &address);
            let few = watched.read().unwrap().accounts.len() <= 500;
            assert!(!few || named(500).unwrap().contains(&account(index).0));
        }
        assert_eq!(all(500), None);
    }

    #[test]
    fn database_is_read_again_after_each_reload_request() {
        let pools = AddressPools::default();
        let (base, bitcoin) = (pools.for_chain(Chain::Base), pools.for_chain(Chain::Bitcoin));
        let first = base.read().unwrap().pending_reload().unwrap();
        // A reload request during the read must not be lost.
        pools.request_reload();
        base.write().unwrap().mark_reload_done(first);
        let second = base.read().unwrap().pending_reload().unwrap();
        base.write().unwrap().mark_reload_done(second);
        // Two chains of one pool may read the database at the same time.
        base.write().unwrap().mark_reload_done(first);
        assert_eq!(pools.for_chain(Chain::Polygon).read().unwrap().pending_reload(), None);
        assert!(bitcoin.read().unwrap().pending_reload().is_some());
        pools.request_reload();
        assert!(base.read().unwrap().pending_reload().is_some());
    }
}

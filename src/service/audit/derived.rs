//! Derives each stored address again from its wallet and index, on all cores, and compares the result with the stored
//! address.

use super::{AuditFinding, Error};
use crate::domain::asset::Chain;
use crate::domain::progress::to_count;
use crate::domain::{
    Mode, Progress, ProgressSink, ReceivingBranch, ScriptType, Wallet, WalletAddress,
    WalletNetwork, address,
};
use crate::store::audit::derived::{self, DerivedAddress};
use crate::store::{Reader, wallets};
use std::collections::HashMap;
use std::iter::once;
use std::thread;

const ADDRESSES_PER_THREAD: usize = 1024;

enum AddressSource {
    /// The current branch of a live wallet, and its possible earlier branches: a wallet that was added again may have
    /// changed its network or script type.
    Branches(Vec<ReceivingBranch>),
    Simulated(Mode, Chain),
}

impl AddressSource {
    /// Returns the possible addresses at an index, each with its script. The address of the current branch comes
    /// first.
    fn possible_addresses(&self, index: u64) -> Box<dyn Iterator<Item = WalletAddress> + '_> {
        match self {
            AddressSource::Branches(branches) => {
                let index = u32::try_from(index).ok();
                let derive = move |branch: &ReceivingBranch| {
                    index.and_then(|index| branch.derive_address(index))
                };
                Box::new(branches.iter().filter_map(derive))
            }
            AddressSource::Simulated(mode, chain) => {
                let address = address::simulated_address(*mode, *chain, index);
                let script = address::output_script(*chain, &address);
                Box::new(once(WalletAddress { address, script }))
            }
        }
    }
}

/// Checks rule 5 of the audit: each address is derived from its wallet and index. Returns the number of addresses.
pub fn check_addresses(
    db: &Reader<'_>,
    report: &mut dyn FnMut(AuditFinding),
    tell: &mut ProgressSink<'_>,
) -> Result<u64, Error> {
    let origins = address_sources(db)?;
    let (part, of) = ("addresses derived", to_count(derived::count_derived_addresses(db)?));
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let page_size = u32::try_from(ADDRESSES_PER_THREAD.saturating_mul(threads)).unwrap_or(u32::MAX);
    let (mut after, mut done) = (0, 0_u64);
    loop {
        tell(Progress::Done { part, done, of });
        let page = derived::page_of_derived_addresses(db, after, page_size)?;
        let Some(last) = page.last() else {
            return Ok(done);
        };
        after = last.seq;
        done = done.saturating_add(to_count(page.len()));
        thread::scope(|scope| {
            let shares = page.chunks(ADDRESSES_PER_THREAD).map(|share| {
                let origins = &origins;
                scope.spawn(move || {
                    let wrong = share.iter().filter_map(|one| find_difference(origins, one));
                    wrong.collect::<Vec<_>>()
                })
            });
            for share in shares.collect::<Vec<_>>() {
                let found = share.join();
                let found = found.map_err(|_| Error::Failed("deriving failed".to_owned()))?;
                found.into_iter().for_each(&mut *report);
            }
            Ok::<_, Error>(())
        })?;
    }
}

/// Returns the address source of every wallet, by the wallet's `seq`.
fn address_sources(db: &Reader<'_>) -> Result<HashMap<i64, AddressSource>, Error> {
    let mut origins = HashMap::new();
    for row in wallets::all(db)? {
        let wallets = once(row.wallet).chain(wallet_variants(row.wallet));
        let branches = wallets.filter_map(|wallet| wallet.receiving_branch()).collect();
        origins.insert(row.seq, AddressSource::Branches(branches));
    }
    for (seq, mode, pool) in derived::simulated_wallets(db)? {
        if let Some(chain) = Chain::first_of_each_pool().find(|chain| chain.address_pool() == pool)
        {
            origins.insert(seq, AddressSource::Simulated(mode, chain));
        }
    }
    Ok(origins)
}

/// Returns the wallets of the same key with another network or script type. A wallet that is added again may change
/// both.
fn wallet_variants(wallet: Wallet) -> impl Iterator<Item = Wallet> {
    let scripts = ScriptType::ALL.iter().filter(move |_| wallet.script.is_some());
    let networks = WalletNetwork::NAMED.into_iter();
    scripts
        .flat_map(move |script| networks.clone().map(move |network| (*script, network)))
        .map(move |(script, network)| Wallet { network, script: Some(script), ..wallet })
        .filter(move |variant| *variant != wallet)
}

fn find_difference(
    origins: &HashMap<i64, AddressSource>,
    one: &DerivedAddress,
) -> Option<AuditFinding> {
    let (wallet, index) = (one.wallet, one.index);
    let origin = origins.get(&wallet);
    let mut derived = origin.into_iter().flat_map(|origin| origin.possible_addresses(index));
    let first = derived.next();
    let is_right =
        |right: &WalletAddress| right.address == one.address && right.script == one.script;
    if first.iter().any(is_right) || derived.any(|right| is_right(&right)) {
        return None;
    }
    let should = match first {
        Some(right) if right.address == one.address => {
            "with the script of an output to it".to_owned()
        }
        Some(right) => format!("{}, which that wallet derives there", right.address),
        None => "derived by a wallet of this file".to_owned(),
    };
    Some(AuditFinding {
        rule: 5,
        about: format!("address {}", one.address),
        is: format!("at index {index} of wallet {wallet}"),
        should,
    })
}

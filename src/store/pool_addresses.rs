//! The table `pool_addresses`: live addresses that the operator has imported.
//!
//! Invariant: an address changes from `free` to `assigned` once, and never back.

use super::statement::statements;
use super::{Reader, StoreError, Tx};
use crate::domain::Time;
use crate::domain::asset::Chain;

/// Numbers of addresses in a pool, by state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolCounts {
    /// Number of addresses that can be handed out.
    pub free: i64,
    /// Number of addresses that are handed out.
    pub assigned: i64,
    /// Number of addresses that must not be handed out.
    pub retired: i64,
}

statements! {
    row read(
        free = "count(*) filter (where state = 'free')",
        assigned = "count(*) filter (where state = 'assigned')",
        retired = "count(*) filter (where state = 'retired')",
    ) -> PoolCounts {
        Ok(PoolCounts { free, assigned, retired })
    }

    /// Returns the numbers of addresses in a chain's pool, by state.
    pub fn counts(db, chain: Chain) -> only PoolCounts =
        select "from pool_addresses where pool = :pool" with { pool: chain.address_pool() };

    /// Assigns the oldest free address of a pool to an account, and returns the address.
    pub fn take_free_address(tx, chain: Chain, account: i64, now: Time) -> Option<(address: String)> =
        "update pool_addresses set state = 'assigned', account = :account, assigned_at = :now \
            where seq = (select seq from pool_addresses where pool = :pool and state = 'free' order by seq limit 1) \
            returning address"
        with { pool: chain.address_pool(), account, now };

    /// Returns the number of addresses that an account took from a pool at `since` or later.
    pub fn count_taken_since(db, chain: Chain, account: i64, since: Time) -> (count: u32) =
        "select count(*) as count from pool_addresses \
            where account = :account and pool = :pool and assigned_at >= :since"
        with { pool: chain.address_pool(), account, since };

    /// Returns the time of the last import to a pool.
    pub fn last_import_time(db, chain: Chain) -> (imported_at: Option<Time>) =
        "select max(imported_at) as imported_at from pool_addresses where pool = :pool"
        with { pool: chain.address_pool() };

    fn count_free_up_to(db, pool: &str, limit: i64) -> (count: u32) =
        "select count(*) as count from \
            (select 1 from pool_addresses where pool = :pool and state = 'free' limit :limit)";

    /// Returns `true` if the address was imported to the pool of this chain.
    pub fn has_address(db, chain: Chain, address: &str) -> (found: bool) =
        "select exists (select 1 from pool_addresses \
            where pool = :pool and address = :address) as found"
        with { pool: chain.address_pool(), address };

    /// Returns `true` if any address was imported to the pool of this chain.
    pub fn has_any_address(db, chain: Chain) -> (found: bool) =
        "select exists (select 1 from pool_addresses where pool = :pool) as found" with { pool: chain.address_pool() };

    fn insert(tx, pool: &str, address: &str, imported_at: Time) -> Option<i64> = file "sql/pool_addresses/import.sql";
}

/// Imports an address to a pool. Returns `false` if the pool has the address already, or the address has an owner.
pub fn import_address(
    tx: &Tx<'_>,
    chain: Chain,
    address: &str,
    now: Time,
) -> Result<bool, StoreError> {
    let added = insert(tx, chain.address_pool(), address, now)?;
    if let Some(seq) = added {
        tx.note_pool_addition(chain.address_pool(), seq);
    }
    tx.record_change(|changes| changes.addresses.push((chain, address.to_owned())));
    Ok(added.is_some())
}

/// Returns `true` if a pool has more than `count` free addresses.
pub fn has_more_free_than(db: &Reader<'_>, chain: Chain, count: u32) -> Result<bool, StoreError> {
    let limit = i64::from(count).saturating_add(1);
    Ok(count_free_up_to(db, chain.address_pool(), limit)? > count)
}

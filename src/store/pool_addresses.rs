//! The table `pool_addresses`: live addresses that the operator imported.
//!
//! What always holds: an address goes from `free` to `assigned` once, and never back.

use super::statement::{commands, rows, values};
use super::{Reader, StoreError, Tx};
use crate::domain::asset::Chain;
use crate::domain::time::Time;
use rusqlite::named_params;

/// How many addresses of a pool are in each state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// To be handed out.
    pub free: i64,
    /// Handed out.
    pub assigned: i64,
    /// Never handed out any more.
    pub retired: i64,
}

rows! {
    fn read(
        free = "count(*) filter (where state = 'free')",
        assigned = "count(*) filter (where state = 'assigned')",
        retired = "count(*) filter (where state = 'retired')",
    ) -> Counts {
        Ok(Counts { free, assigned, retired })
    }

    /// How many addresses of a chain's pool are in each state.
    pub fn counts(db, chain: Chain) -> Counts =
        select "from pool_addresses where pool = :pool" with { pool: chain.address_pool() };
}

values! {
    TAKE(address: String) = "update pool_addresses set state = 'assigned', account = :account, assigned_at = :now \
        where seq = (select seq from pool_addresses where pool = :pool and state = 'free' order by seq limit 1) \
        returning address";

    /// How many addresses of a pool an account took at this time or later.
    pub fn taken_since(db, chain: Chain, account: i64, since: Time) -> (count: u32) =
        "select count(*) as count from pool_addresses \
            where account = :account and pool = :pool and assigned_at >= :since"
        with { pool: chain.address_pool(), account, since };

    /// When addresses were last added to a pool.
    pub fn last_import(db, chain: Chain) -> (imported_at: Option<Time>) =
        "select max(imported_at) as imported_at from pool_addresses where pool = :pool"
        with { pool: chain.address_pool() };

    FREE_UP_TO(count: u32) = "select count(*) as count from \
        (select 1 from pool_addresses where pool = :pool and state = 'free' limit :limit)";

    /// Was this address imported?
    pub fn has(db, chain: Chain, address: &str) -> (found: bool) =
        "select exists (select 1 from pool_addresses \
            where pool = :pool and address = :address) as found"
        with { pool: chain.address_pool(), address };

    /// Was anything ever imported for this chain?
    pub fn is_used(db, chain: Chain) -> (found: bool) =
        "select exists (select 1 from pool_addresses where pool = :pool) as found" with { pool: chain.address_pool() };
}

commands! {
    IMPORT = file "sql/pool_addresses/import.sql";
}

/// Adds an address to a pool; false where the pool knows it already, or somebody has it.
pub fn import(tx: &Tx<'_>, chain: Chain, address: &str, now: Time) -> Result<bool, StoreError> {
    let params =
        named_params! { ":pool": chain.address_pool(), ":address": address, ":imported_at": now };
    let added = IMPORT.insert_unless_there(tx, params)?;
    if let Some(seq) = added {
        tx.adds_to_pool(chain.address_pool(), seq);
    }
    tx.note(|changes| changes.addresses.push((chain, address.to_owned())));
    Ok(added.is_some())
}

/// Takes the longest imported address that is free, for an account.
pub fn take(
    tx: &Tx<'_>,
    chain: Chain,
    account: i64,
    now: Time,
) -> Result<Option<String>, StoreError> {
    let params = named_params! { ":pool": chain.address_pool(), ":account": account, ":now": now };
    TAKE.first(tx, params)
}

/// Are more addresses of a pool free than this?
pub fn has_more_than(db: &Reader<'_>, chain: Chain, count: u32) -> Result<bool, StoreError> {
    let params = named_params! { ":pool": chain.address_pool(), ":limit": i64::from(count).saturating_add(1) };
    Ok(FREE_UP_TO.only(db, params)? > count)
}

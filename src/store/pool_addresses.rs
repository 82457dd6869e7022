//! The table `pool_addresses`: live addresses that the operator imported.
//!
//! What always holds: an address goes from `free` to `assigned` once, and never back.

use super::row::Columns;
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

/// Adds an address to a pool; false where the pool knows it already, or somebody has it.
pub fn import(tx: &Tx<'_>, chain: Chain, address: &str, now: Time) -> Result<bool, StoreError> {
    let params =
        named_params! { ":pool": chain.address_pool(), ":address": address, ":imported_at": now };
    let added = tx.run(include_str!("../../sql/pool_addresses/import.sql"), params)?;
    Ok(added == 1)
}

/// Takes the longest imported address that is free, for an account.
pub fn take(
    tx: &Tx<'_>,
    chain: Chain,
    account: i64,
    now: Time,
) -> Result<Option<String>, StoreError> {
    let params = named_params! { ":pool": chain.address_pool(), ":account": account, ":now": now };
    tx.first(
        include_str!("../../sql/pool_addresses/take.sql"),
        params,
        |row| row.get(0),
    )
}

/// How many addresses of a pool an account took at this time or later.
pub fn taken_since(
    db: &Reader<'_>,
    chain: Chain,
    account: i64,
    since: Time,
) -> Result<u32, StoreError> {
    let params =
        named_params! { ":pool": chain.address_pool(), ":account": account, ":since": since };
    let sql = include_str!("../../sql/pool_addresses/taken_since.sql");
    Ok(db.first(sql, params, |row| row.get(0))?.unwrap_or(0))
}

/// When addresses were last added to a pool.
pub fn last_import(db: &Reader<'_>, chain: Chain) -> Result<Option<Time>, StoreError> {
    let sql = include_str!("../../sql/pool_addresses/last_import.sql");
    let params = named_params! { ":pool": chain.address_pool() };
    Ok(db.first(sql, params, |row| row.get(0))?.flatten())
}

/// Are more addresses of a pool free than this?
pub fn has_more_than(db: &Reader<'_>, chain: Chain, count: u32) -> Result<bool, StoreError> {
    let sql = include_str!("../../sql/pool_addresses/free_up_to.sql");
    let params = named_params! { ":pool": chain.address_pool(), ":limit": i64::from(count).saturating_add(1) };
    let free: Option<u32> = db.first(sql, params, |row| row.get(0))?;
    Ok(free.unwrap_or(0) > count)
}

/// Was anything ever imported for this chain?
pub fn is_used(db: &Reader<'_>, chain: Chain) -> Result<bool, StoreError> {
    let used = db.first(
        include_str!("../../sql/pool_addresses/is_used.sql"),
        named_params! { ":pool": chain.address_pool() },
        |row| row.get(0),
    )?;
    Ok(used.unwrap_or(false))
}

/// How many addresses of a chain's pool are in each state.
pub fn counts(db: &Reader<'_>, chain: Chain) -> Result<Counts, StoreError> {
    let counts = db.first(
        include_str!("../../sql/pool_addresses/counts.sql"),
        named_params! { ":pool": chain.address_pool() },
        |row| {
            let mut next = Columns::of(row);
            Ok(Counts {
                free: next.take()?,
                assigned: next.take()?,
                retired: next.take()?,
            })
        },
    )?;
    counts.ok_or_else(|| StoreError::Failed("a count has no row".to_owned()))
}

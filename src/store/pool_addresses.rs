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

/// Takes the longest imported address that is free.
pub fn take(tx: &Tx<'_>, chain: Chain) -> Result<Option<String>, StoreError> {
    tx.first(
        include_str!("../../sql/pool_addresses/take.sql"),
        named_params! { ":pool": chain.address_pool() },
        |row| row.get(0),
    )
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

//! At which index of its wallet each address of an older file is, and what an output to it holds.
//!
//! What always holds: an index is noted only where the wallet derives that very address from it.

use super::StoreError;
use crate::domain::address;
use crate::domain::asset::{Chain, Mode};
use crate::store::row::Columns;
use rusqlite::{Connection, named_params};

/// The version from which on each address is written with its wallet, index and script.
pub(super) const SINCE: usize = 4;

/// Notes them in a file whose addresses are without: until then all that were derived were simulated.
pub(super) fn work_out(conn: &Connection) -> Result<(), StoreError> {
    let mut wallets = conn.prepare(include_str!("../../../sql/wallets/all.sql"))?;
    let mut derived = conn.prepare(include_str!("../../../sql/addresses/derived.sql"))?;
    let rows = wallets.query_map([], |row| {
        let mut next = Columns::of(row);
        Ok((next.take()?, next.take()?, next.take()?, next.take()?))
    })?;
    for row in rows {
        let (wallet, mode, pool, next_index): (i64, Mode, String, i64) = row?;
        let mut pools = Chain::of_each_pool();
        let of_nothing = || StoreError::Failed(format!("there is no pool {pool:?}"));
        let chain = pools
            .find(|chain| chain.address_pool() == pool)
            .ok_or_else(of_nothing)?;
        for index in 0..u64::try_from(next_index).unwrap_or(0) {
            let address = address::simulated(mode, chain, index);
            derived.execute(named_params! {
                ":wallet": wallet, ":index": i64::try_from(index).unwrap_or(i64::MAX), ":mode": mode, ":pool": pool,
                ":address": address, ":script": address::script(chain, &address),
            })?;
        }
    }
    Ok(())
}

//! Migration to version 4: finds the wallet, the index and the script of each address.
//!
//! Invariant: an index is stored only if the wallet derives the address from the index.

use super::StoreError;
use crate::domain::address;
use crate::domain::asset::{Chain, Mode};
use crate::store::statement::{commands, values};
use rusqlite::{Connection, named_params};

values! {
    WALLETS(seq: i64, mode: Mode, pool: String, next_index: i64) = "select seq, mode, pool, next_index from wallets";
}

commands! {
    DERIVED = "update addresses set wallet = :wallet, wallet_index = :index, script = :script \
        where mode = :mode and pool = :pool and address = :address";
}

/// First version that stores each address with its wallet, index and script.
pub(super) const SINCE: usize = 4;

/// Stores wallet, index and script of each derived address of an older file. Such a file has only simulated
/// addresses.
pub(super) fn save_wallet_indexes(conn: &Connection) -> Result<(), StoreError> {
    for (wallet, mode, pool, next_index) in WALLETS.all_on_conn(conn, &[])? {
        let mut pools = Chain::first_of_each_pool();
        let of_nothing = || StoreError::Failed(format!("there is no pool {pool:?}"));
        let chain = pools.find(|chain| chain.address_pool() == pool).ok_or_else(of_nothing)?;
        for index in 0..u64::try_from(next_index).unwrap_or(0) {
            let address = address::simulated_address(mode, chain, index);
            let derived = named_params! {
                ":wallet": wallet, ":index": i64::try_from(index).unwrap_or(i64::MAX), ":mode": mode, ":pool": pool,
                ":address": address, ":script": address::output_script(chain, &address),
            };
            DERIVED.execute(conn, derived)?;
        }
    }
    Ok(())
}

//! The table `wallets`: what derives addresses, and the next index of each.
//!
//! What does not live here: the addresses themselves (`addresses`). What always holds: an index is taken once, and
//! is committed as taken before anybody is shown its address.

use super::statement::{commands, values};
use super::{StoreError, Tx};
use crate::domain::asset::{Chain, Mode};
use rusqlite::named_params;

/// One index of a wallet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// The wallet, by its `seq`.
    pub wallet: i64,
    /// The index that was taken.
    pub index: u64,
}

values! {
    SIMULATED(seq: i64, next_index: i64) = "select seq, next_index from wallets \
        where mode = :mode and pool = :pool and network = 'simulated'";
}

commands! {
    INSERT_SIMULATED = "insert into wallets (mode, pool, network, next_index) values (:mode, :pool, 'simulated', 1)";
    TAKE = "update wallets set next_index = next_index + 1 where seq = :seq";
}

/// Takes the next index of the simulated wallet that hands out this chain's addresses.
pub fn take_simulated(tx: &Tx<'_>, mode: Mode, chain: Chain) -> Result<Taken, StoreError> {
    let params = named_params! { ":mode": mode, ":pool": chain.address_pool() };
    // Neither an upsert nor `returning`: SQLite would keep what each of them changes, to take it back.
    let Some((wallet, index)) = SIMULATED.first(tx, params)? else {
        let wallet = INSERT_SIMULATED.insert(tx, params)?;
        return Ok(Taken { wallet, index: 0 });
    };
    TAKE.run(tx, named_params! { ":seq": wallet })?;
    let index = u64::try_from(index)
        .map_err(|_| StoreError::Failed(format!("wallet {wallet} has no index {index}")))?;
    Ok(Taken { wallet, index })
}

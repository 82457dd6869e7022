//! The table `wallets`: what derives addresses, and from which index on.
//!
//! What does not live here: the addresses themselves (`addresses`). What always holds: an index is taken once, and what was
//! taken is committed before anybody is shown its address.

use super::row::Columns;
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

/// Takes the next index of the simulated wallet that hands out this chain's addresses.
pub fn take_simulated(tx: &Tx<'_>, mode: Mode, chain: Chain) -> Result<Taken, StoreError> {
    let params = named_params! { ":mode": mode, ":pool": chain.address_pool() };
    let sql = include_str!("../../sql/wallets/next_index.sql");
    let taken: Option<(i64, i64)> = tx.first(sql, params, |row| {
        let mut next = Columns::of(row);
        Ok((next.take()?, next.take()?))
    })?;
    taken
        .and_then(|(wallet, index)| {
            let index = u64::try_from(index).ok()?;
            Some(Taken { wallet, index })
        })
        .ok_or_else(|| StoreError::Failed("no address index".to_owned()))
}

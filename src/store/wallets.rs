//! The table `wallets`: what derives addresses, and the next index of each.
//!
//! What does not live here: the addresses themselves (`addresses`). What always holds: an index is taken once, and
//! is committed as taken before anybody is shown its address.

use super::statement::values;
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
    TAKE_SIMULATED(seq: i64, taken: i64) = "insert into wallets (mode, pool, network, next_index) \
        values (:mode, :pool, 'simulated', 1) \
        on conflict (mode, pool) where network = 'simulated' do update set next_index = next_index + 1 \
        returning seq, next_index - 1 as taken";
}

/// Takes the next index of the simulated wallet that hands out this chain's addresses.
pub fn take_simulated(tx: &Tx<'_>, mode: Mode, chain: Chain) -> Result<Taken, StoreError> {
    let params = named_params! { ":mode": mode, ":pool": chain.address_pool() };
    let taken = TAKE_SIMULATED.first(tx, params)?;
    taken
        .and_then(|(wallet, index)| {
            let index = u64::try_from(index).ok()?;
            Some(Taken { wallet, index })
        })
        .ok_or_else(|| StoreError::Failed("no address index".to_owned()))
}

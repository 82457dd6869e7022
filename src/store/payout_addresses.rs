//! The table `payout_addresses`: where an account's payouts go, one for each chain.

use super::row::Columns;
use super::{Reader, StoreError, Tx};
use crate::domain::asset::Chain;
use crate::domain::time::Time;
use rusqlite::named_params;

/// The address and when it was set.
pub fn get(
    db: &Reader<'_>,
    account: i64,
    chain: Chain,
) -> Result<Option<(String, Time)>, StoreError> {
    let params = named_params! { ":account": account, ":chain": chain };
    db.first(
        include_str!("../../sql/payout_addresses/get.sql"),
        params,
        |row| {
            let mut next = Columns::of(row);
            Ok((next.take()?, next.take()?))
        },
    )
}

/// Sets the address; its cooling starts at `changed_at`.
pub fn put(
    tx: &Tx<'_>,
    account: i64,
    chain: Chain,
    address: &str,
    changed_at: Time,
) -> Result<(), StoreError> {
    let params = named_params! { ":account": account, ":chain": chain, ":address": address, ":changed_at": changed_at };
    tx.run(include_str!("../../sql/payout_addresses/put.sql"), params)
        .map(drop)
}

/// Removes the address.
pub fn remove(tx: &Tx<'_>, account: i64, chain: Chain) -> Result<(), StoreError> {
    let params = named_params! { ":account": account, ":chain": chain };
    tx.run(
        include_str!("../../sql/payout_addresses/remove.sql"),
        params,
    )
    .map(drop)
}

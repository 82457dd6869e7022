//! The table `payout_addresses`: destinations of payouts, one for each account and chain.

use super::statement::{commands, values};
use super::{StoreError, Tx};
use crate::domain::Time;
use crate::domain::asset::Chain;
use rusqlite::named_params;

values! {
    /// Returns the payout address of an account, and the time at which it was set.
    pub fn get(db, account: i64, chain: Chain) -> Option<(address: String, changed_at: Time)> =
        "select address, changed_at from payout_addresses where account = :account and chain = :chain";
}

commands! {
    PUT = "insert into payout_addresses (account, chain, address, changed_at) \
        values (:account, :chain, :address, :changed_at) \
        on conflict (account, chain) do update set address = excluded.address, changed_at = excluded.changed_at";
    REMOVE = "delete from payout_addresses where account = :account and chain = :chain";
}

/// Sets the payout address of an account. Its cooling period starts at `changed_at`.
pub fn put(
    tx: &Tx<'_>,
    account: i64,
    chain: Chain,
    address: &str,
    changed_at: Time,
) -> Result<(), StoreError> {
    let params = named_params! { ":account": account, ":chain": chain, ":address": address, ":changed_at": changed_at };
    tx.note_payout_address_change(account, chain.as_str());
    PUT.run(tx, params)
}

/// Removes the payout address of an account.
pub fn remove(tx: &Tx<'_>, account: i64, chain: Chain) -> Result<(), StoreError> {
    tx.note_payout_address_change(account, chain.as_str());
    REMOVE.run(tx, named_params! { ":account": account, ":chain": chain })
}

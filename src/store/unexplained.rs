//! The tables `unexplained` and `balance_walks`: addresses whose balance is higher than the sum of their known
//! payments, and the progress of the search for such addresses.

use super::statement::{sql_limit, statements};
use crate::domain::asset::Chain;
use crate::domain::{Asset, Time, Units};

/// An address whose balance is higher than the sum of its known payments.
#[derive(Clone, Debug)]
pub struct UnexplainedBalance {
    /// Coin of the balance.
    pub asset: &'static Asset,
    /// Text of the address.
    pub address: String,
    /// Balance of the address.
    pub balance: Units,
    /// Sum of the known payments.
    pub known: Units,
    /// Height of the block after which the balance was read.
    pub height: u32,
}

statements! {
    row read(asset, address, balance, known, height) -> UnexplainedBalance {
        Ok(UnexplainedBalance { asset, address, balance, known, height })
    }

    /// Returns the addresses of a chain with an unexplained balance.
    pub fn of_chain(db, chain: Chain, limit: u32) -> Vec<UnexplainedBalance> =
        select "from unexplained where chain = :chain order by address limit :limit";

    /// Returns the last address that the search has checked, and the time of the check.
    pub fn last_checked_address(db, chain: Chain) -> Option<(address: String, looked_at: Time)> =
        "select address, looked_at from balance_walks where chain = :chain";

    /// Returns the next live addresses after the address `after`, in alphabetical order.
    pub fn next_addresses(db, chain: Chain, after: &str, limit: usize) -> Vec<(address: String)> =
        "select address from addresses \
            where mode = 'live' and pool = :pool and address > :after order by address limit :limit"
        with { pool: chain.address_pool(), after, limit: sql_limit(limit) };

    /// Saves the unexplained balance of an address.
    pub fn put(tx, found: &UnexplainedBalance, now: Time) =
        "insert into unexplained (chain, address, asset, balance, known, height, seen_at) \
            values (:chain, :address, :asset, :balance, :known, :height, :now) on conflict (chain, address) \
            do update set balance = excluded.balance, known = excluded.known, height = excluded.height"
        with {
            chain: found.asset.chain, address: found.address, asset: found.asset.id, balance: found.balance,
            known: found.known, height: found.height, now,
        };

    /// Deletes the unexplained balance of an address.
    pub fn remove(tx, chain: Chain, address: &str) =
        "delete from unexplained where chain = :chain and address = :address";

    /// Stores the last address that the search has checked.
    pub fn save_last_checked(tx, chain: Chain, address: &str, now: Time) =
        "insert into balance_walks (chain, address, looked_at) values (:chain, :address, :now) \
            on conflict (chain) do update set address = excluded.address, looked_at = excluded.looked_at";
}

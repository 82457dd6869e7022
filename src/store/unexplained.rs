//! The tables `unexplained` and `balance_walks`: addresses that have more than is known to have come to them, and how far the
//! look for such has come.
//!
//! What does not live here: what is known to have come (`observations_on_chain`).

use super::statement::{commands, rows, sql_limit, values};
use crate::domain::asset::{Asset, Chain};
use crate::domain::money::coin::Units;
use crate::domain::time::Time;

/// An address that has more than is known to have come to it.
#[derive(Clone, Debug)]
pub struct Unexplained {
    /// The coin.
    pub asset: &'static Asset,
    /// The address.
    pub address: String,
    /// What it has.
    pub balance: Units,
    /// What is known to have come to it.
    pub known: Units,
    /// Behind which block.
    pub height: u32,
}

rows! {
    fn read(asset, address, balance, known, height) -> Unexplained {
        Ok(Unexplained { asset, address, balance, known, height })
    }

    /// The addresses of a chain that have more than is known.
    pub fn of(db, chain: Chain, limit: u32) -> Vec<Unexplained> =
        select "from unexplained where chain = :chain order by address limit :limit";
}

values! {
    /// Up to which address the look has come, and when that was.
    pub fn walk(db, chain: Chain) -> Option<(address: String, looked_at: Time)> =
        "select address, looked_at from balance_walks where chain = :chain";

    /// The next live addresses behind one, in the order of their texts.
    pub fn next(db, chain: Chain, after: &str, limit: usize) -> Vec<(address: String)> =
        "select address from addresses \
            where mode = 'live' and pool = :pool and address > :after order by address limit :limit"
        with { pool: chain.address_pool(), after, limit: sql_limit(limit) };
}

commands! {
    /// Notes that an address has more than is known.
    pub fn put(tx, found: &Unexplained, now: Time) =
        "insert into unexplained (chain, address, asset, balance, known, height, seen_at) \
            values (:chain, :address, :asset, :balance, :known, :height, :now) on conflict (chain, address) \
            do update set balance = excluded.balance, known = excluded.known, height = excluded.height"
        with {
            chain: found.asset.chain, address: found.address, asset: found.asset.id, balance: found.balance,
            known: found.known, height: found.height, now,
        };

    /// Notes that an address has no more than is known.
    pub fn remove(tx, chain: Chain, address: &str) =
        "delete from unexplained where chain = :chain and address = :address";

    /// Notes up to which address the look has come.
    pub fn looked(tx, chain: Chain, address: &str, now: Time) =
        "insert into balance_walks (chain, address, looked_at) values (:chain, :address, :now) \
            on conflict (chain) do update set address = excluded.address, looked_at = excluded.looked_at";
}

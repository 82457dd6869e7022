//! The tables `unexplained` and `balance_walks`: addresses that have more than is known to have come to them, and how far the
//! look for such has come.
//!
//! What does not live here: what is known to have come (`observations_on_chain`).

use super::statement::{commands, rows, values};
use super::{Reader, StoreError, Tx};
use crate::domain::asset::{Asset, Chain};
use crate::domain::money::coin::Units;
use crate::domain::time::Time;
use rusqlite::named_params;

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
    OF = select "from unexplained where chain = :chain order by address limit :limit";
}

values! {
    WALK(address: String, looked_at: Time) = "select address, looked_at from balance_walks where chain = :chain";
    NEXT(address: String) = "select address from addresses \
        where mode = 'live' and pool = :pool and address > :after order by address limit :limit";
}

commands! {
    PUT = "insert into unexplained (chain, address, asset, balance, known, height, seen_at) \
        values (:chain, :address, :asset, :balance, :known, :height, :now) on conflict (chain, address) \
        do update set balance = excluded.balance, known = excluded.known, height = excluded.height";
    REMOVE = "delete from unexplained where chain = :chain and address = :address";
    LOOKED = "insert into balance_walks (chain, address, looked_at) values (:chain, :address, :now) \
        on conflict (chain) do update set address = excluded.address, looked_at = excluded.looked_at";
}

/// The addresses of a chain that have more than is known.
pub fn of(db: &Reader<'_>, chain: Chain, limit: u32) -> Result<Vec<Unexplained>, StoreError> {
    OF.all(db, named_params! { ":chain": chain, ":limit": limit })
}

/// Up to which address the look has come, and when that was.
pub fn walk(db: &Reader<'_>, chain: Chain) -> Result<Option<(String, Time)>, StoreError> {
    WALK.first(db, named_params! { ":chain": chain })
}

/// The next live addresses behind one, in the order of their texts.
pub fn next(
    db: &Reader<'_>,
    chain: Chain,
    after: &str,
    limit: usize,
) -> Result<Vec<String>, StoreError> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let params = named_params! { ":pool": chain.address_pool(), ":after": after, ":limit": limit };
    NEXT.all(db, params)
}

/// Notes that an address has more than is known.
pub fn put(tx: &Tx<'_>, found: &Unexplained, now: Time) -> Result<(), StoreError> {
    let params = named_params! {
        ":chain": found.asset.chain, ":address": found.address, ":asset": found.asset.id, ":balance": found.balance,
        ":known": found.known, ":height": found.height, ":now": now,
    };
    PUT.run(tx, params).map(drop)
}

/// Notes that an address has no more than is known.
pub fn remove(tx: &Tx<'_>, chain: Chain, address: &str) -> Result<(), StoreError> {
    let params = named_params! { ":chain": chain, ":address": address };
    REMOVE.run(tx, params).map(drop)
}

/// Notes up to which address the look has come.
pub fn looked(tx: &Tx<'_>, chain: Chain, address: &str, now: Time) -> Result<(), StoreError> {
    let params = named_params! { ":chain": chain, ":address": address, ":now": now };
    LOOKED.run(tx, params).map(drop)
}

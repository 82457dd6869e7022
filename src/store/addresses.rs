//! The tables `addresses` and `address_counters`: who owns which deposit address.

use super::{Reader, StoreError, Tx};
use crate::domain::asset::{Chain, Mode};
use rusqlite::named_params;

/// Takes the next index of what hands out this chain's addresses.
pub fn next_index(tx: &Tx<'_>, mode: Mode, chain: Chain) -> Result<u64, StoreError> {
    let params = named_params! { ":mode": mode, ":pool": chain.address_pool() };
    let index: Option<i64> = tx.first(
        include_str!("../../sql/addresses/next_index.sql"),
        params,
        |row| row.get(0),
    )?;
    index
        .and_then(|index| u64::try_from(index).ok())
        .ok_or_else(|| StoreError::Failed("no address index".to_owned()))
}

/// Gives an address to an invoice, for ever.
pub fn insert(
    tx: &Tx<'_>,
    mode: Mode,
    chain: Chain,
    address: &str,
    invoice: i64,
) -> Result<(), StoreError> {
    let params = named_params! { ":mode": mode, ":pool": chain.address_pool(), ":address": address, ":invoice": invoice };
    tx.insert(include_str!("../../sql/addresses/insert.sql"), params)
        .map(drop)
}

/// The address an invoice has on this chain.
pub fn of_invoice(
    db: &Reader<'_>,
    invoice: i64,
    chain: Chain,
) -> Result<Option<String>, StoreError> {
    let params = named_params! { ":invoice": invoice, ":pool": chain.address_pool() };
    db.first(
        include_str!("../../sql/addresses/of_invoice.sql"),
        params,
        |row| row.get(0),
    )
}

/// The invoice that owns an address, and what handed it out.
pub fn owner(db: &Reader<'_>, mode: Mode, address: &str) -> Result<Option<i64>, StoreError> {
    let params = named_params! { ":mode": mode, ":address": address };
    db.first(
        include_str!("../../sql/addresses/owner.sql"),
        params,
        |row| row.get(0),
    )
}

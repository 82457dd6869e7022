//! The tables `addresses` and `address_counters`: who owns which deposit address.
//!
//! What always holds: an address has one owner, and a row is never changed nor given to another.

use super::row::Columns;
use super::{Reader, StoreError, Tx};
use crate::domain::asset::{Chain, Mode};
use rusqlite::named_params;

/// Who an address belongs to, for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// An invoice, by its `seq`.
    Invoice(i64),
    /// A customer, by its `seq`.
    Customer(i64),
}

impl Owner {
    /// The columns `invoice` and `customer`.
    fn columns(self) -> [Option<i64>; 2] {
        match self {
            Owner::Invoice(seq) => [Some(seq), None],
            Owner::Customer(seq) => [None, Some(seq)],
        }
    }
}

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

/// Gives an address to its owner, for ever.
pub fn insert(
    tx: &Tx<'_>,
    mode: Mode,
    chain: Chain,
    address: &str,
    owner: Owner,
) -> Result<(), StoreError> {
    let [invoice, customer] = owner.columns();
    let params = named_params! {
        ":mode": mode, ":pool": chain.address_pool(), ":address": address, ":invoice": invoice, ":customer": customer,
    };
    tx.insert(include_str!("../../sql/addresses/insert.sql"), params)
        .map(drop)
}

/// The address that somebody has on this chain.
pub fn of_owner(db: &Reader<'_>, owner: Owner, chain: Chain) -> Result<Option<String>, StoreError> {
    let [invoice, customer] = owner.columns();
    let params =
        named_params! { ":invoice": invoice, ":customer": customer, ":pool": chain.address_pool() };
    db.first(
        include_str!("../../sql/addresses/of_owner.sql"),
        params,
        |row| row.get(0),
    )
}

/// Whose address it is, on this chain and on those that share its pool.
pub fn owner(
    db: &Reader<'_>,
    mode: Mode,
    chain: Chain,
    address: &str,
) -> Result<Option<Owner>, StoreError> {
    let params =
        named_params! { ":mode": mode, ":pool": chain.address_pool(), ":address": address };
    let found: Option<[Option<i64>; 2]> = db.first(
        include_str!("../../sql/addresses/owner.sql"),
        params,
        |row| {
            let mut next = Columns::of(row);
            Ok([next.take()?, next.take()?])
        },
    )?;
    match found {
        None => Ok(None),
        Some([Some(invoice), None]) => Ok(Some(Owner::Invoice(invoice))),
        Some([None, Some(customer)]) => Ok(Some(Owner::Customer(customer))),
        Some(_) => Err(StoreError::Failed(format!(
            "address {address} has not one owner"
        ))),
    }
}

//! The tables `own_transfers` and `own_addresses`: money of our own that moves.

use super::row::Columns;
use super::{Reader, StoreError, Tx};
use crate::domain::asset::{Chain, Mode};
use crate::domain::observation::OwnTransfer;
use rusqlite::{Row, named_params};

fn read(row: &Row<'_>) -> rusqlite::Result<OwnTransfer> {
    let mut next = Columns::of(row);
    Ok(OwnTransfer {
        seq: next.take()?,
        id: next.take()?,
        observation: next.take()?,
        txid: next.take()?,
        state: next.take()?,
    })
}

/// Adds a transfer of our own that was just seen.
pub fn insert(tx: &Tx<'_>, id: &str, observation: i64) -> Result<(), StoreError> {
    let params = named_params! { ":id": id, ":observation": observation };
    let sql = include_str!("../../sql/own_transfers/insert.sql");
    tx.insert(sql, params).map(drop)
}

/// The transfer with this id.
pub fn by_id(db: &Reader<'_>, id: &str) -> Result<Option<OwnTransfer>, StoreError> {
    let sql = include_str!("../../sql/own_transfers/by_id.sql");
    db.first(sql, named_params! { ":id": id }, read)
}

/// The transfer of our own that an observation came to.
pub fn of_observation(
    db: &Reader<'_>,
    observation: i64,
) -> Result<Option<OwnTransfer>, StoreError> {
    let sql = include_str!("../../sql/own_transfers/of_observation.sql");
    db.first(sql, named_params! { ":observation": observation }, read)
}

/// Was an address declared as our own?
pub fn is_declared(
    db: &Reader<'_>,
    mode: Mode,
    chain: Chain,
    address: &str,
) -> Result<bool, StoreError> {
    let params =
        named_params! { ":mode": mode, ":pool": chain.address_pool(), ":address": address };
    let sql = include_str!("../../sql/own_addresses/is_own.sql");
    let found = db.first(sql, params, |row| row.get(0))?;
    Ok(found.unwrap_or(false))
}

//! The table `coins_off`: the coins that the operator has switched off.

use super::row::Columns;
use super::{Reader, StoreError, Tx};
use crate::domain::asset::Asset;
use crate::domain::time::Time;
use rusqlite::named_params;

/// Every coin that is off, and since when.
pub fn all(db: &Reader<'_>) -> Result<Vec<(&'static Asset, Time)>, StoreError> {
    db.all(include_str!("../../sql/coins_off/all.sql"), [], |row| {
        let mut next = Columns::of(row);
        Ok((next.take()?, next.take()?))
    })
}

/// Switches a coin off; one that is off stays so.
pub fn insert(tx: &Tx<'_>, asset: &Asset, since: Time) -> Result<bool, StoreError> {
    let params = named_params! { ":asset": asset.id, ":since": since };
    tx.run(include_str!("../../sql/coins_off/insert.sql"), params)
        .map(|rows| rows == 1)
}

/// Switches a coin on; false where it was on.
pub fn remove(tx: &Tx<'_>, asset: &Asset) -> Result<bool, StoreError> {
    let params = named_params! { ":asset": asset.id };
    tx.run(include_str!("../../sql/coins_off/remove.sql"), params)
        .map(|rows| rows == 1)
}

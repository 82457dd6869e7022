//! The table `chains`: the chains that have not been looked at up to now.
//!
//! What always holds: a chain without a row has been looked at up to the clock.

use super::row::Columns;
use super::{Reader, StoreError, Tx};
use crate::domain::asset::{Chain, Mode};
use crate::domain::scanned::Scanned;
use crate::domain::time::Time;
use rusqlite::named_params;

/// Up to when the chains of live mode have been looked at.
pub fn scanned(db: &Reader<'_>) -> Result<Scanned, StoreError> {
    let params = named_params! { ":mode": Mode::Live };
    let sql = include_str!("../../sql/chains/scanned.sql");
    let lagging = db.all(sql, params, |row| {
        let mut next = Columns::of(row);
        Ok((next.take()?, next.take()?))
    })?;
    Ok(Scanned::of(lagging))
}

/// A live chain is looked at no further than up to this moment; one that lags already, no further than it was.
pub fn hold(tx: &Tx<'_>, chain: Chain, at: Time) -> Result<(), StoreError> {
    let params = named_params! { ":mode": Mode::Live, ":chain": chain, ":scanned_to": at };
    tx.run(include_str!("../../sql/chains/hold.sql"), params)?;
    tx.note(|changes| changes.deadlines = true);
    Ok(())
}

/// A live chain has been looked at up to the clock.
pub fn release(tx: &Tx<'_>, chain: Chain) -> Result<(), StoreError> {
    let params = named_params! { ":mode": Mode::Live, ":chain": chain };
    tx.run(include_str!("../../sql/chains/release.sql"), params)?;
    tx.note(|changes| changes.deadlines = true);
    Ok(())
}

//! The table `chains`: the chains that have not been scanned up to now.
//!
//! What always holds: a chain without a row has been scanned up to the clock's time.

use super::statement::{commands, values};
use super::{Reader, StoreError, Tx};
use crate::domain::asset::{Chain, Mode};
use crate::domain::scanned::LaggingChains;
use crate::domain::time::Time;
use rusqlite::named_params;

values! {
    SCANNED(chain: Chain, scanned_to: Time) = "select chain, scanned_to from chains where mode = :mode";
}

commands! {
    HOLD = "insert into chains (mode, chain, scanned_to) values (:mode, :chain, :scanned_to) \
        on conflict (mode, chain) do nothing";
    /// It never goes back.
    REACH = "insert into chains (mode, chain, scanned_to) values (:mode, :chain, :scanned_to) \
        on conflict (mode, chain) do update set scanned_to = max(scanned_to, excluded.scanned_to)";
    RELEASE = "delete from chains where mode = :mode and chain = :chain";
}

/// Up to when the chains of live mode have been looked at.
pub fn scanned(db: &Reader<'_>) -> Result<LaggingChains, StoreError> {
    let params = named_params! { ":mode": Mode::Live };
    let lagging = SCANNED.all(db, params)?;
    Ok(LaggingChains::new(lagging))
}

/// A live chain is looked at no further than up to this moment; one that lags already, no further than it was.
pub fn hold(tx: &Tx<'_>, chain: Chain, at: Time) -> Result<(), StoreError> {
    let params = named_params! { ":mode": Mode::Live, ":chain": chain, ":scanned_to": at };
    HOLD.run(tx, params)?;
    tx.note(|changes| changes.deadlines = true);
    Ok(())
}

/// A live chain has been looked at up to the clock.
pub fn release(tx: &Tx<'_>, chain: Chain) -> Result<(), StoreError> {
    let params = named_params! { ":mode": Mode::Live, ":chain": chain };
    RELEASE.run(tx, params)?;
    tx.note(|changes| changes.deadlines = true);
    Ok(())
}

/// From now on somebody may pay on a chain: whoever follows it hears of that with the commit.
pub fn expect(tx: &Tx<'_>, mode: Mode, chain: Chain) {
    if mode.is_live() {
        tx.note(|changes| changes.expected.push(chain));
    }
}

/// A live chain has been looked at up to this moment, or further.
pub fn reach(tx: &Tx<'_>, chain: Chain, to: Time) -> Result<(), StoreError> {
    let params = named_params! { ":mode": Mode::Live, ":chain": chain, ":scanned_to": to };
    REACH.run(tx, params)?;
    tx.note(|changes| changes.deadlines = true);
    Ok(())
}

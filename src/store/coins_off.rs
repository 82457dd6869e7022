//! The table `coins_off`: coins that the operator has switched off.

use super::statement::{commands, values};
use super::states::ValueKind;
use super::{StoreError, Tx};
use crate::domain::asset::ASSETS;
use crate::domain::{Asset, Time};
use rusqlite::named_params;

values! {
    /// Returns every coin that is switched off, and the time at which it was switched off.
    pub fn all(db) -> Vec<(asset: &'static Asset, since: Time)> = "select asset, since from coins_off order by asset";
}

commands! {
    INSERT = "insert into coins_off (asset, since) values (:asset, :since) on conflict (asset) do nothing";
    REMOVE = "delete from coins_off where asset = :asset";
}

/// Returns `true` if a coin is switched off on every chain.
pub fn is_off_everywhere(off: &[(&'static Asset, Time)], coin: &str) -> bool {
    let mut on_chains = ASSETS.iter().filter(|asset| asset.symbol == coin);
    on_chains.all(|asset| off.iter().any(|(other, _)| *other == asset))
}

/// Switches a coin off. Returns `false` if the coin was off already.
pub fn switch_off(tx: &Tx<'_>, asset: &Asset, since: Time) -> Result<bool, StoreError> {
    tx.note_coin_change(ValueKind::CoinOff, "coin_off", asset.id);
    INSERT.changes(tx, named_params! { ":asset": asset.id, ":since": since })
}

/// Switches a coin on. Returns `false` if the coin was on already.
pub fn switch_on(tx: &Tx<'_>, asset: &Asset) -> Result<bool, StoreError> {
    tx.note_coin_change(ValueKind::CoinOff, "coin_off", asset.id);
    REMOVE.changes(tx, named_params! { ":asset": asset.id })
}

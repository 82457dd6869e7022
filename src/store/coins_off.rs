//! The table `coins_off`: the coins that the operator has switched off.

use super::statement::{commands, values};
use super::states::ValueKind;
use super::{StoreError, Tx};
use crate::domain::asset::{ASSETS, Asset};
use crate::domain::time::Time;
use rusqlite::named_params;

values! {
    /// Every coin that is off, and since when.
    pub fn all(db) -> Vec<(asset: &'static Asset, since: Time)> = "select asset, since from coins_off order by asset";
}

commands! {
    INSERT = "insert into coins_off (asset, since) values (:asset, :since) on conflict (asset) do nothing";
    REMOVE = "delete from coins_off where asset = :asset";
}

/// Is a coin off on every chain that it is on?
pub fn everywhere(off: &[(&'static Asset, Time)], coin: &str) -> bool {
    let mut on_chains = ASSETS.iter().filter(|asset| asset.symbol == coin);
    on_chains.all(|asset| off.iter().any(|(other, _)| *other == asset))
}

/// Switches a coin off; one that is off stays so.
pub fn insert(tx: &Tx<'_>, asset: &Asset, since: Time) -> Result<bool, StoreError> {
    let params = named_params! { ":asset": asset.id, ":since": since };
    tx.changes_coin(ValueKind::CoinOff, "coin_off", asset.id);
    INSERT.changes(tx, params)
}

/// Switches a coin on; false where it was on.
pub fn remove(tx: &Tx<'_>, asset: &Asset) -> Result<bool, StoreError> {
    let params = named_params! { ":asset": asset.id };
    tx.changes_coin(ValueKind::CoinOff, "coin_off", asset.id);
    REMOVE.changes(tx, params)
}

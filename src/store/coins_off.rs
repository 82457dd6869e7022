//! The table `coins_off`: coins that the operator has switched off.

use super::statement::statements;
use super::states::ValueKind;
use crate::domain::asset::ASSETS;
use crate::domain::{Asset, Time};

statements! {
    /// Returns every coin that is switched off, and the time at which it was switched off.
    pub fn all(db) -> Vec<(asset: &'static Asset, since: Time)> = "select asset, since from coins_off order by asset";

    /// Switches a coin off. Returns `false` if the coin was off already.
    pub fn switch_off(tx, asset: &Asset, since: Time) -> bool =
        "insert into coins_off (asset, since) values (:asset, :since) on conflict (asset) do nothing"
        with { asset: asset.id, since }
        noting { tx.note_coin_change(ValueKind::CoinOff, "coin_off", asset.id); };

    /// Switches a coin on. Returns `false` if the coin was on already.
    pub fn switch_on(tx, asset: &Asset) -> bool =
        "delete from coins_off where asset = :asset"
        with { asset: asset.id }
        noting { tx.note_coin_change(ValueKind::CoinOff, "coin_off", asset.id); };
}

/// Returns `true` if a coin is switched off on every chain.
pub fn is_off_everywhere(off: &[(&'static Asset, Time)], coin: &str) -> bool {
    let mut on_chains = ASSETS.iter().filter(|asset| asset.symbol == coin);
    on_chains.all(|asset| off.iter().any(|(other, _)| *other == asset))
}

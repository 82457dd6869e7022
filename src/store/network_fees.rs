//! The table `network_fees`: network fees of coins that the operator has set.

use super::statement::statements;
use super::states::ValueKind;
use super::{StoreError, Tx};
use crate::domain::{Asset, Units};

statements! {
    /// Returns the network fee that the operator has set for a coin, in base units.
    pub fn of_asset(db, asset: &Asset) -> Option<(fee: Units)> =
        "select fee from network_fees where asset = :asset" with { asset: asset.id };

    fn put(tx, asset: &str, fee: Units) =
        "insert into network_fees (asset, fee) values (:asset, :fee) \
            on conflict (asset) do update set fee = excluded.fee";

    fn remove(tx, asset: &str) = "delete from network_fees where asset = :asset";
}

/// Sets the network fee of a coin. `None` restores the program's default.
pub fn set(tx: &Tx<'_>, asset: &Asset, fee: Option<Units>) -> Result<(), StoreError> {
    tx.note_coin_change(ValueKind::NetworkFee, "network_fee", asset.id);
    match fee {
        Some(fee) => put(tx, asset.id, fee),
        None => remove(tx, asset.id),
    }
}

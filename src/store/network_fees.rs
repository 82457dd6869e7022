//! The table `network_fees`: the network fee of each coin for which the operator has set one.

use super::statement::{commands, values};
use super::states::ValueKind;
use super::{StoreError, Tx};
use crate::domain::asset::Asset;
use crate::domain::money::coin::Units;
use rusqlite::named_params;

values! {
    /// The fee that is set for a coin, in its base units.
    pub fn of(db, asset: &Asset) -> Option<(fee: Units)> =
        "select fee from network_fees where asset = :asset" with { asset: asset.id };
}

commands! {
    PUT = "insert into network_fees (asset, fee) values (:asset, :fee) \
        on conflict (asset) do update set fee = excluded.fee";
    REMOVE = "delete from network_fees where asset = :asset";
}

/// Sets the fee of a coin; `None` goes back to the program's.
pub fn set(tx: &Tx<'_>, asset: &Asset, fee: Option<Units>) -> Result<(), StoreError> {
    tx.changes_coin(ValueKind::NetworkFee, "network_fee", asset.id);
    match fee {
        Some(fee) => PUT.run(tx, named_params! { ":asset": asset.id, ":fee": fee }),
        None => REMOVE.run(tx, named_params! { ":asset": asset.id }),
    }
    .map(drop)
}

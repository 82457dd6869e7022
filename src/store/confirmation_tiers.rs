//! The table `confirmation_tiers`: how many confirmations payments need, of the coins of which the operator has said so.
//!
//! What always holds: a coin has all of its tiers here, or none.

use super::statement::{commands, values};
use super::states::ValueKind;
use super::{Reader, StoreError, Tx};
use crate::domain::asset::Asset;
use crate::domain::chain::Depth;
use crate::domain::confirmations::{Tier, Tiers};
use crate::domain::money::Cents;
use rusqlite::named_params;

values! {
    OF_ASSET(below: Option<Cents>, confirmations: Option<u32>) = "select below, confirmations from confirmation_tiers \
        where asset = :asset order by below is null, below";
}

commands! {
    INSERT = "insert into confirmation_tiers (asset, below, confirmations) values (:asset, :below, :confirmations)";
    REMOVE = "delete from confirmation_tiers where asset = :asset";
}

/// The tiers of a coin: what the operator has said, else those of its chain.
pub fn of(db: &Reader<'_>, asset: &Asset) -> Result<Tiers, StoreError> {
    let stored = OF_ASSET.all(db, named_params! { ":asset": asset.id })?;
    if stored.is_empty() {
        return Ok(Tiers::default_for(asset.chain));
    }
    let tiers = stored.into_iter().map(|(below, blocks)| Tier {
        below,
        needed: blocks.map_or(Depth::Final, Depth::Blocks),
    });
    Ok(Tiers::new(tiers.collect()))
}

/// Keeps what the operator says of a coin; nothing: its chain's tiers hold again.
pub fn set(tx: &Tx<'_>, asset: &Asset, tiers: Option<&Tiers>) -> Result<(), StoreError> {
    tx.changes_coin(ValueKind::Confirmations, "confirmations", asset.id);
    REMOVE.run(tx, named_params! { ":asset": asset.id })?;
    for tier in tiers.map_or(&[][..], Tiers::as_slice) {
        let blocks = match tier.needed {
            Depth::Blocks(blocks) => Some(blocks),
            Depth::Final => None,
        };
        let params =
            named_params! { ":asset": asset.id, ":below": tier.below, ":confirmations": blocks };
        INSERT.run(tx, params)?;
    }
    Ok(())
}

//! The table `confirmation_tiers`: numbers of confirmations that payments in a coin need, as set by the operator.
//!
//! Invariant: either all tiers of a coin are stored, or none.

use super::statement::statements;
use super::states::ValueKind;
use super::{Reader, StoreError, Tx};
use crate::domain::{Asset, Cents, ConfirmationTier, ConfirmationTiers, Depth};

statements! {
    fn of_asset(db, asset: &str) -> Vec<(below: Option<Cents>, confirmations: Option<u32>)> =
        "select below, confirmations from confirmation_tiers where asset = :asset order by below is null, below";

    fn insert(tx, asset: &str, tier: &ConfirmationTier) = insert into confirmation_tiers {
        asset, below: tier.below, confirmations: needed_blocks(tier.needed),
    };

    fn remove(tx, asset: &str) = "delete from confirmation_tiers where asset = :asset";
}

/// Returns the number of blocks that `depth` requires; `None` if the block of the payment must be final.
fn needed_blocks(depth: Depth) -> Option<u32> {
    match depth {
        Depth::Blocks(blocks) => Some(blocks),
        Depth::Final => None,
    }
}

/// Returns the tiers that the operator has set for a coin, or else the default tiers of its chain.
pub fn tiers_for_asset(db: &Reader<'_>, asset: &Asset) -> Result<ConfirmationTiers, StoreError> {
    let stored = of_asset(db, asset.id)?;
    if stored.is_empty() {
        return Ok(ConfirmationTiers::default_for(asset.chain));
    }
    let tiers = stored.into_iter().map(|(below, blocks)| ConfirmationTier {
        below,
        needed: blocks.map_or(Depth::Final, Depth::Blocks),
    });
    Ok(ConfirmationTiers::new(tiers.collect()))
}

/// Stores the operator's tiers of a coin. `None` restores the default tiers of its chain.
pub fn set_tiers(
    tx: &Tx<'_>,
    asset: &Asset,
    tiers: Option<&ConfirmationTiers>,
) -> Result<(), StoreError> {
    tx.note_coin_change(ValueKind::Confirmations, "confirmations", asset.id);
    remove(tx, asset.id)?;
    for tier in tiers.map_or(&[][..], ConfirmationTiers::as_slice) {
        insert(tx, asset.id, tier)?;
    }
    Ok(())
}

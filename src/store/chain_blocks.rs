//! The table `chain_blocks`: hashes of blocks that can still be given up.
//!
//! What always holds: one hash for each height of a chain.

use super::statement::{commands, rows};
use super::{Reader, StoreError, Tx};
use crate::domain::asset::Chain;
use crate::domain::observation::Block;
use rusqlite::named_params;

rows! {
    fn read(height, hash) -> Block {
        Ok(Block { height, hash })
    }
    NEWEST_FIRST = select "from chain_blocks where chain = :chain order by height desc";
}

commands! {
    KEEP = "insert into chain_blocks (chain, height, hash) values (:chain, :height, :hash) \
        on conflict (chain, height) do update set hash = excluded.hash";
    GIVE_UP = "delete from chain_blocks where chain = :chain and height > :height";
    PRUNE = "delete from chain_blocks where chain = :chain and height < :height";
}

/// The blocks of a chain whose hashes are kept, the newest first.
pub fn newest_first(db: &Reader<'_>, chain: Chain) -> Result<Vec<Block>, StoreError> {
    NEWEST_FIRST.all(db, named_params! { ":chain": chain })
}

/// Keeps the hash of a block.
pub fn keep(tx: &Tx<'_>, chain: Chain, block: &Block) -> Result<(), StoreError> {
    let params = named_params! { ":chain": chain, ":height": block.height, ":hash": block.hash };
    KEEP.run(tx, params).map(drop)
}

/// Gives up the blocks above this height.
pub fn give_up(tx: &Tx<'_>, chain: Chain, height: u32) -> Result<(), StoreError> {
    let params = named_params! { ":chain": chain, ":height": height };
    GIVE_UP.run(tx, params).map(drop)
}

/// Forgets the blocks below this height, which cannot be given up any more.
pub fn prune(tx: &Tx<'_>, chain: Chain, height: u32) -> Result<(), StoreError> {
    let params = named_params! { ":chain": chain, ":height": height };
    PRUNE.run(tx, params).map(drop)
}

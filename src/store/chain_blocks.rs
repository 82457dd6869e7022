//! The table `chain_blocks`: hashes of blocks that can still be given up.
//!
//! What always holds: one hash for each height of a chain.

use super::statement::{commands, rows};
use crate::domain::asset::Chain;
use crate::domain::observation::Block;

rows! {
    fn read(height, hash) -> Block {
        Ok(Block { height, hash })
    }

    /// The blocks of a chain whose hashes are kept, the newest first.
    pub fn newest_first(db, chain: Chain) -> Vec<Block> =
        select "from chain_blocks where chain = :chain order by height desc";
}

commands! {
    /// Keeps the hash of a block.
    pub fn keep(tx, chain: Chain, block: &Block) =
        "insert into chain_blocks (chain, height, hash) values (:chain, :height, :hash) \
            on conflict (chain, height) do update set hash = excluded.hash"
        with { chain, height: block.height, hash: block.hash };

    /// Gives up the blocks above this height.
    pub fn give_up(tx, chain: Chain, height: u32) =
        "delete from chain_blocks where chain = :chain and height > :height";

    /// Forgets the blocks below this height, which cannot be given up any more.
    pub fn prune(tx, chain: Chain, height: u32) =
        "delete from chain_blocks where chain = :chain and height < :height";
}

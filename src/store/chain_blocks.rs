//! The table `chain_blocks`: hashes of recent blocks, which a reorg can still replace.
//!
//! Invariant: each height of a chain has at most one hash.

use super::statement::statements;
use crate::domain::Block;
use crate::domain::asset::Chain;

statements! {
    row read(height, hash) -> Block {
        Ok(Block { height, hash })
    }

    /// Returns the stored blocks of a chain, newest first.
    pub fn newest_first(db, chain: Chain) -> Vec<Block> =
        select "from chain_blocks where chain = :chain order by height desc";

    /// Saves the hash of a block.
    pub fn put(tx, chain: Chain, block: &Block) =
        "insert into chain_blocks (chain, height, hash) values (:chain, :height, :hash) \
            on conflict (chain, height) do update set hash = excluded.hash"
        with { chain, height: block.height, hash: block.hash };

    /// Deletes the blocks above this height, after a reorg.
    pub fn remove_above(tx, chain: Chain, height: u32) =
        "delete from chain_blocks where chain = :chain and height > :height";

    /// Deletes the blocks below this height, which a reorg can no longer replace.
    pub fn prune_below(tx, chain: Chain, height: u32) =
        "delete from chain_blocks where chain = :chain and height < :height";
}

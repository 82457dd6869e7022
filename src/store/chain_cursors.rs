//! The table `chain_cursors`: the position up to which each live chain has been read.
//!
//! Invariant: a chain has at most one row, and its network never changes.

use super::statement::statements;
use crate::domain::asset::Chain;
use crate::domain::{Block, ChainPosition, Time};

/// The position up to which a chain has been read.
#[derive(Clone, Debug)]
pub struct ChainCursor {
    /// Chain that is read.
    pub chain: Chain,
    /// Network on which the chain is read, for example its main network.
    pub network: String,
    /// Last block that was read, and its time.
    pub reached: ChainPosition,
    /// Newest block that is never read again, as a reorg can no longer replace it.
    pub complete: Block,
    /// Height of the node's newest block at the last step of the follower.
    pub head_height: u32,
    /// Time of the node's newest block, in Unix milliseconds.
    pub head_time: Time,
    /// Time of the last step of the follower, in Unix milliseconds.
    pub stepped_at: Time,
    /// Reason why the chain is no longer followed; `None` while it is followed.
    pub stopped: Option<String>,
}

statements! {
    row read(
        chain, network, height, hash, time, complete_height, complete_hash, head_height, head_time, stepped_at, stopped,
    ) -> ChainCursor {
        Ok(ChainCursor {
            chain, network,
            reached: ChainPosition { block: Block { height, hash }, time },
            complete: Block { height: complete_height, hash: complete_hash },
            head_height, head_time, stepped_at, stopped,
        })
    }

    /// Returns the cursor of a chain.
    pub fn of_chain(db, chain: Chain) -> Option<ChainCursor> = select "from chain_cursors where chain = :chain";

    /// Returns the cursors of all chains.
    pub fn all(db) -> Vec<ChainCursor> = select "from chain_cursors order by chain";

    /// Saves the cursor of a chain.
    ///
    /// # Errors
    /// [`StoreError`](super::StoreError) if the chain is followed on another network.
    pub fn put(tx, cursor: &ChainCursor) =
        file "sql/chain_cursors/put.sql"
        with {
            chain: cursor.chain, network: cursor.network, height: cursor.reached.block.height,
            hash: cursor.reached.block.hash, time: cursor.reached.time, complete_height: cursor.complete.height,
            complete_hash: cursor.complete.hash, head_height: cursor.head_height, head_time: cursor.head_time,
            stepped_at: cursor.stepped_at, stopped: cursor.stopped,
        }
        else("{} is not followed on {}", cursor.chain, cursor.network);
}

//! The table `chain_cursors`: how far each real chain has been followed.
//!
//! What does not live here: up to when that holds invoices (`chains`). What always holds: a chain has at most one row, and
//! its network never changes.

use super::statement::{commands, rows};
use super::{StoreError, Tx};
use crate::domain::asset::Chain;
use crate::domain::following::Reached;
use crate::domain::observation::Block;
use crate::domain::time::Time;
use rusqlite::named_params;

/// A chain that is followed.
#[derive(Clone, Debug)]
pub struct Cursor {
    /// Which chain.
    pub chain: Chain,
    /// The network that it is followed on.
    pub network: String,
    /// The last block that was read.
    pub reached: Reached,
    /// The last block that was read for good.
    pub complete: Block,
    /// The newest block of the node at the last step.
    pub head_height: u32,
    /// The time in it.
    pub head_time: Time,
    /// When that was.
    pub stepped_at: Time,
    /// Why it is not followed any more.
    pub stopped: Option<String>,
}

rows! {
    fn read(
        chain, network, height, hash, time, complete_height, complete_hash, head_height, head_time, stepped_at, stopped,
    ) -> Cursor {
        Ok(Cursor {
            chain, network,
            reached: Reached { block: Block { height, hash }, time },
            complete: Block { height: complete_height, hash: complete_hash },
            head_height, head_time, stepped_at, stopped,
        })
    }

    /// Where a chain has come to.
    pub fn of(db, chain: Chain) -> Option<Cursor> = select "from chain_cursors where chain = :chain";

    /// Where every chain has come to.
    pub fn all(db) -> Vec<Cursor> = select "from chain_cursors order by chain";
}

commands! {
    PUT = file "sql/chain_cursors/put.sql";
}

/// Keeps where a chain has come to; its network stays what it is.
pub fn put(tx: &Tx<'_>, cursor: &Cursor) -> Result<(), StoreError> {
    let params = named_params! {
        ":chain": cursor.chain,
        ":network": cursor.network,
        ":height": cursor.reached.block.height,
        ":hash": cursor.reached.block.hash,
        ":time": cursor.reached.time,
        ":complete_height": cursor.complete.height,
        ":complete_hash": cursor.complete.hash,
        ":head_height": cursor.head_height,
        ":head_time": cursor.head_time,
        ":stepped_at": cursor.stepped_at,
        ":stopped": cursor.stopped,
    };
    PUT.change_one(tx, params, || {
        format!("{} is not followed on {}", cursor.chain, cursor.network)
    })
}

//! The table `rescans`: blocks that are read again at a person's request.
//!
//! Invariant: a chain has at most one running rescan.

use super::statement::statements;
use super::{StoreError, Tx};
use crate::domain::Time;
use crate::domain::asset::Chain;

/// A running rescan.
#[derive(Clone, Debug)]
pub struct Rescan {
    /// Key of the row; later rows have greater keys.
    pub seq: i64,
    /// Height of the first block of the rescan.
    pub from_height: u32,
    /// Height of the next block to read.
    pub next_height: u32,
    /// Hash of the last block that was read; `None` if no block has been read.
    pub last_hash: Option<String>,
}

statements! {
    row read(seq, from_height, next_height, last_hash) -> Rescan {
        Ok(Rescan { seq, from_height, next_height, last_hash })
    }

    /// Returns the running rescan of a chain.
    pub fn active_for_chain(db, chain: Chain) -> Option<Rescan> = select "from rescans where chain = :chain and ended_at is null";

    fn insert_row(tx, chain: Chain, from: u32, now: Time) =
        insert into rescans { chain, from_height: from, next_height: from, asked_at: now };

    /// Stores the next height and the last hash of a rescan.
    pub fn save_progress(tx, seq: i64, next: u32, last_hash: Option<&str>) =
        "update rescans set next_height = :next, last_hash = :last_hash where seq = :seq and ended_at is null";

    /// Ends the running rescan of a chain.
    pub fn end_rescan(tx, chain: Chain, now: Time) =
        "update rescans set ended_at = :now where chain = :chain and ended_at is null";
}

/// Starts a rescan, and ends the running rescan of the chain.
pub fn insert(tx: &Tx<'_>, chain: Chain, from: u32, now: Time) -> Result<(), StoreError> {
    end_rescan(tx, chain, now)?;
    insert_row(tx, chain, from, now)
}

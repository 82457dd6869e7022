//! The table `rescans`: blocks that are read again on request of a person.
//!
//! Invariant: at most one rescan of a chain is running.

use super::statement::{commands, rows};
use super::{StoreError, Tx};
use crate::domain::asset::Chain;
use crate::domain::time::Time;

/// A running rescan.
#[derive(Clone, Debug)]
pub struct Rescan {
    /// Order of insertion.
    pub seq: i64,
    /// Height of the first block.
    pub from_height: u32,
    /// Height of the next block.
    pub next_height: u32,
    /// Hash of the block before that; `None` if no block has been read.
    pub last_hash: Option<String>,
}

rows! {
    fn read(seq, from_height, next_height, last_hash) -> Rescan {
        Ok(Rescan { seq, from_height, next_height, last_hash })
    }

    /// Returns the running rescan of a chain.
    pub fn of_chain(db, chain: Chain) -> Option<Rescan> = select "from rescans where chain = :chain and ended_at is null";
}

commands! {
    fn insert_row(tx, chain: Chain, from: u32, now: Time) =
        insert into rescans { chain, from_height: from, next_height: from, asked_at: now };

    /// Saves the position of a rescan.
    pub fn advance(tx, seq: i64, next: u32, last_hash: Option<&str>) =
        "update rescans set next_height = :next, last_hash = :last_hash where seq = :seq and ended_at is null";

    /// Ends the running rescan of a chain.
    pub fn end(tx, chain: Chain, now: Time) =
        "update rescans set ended_at = :now where chain = :chain and ended_at is null";
}

/// Inserts a rescan, in place of the running one.
pub fn insert(tx: &Tx<'_>, chain: Chain, from: u32, now: Time) -> Result<(), StoreError> {
    end(tx, chain, now)?;
    insert_row(tx, chain, from, now)
}

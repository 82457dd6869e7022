//! The table `rescans`: blocks that a person wants to be read again.
//!
//! What always holds: at most one rescan of a chain is under way.

use super::statement::{commands, rows};
use super::{StoreError, Tx};
use crate::domain::asset::Chain;
use crate::domain::time::Time;
use rusqlite::named_params;

/// A rescan that is under way.
#[derive(Clone, Debug)]
pub struct UnderWay {
    /// Order of insertion.
    pub seq: i64,
    /// The first block that it reads.
    pub from_height: u32,
    /// The next block that it reads.
    pub next_height: u32,
    /// The hash of the block before that, once one has been read.
    pub last_hash: Option<String>,
}

rows! {
    fn read(seq, from_height, next_height, last_hash) -> UnderWay {
        Ok(UnderWay { seq, from_height, next_height, last_hash })
    }

    /// The rescan of a chain that is under way.
    pub fn of(db, chain: Chain) -> Option<UnderWay> = select "from rescans where chain = :chain and ended_at is null";
}

commands! {
    INSERT = "insert into rescans (chain, from_height, next_height, asked_at) values (:chain, :from, :from, :now)";

    /// Notes how far a rescan has come.
    pub fn advance(tx, seq: i64, next: u32, last_hash: Option<&str>) =
        "update rescans set next_height = :next, last_hash = :last_hash where seq = :seq and ended_at is null";

    /// Ends the rescan of a chain that is under way.
    pub fn end(tx, chain: Chain, now: Time) =
        "update rescans set ended_at = :now where chain = :chain and ended_at is null";
}

/// Orders a rescan, in place of the one that is under way.
pub fn insert(tx: &Tx<'_>, chain: Chain, from: u32, now: Time) -> Result<(), StoreError> {
    end(tx, chain, now)?;
    let params = named_params! { ":chain": chain, ":from": from, ":now": now };
    INSERT.insert(tx, params).map(drop)
}

//! The table `read_backs`: chains that are read back once, for addresses that customers had before addresses were
//! watched.
//!
//! Invariant: only the upgrade inserts rows, and no row is deleted.

use super::statement::{commands, values};
use crate::domain::asset::Chain;
use crate::domain::time::Time;

values! {
    /// Returns the time from which a chain is to be read back; `None` if it is not, or the block of that time was
    /// found.
    pub fn undated(db, chain: Chain) -> Option<(since: Time)> =
        "select since from read_backs \
            where chain = :chain and until_height is not null and from_height is null";

    /// Returns `true` if the block of this height was made before the chain was followed, and is read back.
    pub fn covers(db, chain: Chain, height: u32) -> (found: bool) =
        "select exists (select 1 from read_backs \
            where chain = :chain and until_height >= :height) as found";
}

commands! {
    /// Saves the block from which a chain is followed, the first time.
    pub fn begin(tx, chain: Chain, height: u32) =
        "update read_backs set until_height = :height where chain = :chain and until_height is null";

    /// Saves the first block that is read back, and the time before which no block is. Returns `true` if it was
    /// unknown.
    pub fn date(tx, chain: Chain, from: u32, unread: Time) -> bool =
        "update read_backs set from_height = min(:from, until_height), \
            unread_before = iif(since < :unread, :unread, null) \
            where chain = :chain and until_height is not null and from_height is null";
}

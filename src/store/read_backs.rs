//! The table `read_backs`: chains on which customers had addresses before Coffer followed the chain. The older blocks
//! of such a chain are read once.
//!
//! Invariant: only the upgrade inserts rows, and no row is deleted.

use super::statement::{commands, values};
use crate::domain::asset::Chain;
use crate::domain::time::Time;

values! {
    /// Returns the time from which older blocks of a chain are to be read. `None` if no older blocks are to be read,
    /// or the height of the first one is stored already.
    pub fn start_of_pending_read(db, chain: Chain) -> Option<(since: Time)> =
        "select since from read_backs \
            where chain = :chain and until_height is not null and from_height is null";

    /// Returns `true` if older blocks of a chain are read, and the block at this height is one of them.
    pub fn covers_height(db, chain: Chain, height: u32) -> (found: bool) =
        "select exists (select 1 from read_backs \
            where chain = :chain and until_height >= :height) as found";
}

commands! {
    /// Stores the height at which Coffer began to follow a chain, unless a height is stored already.
    pub fn set_end_height(tx, chain: Chain, height: u32) =
        "update read_backs set until_height = :height where chain = :chain and until_height is null";

    /// Stores the height of the first older block to read. Payments before the time `unread` are not read. Returns
    /// `false` if a height is stored already.
    pub fn set_start_height(tx, chain: Chain, from: u32, unread: Time) -> bool =
        "update read_backs set from_height = min(:from, until_height), \
            unread_before = iif(since < :unread, :unread, null) \
            where chain = :chain and until_height is not null and from_height is null";
}

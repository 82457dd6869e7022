//! The table `read_backs`: chains that are read back once, for addresses that customers had before anything watched them.
//!
//! What always holds: a row is made by the upgrade only, and none goes.

use super::statement::{commands, values};
use super::{Reader, StoreError, Tx};
use crate::domain::asset::Chain;
use crate::domain::time::Time;
use rusqlite::named_params;

values! {
    UNDATED(since: Time) = "select since from read_backs \
        where chain = :chain and until_height is not null and from_height is null";
    COVERS(found: bool) = "select exists (select 1 from read_backs \
        where chain = :chain and until_height >= :height) as found";
}

commands! {
    BEGIN = "update read_backs set until_height = :height where chain = :chain and until_height is null";
    DATE = "update read_backs set from_height = min(:from, until_height), unread_before = iif(since < :unread, :unread, null) \
        where chain = :chain and until_height is not null and from_height is null";
}

/// Time from which on a chain is to be read back; `None` where it is not, or the block of that time was found.
pub fn undated(db: &Reader<'_>, chain: Chain) -> Result<Option<Time>, StoreError> {
    UNDATED.first(db, named_params! { ":chain": chain })
}

/// Returns `true` if the block of this height was made before the chain was followed, and is read back.
pub fn covers(db: &Reader<'_>, chain: Chain, height: u32) -> Result<bool, StoreError> {
    COVERS.only(db, named_params! { ":chain": chain, ":height": height })
}

/// Notes the block from which on a chain is followed, the first time.
pub fn begin(tx: &Tx<'_>, chain: Chain, height: u32) -> Result<(), StoreError> {
    BEGIN
        .run(tx, named_params! { ":chain": chain, ":height": height })
        .map(drop)
}

/// Notes the first block that is read back, and the time before which none is. Returns `true` if it was unknown until now.
pub fn date(tx: &Tx<'_>, chain: Chain, from: u32, unread: Time) -> Result<bool, StoreError> {
    let params = named_params! { ":chain": chain, ":from": from, ":unread": unread };
    Ok(DATE.run(tx, params)? > 0)
}

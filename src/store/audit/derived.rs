//! Reads the addresses that wallets derived, for deriving them again.

use crate::domain::asset::Mode;
use crate::store::statement::{rows, values};

/// An address that a wallet derived.
pub struct DerivedAddress {
    /// Order of insertion.
    pub seq: i64,
    /// The wallet, by its `seq`.
    pub wallet: i64,
    /// Its index in the wallet.
    pub index: u64,
    /// Its text.
    pub address: String,
    /// Script of an output to it, on chains whose outputs hold scripts.
    pub script: Option<Vec<u8>>,
}

rows! {
    fn read(seq, wallet, wallet_index: i64, address, script) -> DerivedAddress {
        let index = u64::try_from(wallet_index).unwrap_or(u64::MAX);
        Ok(DerivedAddress { seq, wallet, index, address, script })
    }

    /// The next addresses after this one.
    pub fn page(db, after: i64, limit: u32) -> Vec<DerivedAddress> =
        select "from addresses where seq > :after and wallet is not null order by seq limit :limit";
}

values! {
    /// Number of addresses that wallets derived.
    pub fn count(db) -> (count: i64) = "select count(*) as count from addresses where wallet is not null";

    /// The simulated wallets: `seq`, mode and pool.
    pub fn simulated(db) -> Vec<(seq: i64, mode: Mode, pool: String)> =
        "select seq, mode, pool from wallets where network = 'simulated'";
}

//! Reads the derived addresses, to compare them with their keys.

use crate::domain::asset::Mode;
use crate::store::statement::{rows, values};

/// An address that a wallet derived.
pub struct DerivedAddress {
    /// Order of insertion.
    pub seq: i64,
    /// The wallet, by its `seq`.
    pub wallet: i64,
    /// Index in the wallet.
    pub index: u64,
    /// Text of the address.
    pub address: String,
    /// Script of outputs to the address, on chains whose outputs have scripts.
    pub script: Option<Vec<u8>>,
}

rows! {
    fn read(seq, wallet, wallet_index: i64, address, script) -> DerivedAddress {
        let index = u64::try_from(wallet_index).unwrap_or(u64::MAX);
        Ok(DerivedAddress { seq, wallet, index, address, script })
    }

    /// Returns the next derived addresses after this `seq`.
    pub fn page(db, after: i64, limit: u32) -> Vec<DerivedAddress> =
        select "from addresses where seq > :after and wallet is not null order by seq limit :limit";
}

values! {
    /// Returns the number of derived addresses.
    pub fn count(db) -> (count: i64) = "select count(*) as count from addresses where wallet is not null";

    /// Returns the `seq`, mode and pool of every simulated wallet.
    pub fn simulated(db) -> Vec<(seq: i64, mode: Mode, pool: String)> =
        "select seq, mode, pool from wallets where network = 'simulated'";
}

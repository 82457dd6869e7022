//! Reads derived addresses, to compare them with the keys of their wallets.

use crate::domain::Mode;
use crate::store::statement::statements;

/// An address that a wallet derived.
pub struct DerivedAddress {
    /// Key of the row; later rows have greater keys.
    pub seq: i64,
    /// Wallet, by its `seq`.
    pub wallet: i64,
    /// Derivation index in the wallet.
    pub index: u64,
    /// Text of the address.
    pub address: String,
    /// Output script of the address; `None` on chains without output scripts.
    pub script: Option<Vec<u8>>,
}

statements! {
    row read(seq, wallet, wallet_index: i64, address, script) -> DerivedAddress {
        let index = u64::try_from(wallet_index).unwrap_or(u64::MAX);
        Ok(DerivedAddress { seq, wallet, index, address, script })
    }

    /// Returns the next `limit` derived addresses whose `seq` is greater than `after`.
    pub fn page_of_derived_addresses(db, after: i64, limit: u32) -> Vec<DerivedAddress> =
        select "from addresses where seq > :after and wallet is not null order by seq limit :limit";

    /// Returns the number of derived addresses.
    pub fn count_derived_addresses(db) -> (count: i64) = "select count(*) as count from addresses where wallet is not null";

    /// Returns the `seq`, mode and pool of every simulated wallet.
    pub fn simulated_wallets(db) -> Vec<(seq: i64, mode: Mode, pool: String)> =
        "select seq, mode, pool from wallets where network = 'simulated'";
}

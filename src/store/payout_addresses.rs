//! The table `payout_addresses`: destinations of payouts, one for each account and chain.

use super::statement::statements;
use crate::domain::Time;
use crate::domain::asset::Chain;

statements! {
    /// Returns the payout address of an account, and the time at which it was set.
    pub fn get(db, account: i64, chain: Chain) -> Option<(address: String, changed_at: Time)> =
        "select address, changed_at from payout_addresses where account = :account and chain = :chain";

    /// Sets the payout address of an account. Its cooling period starts at `changed_at`.
    pub fn put(tx, account: i64, chain: Chain, address: &str, changed_at: Time) =
        "insert into payout_addresses (account, chain, address, changed_at) \
            values (:account, :chain, :address, :changed_at) \
            on conflict (account, chain) do update set address = excluded.address, changed_at = excluded.changed_at"
        noting { tx.note_payout_address_change(account, chain.as_str()); };

    /// Removes the payout address of an account.
    pub fn remove(tx, account: i64, chain: Chain) =
        "delete from payout_addresses where account = :account and chain = :chain"
        noting { tx.note_payout_address_change(account, chain.as_str()); };
}

//! The tables `own_transfers` and `own_addresses`: transfers between the operator's own addresses.

use super::statement::statements;
use crate::domain::asset::Chain;
use crate::domain::{Mode, OwnTransfer, Time};

statements! {
    row read(t.seq, t.id, t.observation, o.txid, o.state) -> OwnTransfer {
        Ok(OwnTransfer { seq, id, observation, txid, state })
    }

    /// Returns the transfer between the operator's own addresses that has this id.
    pub fn by_id(db, id: &str) -> Option<OwnTransfer> =
        select "from own_transfers t join observations o on o.seq = t.observation \
            where t.id = :id";

    /// Returns the transfer between the operator's own addresses that belongs to an observation.
    pub fn of_observation(db, observation: i64) -> Option<OwnTransfer> =
        select "from own_transfers t join observations o on o.seq = t.observation \
            where t.observation = :observation";

    /// Returns `true` if the operator has declared this address as one of the operator's own.
    pub fn is_own_address(db, mode: Mode, chain: Chain, address: &str) -> (found: bool) =
        "select exists (select 1 from own_addresses \
            where mode = :mode and pool = :pool and address = :address) as found"
        with { mode, pool: chain.address_pool(), address };

    /// Returns every address that the operator has declared as own: its pool, its text, and the time of its
    /// declaration.
    pub fn own_addresses(db, mode: Mode) -> Vec<(pool: String, address: String, created_at: Time)> =
        "select pool, address, created_at from own_addresses \
            where mode = :mode order by pool, created_at, address";

    /// Inserts a transfer between the operator's own addresses.
    pub fn insert(tx, id: &str, observation: i64) = insert into own_transfers { id, observation };

    /// Declares an address as one of the operator's own. Returns `false` if the address was declared before.
    pub fn declare_own_address(tx, mode: Mode, chain: Chain, address: &str, now: Time) -> bool =
        "insert into own_addresses (mode, pool, address, created_at) values (:mode, :pool, :address, :now) \
            on conflict (mode, pool, address) do nothing"
        with { mode, pool: chain.address_pool(), address, now };
}

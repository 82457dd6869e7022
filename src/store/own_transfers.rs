//! The tables `own_transfers` and `own_addresses`: transfers of our own money between our own addresses.

use super::statement::{commands, rows, values};
use super::{Reader, StoreError, Tx};
use crate::domain::asset::{Chain, Mode};
use crate::domain::observation::OwnTransfer;
use crate::domain::time::Time;
use rusqlite::named_params;

rows! {
    fn read(t.seq, t.id, t.observation, o.txid, o.state) -> OwnTransfer {
        Ok(OwnTransfer { seq, id, observation, txid, state })
    }
    BY_ID = select "from own_transfers t join observations o on o.seq = t.observation \
        where t.id = :id";
    OF_OBSERVATION = select "from own_transfers t join observations o on o.seq = t.observation \
        where t.observation = :observation";
}

values! {
    IS_DECLARED(found: bool) = "select exists (select 1 from own_addresses \
        where mode = :mode and pool = :pool and address = :address) as found";
    DECLARED(pool: String, address: String, created_at: Time) = "select pool, address, created_at from own_addresses \
        where mode = :mode order by pool, created_at, address";
}

commands! {
    INSERT = "insert into own_transfers (id, observation) values (:id, :observation)";
    DECLARE = "insert into own_addresses (mode, pool, address, created_at) values (:mode, :pool, :address, :now) \
        on conflict (mode, pool, address) do nothing";
}

/// Adds a transfer of our own that was just seen.
pub fn insert(tx: &Tx<'_>, id: &str, observation: i64) -> Result<(), StoreError> {
    let params = named_params! { ":id": id, ":observation": observation };
    INSERT.insert(tx, params).map(drop)
}

/// The transfer with this id.
pub fn by_id(db: &Reader<'_>, id: &str) -> Result<Option<OwnTransfer>, StoreError> {
    BY_ID.first(db, named_params! { ":id": id })
}

/// The transfer of our own that an observation came to.
pub fn of_observation(
    db: &Reader<'_>,
    observation: i64,
) -> Result<Option<OwnTransfer>, StoreError> {
    OF_OBSERVATION.first(db, named_params! { ":observation": observation })
}

/// Was an address declared as our own?
pub fn is_declared(
    db: &Reader<'_>,
    mode: Mode,
    chain: Chain,
    address: &str,
) -> Result<bool, StoreError> {
    let params =
        named_params! { ":mode": mode, ":pool": chain.address_pool(), ":address": address };
    IS_DECLARED.only(db, params)
}

/// Declares an address as our own; false where it was already.
pub fn declare(
    tx: &Tx<'_>,
    mode: Mode,
    chain: Chain,
    address: &str,
    now: Time,
) -> Result<bool, StoreError> {
    let params = named_params! {
        ":mode": mode, ":pool": chain.address_pool(), ":address": address, ":now": now,
    };
    Ok(DECLARE.run(tx, params)? == 1)
}

/// Every address that was declared as our own: pool, address, and since when.
pub fn declared(db: &Reader<'_>, mode: Mode) -> Result<Vec<(String, String, Time)>, StoreError> {
    DECLARED.all(db, named_params! { ":mode": mode })
}

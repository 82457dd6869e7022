//! The tables `destinations` and `destination_outputs`: addresses to which payouts and refunds are sent, and the
//! outputs that reached them while they were watched.
//!
//! Invariant: an output counts for at most one transfer.

use super::row::InputSources;
use super::statement::statements;
use super::{Reader, StoreError, Tx, observations};
use crate::domain::asset::Chain;
use crate::domain::chain::CHAINS;
use crate::domain::transfer::destination::facts::WATCHED_AFTER_END_MS;
use crate::domain::{DestinationOutput, Mode, Time};

/// An address of a chain to which payouts or refunds are sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    /// Row number, in order of insertion.
    pub seq: i64,
    /// Live or test mode.
    pub mode: Mode,
    /// Chain of the address.
    pub chain: Chain,
    /// The address, in the canonical form of its chain.
    pub address: String,
    /// `true` if more outputs came than are kept, and some of those that were not kept may decide something.
    pub is_overfull: bool,
}

statements! {
    row read(d.seq, d.mode, d.chain, d.address, d.is_overfull) -> Destination {
        Ok(Destination { seq, mode, chain, address, is_overfull })
    }

    /// Returns the destination with this address.
    pub fn by_address(db, mode: Mode, chain: Chain, address: &str) -> Option<Destination> =
        select "from destinations d where d.mode = :mode and d.chain = :chain and d.address = :address";

    /// Returns the destination with this `seq`.
    pub fn by_seq(db, seq: i64) -> Option<Destination> = select "from destinations d where d.seq = :seq";

    /// Returns the next `limit` destinations whose `seq` is greater than `after`, without stale ones.
    pub fn list_after(db, after: i64, limit: u32) -> Vec<Destination> =
        select "from destinations d where d.seq > :after and not d.is_stale order by d.seq limit :limit";

    /// Returns the destinations that a restore has made stale.
    pub fn list_stale(db) -> Vec<Destination> = select "from destinations d where d.is_stale order by d.seq";

    /// Returns the destination with this address while outputs to it belong to it: a transfer to it is open, or has
    /// ended and is watched.
    pub fn watched(db, mode: Mode, chain: Chain, address: &str, now: Time) -> Option<Destination> =
        file "sql/destinations/watched.sql"
        with { mode, chain, address, now, after_ms: WATCHED_AFTER_END_MS };

    /// Returns destinations of a chain with a transfer that is not watched any more and not marked as such.
    pub fn list_to_freeze(db, chain: Chain, now: Time, last: u32, limit: u32) -> Vec<Destination> =
        file "sql/destinations/to_freeze.sql"
        with { chain, now, after_ms: WATCHED_AFTER_END_MS, last, limit };

    row read_output(
        observation = "o.seq", o.txid, o.position, o.asset, o.amount, o.state, o.block_height: Option<u32>,
        has_vanished = "o.vanished_at is not null", o.seen_at, o.spends: InputSources, d.settled: Option<i64>,
        d.transfer: Option<i64>,
    ) -> StoredOutput {
        let output = DestinationOutput {
            observation, txid, position, asset, amount, state, height: block_height, has_vanished, seen_at,
            spends: spends.0, settled,
        };
        Ok(StoredOutput { output, transfer })
    }

    /// Returns the outputs of a destination that are not frozen, by transaction and position. Leaves out outputs whose
    /// position another output has taken.
    pub fn outputs(db, destination: i64) -> Vec<StoredOutput> =
        select "from destination_outputs d join observations o on o.seq = d.observation \
            where d.destination = :destination and not d.is_frozen and o.position < 2147483648 \
            order by o.txid, o.position";

    /// Returns the outputs of a transaction to a destination that are frozen.
    pub fn frozen_outputs(db, of: &Destination, txid: &str) -> Vec<StoredOutput> =
        select "from observations o join destination_outputs d on d.observation = o.seq \
            where o.mode = :mode and o.chain = :chain and o.txid = :txid and o.position < 2147483648 \
            and d.destination = :destination and d.is_frozen order by o.position"
        with { mode: of.mode, chain: of.chain, txid, destination: of.seq };

    /// Returns the outputs that count for a transfer or settled it, frozen ones too.
    pub fn outputs_of_transfer(db, transfer: i64) -> Vec<StoredOutput> =
        select "from destination_outputs d join observations o on o.seq = d.observation \
            where d.transfer = :transfer and o.position < 2147483648 order by o.txid, o.position";
}

/// An output of a destination, with the transfer for which it counts.
#[derive(Clone, Debug)]
pub struct StoredOutput {
    /// The output.
    pub output: DestinationOutput,
    /// `seq` of the transfer for which the output counts, or at which it is under review.
    pub transfer: Option<i64>,
}

statements! {
    /// Returns the destination of an observation, and the transfer for which it counts.
    pub fn of_observation(db, observation: i64) -> Option<(destination: i64, transfer: Option<i64>)> =
        "select destination, transfer from destination_outputs where observation = :observation";

    /// Returns the destinations of the transfers that have this transaction, or had it entered.
    pub fn of_transaction(db, mode: Mode, chain: Chain, txid: &str) -> Vec<(destination: i64)> =
        "select t.destination from transfers t \
            where t.chain = :chain and t.txid = :txid and t.mode = :mode and not t.is_frozen \
            union \
            select t.destination from transfer_acts a join transfers t on t.seq = a.transfer \
            where a.txid = :txid and t.chain = :chain and t.mode = :mode and not t.is_frozen";

    /// Returns the destinations of a chain with an output in a block above this height.
    pub fn with_outputs_above(db, chain: Chain, height: u32) -> Vec<(destination: i64)> =
        "select distinct d.destination from observations o join destination_outputs d on d.observation = o.seq \
            where o.mode = 'live' and o.chain = :chain and o.block_height > :height";

    /// Returns `true` if an output to a destination is not frozen.
    pub fn has_outputs(db, destination: i64) -> (found: bool) =
        "select exists (select 1 from destination_outputs where destination = :destination and not is_frozen) as found";

    /// Passes to `each` the addresses of a chain to which a live transfer is open or watched.
    fn each_watched(db, chain: Chain) -> each (address: String) =
        file "sql/destinations/each_watched.sql"
        with { chain, after_ms: WATCHED_AFTER_END_MS };
}

/// Passes to `each` the watched destinations of all chains that share the addresses of a chain.
pub fn each_watched_in_pool(
    db: &Reader<'_>,
    chain: Chain,
    mut each: impl FnMut(String),
) -> Result<(), StoreError> {
    for row in CHAINS.iter().filter(|row| row.pool == chain.row().pool) {
        each_watched(db, row.chain, &mut each)?;
    }
    Ok(())
}

statements! {
    fn insert_row(tx, mode: Mode, chain: Chain, address: &str) =
        "insert into destinations (mode, chain, address) values (:mode, :chain, :address) \
            on conflict (mode, chain, address) do nothing";

    /// Inserts an output that counts for no transfer yet.
    pub fn insert_output(tx, observation: i64, destination: i64) =
        insert into destination_outputs { observation, destination };

    /// Saves for which transfer an output counts, and which one it settled.
    pub fn update_output(tx, observation: i64, transfer: Option<i64>, settled: Option<i64>) =
        "update destination_outputs set transfer = :transfer, settled = :settled where observation = :observation";

    /// Freezes the outputs that count for a transfer or settled it. They stay with it.
    pub fn freeze_outputs(tx, transfer: i64) =
        "update destination_outputs set is_frozen = 1, settled = ifnull(settled, transfer) \
            where transfer = :transfer or settled = :transfer";

    /// Notes whether more outputs came to a destination than are kept.
    pub fn set_overfull(tx, seq: i64, is_overfull: bool) =
        "update destinations set is_overfull = :is_overfull where seq = :seq";

    /// Notes that what the transfers to a destination got is computed again.
    pub fn clear_stale(tx, seq: i64) = "update destinations set is_stale = 0 where seq = :seq and is_stale";

    fn delete_proposals(tx, observation: i64) = "delete from transfer_proposals where observation = :observation";

    fn delete_row(tx, observation: i64) = "delete from destination_outputs where observation = :observation";
}

/// Deletes an output that is not kept, with its observation.
pub fn delete_output(tx: &Tx<'_>, observation: i64) -> Result<(), StoreError> {
    delete_proposals(tx, observation)?;
    delete_row(tx, observation)?;
    observations::delete(tx, observation)
}

/// Returns the destination with this address, and inserts it if it is new.
pub fn put(
    tx: &Tx<'_>,
    mode: Mode,
    chain: Chain,
    address: &str,
) -> Result<Destination, StoreError> {
    insert_row(tx, mode, chain, address)?;
    let found = by_address(tx, mode, chain, address)?;
    found.ok_or_else(|| StoreError::Failed(format!("destination {address} is missing")))
}

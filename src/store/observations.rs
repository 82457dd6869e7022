//! The table `observations`: outputs that were seen on chains, each identified by chain, transaction and position.
//!
//! Invariant: no two rows have the same mode, chain, transaction and position, and no row that counts for
//! anything is deleted. The transaction and the amount of a row never change.

use super::row::{InputSources, InputSourcesRef};
use super::statement::statements;
use crate::domain::asset::Chain;
use crate::domain::{
    Block, Mode, Observation, ObservationKey, PaymentState, StoredObservation, Time,
};

statements! {
    row read(
        seq, mode, asset, txid, position, address, amount, seen_at, block_height: Option<u32>, block_hash: Option<String>,
        spends: InputSources, state, confirmed_at,
    ) -> StoredObservation {
        let block = block_height.zip(block_hash).map(|(height, hash)| Block { height, hash });
        let seen = Observation { mode, asset, txid, position, address, amount, seen_at, block, spends: spends.0 };
        Ok(StoredObservation { seq, seen, state, confirmed_at })
    }

    /// Returns the observation with this key: mode, chain, transaction and position.
    pub fn by_key(db, place: &ObservationKey) -> Option<StoredObservation> =
        select "from observations \
            where mode = :mode and chain = :chain and txid = :txid and position = :position"
        with { mode: place.mode, chain: place.chain, txid: place.txid, position: place.position };

    /// Returns the observations of a transaction, in the order of their positions.
    pub fn of_transaction(db, mode: Mode, chain: Chain, txid: &str) -> Vec<StoredObservation> =
        select "from observations where mode = :mode and chain = :chain and txid = :txid order by position";

    /// Returns the observation with this `seq`.
    pub fn by_seq(db, seq: i64) -> only StoredObservation =
        select "from observations where seq = :seq" else("observation {seq} is missing");

    /// Inserts a new observation and returns its `seq`.
    pub fn insert(tx, seen: &Observation) -> i64 = insert into observations {
        mode: seen.mode, chain: seen.asset.chain, txid: seen.txid, position: seen.position, asset: seen.asset.id,
        address: seen.address, amount: seen.amount, state: PaymentState::Seen, seen_at: seen.seen_at,
        block_height: seen.block.as_ref().map(|block| block.height),
        block_hash: seen.block.as_ref().map(|block| &block.hash), spends: InputSourcesRef(&seen.spends),
    };

    /// Moves an observation from the state `before` to `state`. Clears the mark that the next state change cannot be
    /// booked.
    ///
    /// # Errors
    /// [`StoreError`](super::StoreError) if the observation is not in the state `before`.
    pub fn update(tx, seq: i64, before: PaymentState, state: PaymentState, now: Time) =
        "update observations set state = :state, confirmed_at = iif(:state = 'confirmed', :now, null), \
            unbookable_at = null, vanished_at = iif(:state = 'dropped', ifnull(vanished_at, :now), null), \
            block_height = iif(:state = 'confirmed', block_height, null), \
            block_hash = iif(:state = 'confirmed', block_hash, null) \
            where seq = :seq and state = :before"
        else("observation {seq} is not {before}");

    /// Records that the next state change of an observation cannot be booked. Returns `false` if this was recorded
    /// already.
    pub fn mark_unbookable(tx, seq: i64, now: Time) -> bool =
        "update observations set unbookable_at = :now where seq = :seq and unbookable_at is null";

    /// Gives an observation an unused position above all real positions, because another output is now at its
    /// position.
    pub fn move_to_free_position(tx, seq: i64) = file "sql/observations/give_way.sql";

    /// Deletes an observation that nobody owns any more: a small output at a destination that is not kept.
    pub fn delete(tx, seq: i64) = "delete from observations where seq = :seq";

    /// Sets the time at which an observation was first seen to `seen_at`, if `seen_at` is earlier.
    pub fn set_earlier_seen_at(tx, seq: i64, seen_at: Time) =
        "update observations set seen_at = :seen_at where seq = :seq and seen_at > :seen_at";

    /// Removes a seen observation from its block.
    pub fn remove_from_block(tx, seq: i64) =
        "update observations set block_height = null, block_hash = null where seq = :seq and state = 'seen'";

    /// Stores the block that contains an observation.
    pub fn put_in_block(tx, seq: i64, block: &Block) =
        "update observations set block_height = :height, block_hash = :hash, vanished_at = null, \
            unbookable_at = null where seq = :seq"
        with { seq, height: block.height, hash: block.hash };
}

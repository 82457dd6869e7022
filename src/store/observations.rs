//! The table `observations`: what was seen at a place of a chain.
//!
//! What does not live here: what it is for. What always holds: a place has one row, and no row is ever removed; the
//! transaction and the amount in it never change, only the time since when it is known and its state on its chain.

use super::statement::{commands, rows};
use super::{Reader, StoreError, Tx};
use crate::domain::asset::{Chain, Mode};
use crate::domain::observation::{Block, Observation, Observed, Place};
use crate::domain::payment::PaymentState;
use crate::domain::time::Time;
use rusqlite::named_params;

rows! {
    fn read(
        seq, mode, asset, txid, position, address, amount, seen_at, block_height: Option<u32>, block_hash: Option<String>,
        spends: Option<String>, state, confirmed_at,
    ) -> (Observed, Option<String>) {
        let block = block_height.zip(block_hash).map(|(height, hash)| Block { height, hash });
        let seen = Observation {
            mode, asset, txid, position, address, amount, seen_at, block, spends: Vec::new(),
        };
        Ok((Observed { seq, seen, state, confirmed_at }, spends))
    }
    AT = select "from observations \
        where mode = :mode and chain = :chain and txid = :txid and position = :position";
    OF_TRANSACTION = select "from observations \
        where mode = :mode and chain = :chain and txid = :txid order by position";
    BY_SEQ = select "from observations where seq = :seq";
}

commands! {
    INSERT = "insert into observations (mode, chain, txid, position, asset, address, amount, state, seen_at, block_height, \
        block_hash, spends) \
        values (:mode, :chain, :txid, :position, :asset, :address, :amount, 'seen', :seen_at, :block_height, \
        :block_hash, :spends)";

    /// An observation that is in no block any more has no block.
    UPDATE = "update observations set state = :state, confirmed_at = iif(:state = 'confirmed', :now, null), \
        unbookable_at = null, vanished_at = iif(:state = 'dropped', ifnull(vanished_at, :now), null), \
        block_height = iif(:state = 'confirmed', block_height, null), \
        block_hash = iif(:state = 'confirmed', block_hash, null) \
        where seq = :seq and state = :before";

    /// Notes that the next step of an observation cannot be booked; false where that was known.
    pub fn cannot_be_booked(tx, seq: i64, now: Time) -> bool =
        "update observations set unbookable_at = :now where seq = :seq and unbookable_at is null";

    /// Moves an observation away from its place, at which something else is now: behind all places that there are.
    pub fn give_way(tx, seq: i64) = file "sql/observations/give_way.sql";

    /// Notes that what was seen had been made before it was seen first.
    pub fn seen_earlier(tx, seq: i64, seen_at: Time) =
        "update observations set seen_at = :seen_at where seq = :seq and seen_at > :seen_at";

    PUT_IN_BLOCK = "update observations set block_height = :height, block_hash = :hash, vanished_at = null, \
        unbookable_at = null where seq = :seq";
}

/// A row with what it spends.
fn whole((mut observed, spends): (Observed, Option<String>)) -> Result<Observed, StoreError> {
    if let Some(spends) = spends {
        observed.seen.spends = serde_json::from_str(&spends).map_err(unreadable_spends(&spends))?;
    }
    Ok(observed)
}

/// What is said of a row whose origin cannot be read.
pub(super) fn unreadable_spends(spends: &str) -> impl Fn(serde_json::Error) -> StoreError {
    let spends = spends.to_owned();
    move |error| StoreError::Failed(format!("spends {spends:?}: {error}"))
}

/// Adds what was just seen; its `seq`.
pub fn insert(tx: &Tx<'_>, seen: &Observation) -> Result<i64, StoreError> {
    let spends = (!seen.spends.is_empty())
        .then(|| serde_json::to_string(&seen.spends))
        .transpose()
        .map_err(|error| StoreError::Failed(format!("json: {error}")))?;
    let block = seen.block.as_ref();
    let params = named_params! {
        ":mode": seen.mode,
        ":chain": seen.asset.chain,
        ":txid": seen.txid,
        ":position": seen.position,
        ":asset": seen.asset.id,
        ":address": seen.address,
        ":amount": seen.amount,
        ":seen_at": seen.seen_at,
        ":block_height": block.map(|block| block.height),
        ":block_hash": block.map(|block| &block.hash),
        ":spends": spends,
    };
    INSERT.insert(tx, params)
}

/// Moves an observation from one state to the next; it must still be in `before`. Whatever could not be booked of it, now
/// is.
pub fn update(
    tx: &Tx<'_>,
    seq: i64,
    before: PaymentState,
    state: PaymentState,
    now: Time,
) -> Result<(), StoreError> {
    let params = named_params! { ":seq": seq, ":before": before, ":state": state, ":now": now };
    UPDATE.change_one(tx, params, || format!("observation {seq} is not {before}"))
}

/// Notes the block that an observation is in.
pub fn put_in_block(tx: &Tx<'_>, seq: i64, block: &Block) -> Result<(), StoreError> {
    let params = named_params! { ":seq": seq, ":height": block.height, ":hash": block.hash };
    PUT_IN_BLOCK.run(tx, params)?;
    Ok(())
}

/// What was seen at a place.
pub fn at(db: &Reader<'_>, place: &Place) -> Result<Option<Observed>, StoreError> {
    let params = named_params! {
        ":mode": place.mode, ":chain": place.chain, ":txid": place.txid, ":position": place.position,
    };
    AT.first(db, params)?.map(whole).transpose()
}

/// What was seen in one transaction, by position.
pub fn of_transaction(
    db: &Reader<'_>,
    mode: Mode,
    chain: Chain,
    txid: &str,
) -> Result<Vec<Observed>, StoreError> {
    let params = named_params! { ":mode": mode, ":chain": chain, ":txid": txid };
    OF_TRANSACTION
        .all(db, params)?
        .into_iter()
        .map(whole)
        .collect()
}

/// The observation with this `seq`.
pub fn by_seq(db: &Reader<'_>, seq: i64) -> Result<Observed, StoreError> {
    let found = BY_SEQ.first(db, named_params! { ":seq": seq })?;
    whole(found.ok_or_else(|| StoreError::Failed(format!("observation {seq} is missing")))?)
}

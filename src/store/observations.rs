//! The table `observations`: what was seen at a place of a chain.
//!
//! What does not live here: what it came to. What always holds: a place has one row, which is never removed; what was
//! seen there never changes, only since when it is known and how it stands on its chain.

use super::row::Columns;
use super::{Reader, StoreError, Tx};
use crate::domain::asset::{Chain, Mode};
use crate::domain::observation::{Block, Observation, Observed, Place};
use crate::domain::payment::PaymentState;
use crate::domain::time::Time;
use rusqlite::{Row, named_params};

fn read(row: &Row<'_>) -> rusqlite::Result<(Observed, Option<String>)> {
    let mut next = Columns::of(row);
    let seq = next.take()?;
    let mut seen = Observation {
        mode: next.take()?,
        asset: next.take()?,
        txid: next.take()?,
        position: next.take()?,
        address: next.take()?,
        amount: next.take()?,
        seen_at: next.take()?,
        block: None,
        spends: Vec::new(),
    };
    let (height, hash): (Option<u32>, Option<String>) = (next.take()?, next.take()?);
    seen.block = height
        .zip(hash)
        .map(|(height, hash)| Block { height, hash });
    let spends = next.take()?;
    let observed = Observed {
        seq,
        seen,
        state: next.take()?,
        confirmed_at: next.take()?,
    };
    Ok((observed, spends))
}

/// A row with what it spends.
fn whole((mut observed, spends): (Observed, Option<String>)) -> Result<Observed, StoreError> {
    if let Some(spends) = spends {
        let unreadable = |error| StoreError::Failed(format!("spends {spends:?}: {error}"));
        observed.seen.spends = serde_json::from_str(&spends).map_err(unreadable)?;
    }
    Ok(observed)
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
    tx.insert(include_str!("../../sql/observations/insert.sql"), params)
}

/// Moves an observation from one state to the next; it must still be in `before`.
pub fn update(
    tx: &Tx<'_>,
    seq: i64,
    before: PaymentState,
    state: PaymentState,
    now: Time,
) -> Result<(), StoreError> {
    let confirmed_at = (state == PaymentState::Confirmed).then_some(now);
    let params = named_params! { ":seq": seq, ":before": before, ":state": state, ":confirmed_at": confirmed_at };
    match tx.run(include_str!("../../sql/observations/update.sql"), params)? {
        1 => Ok(()),
        _ => Err(StoreError::Failed(format!(
            "observation {seq} is not {before}"
        ))),
    }
}

/// Notes that what was seen had been made before it was seen first.
pub fn seen_earlier(tx: &Tx<'_>, seq: i64, seen_at: Time) -> Result<(), StoreError> {
    let params = named_params! { ":seq": seq, ":seen_at": seen_at };
    let sql = include_str!("../../sql/observations/seen_earlier.sql");
    tx.run(sql, params).map(drop)
}

/// Notes the block that an observation is in.
pub fn put_in_block(tx: &Tx<'_>, seq: i64, block: &Block) -> Result<(), StoreError> {
    let params = named_params! { ":seq": seq, ":height": block.height, ":hash": block.hash };
    tx.run(
        include_str!("../../sql/observations/put_in_block.sql"),
        params,
    )?;
    Ok(())
}

/// What was seen at a place.
pub fn at(db: &Reader<'_>, place: &Place) -> Result<Option<Observed>, StoreError> {
    let params = named_params! {
        ":mode": place.mode, ":chain": place.chain, ":txid": place.txid, ":position": place.position,
    };
    let sql = include_str!("../../sql/observations/at.sql");
    db.first(sql, params, read)?.map(whole).transpose()
}

/// What was seen in one transaction, by position.
pub fn of_transaction(
    db: &Reader<'_>,
    mode: Mode,
    chain: Chain,
    txid: &str,
) -> Result<Vec<Observed>, StoreError> {
    let params = named_params! { ":mode": mode, ":chain": chain, ":txid": txid };
    let sql = include_str!("../../sql/observations/of_transaction.sql");
    db.all(sql, params, read)?.into_iter().map(whole).collect()
}

/// The observation with this `seq`.
pub fn by_seq(db: &Reader<'_>, seq: i64) -> Result<Observed, StoreError> {
    let sql = include_str!("../../sql/observations/by_seq.sql");
    let found = db.first(sql, named_params! { ":seq": seq }, read)?;
    whole(found.ok_or_else(|| StoreError::Failed(format!("observation {seq} is missing")))?)
}

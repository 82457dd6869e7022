//! The table `claims`: payments that a person claims, as no node tells of them.
//!
//! What always holds: what came of a claim is never changed.

use super::statement::{commands, rows, values};
use super::{StoreError, Tx};
use crate::domain::asset::Chain;
use crate::domain::claim::{Claim, ClaimOutcome};
use crate::domain::observation::Observation;
use crate::domain::time::Time;
use rusqlite::named_params;

rows! {
    fn read(
        seq, id, txid, asset, address, amount, ordinal, asked_by, asked_at, outcome, ended_at, reason,
    ) -> Claim {
        Ok(Claim { seq, id, txid, asset, address, amount, ordinal, asked_by, asked_at, outcome, ended_at, reason })
    }

    /// The claim of a chain whose turn it is.
    /// The one that has waited longest.
    pub fn next(db, chain: Chain) -> Option<Claim> =
        select "from claims where chain = :chain and outcome is null order by seq limit 1";

    /// The claim with this `seq`.
    pub fn by_seq(db, seq: i64) -> Option<Claim> = select "from claims where seq = :seq";

    /// The newest claims of a chain.
    pub fn newest(db, chain: Chain, limit: u32) -> Vec<Claim> =
        select "from claims where chain = :chain order by seq desc limit :limit";
}

values! {
    /// How many claims of a chain wait for its node.
    pub fn count_open(db, chain: Chain) -> (count: i64) =
        "select count(*) as count from claims where chain = :chain and outcome is null";

    /// Does the same claim wait already?
    pub fn is_open(db, claim: &Claim) -> (found: bool) =
        "select exists (select 1 from claims where chain = :chain and txid = :txid and asset = :asset \
            and address = :address and amount = :amount and ordinal = :ordinal and outcome is null) as found"
        with {
            chain: claim.asset.chain, txid: claim.txid, asset: claim.asset.id, address: claim.address,
            amount: claim.amount, ordinal: claim.ordinal,
        };

    /// Those that were taken in as what this is, the one that a node has told of at this position first.
    TOLD(seq: i64, position: u32) = file "sql/claims/told.sql";
}

commands! {
    /// Adds a claim whose transaction is to be asked for.
    pub fn insert(tx, claim: &Claim) = insert into claims {
        id: claim.id, chain: claim.asset.chain, txid: claim.txid, asset: claim.asset.id, address: claim.address,
        amount: claim.amount, ordinal: claim.ordinal, asked_by: claim.asked_by, asked_at: claim.asked_at,
    };

    END = "update claims set outcome = :outcome, ended_at = :now, reason = :reason, observation = :observation \
        where seq = :seq and outcome is null";

    MEET = "update claims set met_position = :position where seq = :seq and met_position is null";
}

/// Notes what came of a claim.
pub fn end(
    tx: &Tx<'_>,
    seq: i64,
    outcome: ClaimOutcome,
    (reason, observation): (Option<&str>, Option<i64>),
    now: Time,
) -> Result<(), StoreError> {
    let params = named_params! {
        ":seq": seq, ":outcome": outcome, ":reason": reason, ":observation": observation, ":now": now,
    };
    END.run(tx, params)
}

/// The position at which a claim was taken in that is what a node tells of now; from now on it is that one.
pub fn meet(tx: &Tx<'_>, seen: &Observation) -> Result<Option<u32>, StoreError> {
    let params = named_params! {
        ":chain": seen.asset.chain, ":txid": seen.txid, ":asset": seen.asset.id, ":address": seen.address,
        ":amount": seen.amount, ":position": seen.position,
    };
    let Some((seq, position)) = TOLD.first(tx, params)? else {
        return Ok(None);
    };
    MEET.run(
        tx,
        named_params! { ":seq": seq, ":position": seen.position },
    )?;
    Ok(Some(position))
}

//! The table `claims`: payments that were reported by a person and not by a node.
//!
//! Invariant: the outcome of a claim never changes.

use super::statement::statements;
use super::{StoreError, Tx};
use crate::domain::asset::Chain;
use crate::domain::{Claim, ClaimOutcome, Observation, Time};

statements! {
    row read(
        seq, id, txid, asset, address, amount, ordinal, asked_by, asked_at, outcome, ended_at, reason,
    ) -> Claim {
        Ok(Claim { seq, id, txid, asset, address, amount, ordinal, asked_by, asked_at, outcome, ended_at, reason })
    }

    /// Returns the oldest open claim of a chain.
    pub fn next_open_claim(db, chain: Chain) -> Option<Claim> =
        select "from claims where chain = :chain and outcome is null order by seq limit 1";

    /// Returns the claim with this `seq`.
    pub fn by_seq(db, seq: i64) -> Option<Claim> = select "from claims where seq = :seq";

    /// Returns the newest claims of a chain.
    pub fn newest_claims(db, chain: Chain, limit: u32) -> Vec<Claim> =
        select "from claims where chain = :chain order by seq desc limit :limit";

    /// Returns the number of open claims of a chain.
    pub fn count_open_claims(db, chain: Chain) -> (count: i64) =
        "select count(*) as count from claims where chain = :chain and outcome is null";

    /// Returns `true` if an open claim has the same transaction, coin, address, amount and ordinal. An ordinal counts
    /// equal payments in one transaction.
    pub fn has_equal_open_claim(db, claim: &Claim) -> (found: bool) =
        "select exists (select 1 from claims where chain = :chain and txid = :txid and asset = :asset \
            and address = :address and amount = :amount and ordinal = :ordinal and outcome is null) as found"
        with {
            chain: claim.asset.chain, txid: claim.txid, asset: claim.asset.id, address: claim.address,
            amount: claim.amount, ordinal: claim.ordinal,
        };

    /// Returns the `seq` of the accepted claim of a payment, and the position of the claim's observation. Prefers a
    /// claim whose payment a node has reported at the position of `seen`.
    fn find_accepted(db, seen: &Observation) -> Option<(seq: i64, position: u32)> =
        file "sql/claims/accepted.sql"
        with {
            chain: seen.asset.chain, txid: seen.txid, asset: seen.asset.id, address: seen.address, amount: seen.amount,
            position: seen.position,
        };

    /// Inserts an open claim.
    pub fn insert(tx, claim: &Claim) = insert into claims {
        id: claim.id, chain: claim.asset.chain, txid: claim.txid, asset: claim.asset.id, address: claim.address,
        amount: claim.amount, ordinal: claim.ordinal, asked_by: claim.asked_by, asked_at: claim.asked_at,
    };

    /// Ends an open claim. The caller sets `reason` to reject the claim, and `observation` to accept the claim.
    pub fn end_claim(
        tx, seq: i64, outcome: ClaimOutcome, reason: Option<&str>, observation: Option<i64>, now: Time
    ) =
        "update claims set outcome = :outcome, ended_at = :now, reason = :reason, observation = :observation \
            where seq = :seq and outcome is null";

    fn save_reported_position(tx, seq: i64, position: u32) =
        "update claims set met_position = :position where seq = :seq and met_position is null";
}

/// Finds the accepted claim of a payment that a node now reports. Stores the node's position in the claim, and
/// returns the position of the claim's observation.
pub fn match_observation(tx: &Tx<'_>, seen: &Observation) -> Result<Option<u32>, StoreError> {
    let Some((seq, position)) = find_accepted(tx, seen)? else {
        return Ok(None);
    };
    save_reported_position(tx, seq, seen.position)?;
    Ok(Some(position))
}

//! The table `transfer_reviews`: findings about transfers that a person has to check.

use super::statement::statements;
use crate::domain::{Mode, ReviewDecision, ReviewKind, Time, TransferReview};

statements! {
    row read(
        r.seq, r.id, r.kind, r.txid, r.problem, r.opened_at, r.ended_at, r.ended_by, r.decision, r.reason,
    ) -> TransferReview {
        Ok(TransferReview { seq, id, kind, txid, problem, opened_at, ended_at, ended_by, decision, reason })
    }

    /// Returns the reviews of a transfer, newest first.
    pub fn of_transfer(db, transfer: i64) -> Vec<TransferReview> =
        select "from transfer_reviews r where r.transfer = :transfer order by r.seq desc";

    /// Returns the `seq` of the transfers with an open review.
    pub fn transfers_under_review(db, mode: Mode) -> Vec<(transfer: i64)> =
        "select distinct r.transfer from transfer_reviews r join transfers t \
            on t.seq = r.transfer where r.ended_at is null and t.mode = :mode order by r.transfer";

    /// Opens a review of a transfer.
    pub fn insert(
        tx, id: &str, transfer: i64, kind: ReviewKind, txid: Option<&str>, problem: &str, opened_at: Time
    ) = insert into transfer_reviews { id, transfer, kind, txid, problem, opened_at };

    /// Ends an open review.
    pub fn end(tx, seq: i64, by: &str, decision: ReviewDecision, reason: Option<&str>, now: Time) =
        "update transfer_reviews set ended_at = :now, ended_by = :by, decision = :decision, reason = :reason \
            where seq = :seq and ended_at is null";
}

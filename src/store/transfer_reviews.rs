//! The table `transfer_reviews`: problems of finished transfers that a person has to review.

use super::statement::{commands, rows, values};
use crate::domain::asset::Mode;
use crate::domain::time::Time;
use crate::domain::transfer::on_chain::{ReviewKind, TransferReview};

rows! {
    fn read(r.seq, r.id, r.kind, r.problem, r.opened_at, r.ended_at, r.reason) -> TransferReview {
        Ok(TransferReview { seq, id, kind, problem, opened_at, ended_at, reason })
    }

    /// Returns the newest reviews of a transfer, newest first.
    pub fn of_transfer(db, transfer: i64) -> Vec<TransferReview> =
        select "from transfer_reviews r where r.transfer = :transfer order by r.seq desc limit 50";
}

values! {
    /// Returns the `seq` of the transfers with an open review.
    pub fn transfers_under_review(db, mode: Mode) -> Vec<(transfer: i64)> =
        "select distinct r.transfer from transfer_reviews r join transfers t \
            on t.seq = r.transfer where r.ended_at is null and t.mode = :mode order by r.transfer";
}

commands! {
    /// Opens a review of a transfer. Returns `false` if a review of the same kind is open already.
    pub fn open_review(tx, id: &str, transfer: i64, kind: ReviewKind, problem: &str, now: Time) -> bool =
        "insert into transfer_reviews (id, transfer, kind, opened_at, problem) \
            values (:id, :transfer, :kind, :now, :problem) \
            on conflict (transfer, kind) where ended_at is null do nothing";

    /// Ends a review.
    pub fn end_review(tx, seq: i64, reason: &str, now: Time) =
        "update transfer_reviews set ended_at = :now, reason = :reason where seq = :seq and ended_at is null";
}

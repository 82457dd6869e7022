//! The table `transfer_reviews`: what a person has to look at of transfers that have ended.

use super::statement::{commands, rows, values};
use super::{Reader, StoreError, Tx};
use crate::domain::asset::Mode;
use crate::domain::time::Time;
use crate::domain::transfer::on_chain::{Review, ReviewKind};
use rusqlite::named_params;

rows! {
    fn read(r.seq, r.id, r.kind, r.problem, r.opened_at, r.ended_at, r.reason) -> Review {
        Ok(Review { seq, id, kind, problem, opened_at, ended_at, reason })
    }
    OF_TRANSFER = select "from transfer_reviews r where r.transfer = :transfer order by r.seq desc limit 50";
}

values! {
    OPEN_TRANSFERS(transfer: i64) = "select distinct r.transfer from transfer_reviews r join transfers t \
        on t.seq = r.transfer where r.ended_at is null and t.mode = :mode order by r.transfer";
}

commands! {
    OPEN = "insert into transfer_reviews (id, transfer, kind, opened_at, problem) \
        values (:id, :transfer, :kind, :now, :problem) \
        on conflict (transfer, kind) where ended_at is null do nothing";
    END = "update transfer_reviews set ended_at = :now, reason = :reason where seq = :seq and ended_at is null";
}

/// Opens a review of a transfer, unless one of that kind is open; `true` where it is new.
pub fn open(
    tx: &Tx<'_>,
    id: &str,
    transfer: i64,
    (kind, problem): (ReviewKind, &str),
    now: Time,
) -> Result<bool, StoreError> {
    let params = named_params! {
        ":id": id, ":transfer": transfer, ":kind": kind, ":now": now, ":problem": problem,
    };
    Ok(OPEN.run(tx, params)? == 1)
}

/// Ends a review.
pub fn end(tx: &Tx<'_>, seq: i64, reason: &str, now: Time) -> Result<(), StoreError> {
    let params = named_params! { ":seq": seq, ":reason": reason, ":now": now };
    END.run(tx, params).map(drop)
}

/// The newest reviews of a transfer, newest first.
pub fn of_transfer(db: &Reader<'_>, transfer: i64) -> Result<Vec<Review>, StoreError> {
    OF_TRANSFER.all(db, named_params! { ":transfer": transfer })
}

/// Transfers, by `seq`, with an open review.
pub fn open_transfers(db: &Reader<'_>, mode: Mode) -> Result<Vec<i64>, StoreError> {
    OPEN_TRANSFERS.all(db, named_params! { ":mode": mode })
}

//! The table `idempotency`: answers kept for a replay.

use super::row::Columns;
use super::{Reader, StoreError, Tx};
use crate::domain::asset::Mode;
use crate::domain::text_enum::text_enum;
use crate::domain::time::Time;
use rusqlite::named_params;

text_enum! {
    /// What a POST that creates did.
    pub enum Outcome {
        /// It made what it was asked for.
        Created = "created",
        /// It found that already made.
        Existing = "existing",
    }
}

/// Which answer: of whom, to what, under which key.
#[derive(Clone, Debug)]
pub struct Slot {
    /// Whose.
    pub account: i64,
    /// Live or test.
    pub mode: Mode,
    /// The operation's name.
    pub route: &'static str,
    /// The Idempotency-Key.
    pub client_key: String,
}

/// A kept answer.
pub struct Kept {
    /// The request's body.
    pub request: String,
    /// Whether the answer was of something new.
    pub outcome: Outcome,
    /// The answer's body.
    pub answer: String,
}

/// The answer kept after a moment, if there is one.
pub fn get(db: &Reader<'_>, slot: &Slot, after: Time) -> Result<Option<Kept>, StoreError> {
    let params = named_params! {
        ":account": slot.account, ":mode": slot.mode, ":route": slot.route, ":client_key": slot.client_key, ":after": after
    };
    db.first(
        include_str!("../../sql/idempotency/get.sql"),
        params,
        |row| {
            let mut next = Columns::of(row);
            Ok(Kept {
                request: next.take()?,
                outcome: next.take()?,
                answer: next.take()?,
            })
        },
    )
}

/// Keeps an answer; one that is too old gives way.
pub fn put(tx: &Tx<'_>, slot: &Slot, kept: &Kept, now: Time) -> Result<(), StoreError> {
    let params = named_params! {
        ":account": slot.account,
        ":mode": slot.mode,
        ":route": slot.route,
        ":client_key": slot.client_key,
        ":request": kept.request,
        ":outcome": kept.outcome,
        ":answer": kept.answer,
        ":created_at": now,
    };
    tx.run(include_str!("../../sql/idempotency/put.sql"), params)
        .map(drop)
}

/// Removes answers from before a moment, at most `limit`; how many.
pub fn prune(tx: &Tx<'_>, before: Time, limit: u32) -> Result<usize, StoreError> {
    tx.run(
        include_str!("../../sql/idempotency/prune.sql"),
        named_params! { ":before": before, ":limit": limit },
    )
}
